package plan

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// alikes returns a sample with three of each finding: one is as the stand-ins of the
// programs know it.
func alikes(name string) *report.Report {
	r := sample(name)
	each := func(ms []report.Machine) []report.Machine {
		var out []report.Machine
		for _, m := range ms {
			for i := range 3 {
				other := m
				if i > 0 && m.Status != code.Healthy {
					other.Name = fmt.Sprintf("%s%d", m.Name, i)
					other.Node = other.Name
					if m.ProviderID != "" {
						other.ProviderID = m.ProviderID[:len(m.ProviderID)-1] + fmt.Sprint(i)
					}
					if m.Instance != nil {
						vm := *m.Instance
						vm.ID, vm.Name = vm.ID[:len(vm.ID)-1]+fmt.Sprint(i), other.Name
						if vm.Ref != "" {
							vm.Ref += fmt.Sprint(i)
						}
						other.Instance = &vm
					}
				}
				if i == 0 || m.Status != code.Healthy {
					out = append(out, other)
				}
			}
		}
		return out
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		c.ControlPlane.Machines = each(c.ControlPlane.Machines)
		for k := range c.Workers.Groups {
			c.Workers.Groups[k].Machines = each(c.Workers.Groups[k].Machines)
		}
	}
	return r
}

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
	lawOfBlocks(t, alikes("alpha"), 10)
	lawOfBlocks(t, twice(t, alikes("alpha")), 8)
}

// lawOfBlocks demands that so many blocks change something where the report was made, and
// none anywhere else.
func lawOfBlocks(t *testing.T, r *report.Report, most int) {
	t.Helper()
	changes := func(o outcomeOf) bool {
		return slices.ContainsFunc(o.calls, func(call string) bool {
			return !strings.Contains(call, "delete pod/") && !strings.Contains(call, "--dry-run=server") &&
				slices.ContainsFunc(changing, func(w string) bool { return strings.Contains(call, w) })
		})
	}
	changed, gone := 0, ""
	for _, block := range foldedBlocks(t, r, 1) {
		if o := try(t, block); changes(o) {
			changed++
			gone += strings.Join(o.calls, "\n") + "\n"
		}
		if o := try(t, block, wrongPlace...); changes(o) {
			t.Errorf("%q of %s", o.calls, block)
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
			if o := try(t, block); changes(o) {
				t.Errorf("without a machine: %q of %s", o.calls, block)
			}
		}
	}
}

