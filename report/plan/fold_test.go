package plan

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
)

// alikes is a sample with three of each finding: one is as the stand-ins of the
// programs know it.
func alikes(name string) *report.Report {
	r := sample(name)
	each := func(ms []report.Machine) []report.Machine {
		var out []report.Machine
		for _, m := range ms {
			for i := range 3 {
				other := m
				if i > 0 && m.Status != report.Healthy {
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
				if i == 0 || m.Status != report.Healthy {
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

// foldedBlocks are the blocks of a runbook, each behind the choice of an item.
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
	r := alikes("alpha")
	changes := func(o outcomeOf) bool {
		return slices.ContainsFunc(o.calls, func(call string) bool {
			return !strings.Contains(call, `{"spec":{"paused":true}}`) && !strings.Contains(call, "delete pod/") && !strings.Contains(call, "create configmap") &&
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
	if changed < 10 {
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
		findings, listed := 0, 0
		for _, steps := range remediations(r) {
			for _, when := range []string{report.BeforeRestore, report.AfterRestore} {
				if slices.ContainsFunc(steps, func(s report.Step) bool { return s.When == when }) {
					findings++
				}
			}
		}
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
					note(c.label(k))
				}
				for k := range c.Batches {
					listed += len(c.Batches[k].Items)
					for n := range c.Batches[k].Steps {
						note(c.Batches[k].label(n))
					}
				}
			}
		}
		if listed -= len(r.Checks); listed != findings {
			t.Errorf("%d findings are in the plan, want %d", listed, findings)
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

// remediations are the steps of each finding.
func remediations(r *report.Report) [][]report.Step {
	var out [][]report.Step
	for i := range r.Clusters {
		for _, m := range machinesOf(&r.Clusters[i]) {
			out = append(out, m.Remediation)
		}
	}
	for i := range r.InfraMachines {
		out = append(out, r.InfraMachines[i].Remediation)
	}
	return out
}
