package plans_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
)

// verb is what a command does, without to what.
var verb = regexp.MustCompile(`(?:kubectl|velero) --(?:kube)?context \S+ (?:--namespace=\S+ )?(exec \S+ -- etcdctl(?: --\S+)* \w+(?: \w+)?|restore \w+|\w+)|govc ([a-z.]+)|aws --\S+ \S+ (?:--region=\S+ )?(\w[\w-]* [\w-]+)`)

// digest returns a finding's steps: when, who, and what each command ends in doing.
func digest(steps []report.Step) []string {
	var out []string
	for _, s := range steps {
		text := s.When + " " + s.Who + ":"
		for _, c := range s.Commands {
			found := verb.FindAllStringSubmatch(c, -1)
			switch {
			case len(found) == 0:
				text += " ask"
			default:
				last := found[len(found)-1]
				word := last[1] + last[2] + last[3]
				if i := strings.LastIndex(word, "=/"); i >= 0 { // of etcdctl, its last words
					word = "etcdctl" + word[strings.IndexByte(word[i:], ' ')+i:]
				}
				text += " " + strings.ReplaceAll(word, " ", "-")
			}
		}
		out = append(out, text)
	}
	return out
}

// planned returns the digest of every machine of a cluster that has steps.
func planned(t *testing.T, r *report.Report, cluster string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if c.Name != cluster {
			continue
		}
		machines := c.ControlPlane.Machines
		for _, g := range c.Workers.Groups {
			machines = slices.Concat(machines, g.Machines)
		}
		for _, m := range machines {
			if d := digest(m.Remediation); d != nil {
				out[m.Name] = d
			}
			ownIDs(t, &m)
		}
		return out
	}
	t.Fatalf("no cluster %s", cluster)
	return nil
}

var (
	objects = regexp.MustCompile(`VirtualMachine:(\S+)`)
	uuids   = regexp.MustCompile(`config\.uuid(?: |\)" = )([0-9a-f-]{36})`)
	// seen is a look at another VM of the cluster, which shows that the account sees it.
	seen  = regexp.MustCompile(`test -n "\$\(GOVC_URL="[^"]*" govc find [^)]*\)"`)
	named = regexp.MustCompile(`(?:machines\.cluster\.x-k8s\.io/|node/)(\S+)`)
)

// ownIDs demands that the commands of a machine address it and nothing else.
func ownIDs(t *testing.T, m *report.Machine) {
	t.Helper()
	own := []string{m.Name, m.Node, strings.TrimPrefix(m.ProviderID, "vsphere://")}
	if m.Instance != nil {
		own = append(own, m.Instance.ID, m.Instance.Ref)
	}
	for _, o := range m.Others {
		own = append(own, o.ID, o.Ref)
	}
	for _, s := range m.Remediation {
		for _, c := range s.Commands {
			for _, form := range []*regexp.Regexp{objects, uuids, named} {
				for _, found := range form.FindAllStringSubmatch(seen.ReplaceAllString(c, ""), -1) {
					if !slices.Contains(own, found[1]) {
						t.Errorf("%s: %q addresses %s", m.Name, c, found[1])
					}
				}
			}
		}
	}
}

// What is done about the findings of the lab, by kind.
var (
	noCommands = []string{"before-restore operator:"}
	removal    = []string{
		"after-restore operator: drain get", "after-restore operator: device.info ask device.remove", "after-restore operator: delete",
		"after-restore operator: vm.power", "after-restore operator: vm.destroy",
	}
	scaleUpAndRemove = slices.Concat([]string{"after-restore operator: scale get"}, removal)
	waitAndRemove    = slices.Concat([]string{"after-restore operator: get"}, removal)
	prove            = []string{"before-restore operator: get object.collect", "after-restore operator:"}
	replace          = []string{"after-restore operator: delete"}
	scaleDownOr      = slices.Concat([]string{"after-restore operator: scale"}, replace)
	duplicate        = []string{"before-restore operator: get object.collect object.collect", "before-restore operator: ask vm.change", "after-restore operator:"}
	watchPowerOn     = []string{"after-restore controller: object.collect"}
	finishDeletion   = []string{"before-restore operator: ask ask", "after-restore controller: get", "after-restore operator: get get object.collect", "after-restore operator: get"}
	findTheCause     = []string{"after-restore operator: describe", "after-restore controller: get"}
)

