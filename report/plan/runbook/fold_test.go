package runbook

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan"
	"drift-detector/report/plan/plantest"
)

var picker = regexp.MustCompile(`(?m)^(pick\d+)\(\) \{ .*\}$`)

// foldedBlocks returns the blocks of a runbook, each behind the choice of an item.
func foldedBlocks(t *testing.T, r *report.Report, item int) []string {
	t.Helper()
	text := asMarkdown(t, r)
	choice := ""
	for _, found := range picker.FindAllStringSubmatch(text, -1) {
		choice += found[0] + "\n" + fmt.Sprintf("%s %d\n", found[1], item)
	}
	if choice == "" {
		t.Fatal("nothing is folded")
	}
	var out []string
	for _, block := range fences(text) {
		if lines := strings.Join(block, "\n"); !strings.HasPrefix(lines, "export ") && !picker.MatchString(lines) {
			out = append(out, choice+unset.ReplaceAllString(lines, "$1='filled'"))
		}
	}
	return out
}

// What is printed once for several machines is as safe as what each had for itself: at
// another place nothing changes, and for no machine of the list nothing at all.
func TestLaw10HoldsForBlocksOfSeveralMachines(t *testing.T) {
	lawOfBlocks(t, threefold("alpha"), 10)
	lawOfBlocks(t, plantest.Twice(t, threefold("alpha")), 8)
}

// lawOfBlocks demands that so many blocks change something where the report was made, and
// none anywhere else.
func lawOfBlocks(t *testing.T, r *report.Report, most int) {
	t.Helper()
	changed, gone := 0, ""
	for _, block := range foldedBlocks(t, r, 1) {
		if o := plantest.Try(t, block); o.Changed() {
			changed++
			gone += strings.Join(o.Calls, "\n") + "\n"
		}
		if o := plantest.Try(t, block, plantest.WrongPlace...); o.Changed() {
			t.Errorf("%q of %s", o.Calls, block)
		}
	}
	for _, want := range []string{"vm.destroy VirtualMachine:vm-3\n", "drain node/alpha ", "delete machines.cluster.x-k8s.io/alpha"} {
		if !strings.Contains(gone, want) {
			t.Errorf("no block does %s", want)
		}
	}
	if changed < most {
		t.Errorf("%d blocks change something", changed)
	}
	for _, block := range foldedBlocks(t, r, 9) { // there is no number 9
		if strings.Contains(block, "VirtualMachine:\"${") {
			if o := plantest.Try(t, block); o.Changed() {
				t.Errorf("without a machine: %q of %s", o.Calls, block)
			}
		}
	}
}

