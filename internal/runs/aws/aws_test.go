package aws_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

// Every entry of the oracle of aws-prod holds when EC2 answers in pages of 3,
// live and through a saved inventory, which calls nobody.
func TestAWSVerdicts(t *testing.T) {
	want := runs.ReadAWSOracle(t)
	w := runs.Fleet(t)
	o := runs.FleetEC2()
	o.PageSize = 3
	ec2 := runs.ServeEC2(t, o)
	live := w.Detect()
	live.Demand(t, cli.ExitOK)
	live.AgreesWith(t, want)
	// 11 instances on 4 pages, and one more call for the id that is not there.
	// The SDK may try one of them again.
	if n := ec2.Calls()["ec2:DescribeInstances"]; n < 5 {
		t.Errorf("%d calls of DescribeInstances, want 5", n)
	}
	for _, s := range live.Report.Scopes {
		if s.Provider == "aws" && (s.Account != lab.EC2Account || s.Location != "us-east-1" || s.Instances != 11) {
			t.Errorf("scope %+v", s)
		}
	}
	if strings.Contains(live.Stderr+live.Stdout+string(live.JSON), lab.EC2KeyID) {
		t.Error("the id of the access key is shown")
	}

	saved := filepath.Join(w.Dir, "inventory.json")
	runs.Run(t, slices.Concat([]string{"inventory", "-o", saved}, w.Sources(), w.Reach())...).Demand(t, cli.ExitOK)
	before := ec2.Calls()["ec2:DescribeInstances"]
	offline := w.Run(append(w.Sources(), "--inventory", saved)...)
	offline.Demand(t, cli.ExitOK)
	offline.AgreesWith(t, want)
	if after := ec2.Calls()["ec2:DescribeInstances"]; after != before {
		t.Error("AWS was called in spite of the inventory")
	}
}

// Whatever fails, only the machines of that region become Unknown, nothing
// becomes Stale, and the first error line names the host.
func TestAWSFails(t *testing.T) {
	want := runs.ReadOracle(t, runs.Testdata+"verdicts.json")
	unrelated := lab.EC2Key{ID: "AKIASTRANGER00000001", Secret: "s", Account: "999999999999"}
	for name, c := range map[string]struct {
		bend   func(*lab.EC2Options)
		env    map[string]string
		drop   string // an argument to leave out
		reason string // of the scope
		hint   string
	}{
		"no credential":     {drop: "--aws-ambient", reason: "NoCredential", hint: "--aws-profile NAME, or --aws-ambient"},
		"unknown key":       {env: map[string]string{"AWS_ACCESS_KEY_ID": "AKIAUNKNOWN000000001"}, reason: "AuthenticationFailed"},
		"wrong secret":      {env: map[string]string{"AWS_SECRET_ACCESS_KEY": "m4rk3r"}, reason: "AuthenticationFailed"},
		"expired token":     {bend: func(o *lab.EC2Options) { o.Faults.Expired = true }, reason: "AuthenticationFailed"},
		"denied":            {bend: func(o *lab.EC2Options) { o.Faults.DenyRegions = []string{"us-east-1"} }, reason: "NoPermission", hint: "drift-detector permissions aws"},
		"the wrong account": {bend: func(o *lab.EC2Options) { o.Keys = []lab.EC2Key{unrelated} }, reason: "VisibilityUnproven"},
	} {
		t.Run(name, func(t *testing.T) {
			w := runs.Fleet(t)
			before := w.Detect()
			o := runs.FleetEC2()
			if c.bend != nil {
				c.bend(&o)
			}
			runs.ServeEC2(t, o)
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			args := slices.DeleteFunc(slices.Concat(w.Sources(), w.Reach()), func(a string) bool { return a == c.drop })
			after := w.Run(args...)
			after.Demand(t, cli.ExitIncomplete)
			runs.NoWorse(t, before.Report, after.Report)
			after.AgreesWith(t, want)
			onlyUnknown(t, after.Report, "aws-prod")
			if first := runs.ErrorLines(after.Stderr)[0]; !strings.Contains(first, "ec2.us-east-1.amazonaws.com") {
				t.Errorf("the first error line does not name the host: %s", first)
			}
			if !strings.Contains(after.Stderr, "hint: ") || !strings.Contains(after.Stderr, c.hint) {
				t.Errorf("stderr does not say %q:\n%s", c.hint, after.Stderr)
			}
			if strings.Contains(after.Stderr+after.Stdout+string(after.JSON), "m4rk3r") {
				t.Error("the secret key is shown")
			}
			i := slices.IndexFunc(after.Report.Scopes, func(s report.Scope) bool { return s.Provider == "aws" })
			if s := after.Report.Scopes[i]; s.State == "complete" || s.Error == nil || string(s.Error.Reason) != c.reason {
				t.Errorf("the scope is %s, %+v, want %s", s.State, s.Error, c.reason)
			}
		})
	}
}