func TestLabPlans(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	withNodes, without := w.Detect().Report, w.Detect("--skip-access-apiserver").Report
	for _, tt := range []struct {
		cluster, why     string
		nodes, otherwise map[string][]string
	}{
		{
			"alpha-dev", "was deleted after the backup: its control plane is gone, so that no worker is worth replacing, and all is decided before the restore",
			map[string][]string{
				"alpha-dev-nzj74":            noCommands,
				"alpha-dev-md-0-pjr48-m4vlc": noCommands,
				"alpha-dev-md-0-pjr48-tc6jr": noCommands,
				"alpha-dev-md-1-zhpr5-7zdw7": noCommands,
			},
			nil,
		},
		{
			"beta-prod", "has its control plane and no Ghost: its Stale workers were scaled away or destroyed, and nothing replaces them, so that the operator decides between fewer and new ones",
			map[string][]string{
				"beta-prod-md-0-vtdj6-2bngd": scaleDownOr,
				"beta-prod-md-1-69knr-2p42j": scaleDownOr,
				"beta-prod-md-1-69knr-cwjbz": scaleDownOr,
			},
			nil,
		},
		{
			"gamma-edge", "keeps its only control-plane machine: two workers are Ghosts of a scale-up, one machine never got a VM and first needs its cause removed, and one that was being deleted is replaced by a controller while the operator finishes the deletion",
			map[string][]string{
				"gamma-edge-md-0-7n6v9-4qtz2":      scaleUpAndRemove,
				"gamma-edge-md-0-7n6v9-svjwc":      scaleUpAndRemove,
				"gamma-edge-md-1-rrrv7-s6h7f":      finishDeletion,
				"gamma-edge-md-broken-7hlgf-9hlj8": findTheCause,
			},
			map[string][]string{"gamma-edge-md-0-7n6v9-4qtz2": prove, "gamma-edge-md-0-7n6v9-svjwc": prove},
		},
		{
			"alpha-prod", "was scaled up (md-0: more capacity before two Ghosts go), scaled down (md-1: fewer or new ones), had one machine replaced (gpu: the Stale one first, then its successor), and has a VM whose id two have, which nobody may delete",
			map[string][]string{
				"alpha-prod-jzxnt":              duplicate,
				"alpha-prod-md-0-cjzhw-7z9bm":   watchPowerOn,
				"alpha-prod-md-0-cjzhw-68lpw":   scaleUpAndRemove,
				"alpha-prod-md-0-cjzhw-tqwxw":   scaleUpAndRemove,
				"alpha-prod-md-1-jqqjv-dgmm9":   scaleDownOr,
				"alpha-prod-md-1-jqqjv-r8qdz":   scaleDownOr,
				"alpha-prod-md-gpu-tfdnj-2spl2": replace,
				"alpha-prod-md-gpu-tfdnj-8nwrw": waitAndRemove,
			},
			map[string][]string{"alpha-prod-md-0-cjzhw-68lpw": prove, "alpha-prod-md-0-cjzhw-tqwxw": prove, "alpha-prod-md-gpu-tfdnj-8nwrw": prove},
		},
	} {
		t.Run(tt.cluster+" "+tt.why, func(t *testing.T) {
			samePlan(t, planned(t, withNodes, tt.cluster), tt.nodes)
			for name, steps := range tt.otherwise { // the evidence of names alone is medium
				tt.nodes[name] = steps
			}
			samePlan(t, planned(t, without, tt.cluster), tt.nodes)
		})
	}
}

func samePlan(t *testing.T, got, want map[string][]string) {
	t.Helper()
	for name, steps := range got {
		if !slices.Equal(steps, want[name]) {
			t.Errorf("%s\n got %q\nwant %q", name, steps, want[name])
		}
	}
	for name := range want {
		if got[name] == nil {
			t.Errorf("%s has no steps", name)
		}
	}
}

