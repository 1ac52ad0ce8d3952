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

// renderAs is render for a release of a name of its own.
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
				NetworkPolicy      struct{ Enabled *bool }
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
			bounded := fleet.NetworkPolicy.Enabled == nil // as by default
			if kinds["CronJob"] != len(fleet.ManagementClusters) || kinds["ServiceAccount"] != 1 || kinds["NetworkPolicy"] == 1 != bounded {
				t.Errorf("%v of %d management clusters", kinds, len(fleet.ManagementClusters))
			}
		})
	}
}

// documents are the objects of all files, in their order.
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

// The NetworkPolicy lets the pod out to what the values name, and to where the roles come from that
// --s3-ambient takes.
func TestChartLetsOut(t *testing.T) {
	const names, roles = "53/UDP 53/TCP ", "; 80/TCP to 169.254.169.254/32 169.254.170.23/32"
	for values, want := range map[string]string{
		"":                                      names + "443/TCP 6443/TCP 9091/TCP" + roles,
		`push: {url: "http://pushgateway"}`:     names + "443/TCP 6443/TCP 9091/TCP 80/TCP" + roles,
		`push: {url: "https://pushgateway/x"}`:  names + "443/TCP 6443/TCP 9091/TCP" + roles,
		`push: {url: "http://[fd00::1]:9092/"}`: names + "443/TCP 6443/TCP 9091/TCP 9092/TCP" + roles,
		`env: [{name: DRIFT_DETECTOR_S3_ENDPOINT, value: "https://minio.corp:9000"}]`:                                                         names + "443/TCP 6443/TCP 9091/TCP 9000/TCP" + roles,
		`managementClusters: [{name: a, backup: s3://b, args: ["--s3-endpoint=http://rgw:7480/", "--endpoint=https://vc=https://vc2:8443"]}]`: names + "443/TCP 6443/TCP 9091/TCP 7480/TCP 8443/TCP" + roles,
		`networkPolicy: {ports: [443], roles: []}`:                                                                                            names + "443/TCP 9091/TCP",
		`networkPolicy: {roles: ["fd00:ec2::23/128"]}`:                                                                                        names + "443/TCP 6443/TCP 9091/TCP; 80/TCP to fd00:ec2::23/128",
		`networkPolicy: {egress: [{ports: [{port: 9000, protocol: TCP}], to: [{ipBlock: {cidr: 10.0.0.9/32}}]}]}`:                             names + "443/TCP 6443/TCP 9091/TCP" + roles + "; 9000/TCP to 10.0.0.9/32",
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

// with is the values of base, of which some are others.
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
		`managementClusters: [{name: a, backup: /mnt/backup}]`:                                       "backup",
		`pushUrl: http://push`:                                                                       "pushUrl",
		`managementClusters: [{name: a, backup: s3://b, args: ["s3://other"]}]`:                      "args",
		`managementClusters: [{name: a, backup: s3://b, args: ["--push=https://user:canary@push"]}]`: "args",
		`managementClusters: [{name: a, backup: s3://b, args: ["https://user:canary@push"]}]`:        "args",
		`managementClusters: [{name: a, backup: "https://key:canary@b"}]`:                            "bucketSecret",
		`managementClusters: [{name: a, backup: "s3://b?X-Amz-Signature=canary"}]`:                   "bucketSecret",
		`push: {url: "user:canary@push:9091"}`:                                                       "push.url",
		`push: {url: "https://push?token=canary"}`:                                                   "push.userSecret",
		`push: {url: "https://user:can/canary@push"}`:                                                "push.userSecret",
		`notify: {format: "slack=https://hooks.x/canary"}`:                                           "notify.format",
		`env: [{name: HTTPS_PROXY, value: "http://user:canary@proxy"}]`:                              "valueFrom.secretKeyRef",
		`env: [{name: GOVC_PASS, value: canary}]`:                                                    "valueFrom.secretKeyRef",
		`ignoreRules: "rules: [{match: {name: canary}}]"`:                                            "ignoreRules is no name of a ConfigMap",
		`managementClusters: [{name: a, backup: s3://b, ignoreRules: "canary: yes"}]`:                "ignoreRules of a",
		`managementClusters: [{name: a, backup: s3://b, confirmations: ./canary.yaml}]`:              "confirmations of a",
		`reports: {claim: /mnt/reports}`:                                                             "claim",
		`credentialsSecret: "endpoints: [{password: canary}]"`:                                       "credentialsSecret is no name of a Secret",
		`managementClusters: [{name: a, backup: s3://b, credentialsSecret: "user:canary"}]`:          "credentialsSecret of a",
		`env: [{name: SLACK_WEBHOOK_URL, value: canary}]`:                                            "valueFrom.secretKeyRef",
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
	if want := "grafana-dashboard.json prometheus-rules.yaml templates/cronjob.yaml templates/dashboard.yaml templates/prometheusrule.yaml templates/refused.yaml"; strings.Join(files, " ") != want {
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