// onlyUnknown demands that no machine of a cluster has another verdict.
func onlyUnknown(t *testing.T, r *report.Report, cluster string) {
	t.Helper()
	n := 0
	for _, status := range []string{"Healthy", "Stale", "Ghost", "Unknown"} {
		for name, m := range runs.ByStatus(r, status) {
			if !strings.HasPrefix(name, cluster+"/") {
				continue
			}
			if n++; status != "Unknown" {
				t.Errorf("%s is %s (%s)", name, status, m.Reason)
			}
		}
	}
	if n == 0 {
		t.Errorf("%s has no machines", cluster)
	}
}

// A profile in the backup that runs something is refused, and nothing runs.
func TestAWSProfileThatRunsSomething(t *testing.T) {
	w := runs.Fleet(t)
	ec2 := runs.ServeEC2(t, runs.FleetEC2())
	trace := filepath.Join(w.Dir, "trace")
	profile := "[default]\ncredential_process = touch " + trace + "\n"
	w.Added("process", func(b *backuptest.Tarball) {
		b.Add("secrets", map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "capa-system", "name": "capa-manager-bootstrap-credentials"},
			"data": map[string]any{"credentials": base64.StdEncoding.EncodeToString([]byte(profile))},
		})
	})
	o := w.Run(slices.DeleteFunc(slices.Concat(w.Sources(), w.Reach()), func(a string) bool { return a == "--aws-ambient" })...)
	o.Demand(t, cli.ExitIncomplete)
	onlyUnknown(t, o.Report, "aws-prod")
	if _, err := os.Stat(trace); err == nil {
		t.Error("credential_process ran")
	}
	if !strings.Contains(o.Stderr, "credential_process") {
		t.Errorf("stderr does not say what was refused:\n%s", o.Stderr)
	}
	if n := len(ec2.Calls()); n != 0 {
		t.Errorf("AWS was called: %v", ec2.Calls())
	}
}

// A region becomes part of a host name, so it has to look like one.
func TestAWSRegionThatIsAHost(t *testing.T) {
	w := runs.Fleet(t)
	ec2 := runs.ServeEC2(t, runs.FleetEC2())
	w.AWSCluster("region", `"region":"us-east-1"`, `"region":"x.evil.example/"`)
	o := w.Detect()
	o.Demand(t, cli.ExitIncomplete)
	onlyUnknown(t, o.Report, "aws-prod")
	if n := len(ec2.Calls()); n != 0 || !strings.Contains(o.Stderr, "x.evil.example/") {
		t.Errorf("calls %v\n%s", ec2.Calls(), o.Stderr)
	}
}

// A role that the backup names is assumed with the operator's credentials only
// when he lets them be used, and its ARN is said before.
func TestAWSRoleOfTheBackup(t *testing.T) {
	const hostile = "arn:aws:iam::999999999999:role/collector"
	w := runs.Fleet(t)
	options := runs.FleetEC2()
	options.Roles = []lab.EC2Role{{ARN: hostile}}
	ec2 := runs.ServeEC2(t, options)
	w.AWSCluster("role", `"kind":"AWSClusterControllerIdentity","name":"default"`, `"kind":"AWSClusterRoleIdentity","name":"collector"`)
	w.Added("role-object", func(b *backuptest.Tarball) {
		b.Add("awsclusterroleidentities.infrastructure.cluster.x-k8s.io", map[string]any{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSClusterRoleIdentity",
			"metadata": map[string]any{"name": "collector"}, "spec": map[string]any{"roleARN": hostile, "allowedNamespaces": map[string]any{}},
		})
	})
	o := w.Run(slices.DeleteFunc(slices.Concat(w.Sources(), w.Reach()), func(a string) bool { return a == "--aws-ambient" })...)
	o.Demand(t, cli.ExitIncomplete)
	onlyUnknown(t, o.Report, "aws-prod")
	if len(ec2.Calls()) != 0 || len(ec2.Assumed()) != 0 {
		t.Errorf("AWS was called without leave: %v, %v", ec2.Calls(), ec2.Assumed())
	}
	let := w.Detect()
	let.Demand(t, cli.ExitIncomplete) // the role's account holds nothing
	onlyUnknown(t, let.Report, "aws-prod")
	said := strings.Index(let.Stderr, hostile)
	if got := slices.Compact(ec2.Assumed()); !slices.Equal(got, []string{hostile}) || said < 0 || said > strings.Index(let.Stderr, "error: ") {
		t.Errorf("assumed %v\n%s", got, let.Stderr)
	}
}