// A hostile name stays one word in what is printed once for several machines.
func TestBlocksOfSeveralMachinesTakeHostileNames(t *testing.T) {
	for _, name := range []string{"$(echo ran >&2)", "a;echo ran", "'; echo ran; '", `"; echo ran; "`, "*", `a\`, "a b", "a)echo ran;;"} {
		inEmptyFolder(t, exec.Command("bash", "-n", writeScript(t, enact(asShell(t, threefold(name))))))
		for _, block := range foldedBlocks(t, threefold(name), 1) {
			if o := plantest.Try(t, block); slices.Contains(strings.Split(o.Printed, "\n"), "ran") {
				t.Errorf("%q: %s", name, o.Printed)
			}
		}
	}
	lint(t, writeScript(t, enact(asShell(t, threefold("a 'b'; \"c\" & *")))))
}

// What workers of several clusters need is one step: with the context and the namespace
// of each, and under the same number in whatever part of the plan is printed.
func TestWorkersOfSeveralClustersAreOneStep(t *testing.T) {
	r := plantest.Twice(t, threefold("alpha"))
	text := asMarkdown(t, r)
	for _, want := range []string{". Workers of 2 clusters: 6 Ghost\n", ". Workers of 2 clusters: 6 Stale\n", "\n- (6) **beta2**: cluster beta/beta; ", "| alpha/alpha, beta/beta | Workers of 2 clusters: 6 Ghost | 6 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(text, "Power it off and check that nothing depends on it (reversible).\n"); n > 3 { // control planes, workers
		t.Errorf("it is said %d times how to end a VM", n)
	}
	p := plan.New(r, providerTools)
	if err := p.Narrow(plan.Narrowing{Clusters: []string{"beta"}}); err != nil {
		t.Fatal(err)
	}
	own := printed(t, Markdown, p)
	for want, there := range map[string]bool{"\n- (6) **beta2**: ": true, " 6) NAME_": true, "=alpha2 ;;": false, "**alpha2**": false, "CTX_ALPHA": false, "| beta/beta | Workers of 2 clusters: 6 Ghost | 3 |": true, "for ITEM in": false, "delete machines.cluster.x-k8s.io/\"${NAME_": true} {
		if strings.Contains(own, want) != there {
			t.Errorf("%q is there: %v", want, !there)
		}
	}
}

// A context that is not set leaves nothing of another machine behind.
func TestPickOfAClusterWithoutContextPicksNothing(t *testing.T) {
	for _, found := range picker.FindAllStringSubmatch(asMarkdown(t, plantest.Twice(t, threefold("alpha"))), -1) {
		if !strings.Contains(found[0], `CTX_BETA_BETA:?`) {
			continue
		}
		_, names, _ := strings.Cut(found[0], "unset ")
		names, _, _ = strings.Cut(names, ";")
		show := `; printf %s "$` + strings.ReplaceAll(names, " ", "$") + `"`
		pick := plantest.Filled + "unset CTX_BETA_BETA\n" + found[0] + "\n" + found[1] + " 1"
		for number, there := range map[string]bool{"1": true, "9": false} {
			out, _ := exec.Command("sh", "-c", pick+"; "+found[1]+" "+number+show).Output()
			if (len(out) > 0) != there {
				t.Errorf("%s sets %q", number, out)
			}
		}
		out, _ := exec.Command("sh", "-c", pick+"\ntrap '"+strings.TrimPrefix(show, "; ")+"' EXIT\n"+found[1]+" 2").Output()
		if len(out) > 0 {
			t.Errorf("without its context number 2 leaves %q", out)
		}
		return
	}
	t.Error("no step is for both clusters")
}

// Twenty machines that need the same are one block with the steps shown once.
func TestMachinesThatNeedTheSameAreOneBlock(t *testing.T) {
	r := sample("alpha")
	g := plantest.Group(r)
	one := *plantest.Find(t, r, code.Ghost, "worker")
	g.Machines, g.Counts = nil, report.MachineCounts{Total: 20, Ghost: 20}
	for i := range 20 {
		m := one
		m.Name = strings.Repeat("g", i+1)
		m.Instance = plantest.VSphereVM(m.Name, plantest.GhostID[:34]+string(rune('a'+i/10))+string(rune('0'+i%10)), 100+i)
		g.Machines = append(g.Machines, m)
	}
	text := asMarkdown(t, r)
	found := regexp.MustCompile(`#### (\d+)\. MachineDeployment alpha: 20 Ghost\n`).FindAllStringSubmatch(text, -1)
	if len(found) != 1 {
		t.Fatalf("%d blocks", len(found))
	}
	n := found[0][1]
	if n := strings.Count(text, "Power it off and check"); n != 2 { // once for the Ghost of the control plane
		t.Errorf("the step is shown %d times", n)
	}
	if n := strings.Count(text, "--replicas=20"); n != 1 {
		t.Errorf("what all share is there %d times", n)
	}
	for i := range g.Machines {
		m := &g.Machines[i]
		if !strings.Contains(text, fmt.Sprintf(" %d) ID_%s=%s VM_%s=%s ;;", i+1, n, m.Instance.ID, n, m.Instance.Ref)) || !strings.Contains(text, fmt.Sprintf("\n- (%d) **%s**: ", i+1, m.Name)) {
			t.Errorf("no lines for %s", m.Name)
		}
	}
}

// One snapshot is enough for all findings of a control plane; those of several clusters
// are one step, for one cluster after the other.
func TestSnapshotIsToldOncePerCluster(t *testing.T) {
	r := sample("alpha")
	second := sample("beta")
	plantest.Find(t, second, code.Ghost, "control-plane").Instance.ID = "66666666-6666-6666-6666-666666666666"
	r.Clusters = append(r.Clusters, second.Clusters[0])
	for name, tt := range map[string]struct {
		r *report.Report
		n int
	}{"two clusters": {r, 1}, "one": {sample("alpha"), 1}} {
		for kind, text := range map[string]string{"markdown": asMarkdown(t, tt.r), "shell": asShell(t, tt.r)} {
			text = strings.Join(strings.Fields(strings.ReplaceAll(text, "\n##", " ")), " ")
			for _, want := range []string{"snapshot save", "copy it off the Node", "sleep 3600", `>"${COPY:?}"`} {
				if got := strings.Count(text, want); got != tt.n {
					t.Errorf("%s, %s: %q is there %d times, want %d", kind, name, want, got, tt.n)
				}
			}
		}
	}
	text := asMarkdown(t, r)
	for _, want := range []string{"alpha/alpha**: because of ", "beta/beta**: because of ", `="${CTX_ALPHA_ALPHA:?}" POD_`, `="${CTX_BETA_BETA:?}" POD_`, `exec pod/"${POD_`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
}