// The plan says nothing that the forecast contradicts: who acts is whom the
// forecast names, and what is well needs nobody.
func TestPlansAgreeWithForecasts(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*runs.World{"fleet": runs.Fleet(t), "restored": runs.Restored(t)} {
		r := w.Detect().Report
		seen := map[string]int{}
		for i := range r.Clusters {
			c := &r.Clusters[i]
			machines := c.ControlPlane.Machines
			for _, g := range c.Workers.Groups {
				machines = slices.Concat(machines, g.Machines)
			}
			for _, m := range machines {
				if m.Forecast == nil {
					t.Fatalf("%s has no forecast", m.Name)
				}
				seen[string(m.Forecast.Outcome)]++
				who := map[string]bool{}
				for _, s := range m.Remediation {
					who[s.Who] = true
				}
				operator, controller := who[report.Operator], who[report.Controller]
				var ok bool
				switch m.Forecast.Outcome {
				case "Adopted", "AdoptedByName":
					ok = len(m.Warnings) > 0 || m.Status == code.Unknown || len(m.Remediation) == 0
				case "AdoptedPoweredOn", "ReplacedByMachineHealthCheck", "NewInstanceCreated":
					ok = controller && (!operator || len(m.Warnings) > 0)
				case "UntouchedPaused":
					ok = m.Status == code.Healthy || operator
				case "OrphanedAndReplaced":
					ok = controller && operator
				default:
					ok = operator
				}
				if !ok {
					t.Errorf("%s: %s is %s, forecast %s, and its steps are %q", name, m.Name, m.Status, m.Forecast.Outcome, digest(m.Remediation))
				}
			}
		}
		if name == "restored" && (seen["ReplacedByMachineHealthCheck"] == 0 || seen["Stuck"] == 0 || seen["GhostEtcdMemberRemoved"] == 0 || seen["UntouchedPaused"] == 0) {
			t.Errorf("the lab has lost cases: %v", seen)
		}
	}
}

// Cluster delta-topo is of a ClusterClass and was scaled from 3 to 2 after the
// backup: its fewer machines are asked for at the Cluster.
func TestClusterOfAClassIsScaledAtItsTopology(t *testing.T) {
	t.Parallel()
	got := planned(t, runs.Restored(t).Detect().Report, "delta-topo")
	want := []string{"after-restore operator: get ask patch", "after-restore operator: delete"}
	for name, steps := range got {
		if !slices.Equal(steps, want) {
			t.Errorf("%s\n got %q\nwant %q", name, steps, want)
		}
	}
	if len(got) != 1 {
		t.Errorf("%d machines have steps, want 1", len(got))
	}
}

// The runbook of a report as a script is valid shell, and does nothing as it is.
func TestPlanOfTheLabIsAnInertScript(t *testing.T) {
	t.Parallel()
	w := runs.Restored(t)
	w.Detect("--format", "json").Demand(t, cli.ExitOK)
	file := filepath.Join(w.Dir, "runbook.sh")
	o := runs.Run(t, "plan", filepath.Join(w.Dir, "report.json"), "--format", "shell", "-o", file)
	o.Demand(t, cli.ExitOK)
	if o.Stdout+o.Stderr != "" {
		t.Errorf("it says %q, %q", o.Stdout, o.Stderr)
	}
	tools := [][]string{{"bash", "-n", file}, {"sh", file}}
	if checker, err := exec.LookPath("shellcheck"); err == nil {
		tools = append(tools, []string{checker, file})
	} else if os.Getenv("CI") != "" {
		t.Error("shellcheck is not installed")
	}
	for _, args := range tools {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%v: %v: %s", args, err, out)
		}
		if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
			t.Errorf("%v left %v behind: %v", args, left, err)
		}
	}
}

