package detector

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"drift-detector/report/code"
)

var update = flag.Bool("update", false, "write docs/verdicts.md and what scenes say")

const verdictsPage = "../docs/verdicts.md"

// docs/verdicts.md shows the tables as they are.
func TestVerdictsPageShowsTheTables(t *testing.T) {
	page, err := os.ReadFile(verdictsPage)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	machines, instances := rowsOfMachines(), rowsOfInstances()
	for _, expectedPart := range []struct{ name, want string }{
		{"machines", tableOf(machines, "machines")},
		{"instances", tableOf(instances, "instances")},
	} {
		begin, end := "<!-- generated: make update: "+expectedPart.name+" -->\n", "<!-- end "+expectedPart.name+" -->\n"
		head, rest, ok := strings.Cut(text, begin)
		_, tail, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("%s has lost the marks of its table of %s", verdictsPage, expectedPart.name)
		}
		text = head + begin + "\n" + expectedPart.want + "\n" + end + tail
	}
	if *update {
		if err := os.WriteFile(verdictsPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text != string(page) {
		t.Errorf("%s does not show the decision tables as they are: make update", verdictsPage)
	}
}

// docRow is what the page shows of a row.
type docRow struct {
	name, condition string
	outcomes        []outcome
}

func rowsOfMachines() (rows []docRow) {
	for _, r := range machineRows {
		rows = append(rows, docRow{r.Name, r.Condition, r.Outcomes})
	}
	return rows
}

func rowsOfInstances() (rows []docRow) {
	for _, r := range instanceRows {
		rows = append(rows, docRow{r.Name, r.Condition, r.Outcomes})
	}
	return rows
}

// tableOf returns the Markdown table of some rows, with the number of scenes that
// hold each.
func tableOf(rows []docRow, table string) string {
	scenes := map[string][]rowScene{"machines": machineScenes, "instances": instanceScenes}[table]
	var b strings.Builder
	b.WriteString("| row | condition | verdict: reason | scenes |\n|---|---|---|---|\n")
	for _, r := range rows {
		n := 0
		for _, s := range scenes {
			if s.row == r.name {
				n++
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %d |\n", r.name, r.condition, outcomesText(r.outcomes), n)
	}
	return b.String()
}

// outcomesText lists outcomes, the reasons of one status together.
func outcomesText(all []outcome) string {
	var parts []string
	for _, status := range []code.Status{code.Healthy, code.Stale, code.Ghost, code.Unknown, ""} {
		var reasons []string
		for _, o := range all {
			if o.Status == status && o.Reason != "" {
				reasons = append(reasons, string(o.Reason))
			}
		}
		slices.Sort(reasons)
		said := slices.ContainsFunc(all, func(o outcome) bool { return o.Status == status })
		switch text := strings.Join(reasons, ", "); {
		case !said:
		case status == "" && (text == excluded || text == outOfScope):
			parts = append(parts, "*"+text+"*")
		case status == "":
			parts = append(parts, "*unattributed*: "+text)
		case text == "":
			parts = append(parts, "**"+string(status)+"**")
		default:
			parts = append(parts, "**"+string(status)+"**: "+text)
		}
	}
	return strings.Join(parts, "; ")
}

// The names of rows are stable and none is used twice; a condition is one sentence.
func TestRowsHaveNamesAndConditions(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range slices.Concat(rowsOfMachines(), rowsOfInstances()) {
		if strings.Trim(r.name, "abcdefghijklmnopqrstuvwxyz-") != "" || r.name == "" || seen[r.name] {
			t.Errorf("row %q: its name is taken, or not in kebab-case", r.name)
		}
		seen[r.name] = true
		if strings.Contains(r.condition, ". ") || !strings.HasSuffix(r.condition, ".") || strings.Contains(r.condition, "|") {
			t.Errorf("row %q: its condition is no sentence: %q", r.name, r.condition)
		}
	}
}

// Each row gives the outcomes that it is documented with, all of them and no others:
// in the scenes and in random worlds.
func TestRowsGiveTheirOutcomes(t *testing.T) {
	given := map[string]map[outcome]bool{}
	for _, rows := range [][]docRow{rowsOfMachines(), rowsOfInstances()} {
		for _, r := range rows {
			given[r.name] = map[outcome]bool{}
			for _, o := range r.outcomes {
				given[r.name][o] = false
			}
		}
	}
	watched := watching(func(row string, o outcome) {
		if _, ok := given[row][o]; !ok {
			t.Fatalf("row %s gives %q %q, which its Outcomes lack", row, o.Status, o.Reason)
		}
		given[row][o] = true
	})
	for _, rs := range slices.Concat(machineScenes, instanceScenes) {
		arranged(rs).with(watched)
	}
	for seed := range uint64(4000) {
		s := randomWorld(seed)
		if seed%2 > 0 {
			searchByName(s, seed)
		}
		s.with(watched)
	}
	for row, outcomes := range given {
		for o, ok := range outcomes {
			if !ok {
				t.Errorf("row %s never gives %q %q, which is among its Outcomes", row, o.Status, o.Reason)
			}
		}
	}
}

// watching returns the tables with each decision reported.
func watching(report func(row string, o outcome)) tables {
	t := tables{slices.Clone(machineRows), slices.Clone(instanceRows)}
	for i, one := range machineRows {
		t.machines[i].Decide = func(f *machineFacts) Verdict {
			v := one.Decide(f)
			report(one.Name, outcome{v.Status, v.Reason})
			return v
		}
	}
	for i, one := range instanceRows {
		t.instances[i].Decide = func(f *instanceFacts) placement {
			p := one.Decide(f)
			report(one.Name, p.outcome())
			return p
		}
	}
	return t
}

// outcome returns where an instance is placed.
func (p *placement) outcome() outcome {
	switch {
	case p.verdict != nil:
		return outcome{p.verdict.Status, p.verdict.Reason}
	case p.unattributed != nil:
		return outcome{"", p.unattributed.Reason}
	case p.excluded != "":
		return outcome{"", excluded}
	}
	return outcome{"", outOfScope}
}