// A hostile name stays one word in what is printed once for several machines.
func TestBlocksOfSeveralMachinesTakeHostileNames(t *testing.T) {
	for _, name := range []string{"$(echo ran >&2)", "a;echo ran", "'; echo ran; '", `"; echo ran; "`, "*", `a\`, "a b", "a)echo ran;;"} {
		inEmptyFolder(t, exec.Command("bash", "-n", writeScript(t, enact(asShell(t, alikes(name))))))
		for _, block := range foldedBlocks(t, alikes(name), 1) {
			if o := try(t, block); slices.Contains(strings.Split(o.printed, "\n"), "ran") {
				t.Errorf("%q: %s", name, o.printed)
			}
		}
	}
	lint(t, writeScript(t, enact(asShell(t, alikes("a 'b'; \"c\" & *")))))
}

// Each finding of a report has its place in the plan, whatever is folded, and each
// step has a number of its own.
func TestNothingIsLostInTheFolds(t *testing.T) {
	for _, r := range []*report.Report{sample("alpha"), alikes("alpha")} {
		p := New(r, providerTools)
		Fill(r, providerTools)
		needed, listed := findings(r), map[string]int{}
		rows := p.Rows()
		for i, row := range rows {
			if row.Number != i+1 {
				t.Fatalf("row %d has number %d", i+1, row.Number)
			}
		}
		labels := map[string]bool{}
		note := func(label string) {
			if labels[label] {
				t.Errorf("two steps are %s", label)
			}
			labels[label] = true
		}
		for _, s := range p.Sections {
			for i := range s.Chapters {
				c := &s.Chapters[i]
				for k := range c.Steps {
					note(c.Label(k))
				}
				for k := range c.Batches {
					for _, item := range c.Batches[k].Items {
						for _, name := range append(item.machines, item.Name) {
							listed[s.Phase+" "+name]++
						}
					}
					for n := range c.Batches[k].Steps {
						note(c.Batches[k].Label(n))
					}
				}
			}
		}
		for name, n := range needed {
			if listed[name] < n {
				t.Errorf("%d findings of %s are in the plan, want %d", listed[name], name, n)
			}
		}
		if len(needed) < 5 {
			t.Errorf("there are %d findings", len(needed))
		}
		for text, of := range map[string]string{"markdown": asMarkdown(t, r), "shell": asShell(t, r)} {
			for label := range labels {
				if !strings.Contains(of, "[ ] **"+label+"** ") && !strings.Contains(of, "[ ] "+label+" ") {
					t.Errorf("%s lacks %s", text, label)
				}
			}
		}
	}
}

// findings counts what has steps, by time and name.
func findings(r *report.Report) map[string]int {
	out := map[string]int{}
	note := func(name string, steps []report.Step) {
		for phase, when := range map[string]string{Before: report.BeforeRestore, After: report.AfterRestore} {
			if slices.ContainsFunc(steps, func(s report.Step) bool { return s.When == when }) {
				out[phase+" "+name]++
			}
		}
	}
	for i := range r.Clusters {
		for _, m := range newPlanner(r, Tools{}).machinesOf(&r.Clusters[i]) {
			note(m.Name, m.Remediation)
		}
	}
	for i := range r.InfraMachines {
		note(r.InfraMachines[i].Instance.Name, r.InfraMachines[i].Remediation)
	}
	return out
}

// twice returns a report with a second cluster that is like its first under another name and
// with other ids.
func twice(t *testing.T, r *report.Report) *report.Report {
	t.Helper()
	data, err := json.Marshal(r.Clusters[0])
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "alpha", "beta")
	for _, id := range []string{livingID, secondID, planeID, copyID, ghostID, staleID} {
		text = strings.ReplaceAll(text, id[:8], "0"+id[1:4]+"beef")
	}
	var c report.Cluster
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	r.Clusters = append(r.Clusters, c)
	return r
}

// What workers of several clusters need is one step: with the context and the namespace
// of each, and under the same number in whatever part of the plan is printed.
func TestWorkersOfSeveralClustersAreOneStep(t *testing.T) {
	r := twice(t, alikes("alpha"))
	text := asMarkdown(t, r)
	for _, want := range []string{". Workers of 2 clusters: 6 Ghost\n", ". Workers of 2 clusters: 6 Stale\n", "\n- (6) **beta2**: cluster beta/beta; ", "| alpha/alpha, beta/beta | Workers of 2 clusters: 6 Ghost | 6 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(text, "Power it off and check that nothing depends on it (reversible).\n"); n > 3 { // control planes, workers
		t.Errorf("it is said %d times how to end a VM", n)
	}
	p := New(r, providerTools)
	if err := p.Narrow(Narrowing{Clusters: []string{"beta"}}); err != nil {
		t.Fatal(err)
	}
	own := print(t, func(w *strings.Builder) error { return Markdown(w, p) })
	for want, there := range map[string]bool{"\n- (6) **beta2**: ": true, " 6) NAME_": true, "=alpha2 ;;": false, "**alpha2**": false, "CTX_ALPHA": false, "| beta/beta | Workers of 2 clusters: 6 Ghost | 3 |": true, "for ITEM in": false, "delete machines.cluster.x-k8s.io/\"${NAME_": true} {
		if strings.Contains(own, want) != there {
			t.Errorf("%q is there: %v", want, !there)
		}
	}
}

// A context that is not set leaves nothing of another machine behind.
func TestPickOfAClusterWithoutContextPicksNothing(t *testing.T) {
	for _, found := range picker.FindAllStringSubmatch(asMarkdown(t, twice(t, alikes("alpha"))), -1) {
		if !strings.Contains(found[0], `CTX_BETA_BETA:?`) {
			continue
		}
		_, names, _ := strings.Cut(found[0], "unset ")
		names, _, _ = strings.Cut(names, ";")
		show := `; printf %s "$` + strings.ReplaceAll(names, " ", "$") + `"`
		pick := filled + "unset CTX_BETA_BETA\n" + found[0] + "\n" + found[1] + " 1"
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
