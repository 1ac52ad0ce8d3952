package docs_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"drift-detector/detector/rehearsal"
	"drift-detector/infra/all"
	"drift-detector/infra/walk"
)

// walks.md is the rows of all walks, controller by controller, in the order in which each asks.
func TestWalksPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Walks: what every controller asks after a restore\n\nMade from the rows by `make update`. A restore brings back metadata and spec, and drops\nstatus and ownerReferences, so that all that was once true is asked again. A YES needs\neach of these steps to pass, or to be a condition that is printed beside it.\n")
	section := func(title string, rows []walk.Row) {
		fmt.Fprintf(&b, "\n## %s\n", title)
		of, first := "", map[string]int{}
		for i := range rows {
			if _, known := first[rows[i].Of]; !known {
				first[rows[i].Of] = i
			}
		}
		slices.SortStableFunc(rows, func(a, b walk.Row) int { return first[a.Of] - first[b.Of] })
		for i := range rows {
			r := &rows[i]
			if r.Of != of {
				of = r.Of
				fmt.Fprintf(&b, "\n### %s\n", of)
			}
			fmt.Fprintf(&b, "\n**%s** asks for %s.\n", r.ID, r.Asks)
			for _, a := range []struct {
				found string
				does  walk.Does
			}{{"None", r.None}, {"Several", r.Several}, {"Differs", r.Differs}} {
				if a.does.What != "" {
					fmt.Fprintf(&b, "\n* %s (%s): %s.", a.found, a.does.Effect, a.does.What)
				}
			}
			if r.Refused != "" {
				fmt.Fprintf(&b, "\n* Unread: %s.", r.Refused)
			}
			if r.Condition != "" {
				fmt.Fprintf(&b, "\n* Not seen: condition %s.", r.Condition)
			}
			if r.OnDelete != "" {
				fmt.Fprintf(&b, "\n* A Machine that is deleted meanwhile: %s.", r.OnDelete)
			}
			fmt.Fprintf(&b, "\n* Source: %s.", r.Source)
			if r.Versions != "" {
				fmt.Fprintf(&b, " Versions: %s.", r.Versions)
			}
			b.WriteString("\n")
		}
	}
	section("Velero and Cluster API", rehearsal.Rows())
	for _, s := range all.Registry().Specs() {
		if len(s.Walk) > 0 {
			section(s.Title, slices.Clone(s.Walk))
		}
	}
	if *update {
		if err := os.WriteFile("walks.md", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile("walks.md")
	if err != nil || string(page) != b.String() {
		t.Error("docs/walks.md does not show the rows as they are: make update", err)
	}
}

// Each row has a name of its own, a source, and does something at some answer.
func TestWalkRowsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	rows := rehearsal.Rows()
	for _, s := range all.Registry().Specs() {
		rows = append(rows, s.Walk...)
	}
	for i := range rows {
		r := &rows[i]
		switch {
		case seen[r.ID]:
			t.Errorf("two rows are called %s", r.ID)
		case r.Of == "" || r.Asks == "" || r.Source == "":
			t.Errorf("row %s lacks its controller, question or source", r.ID)
		case r.None == r.Several && r.None == r.Differs && r.None == walk.Does{} && r.Refused == "" && r.Condition == "":
			t.Errorf("row %s does nothing at any answer", r.ID)
		}
		for _, d := range []walk.Does{r.None, r.Several, r.Differs} {
			if d.Effect == walk.Writes && d.Code == "" && !saidOfResource[r.ID] {
				t.Errorf("row %s writes (%s) without a code, so that the answer may be yes", r.ID, d.What)
			}
		}
		seen[r.ID] = true
	}
}

// saidOfResource are the rows whose resource, by the id that the backup records of it, says in the
// answer that it is created again.
var saidOfResource = map[string]bool{"openstack.C12": true, "openstack.C13": true, "openstack.C14": true, "openstack.C18": true}