// A report of a release that did not describe the providers gives the same plan.
func TestPlanOfAReportWithoutProviders(t *testing.T) {
	t.Parallel()
	w := runs.Restored(t)
	r := w.Detect().Report
	if len(r.Providers) == 0 {
		t.Fatal("the report describes no provider")
	}
	plan := func() string {
		file := filepath.Join(w.Dir, "made.json")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(report.JSON(f, r), f.Close()); err != nil {
			t.Fatal(err)
		}
		o := runs.Run(t, "plan", file)
		o.Demand(t, cli.ExitOK)
		return o.Stdout
	}
	want := plan()
	r.Providers = nil
	if plan() != want || !strings.Contains(want, "govc") || !strings.Contains(want, "deleting a Machine makes CAPV") {
		t.Error("the plan is another one")
	}
}

// However much is folded, each machine and VM with a step is named in the part of the plan
// that its step is for.
func TestPlansNameEachFinding(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*runs.World{"fleet": runs.Fleet(t), "restored": runs.Restored(t)} {
		o := w.Detect()
		text := w.Plan(o)
		_, text, _ = strings.Cut(text, "## Before the restore")
		before, rest, _ := strings.Cut(text, "\n## The restore\n")
		_, after, _ := strings.Cut(rest, "\n## After the restore\n")
		findings := 0
		demand := func(finding string, steps []report.Step) {
			for when, part := range map[string]string{report.BeforeRestore: before, report.AfterRestore: after} {
				if slices.ContainsFunc(steps, func(s report.Step) bool { return s.When == when }) {
					findings++
					if !regexp.MustCompile(`(?m)[*/( ]` + regexp.QuoteMeta(finding) + `([*,.) ]|$)`).MatchString(part) {
						t.Errorf("%s: %s is not in the plan %s", name, finding, when)
					}
				}
			}
		}
		for i := range o.Report.Clusters {
			for _, s := range o.Report.Clusters[i].Sets() {
				for _, m := range s.Machines {
					demand(m.Name, m.Remediation)
				}
			}
		}
		for _, m := range o.Report.InfraMachines {
			demand(m.Instance.Name, m.Remediation)
		}
		if findings < 30 {
			t.Errorf("%s: %d findings", name, findings)
		}
	}
}

// A person who looks after one cluster of 525 reads two pages, under the numbers of the
// whole plan.
func TestPlanOfOneClusterOfManyIsShort(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	one := w.Detect().JSON
	var all report.Report
	for i := range 105 {
		var names []string
		for _, name := range []string{"tenant-", "alpha-", "beta-", "gamma-", "aws-prod", "vcenter-", "jumphost-"} {
			names = append(names, name, fmt.Sprintf("n%03d-%s", i, name))
		}
		var next report.Report
		if err := json.Unmarshal([]byte(strings.NewReplacer(names...).Replace(string(one))), &next); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			all = next
			continue
		}
		all.Clusters = append(all.Clusters, next.Clusters...)
		all.InfraMachines = append(all.InfraMachines, next.InfraMachines...)
		all.Checks = append(all.Checks, next.Checks...)
		all.Summary.Answer.Reasons = append(all.Summary.Answer.Reasons, next.Summary.Answer.Reasons...)
	}
	file := filepath.Join(w.Dir, "many.json")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(report.JSON(f, &all), f.Close()); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		c := &all.Clusters[60*5+i]
		text := runs.Run(t, "plan", file, "--cluster", c.Namespace+"/"+c.Name).Stdout
		if n := strings.Count(runs.WholeLines(text), "\n"); n > 120 || n < 20 {
			t.Errorf("the plan of %s has %d lines, want at most 120", c.Name, n)
		}
		if strings.Contains(text, "**n059-") || strings.Contains(text, "**n061-") {
			t.Errorf("the plan of %s lists machines of others", c.Name)
		}
	}
}

// What a person has to read stays short, because likes are shown once.
func TestPlansAreShort(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		w     *runs.World
		lines int
	}{"fleet": {runs.Fleet(t), 436}, "restored": {runs.Restored(t), 572}} {
		if n := strings.Count(runs.WholeLines(tt.w.Plan(tt.w.Detect())), "\n"); n > tt.lines || n < 300 {
			t.Errorf("the plan of the %s lab has %d lines, want at most %d", name, n, tt.lines)
		}
	}
}
