package oracle

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write what kustomize takes from the chart")

const deploy = "../../deploy/"

// render has Helm's engine render the chart, as helm template does, and returns each file by its name.
func render(t *testing.T, values string) (map[string]string, error) {
	t.Helper()
	return renderAs(t, "drift-detector", values)
}

// renderAs does what render does, for a release of a name of its own.
func renderAs(t *testing.T, release, values string) (map[string]string, error) {
	t.Helper()
	c, err := loader.Load(deploy + "chart")
	if err != nil {
		t.Fatal(err)
	}
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	options := chartutil.ReleaseOptions{Name: release, Namespace: "drift-detector", IsInstall: true}
	all, err := chartutil.ToRenderValues(c, given, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	out, err := engine.Render(c, all)
	files := map[string]string{}
	for name, text := range out {
		files[filepath.Base(name)] = strings.TrimLeft(text, "\n-")
	}
	return files, err
}

// What kustomize takes is what the chart makes of these.
const base = `
image: {repository: drift-detector, tag: VERSION}
managementClusters: [{name: "", backup: s3://BUCKET/PREFIX}]
bucketSecret: drift-detector-bucket
push: {url: "http://pushgateway:9091"}
prometheusRule: {enabled: true}
`

// Chart and kustomization are of one source: the manifests below deploy/ are what the chart makes.
func TestKustomizeTakesWhatTheChartMakes(t *testing.T) {
	files, err := render(t, base)
	if err != nil {
		t.Fatal(err)
	}
	// Each patches the group that is pushed to, which the rules of the chart name.
	alerts, err := render(t, with(t, `push: {url: ""}`))
	if err != nil {
		t.Fatal(err)
	}
	files["prometheusrule.yaml"] = alerts["prometheusrule.yaml"]
	for _, name := range []string{"cronjob.yaml", "prometheusrule.yaml"} {
		want := "# Made of chart/ by `make update`: change it there.\n" + files[name]
		if *update {
			if err := os.WriteFile(deploy+name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(deploy + name); err != nil || string(got) != want {
			t.Errorf("%s is not what the chart makes (%v): make update", name, err)
		}
	}
}

// Three fleets, as people have them.
var fleets = map[string]string{
	"one bucket, by the role of the ServiceAccount": `
image: {repository: registry.example/drift-detector}
managementClusters: [{name: prod, backup: s3://velero/prod}]
serviceAccount: {annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::123456789012:role/velero-read"}}
`,
	"three management clusters, a store of their own, a chat": `
image: {repository: registry.example/drift-detector, tag: v1.0.1}
managementClusters:
- {name: prod, backup: s3://velero/prod, bucketSecret: prod-bucket, args: [--schedule=nightly, --s3-sse-c-key=/run/credentials/sse.key]}
- {name: edge, backup: "s3://velero/edge", schedule: "17 5 * * *", ignoreRules: edge-accepted}
- {name: lab, backup: s3://lab, confirmations: lab-confirmed, credentialsSecret: lab-logins, args: [--quiet]}
ignoreRules: accepted
credentialsSecret: logins
reports: {claim: reports}
bucketSecret: bucket
push: {url: "https://push.example/", userSecret: push}
notify: {format: teams, secret: chat}
networkPolicy: {ports: [443, 9000], egress: [{ports: [{port: 5353, protocol: UDP}], to: [{namespaceSelector: {}}]}]}
prometheusRule: {enabled: true, labels: {release: monitoring}}
dashboard: {enabled: true}
env:
- {name: DRIFT_DETECTOR_AZURE_AMBIENT, value: "true"}
- {name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/token}
- {name: AZURE_CLIENT_SECRET, valueFrom: {secretKeyRef: {name: azure, key: secret}}}
`,
	"workload identity, without a NetworkPolicy": `
image: {repository: registry.example/drift-detector}
managementClusters: [{name: az, backup: s3://velero}]
serviceAccount: {annotations: {azure.workload.identity/client-id: 00000000-0000-0000-0000-000000000001}}
podLabels: {azure.workload.identity/use: "true"}
networkPolicy: {enabled: false}
`,
	"a registry of one's own, nodes of their own": `
image: {repository: registry.example/drift-detector}
imagePullSecrets: [{name: registry}]
managementClusters: [{name: prod, backup: s3://velero/prod}]
nodeSelector: {kubernetes.io/os: linux, disk: "1"}
tolerations: [{key: infra, operator: Exists, effect: NoSchedule}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: infra, operator: Exists}]}]}}}
resources: {limits: {memory: 2Gi}}
`,
	"without what is there by default": `
image: {repository: registry.example/drift-detector}
managementClusters: [{name: prod, backup: s3://velero/prod, schedule: "17 4 * * *"}]
push: null
notify: null
networkPolicy: null
reports: null
serviceAccount: null
prometheusRule: null
dashboard: null
maxAge: null
schedule: null
failOn: null
resources: null
imagePullSecrets: null
env: null
podLabels: null
bucketSecret: null
`,
}

// TestChart holds what Helm makes of the chart against Kubernetes' types, strictly: those of this module
// and those of 1.29. All kinds are stable, and a stable kind loses no field: what the oldest and the
// newest have, all in between have, too.
func TestChart(t *testing.T) {
	for name, values := range fleets {
		t.Run(name, func(t *testing.T) {
			given := chartutil.Values{}
			var fleet struct {
				ManagementClusters []struct{}
				NetworkPolicy      *struct{ Enabled *bool }
			}
			if err := errors.Join(yaml.Unmarshal([]byte(values), &given), yaml.Unmarshal([]byte(values), &fleet)); err != nil {
				t.Fatal(err)
			}
			for _, m := range lint.All(deploy+"chart", given, "drift-detector", true).Messages {
				if m.Severity > 1 { // 1: the chart has no icon
					t.Errorf("helm lint: %v", m)
				}
			}
			files, err := render(t, values)
			if err != nil {
				t.Fatal(err)
			}
			kinds := map[string]int{}
			var stable []string
			for _, doc := range documents(files) {
				kind := demandStrict(t, doc)
				kinds[kind]++
				if kind != "PrometheusRule" { // which is no kind of Kubernetes'
					stable = append(stable, doc)
				}
			}
			demandOldest(t, stable)
			// As by default, and not where there is none.
			bounded := !strings.Contains(values, "networkPolicy: null") && (fleet.NetworkPolicy == nil || fleet.NetworkPolicy.Enabled == nil)
			if kinds["CronJob"] != len(fleet.ManagementClusters) || kinds["ServiceAccount"] != 1 || kinds["NetworkPolicy"] == 1 != bounded {
				t.Errorf("%v of %d management clusters", kinds, len(fleet.ManagementClusters))
			}
		})
	}
}

// documents returns the objects of all files, in their order.
func documents(files map[string]string) (docs []string) {
	for _, file := range slices.Sorted(maps.Keys(files)) {
		for _, doc := range regexp.MustCompile(`(?m)^---\n`).Split(files[file], -1) {
			if strings.TrimSpace(doc) != "" {
				docs = append(docs, doc)
			}
		}
	}
	return docs
}

// Kubernetes takes 52 characters for the name of a CronJob. Each has a name that it takes, which is that of
// no other, is the same every time, and is text where people number their clusters.
func TestChartNamesEachCronJob(t *testing.T) {
	const long = "management-clusters-of-the-north-west"
	for release, clusters := range map[string][]string{
		"drift-detector":                     {"prod", ""},
		"1":                                  {"", "2"},
		"drift-detector-" + long:             {"", "1"},
		"drift-detector.nightly":             {long + "-1", long + "-2", long[:29], long[:30]},
		strings.Repeat("r", 53):              {"", "a", "b", strings.Repeat("c", 63)},
		strings.Repeat("a", 42) + ".b-c-d-e": {"x-y", "x-z"},
	} {
		var fleet struct {
			ManagementClusters []map[string]string `json:"managementClusters"`
		}
		for _, c := range clusters {
			fleet.ManagementClusters = append(fleet.ManagementClusters, map[string]string{"name": c, "backup": "s3://b"})
		}
		list, err := yaml.Marshal(fleet)
		if err != nil {
			t.Fatal(err)
		}
		files, err := renderAs(t, release, "image: {repository: drift-detector}\nprometheusRule: {enabled: true}\ndashboard: {enabled: true}\n"+string(list))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, doc := range documents(files) {
			var job batch.CronJob
			if demandStrict(t, doc) != "CronJob" {
				continue
			}
			if err := yaml.Unmarshal([]byte(doc), &job); err != nil {
				t.Fatal(err)
			}
			whole := strings.TrimSuffix(release+"-"+clusters[len(names)], "-")
			if wrong := validation.IsDNS1123Subdomain(job.Name); len(wrong) > 0 || len(job.Name) > 52 || slices.Contains(names, job.Name) || len(whole) <= 52 && job.Name != whole {
				t.Errorf("%s is called %q, %d characters, beside %q: %v", whole, job.Name, len(job.Name), names, wrong)
			}
			names = append(names, job.Name)
		}
		if len(names) != len(clusters) {
			t.Errorf("%s: %q", release, names)
		}
	}
}

// demandStrict demands that Kubernetes' types have each field of an object, and returns its kind.
func demandStrict(t *testing.T, doc string) string {
	t.Helper()
	var o struct{ Kind string }
	if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
		t.Fatalf("%v:\n%s", err, doc)
	}
	of := map[string]any{
		"CronJob": &batch.CronJob{}, "ServiceAccount": &core.ServiceAccount{}, "NetworkPolicy": &networking.NetworkPolicy{},
		"ConfigMap": &core.ConfigMap{}, "PrometheusRule": &map[string]any{},
	}[o.Kind]
	if of == nil {
		t.Fatalf("kind %q:\n%s", o.Kind, doc)
	}
	// Helm sends a number as one, where the type of a field would make a text of it.
	sent, err := yaml.YAMLToJSONStrict([]byte(doc))
	if err := errors.Join(err, json.Unmarshal(sent, of), yaml.UnmarshalStrict([]byte(doc), of)); err != nil {
		t.Errorf("%v:\n%s", err, doc)
	}
	if c, is := of.(*batch.CronJob); is {
		demandLeastRights(t, c)
	}
	return o.Kind
}

// demandOldest demands that Kubernetes 1.29 has each field of the objects.
func demandOldest(t *testing.T, docs []string) {
	t.Helper()
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Stdin = "kubernetes", strings.NewReader(strings.Join(docs, "\n---\n"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("Kubernetes 1.29: %v: %s", err, out)
	}
}

// demandLeastRights demands that a pod has no right and no way to write but /tmp and to a claim for
// reports, and that it has the files that its flags name.
func demandLeastRights(t *testing.T, c *batch.CronJob) {
	t.Helper()
	pod := &c.Spec.JobTemplate.Spec.Template.Spec
	s := pod.Containers[0].SecurityContext
	if *pod.AutomountServiceAccountToken || !*pod.SecurityContext.RunAsNonRoot || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
		t.Errorf("%s has rights", c.Name)
	}
	places := []string{}
	for _, m := range pod.Containers[0].VolumeMounts {
		i := slices.IndexFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == m.Name })
		if i < 0 || len(pod.Volumes) != len(pod.Containers[0].VolumeMounts) {
			t.Fatalf("%s mounts %+v of %+v", c.Name, m, pod.Volumes)
		}
		v := pod.Volumes[i]
		if writes := v.EmptyDir != nil && m.MountPath == "/tmp" || v.PersistentVolumeClaim != nil && m.MountPath == "/reports"; writes == m.ReadOnly {
			t.Errorf("%s mounts %+v of %+v", c.Name, m, v)
		}
		places = append(places, m.MountPath)
	}
	for _, a := range pod.Containers[0].Args {
		if file := regexp.MustCompile(`=(/.*)/`).FindStringSubmatch(a); file != nil && !slices.Contains(places, file[1]) {
			t.Errorf("%s has no file of %s", c.Name, a)
		}
	}
}

