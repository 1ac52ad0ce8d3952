package program

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"drift-detector/backup/backuptest"
	"drift-detector/infra/shell"
	"drift-detector/infra/store/storetest"
	"drift-detector/internal/runs"
)

// writeContainers runs the script command `containers FILE`: it writes a shell script
// NAME.sh for each container of a Job or CronJob, which does what the container does,
// with the paths of its volumes in $WORK.
func writeContainers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: containers FILE")
	}
	spec := podOf(ts, ts.ReadFile(args[0]))
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		first, _, _ := strings.Cut(c.Image, "/")
		if strings.ContainsAny(first, ".") && first != c.Image {
			ts.Fatalf("%s: image %s names a registry", c.Name, c.Image)
		}
		demandUnprivileged(ts, spec, &c)
		ts.Check(os.WriteFile(ts.MkAbs(c.Name+".sh"), []byte(onHost(ts, spec, &c)), 0o600))
	}
}

// startBucket returns the script command `bucket TARBALL`: it starts a store of twelve backups, of which the
// last one but one can be restored and is the tarball, and a Pushgateway that writes what it is sent to
// the file pushed.
func startBucket(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 1 {
			ts.Fatalf("usage: bucket TARBALL")
		}
		body, err := os.ReadFile(ts.MkAbs(args[0]))
		ts.Check(err)
		b := &runs.InBucket{Store: storetest.Start(t, false), T: t}
		b.Now = runs.Clock
		for i := range 12 {
			phase, tarball := "Completed", body
			if i == 11 {
				phase, tarball = "InProgress", nil
			}
			b.BackUp(fmt.Sprintf("nightly-%02d", i+1), "nightly", phase, backuptest.Written.Add(time.Duration(i)*time.Hour), tarball)
		}
		pushed := ts.MkAbs("pushed")
		gateway := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			_ = os.WriteFile(pushed, append([]byte(r.Method+" "+r.URL.Path+"\n"), text...), 0o600)
		}))
		ts.Defer(gateway.Close)
		for name, value := range map[string]string{
			"AWS_ACCESS_KEY_ID": storetest.KeyID, "AWS_SECRET_ACCESS_KEY": storetest.Secret, "AWS_EC2_METADATA_DISABLED": "true",
			"DRIFT_DETECTOR_S3_ENDPOINT": b.URL, "DRIFT_DETECTOR_BACKUP": "s3://velero/mgmt", "DRIFT_DETECTOR_PUSH": gateway.URL + "/metrics/job/drift-detector/instance/mgmt",
		} {
			ts.Setenv(name, value)
		}
	}
}

// podOf returns the pod of a manifest, without a field that Kubernetes does not know.
func podOf(ts *testscript.TestScript, manifest string) corev1.PodSpec {
	manifest, _, _ = strings.Cut(manifest, "\n---\n") // what it needs comes after it
	var kind metav1.TypeMeta
	ts.Check(yaml.Unmarshal([]byte(manifest), &kind))
	switch kind.Kind {
	case "CronJob":
		var job batchv1.CronJob
		ts.Check(yaml.UnmarshalStrict([]byte(manifest), &job))
		return job.Spec.JobTemplate.Spec.Template.Spec
	case "Job":
		var job batchv1.Job
		ts.Check(yaml.UnmarshalStrict([]byte(manifest), &job))
		// Without it the first finding ends the pods of all other backups.
		if s := job.Spec; *s.CompletionMode != batchv1.IndexedCompletion || s.BackoffLimitPerIndex == nil || s.BackoffLimit != nil {
			ts.Fatalf("the Job is not indexed, or one index fails the others")
		}
		return job.Spec.Template.Spec
	}
	ts.Fatalf("kind %s", kind.Kind)
	return corev1.PodSpec{}
}