// What a management cluster has of its own is taken in place of what all have, its report has its name, and
// the flags for it are those of detect. By default there is no file, and no flag. The screen is in the log, or
// nothing.
func TestChartMountsFiles(t *testing.T) {
	commands, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, detect, _ := strings.Cut(string(commands), "\n## detect\n")
	detect, _, _ = strings.Cut(detect, "\n## ")
	mounted := func(values string) []string {
		files, err := render(t, values)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, doc := range documents(files) {
			var job batch.CronJob
			if demandStrict(t, doc) != "CronJob" {
				continue
			}
			if err := yaml.Unmarshal([]byte(doc), &job); err != nil {
				t.Fatal(err)
			}
			pod := job.Spec.JobTemplate.Spec.Template.Spec
			for _, a := range pod.Containers[0].Args[1:] {
				if flag, _, _ := strings.Cut(a, "="); !strings.Contains(detect, "\n| `"+flag+"`") {
					t.Errorf("detect has no %s", flag)
				}
			}
			if args := pod.Containers[0].Args; slices.Contains(args, "--summary") == slices.Contains(args, "--quiet") {
				t.Errorf("%s prints as %q say", job.Name, args)
			}
			_, written, _ := strings.Cut(strings.Join(pod.Containers[0].Args, "\n"), "--output=")
			written, _, _ = strings.Cut(written, "\n")
			of := []string{written}
			for _, v := range pod.Volumes {
				switch {
				case v.ConfigMap != nil:
					of = append(of, v.ConfigMap.Name)
				case v.Secret != nil:
					of = append(of, v.Secret.SecretName)
				case v.PersistentVolumeClaim != nil:
					of = append(of, "writes "+v.PersistentVolumeClaim.ClaimName)
				}
			}
			all = append(all, strings.Join(of, " "))
		}
		return all
	}
	for values, want := range map[string][]string{
		base: {"/tmp/report.json"},
		fleets["three management clusters, a store of their own, a chat"]: {
			"/reports/prod.json writes reports accepted logins push chat", "/reports/edge.json writes reports edge-accepted logins push chat", "/reports/lab.json writes reports accepted lab-confirmed lab-logins push chat",
		},
	} {
		if got := mounted(values); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// pods returns those of all CronJobs that the chart makes of some values.
func pods(t *testing.T, values string) (all []core.PodSpec) {
	t.Helper()
	files, err := render(t, values)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range documents(files) {
		var job batch.CronJob
		if demandStrict(t, doc) != "CronJob" {
			continue
		}
		if err := yaml.Unmarshal([]byte(doc), &job); err != nil {
			t.Fatal(err)
		}
		all = append(all, job.Spec.JobTemplate.Spec.Template.Spec)
	}
	return all
}

// detect refuses --summary beside --quiet, in each form in which Go's flags take that.
func TestChartIsQuietAsIsAsked(t *testing.T) {
	args := func(of string) string {
		return "managementClusters: [{name: a, backup: s3://b, args: [" + of + "]}]"
	}
	for values, quiet := range map[string]bool{
		"":                       false,
		args("--quiet"):          true,
		args("-quiet"):           true,
		args("-q"):               true,
		args(`"--quiet=true"`):   true,
		args(`"-q=1"`):           true,
		args(`"--quiet=false"`):  false,
		args(`"--schedule=-q"`):  false,
		args(`-q, "--quiet=F"`):  false,
		args(`"-q=0", --quiet`):  true,
		args(`"--namespace=-q"`): false,
		`env: [{name: DRIFT_DETECTOR_QUIET, value: "true"}]`:                                        true,
		`env: [{name: DRIFT_DETECTOR_QUIET, value: "1"}]`:                                           true,
		`env: [{name: DRIFT_DETECTOR_QUIET, value: "false"}]`:                                       false,
		`env: [{name: DRIFT_DETECTOR_QUIET, value: ""}]`:                                            false,
		`env: [{name: DRIFT_DETECTOR_QUIET, valueFrom: {configMapKeyRef: {name: of, key: quiet}}}]`: true,
		`env: [{name: DRIFT_DETECTOR_QUIET, value: "true"}]` + "\n" + args(`"--quiet=false"`):       false,
		`env: [{name: DRIFT_DETECTOR_QUIET, value: "false"}]` + "\n" + args(`-q`):                   true,
	} {
		if got := pods(t, with(t, values))[0].Containers[0].Args; slices.Contains(got, "--summary") == quiet {
			t.Errorf("%s: %q", values, got)
		}
	}
}

// A ConfigMap or a Secret that is missing, or a file in it, keeps no pod from running: the program says which,
// with status 2, where the pod would wait until the Job's time is over.
func TestChartWaitsForNothing(t *testing.T) {
	for _, pod := range pods(t, fleets["three management clusters, a store of their own, a chat"]) {
		for _, v := range pod.Volumes {
			if v.ConfigMap != nil && (v.ConfigMap.Optional == nil || !*v.ConfigMap.Optional) || v.Secret != nil && (v.Secret.Optional == nil || !*v.Secret.Optional) {
				t.Errorf("the pod waits for volume %s", v.Name)
			}
		}
		for _, e := range pod.Containers[0].EnvFrom {
			if e.SecretRef.Optional == nil || !*e.SecretRef.Optional {
				t.Errorf("the pod waits for Secret %s", e.SecretRef.Name)
			}
		}
	}
}

// What every chart has for pods reaches them.
func TestChartPlacesThePod(t *testing.T) {
	pod := pods(t, fleets["a registry of one's own, nodes of their own"])[0]
	if len(pod.ImagePullSecrets) != 1 || pod.ImagePullSecrets[0].Name != "registry" || pod.NodeSelector["disk"] != "1" || len(pod.Tolerations) != 1 || pod.Affinity == nil || pod.Affinity.NodeAffinity == nil {
		t.Errorf("%+v", pod)
	}
	if memory := pod.Containers[0].Resources.Limits.Memory().String(); memory != "2Gi" {
		t.Errorf("memory %s", memory)
	}
}

// failOn reaches detect as it is, and is of the kinds that detect has for a backup.
func TestChartFailsOnWhatDetectKnows(t *testing.T) {
	page, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "`--fail-on` takes several of these")
	table, _, _ = strings.Cut(table, "\n\n`check` takes")
	kinds := 0
	for _, row := range regexp.MustCompile("(?m)^[|] (`.*`) [|]").FindAllStringSubmatch(table, -1) {
		for _, quoted := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(row[1], -1) {
			kinds++
			_, err := render(t, with(t, `failOn: "`+quoted[1]+`"`))
			if ofLive := slices.Contains([]string{"leaked", "lost", "stuck"}, quoted[1]); ofLive != (err != nil) {
				t.Errorf("failOn: %s: %v", quoted[1], err)
			}
		}
	}
	if kinds != 13 {
		t.Errorf("%d kinds", kinds)
	}
	for _, given := range []string{"no, ghost", "", "stale-backup,no"} {
		pod := pods(t, with(t, `failOn: "`+given+`"`))[0]
		if has := slices.Contains(pod.Containers[0].Args, "--fail-on="+given); has != (given != "") {
			t.Errorf("%q: %q", given, pod.Containers[0].Args)
		}
	}
}

// Each management cluster pushes to a group of its own at the address of the Pushgateway, however that ends.
func TestChartPushesToAGroup(t *testing.T) {
	for url, want := range map[string]string{
		"http://push:9091":      "http://push:9091/metrics/job/drift-detector/instance/drift-detector",
		"http://push:9091///":   "http://push:9091/metrics/job/drift-detector/instance/drift-detector",
		"https://corp/gateway/": "https://corp/gateway/metrics/job/drift-detector/instance/drift-detector",
	} {
		env := pods(t, with(t, "push: {url: \""+url+"\"}"))[0].Containers[0].Env
		if i := slices.IndexFunc(env, func(e core.EnvVar) bool { return e.Name == "DRIFT_DETECTOR_PUSH" }); i < 0 || env[i].Value != want {
			t.Errorf("%s: %+v", url, env)
		}
	}
}

// The alerts are of the ages that the values have, and know each management cluster by name: that of one which
// never reported is of no rule that knows no names.
func TestChartAlerts(t *testing.T) {
	const several = `managementClusters: [{name: prod, backup: s3://b}, {name: "", backup: s3://c}, {name: own, backup: s3://d, args: ["--push=http://other:9091"]}]`
	for values, want := range map[string]string{
		"":                 "report 26 * 3600, backup 26 * 3600, never drift-detector 26h",
		"maxAge: 170h":     "report 26 * 3600, backup 170 * 3600, never drift-detector 26h",
		"maxAge: 1h30m15s": "report 26 * 3600, backup 5415, never drift-detector 26h",
		"maxAge: null":     "report 26 * 3600, backup 26 * 3600, never drift-detector 26h",
		`prometheusRule: {enabled: true, reportMaxAge: 170h}`: "report 170 * 3600, backup 26 * 3600, never drift-detector 170h",
		several:      "report 26 * 3600, backup 26 * 3600, never prod 26h, never drift-detector 26h",
		`push: null`: "report 26 * 3600, backup 26 * 3600",
		`env: [{name: DRIFT_DETECTOR_PUSH, value: "http://push/metrics/job/x"}]`: "report 26 * 3600, backup 26 * 3600",
	} {
		files, err := render(t, with(t, values))
		if err != nil {
			t.Fatal(err)
		}
		var rules struct {
			Spec struct {
				Groups []struct {
					Rules []struct{ Alert, Expr, For string }
				}
			}
		}
		if err := yaml.Unmarshal([]byte(files["prometheusrule.yaml"]), &rules); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rules.Spec.Groups[0].Rules {
			_, age, _ := strings.Cut(r.Expr, " > ")
			switch r.Alert {
			case "DriftDetectorReportOld":
				got = append(got, "report "+age)
			case "ManagementBackupOld":
				got = append(got, "backup "+age)
			case "DriftDetectorNeverReported":
				of := regexp.MustCompile(`^absent\(drift_detector_report_timestamp_seconds\{job="drift-detector",instance="(.*)"\}\)$`).FindStringSubmatch(r.Expr)
				if of == nil {
					t.Fatalf("%+v", r)
				}
				got = append(got, "never "+of[1]+" "+r.For)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", values, got, want)
		}
		demandPromtool(t, files["prometheusrule.yaml"])
	}
}

// Of two, one reports each night and one never: the alert is of that one, after the time that a report may take.
func TestChartAlertsOfOneThatNeverReported(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	files, err := render(t, with(t, `managementClusters: [{name: prod, backup: s3://b}, {name: edge, backup: s3://c}]`))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	var rules struct{ Spec map[string]any }
	if err := yaml.Unmarshal([]byte(files["prometheusrule.yaml"]), &rules); err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(rules.Spec)
	if err != nil {
		t.Fatal(err)
	}
	const asked = `
rule_files: [rules.yaml]
evaluation_interval: 1h
tests:
- interval: 1h
  input_series: [{series: 'drift_detector_report_timestamp_seconds{job="drift-detector",instance="prod"}', values: '0+3600x40'}]
  promql_expr_test:
  - {expr: 'count by (alertname, instance) (ALERTS{alertstate="firing"})', eval_time: 20h, exp_samples: []}
  - expr: count by (alertname, instance) (ALERTS{alertstate="firing"})
    eval_time: 30h
    exp_samples: [{labels: '{alertname="DriftDetectorNeverReported", instance="edge"}', value: 1}]
`
	if err := errors.Join(os.WriteFile(filepath.Join(folder, "rules.yaml"), text, 0o600), os.WriteFile(filepath.Join(folder, "test.yaml"), []byte(asked), 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "test", "rules", filepath.Join(folder, "test.yaml")).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// demandPromtool has promtool, of Debian's package prometheus, read the rules of a PrometheusRule.
func demandPromtool(t *testing.T, object string) {
	t.Helper()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		return
	}
	var rules struct{ Spec map[string]any }
	if err := yaml.Unmarshal([]byte(object), &rules); err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(rules.Spec)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// The NetworkPolicy lets the pod out to what the values name, and to where the roles come from that
// --s3-ambient takes.
func TestChartLetsOut(t *testing.T) {
	const names, roles = "53/UDP 53/TCP ", "; 80/TCP to 169.254.169.254/32 169.254.170.23/32"
	for values, want := range map[string]string{
		"":                                      names + "443/TCP 6443/TCP 9091/TCP" + roles,
		`push: {url: "http://pushgateway"}`:     names + "443/TCP 6443/TCP 9091/TCP 80/TCP" + roles,
		`push: {url: "https://pushgateway/x"}`:  names + "443/TCP 6443/TCP 9091/TCP" + roles,
		`push: {url: "http://[fd00::1]:9092/"}`: names + "443/TCP 6443/TCP 9091/TCP 9092/TCP" + roles,
		`env: [{name: DRIFT_DETECTOR_S3_ENDPOINT, value: "https://minio.corp:9000"}]`:                                                                                 names + "443/TCP 6443/TCP 9091/TCP 9000/TCP" + roles,
		`managementClusters: [{name: a, backup: s3://b, args: ["--s3-endpoint=http://rgw:7480/", "--endpoint=https://vc=https://vc2:8443"]}]`:                         names + "443/TCP 6443/TCP 9091/TCP 7480/TCP 8443/TCP" + roles,
		`managementClusters: [{name: a, backup: s3://b, args: ["--endpoint=vc.corp=10.0.0.1:8443", "--endpoint=api:7443=[fd00::1]:7444", "--link=https://ci:8081"]}]`: names + "443/TCP 6443/TCP 9091/TCP 8443/TCP 7443/TCP 7444/TCP" + roles,
		`env: [{name: HTTPS_PROXY, value: "proxy.corp:3128"}, {name: NO_PROXY, value: "10.0.0.1:99,b"}, {name: TZ, value: "a:5"}]`:                                    names + "443/TCP 6443/TCP 9091/TCP 3128/TCP" + roles,
		`env: [{name: https_proxy, value: proxy}, {name: HTTP_PROXY, value: "socks5://s"}, {name: X_URL, value: "fd00::1"}]`:                                          names + "443/TCP 6443/TCP 9091/TCP 80/TCP 1080/TCP" + roles,
		`env: [{name: DRIFT_DETECTOR_ENDPOINT, value: "vc.corp=10.0.0.1:8443"}]`:                                                                                      names + "443/TCP 6443/TCP 9091/TCP 8443/TCP" + roles,
		`networkPolicy: {ports: [443], roles: []}`:                                                                names + "443/TCP 9091/TCP",
		`networkPolicy: {roles: ["fd00:ec2::23/128"]}`:                                                            names + "443/TCP 6443/TCP 9091/TCP; 80/TCP to fd00:ec2::23/128",
		`networkPolicy: {egress: [{ports: [{port: 9000, protocol: TCP}], to: [{ipBlock: {cidr: 10.0.0.9/32}}]}]}`: names + "443/TCP 6443/TCP 9091/TCP" + roles + "; 9000/TCP to 10.0.0.9/32",
	} {
		files, err := render(t, with(t, values))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, doc := range documents(files) {
			var policy networking.NetworkPolicy
			if demandStrict(t, doc) != "NetworkPolicy" {
				continue
			}
			if err := yaml.Unmarshal([]byte(doc), &policy); err != nil {
				t.Fatal(err)
			}
			for _, rule := range policy.Spec.Egress {
				var words []string
				for _, p := range rule.Ports {
					words = append(words, p.Port.String()+"/"+string(*p.Protocol))
				}
				if len(rule.To) > 0 {
					words = append(words, "to")
				}
				for _, to := range rule.To {
					words = append(words, to.IPBlock.CIDR)
				}
				got = append(got, strings.Join(words, " "))
			}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, want %q", values, got, want)
		}
	}
}

// with returns the values of base, of which some are others.
func with(t *testing.T, values string) string {
	t.Helper()
	all, err := chartutil.ReadValues([]byte(base))
	if err != nil {
		t.Fatal(err)
	}
	changed, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(all, changed)
	text, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// args returns the values of a management cluster that has one flag more.
func args(flag string) string {
	return `managementClusters: [{name: a, backup: s3://b, args: ["` + flag + `"]}]`
}

// A value that names a file, or where a secret comes from, is none, whatever the variable is called.
func TestChartTakesWhatNamesASecret(t *testing.T) {
	for _, values := range []string{
		`env: [{name: AWS_CONTAINER_CREDENTIALS_FULL_URI, value: "http://169.254.170.23/v1/credentials"}]`,
		`env: [{name: GOOGLE_APPLICATION_CREDENTIALS, value: /var/run/secrets/google/key.json}]`,
		`env: [{name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /var/run/secrets/token}]`,
		`env: [{name: DRIFT_DETECTOR_S3_SSE_C_KEY, value: /run/credentials/sse.key}]`,
		`env: [{name: DRIFT_DETECTOR_NOTIFY, value: webhook=/run/credentials/hook}]`,
		`env: [{name: OS_AUTH_URL, value: "https://keystone.corp:5000/v3"}]`,
		args("--notify=teams=/run/credentials/teams.url"),
		args("--push-user=/run/credentials/push"),
		args("--s3-sse-c-key=/run/credentials/sse.key"),
	} {
		if _, err := render(t, with(t, values)); err != nil {
			t.Errorf("%s: %v", values, err)
		}
	}
}

// No flag of detect has a name that is refused as that of a secret.
func TestChartTakesFlagsOfDetect(t *testing.T) {
	commands, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, detect, _ := strings.Cut(string(commands), "\n## detect\n")
	detect, _, _ = strings.Cut(detect, "\n## ")
	flags := regexp.MustCompile("(?m)^[|] `(--[a-z0-9-]+)`").FindAllStringSubmatch(detect, -1)
	for _, f := range flags {
		value := f[1] + "=/run/file"
		if f[1] == "--notify" {
			value = f[1] + "=slack=/run/file"
		}
		if _, err := render(t, with(t, args(value))); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
	if len(flags) < 30 {
		t.Errorf("%q", flags)
	}
}

// A value that is a secret in clear is refused, with the way to do it; so is what nothing reads.
func TestChartRefuses(t *testing.T) {
	for values, why := range map[string]string{
		"managementClusters: []":                                                     "managementClusters",
		`image: {repository: ""}`:                                                    "repository",
		`push: {url: "https://user:canary@push"}`:                                    "push.userSecret",
		`notify: {secret: "https://hooks.x/canary"}`:                                 "notify.secret",
		`env: [{name: AWS_SECRET_ACCESS_KEY, value: canary}]`:                        "valueFrom.secretKeyRef",
		`managementClusters: [{name: a, backup: "s3://key:canary@b"}]`:               "bucketSecret",
		`managementClusters: [{name: a, backup: s3://b}, {name: a, backup: s3://c}]`: "two are called",
		`maxAge: 1d`: "maxAge",
		`managementClusters: [{name: a, backup: /mnt/backup}]`:                                         "backup",
		`pushUrl: http://push`:                                                                         "pushUrl",
		`managementClusters: [{name: a, backup: s3://b, args: ["s3://other"]}]`:                        "args",
		`managementClusters: [{name: a, backup: s3://b, args: ["--push=https://user:canary@push"]}]`:   "args",
		`managementClusters: [{name: a, backup: s3://b, args: ["https://user:canary@push"]}]`:          "args",
		`managementClusters: [{name: a, backup: "https://key:canary@b"}]`:                              "bucketSecret",
		`managementClusters: [{name: a, backup: "s3://b?X-Amz-Signature=canary"}]`:                     "bucketSecret",
		`push: {url: "user:canary@push:9091"}`:                                                         "push.url",
		`push: {url: "https://push?token=canary"}`:                                                     "push.userSecret",
		`push: {url: "https://user:can/canary@push"}`:                                                  "push.userSecret",
		`notify: {format: "slack=https://hooks.x/canary"}`:                                             "notify.format",
		`env: [{name: HTTPS_PROXY, value: "http://user:canary@proxy"}]`:                                "valueFrom.secretKeyRef",
		`env: [{name: GOVC_PASS, value: canary}]`:                                                      "valueFrom.secretKeyRef",
		`ignoreRules: "rules: [{match: {name: canary}}]"`:                                              "ignoreRules is no name of a ConfigMap",
		`managementClusters: [{name: a, backup: s3://b, ignoreRules: "canary: yes"}]`:                  "ignoreRules of a",
		`managementClusters: [{name: a, backup: s3://b, confirmations: ./canary.yaml}]`:                "confirmations of a",
		`reports: {claim: /mnt/reports}`:                                                               "claim",
		`credentialsSecret: "endpoints: [{password: canary}]"`:                                         "credentialsSecret is no name of a Secret",
		`managementClusters: [{name: a, backup: s3://b, credentialsSecret: "user:canary"}]`:            "credentialsSecret of a",
		`env: [{name: SLACK_WEBHOOK_URL, value: canary}]`:                                              "valueFrom.secretKeyRef",
		`env: [{name: SLACK_URL, value: "https://hooks.slack.com/services/T/B/canary"}]`:               "valueFrom.secretKeyRef",
		`env: [{name: CHAT, value: "https://hooks.slack.com/services/T/B/canary"}]`:                    "valueFrom.secretKeyRef",
		`env: [{name: CHAT, value: "https://x.webhook.office.com/canary"}]`:                            "valueFrom.secretKeyRef",
		`env: [{name: VSPHERE_PWD, value: canary}]`:                                                    "valueFrom.secretKeyRef",
		`env: [{name: REDIS_AUTH, value: canary}]`:                                                     "valueFrom.secretKeyRef",
		`env: [{name: GOVC_PASSWORD_FILE, value: canary}]`:                                             "valueFrom.secretKeyRef",
		`env: [{name: DRIFT_DETECTOR_NOTIFY, value: "slack=https://hooks.slack.com/services/canary"}]`: "notify.secret",
		`env: [{name: DRIFT_DETECTOR_NOTIFY, value: "canary"}]`:                                        "notify.secret",
		`env: [{name: DRIFT_DETECTOR_PUSH_USER, value: "user:canary"}]`:                                "push.userSecret",
		`env: [{name: DRIFT_DETECTOR_CREDENTIALS, value: "{password: canary}"}]`:                       "credentialsSecret",
		`env: [{name: DRIFT_DETECTOR_S3_SSE_C_KEY, value: canary}]`:                                    "credentialsSecret",
		`env: [{name: DRIFT_DETECTOR_KUBECONFIG, value: "{users: [{user: {token: canary}}]}"}]`:        "credentialsSecret",
		`env: [{name: "TOKEN=canary"}]`:                                                                "env: a name",
		args("--notify=slack=https://hooks.slack.com/services/T/B/canary"):                             "push and notify take the names of Secrets",
		args("--notify=slack=canary"):                                                                  "notify.secret",
		args("--notify=canary=/run/x"):                                                                 "notify.secret",
		args("--push-user=user:canary"):                                                                "push.userSecret",
		args("-push-user=user:canary"):                                                                 "push.userSecret",
		args("--push-user"):                                                                            "push.userSecret",
		args("--credentials={password: canary}"):                                                       "credentialsSecret",
		args("--credentials=canary.yaml"):                                                              "by its whole path",
		args("--s3-sse-c-key=Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5MTI="):                            "credentialsSecret",
		args("--kubeconfig={token: canary}"):                                                           "credentialsSecret",
		args("--password=canary"):                                                                      "logins go into the Secret",
		args("--link=https://hooks.slack.com/services/T/B/canary"):                                     "no webhook",
		args("--endpoint=vc=10.0.0.1:70000"):                                                           "none of 1 to 65535",
		args("--endpoint=vc=10.0.0.1:0"):                                                               "none of 1 to 65535",
		args("--s3-endpoint=https://minio:canary"):                                                     "none of 1 to 65535",
		`push: {url: "http://push:99999"}`:                                                             "push.url has an address whose port",
		`push: {url: "http://push:9091/metrics/job/x"}`:                                                "push.url is the address of the Pushgateway alone",
		`push: {url: "https://hooks.slack.com/services/canary"}`:                                       "push.userSecret",
		`managementClusters: [{name: "", backup: s3://b}, {name: drift-detector, backup: s3://c}]`:     "two are called",
		`managementClusters: [{name: "token: canary", backup: s3://b}]`:                                "managementClusters: a name",
		`managementClusters: [{name: a, backup: s3://b}]` + "\nschedule: null":                         "has no schedule",
		`failOn: "no,ghost # all"`:                                                                     "failOn is one or more of",
		`failOn: canary`:                                                                               "failOn is one or more of",
		`maxAge: canary`:                                                                               "maxAge",
		`prometheusRule: {enabled: true, reportMaxAge: canary}`:                                        "prometheusRule.reportMaxAge",
		`reports: {claim: "token: canary"}`:                                                            "reports.claim",
		`networkPolicy: {roles: ["token=canary"]}`:                                                     "networkPolicy.roles",
		`image: {repository: "user:canary@registry.example/drift-detector"}`:                           "imagePullSecrets",
		`image: {repository: drift-detector, tag: "v1 # canary"}`:                                      "image.tag",
		`imagePullSecrets: [{name: "user:canary"}]`:                                                    "imagePullSecrets",
	} {
		if _, err := render(t, with(t, values)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", values, err)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("a secret is in: %v", err)
		}
	}
}

// The chart holds what it says in its values file, and no more.
func TestChartIsWhole(t *testing.T) {
	c, err := loader.Load(deploy + "chart")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range slices.Concat(c.Templates, c.Files) {
		files = append(files, f.Name)
	}
	slices.Sort(files)
	if want := "grafana-dashboard.json prometheus-rules.yaml templates/_values.tpl templates/cronjob.yaml templates/dashboard.yaml templates/prometheusrule.yaml templates/refused.yaml"; strings.Join(files, " ") != want {
		t.Errorf("%q", files)
	}
	for _, f := range c.Raw {
		if bytes.Contains(f.Data, []byte("\r")) {
			t.Errorf("%s has carriage returns", f.Name)
		}
	}
	if c.Metadata.Type != "application" || c.Metadata.APIVersion != chart.APIVersionV2 {
		t.Errorf("%+v", c.Metadata)
	}
}