// demandUnprivileged holds a container to what Pod Security Standards call restricted.
func demandUnprivileged(ts *testscript.TestScript, spec corev1.PodSpec, c *corev1.Container) {
	own, pod := c.SecurityContext, spec.SecurityContext
	if own == nil || *own.AllowPrivilegeEscalation || !*own.ReadOnlyRootFilesystem || !slices.Contains(own.Capabilities.Drop, "ALL") ||
		!*pod.RunAsNonRoot || pod.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || *spec.AutomountServiceAccountToken {
		ts.Fatalf("%s has more rights than it needs", c.Name)
	}
}

// reference is how a container's arguments name a variable of its environment.
var reference = regexp.MustCompile(`\$\(([A-Z_]+)\)`)

// onHost returns a shell script that does what a container does. A container of the
// image has no shell; its arguments are those of the program.
func onHost(ts *testscript.TestScript, spec corev1.PodSpec, c *corev1.Container) string {
	text := strings.Join(c.Args, "\n")
	if strings.HasPrefix(c.Image, "drift-detector:") {
		text = "exec drift-detector"
		here := strings.NewReplacer("s3://BUCKET/mgmt-1", ts.Getenv("DRIFT_DETECTOR_BACKUP"), "http://pushgateway:9091/metrics/job/drift-detector/instance/mgmt-1", ts.Getenv("DRIFT_DETECTOR_PUSH"))
		for _, a := range c.Args {
			a = here.Replace(reference.ReplaceAllStringFunc(a, func(r string) string { return ts.Getenv(r[2 : len(r)-1]) }))
			word, ok := shell.Quote(a)
			if !ok {
				ts.Fatalf("argument %q", a)
			}
			text += " " + word
		}
	}
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
			ts.Fatalf("no volume %s", m.Name)
		}
		at := ts.MkAbs(strings.TrimPrefix(m.MountPath, "/"))
		ts.Check(os.MkdirAll(at, 0o700))
		text = regexp.MustCompile(`(^|[\s="'])`+regexp.QuoteMeta(m.MountPath)+`\b`).ReplaceAllString(text, "${1}"+at)
	}
	for _, e := range c.Env {
		ts.Setenv(e.Name, e.Value)
	}
	return text + "\n"
}

// action is what GitHub reads of action.yml.
type action struct {
	Name, Description string
	Inputs            map[string]struct {
		Description, Default string
		Required             bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []actionStep
	}
}

type actionStep struct {
	Name, ID, Uses, If, Shell, Run string
	With, Env                      map[string]string
}

// writeAction runs the script command `action FILE SCRIPT NAME=VALUE…`: it takes the
// script of step "detect" out of an action of GitHub, and sets the environment that
// GitHub would make of the inputs.
func writeAction(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: action FILE SCRIPT NAME=VALUE…")
	}
	var a action
	ts.Check(yaml.UnmarshalStrict([]byte(ts.ReadFile(args[0])), &a))
	inputs := map[string]string{}
	for name, in := range a.Inputs {
		inputs[name] = in.Default
	}
	for _, given := range args[2:] {
		name, value, ok := strings.Cut(given, "=")
		if _, known := a.Inputs[name]; !ok || !known {
			ts.Fatalf("no input %s", given)
		}
		inputs[name] = value
	}
	for _, step := range a.Runs.Steps {
		// GitHub writes the value of an expression into the script as it is: a
		// command in it would run.
		if strings.Contains(step.Run, "${{") {
			ts.Fatalf("step %s: an expression is in a script", step.Name)
		}
		if step.ID != "detect" {
			continue
		}
		for name, value := range step.Env {
			ts.Setenv(name, inputOf(ts, value, inputs))
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(step.Run), 0o600))
		return
	}
	ts.Fatalf("%s has no step detect", args[0])
}

var expression = regexp.MustCompile(`^\$\{\{ inputs\.([a-z-]+) \}\}$`)

func inputOf(ts *testscript.TestScript, value string, inputs map[string]string) string {
	m := expression.FindStringSubmatch(value)
	if m == nil {
		ts.Fatalf("%q is no input", value)
	}
	in, ok := inputs[m[1]]
	if !ok {
		ts.Fatalf("%s", fmt.Sprintf("there is no input %s", m[1]))
	}
	return in
}
