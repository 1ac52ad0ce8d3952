package markdown

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/report"
)

// finding is a machine with where it is.
type finding struct {
	*report.Machine
	cluster, set string
}

// findings are the machines of a status that there is something to say of, set
// aside or not, those of control planes first. Those of the management cluster
// itself are none.
func findings(r *report.Report, status report.Status, aside bool) []finding {
	var out []finding
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if c.Self {
			continue
		}
		for _, s := range c.Sets() {
			for j := range s.Machines {
				m := &s.Machines[j]
				if kind(m.Status) == status && m.Finding() && (m.Ignored != nil) == aside {
					out = append(out, finding{m, c.Title(), s.Title})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b finding) int {
		return cmp.Compare(one(a.Role != report.RoleControlPlane), one(b.Role != report.RoleControlPlane))
	})
	return out
}

// kind is the status of which a machine is listed: one that is not known is
// counted as Unknown.
func kind(status report.Status) report.Status {
	switch status {
	case report.Ghost, report.Stale, report.Healthy:
		return status
	}
	return report.Unknown
}

// machines is a section of all findings of a status that are not set aside.
func machines(r *report.Report, status report.Status, meaning string) *section {
	all := findings(r, status, false)
	s := &section{title: fmt.Sprintf("\n### %s (%d): %s\n\n", status, len(all), meaning), what: string(status)}
	for _, group := range alike(all) {
		s.items = append(s.items, group.item())
	}
	return s
}

// foldAbove is how many machines of one cluster may be Unknown for one and the
// same reason before they share an item: a vCenter that is down is one finding.
const foldAbove = 3

type group []finding

// alike puts machines together of which there is nothing to tell but why they
// could not be decided. The others stay alone.
func alike(all []finding) []group {
	type reason struct{ cluster, text string }
	var out []group
	at := map[reason]int{}
	for _, f := range all {
		if f.Status != report.Unknown || f.Instance != nil || len(f.Others)+len(f.Warnings) > 0 {
			out = append(out, group{f})
			continue
		}
		k := reason{clean(f.cluster), f.text("")}
		if i, ok := at[k]; ok {
			out[i] = append(out[i], f)
			continue
		}
		at[k] = len(out)
		out = append(out, group{f})
	}
	return split(out)
}

// split takes small groups apart again.
func split(groups []group) []group {
	var out []group
	for _, g := range groups {
		if len(g) > foldAbove {
			out = append(out, g)
			continue
		}
		for _, f := range g {
			out = append(out, group{f})
		}
	}
	return out
}

func (g group) item() item {
	f := g[0]
	it := item{place: f.cluster, n: len(g)}
	if len(g) > 1 {
		it.text = fmt.Sprintf("- **%d machines** in %s\n%s", len(g), name(f.cluster), f.text(""))
		it.details = folded("Their names", g.names())
		return it
	}
	it.text = fmt.Sprintf("- **%s** in %s, %s of %s\n%s",
		name(f.Name), name(f.cluster), cmp.Or(prose(string(f.Role)), "machine"), name(f.set), f.text(f.where()))
	it.details = details(f.Machine)
	return it
}

// names are those of the group, a hundred at most: that much says which they are.
func (g group) names() string {
	const most = 100
	var out []string
	for _, f := range g[:min(most, len(g))] {
		out = append(out, name(f.Name))
	}
	text := "  - " + strings.Join(out, ", ")
	if n := len(g) - most; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text + "\n"
}

// text is what must be known before anybody acts: why, where its VM is, what goes
// with it, what will become of it, what to do first.
func (f finding) text(where string) string {
	var b strings.Builder
	b.WriteString(line("Why", prose(join(": ", f.Reason, f.Message))))
	b.WriteString(where)
	const most = 3
	for i := range f.Others[:min(most, len(f.Others))] {
		b.WriteString(line("Also", instance(&f.Others[i])))
	}
	if n := len(f.Others) - most; n > 0 {
		b.WriteString(line("Also", plural(n, "more VM")))
	}
	for _, w := range f.Warnings {
		b.WriteString(line("Warning", prose(join(": ", w.Reason, w.Message))))
	}
	if c := f.Forecast; c != nil {
		b.WriteString(line("After the restore", join("; ", prose(join(": ", c.Outcome, c.Message)), prose(c.Condition))))
	}
	b.WriteString(firstStep(f.Remediation))
	return b.String()
}

// line is a line of an item, or nothing when there is nothing to say.
func line(label, s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("  - %s: %s\n", label, s)
}

// where is the machine's VM, or the id that the backup has for it, unless the
// message tells that already.
func (f finding) where() string {
	id := f.ProviderID[strings.LastIndexByte(f.ProviderID, '/')+1:]
	switch {
	case f.Instance != nil:
		return line("VM", instance(f.Instance))
	case !strings.Contains(clean(f.Message), clean(id)):
		return line("Recorded as", name(f.ProviderID))
	}
	return ""
}

func firstStep(steps []report.Step) string {
	if len(steps) == 0 {
		return ""
	}
	s := &steps[0]
	return fmt.Sprintf("  - To do first (%s, %s): %s\n", prose(s.When), prose(s.Who), prose(s.Text))
}

// instance is what a VM is called, where it is, and its ids. The path of some
// providers does not hold its name.
func instance(i *report.Instance) string {
	title := optional(i.Name)
	if strings.HasSuffix(clean(i.Path), "/"+clean(i.Name)) {
		title = ""
	}
	return join(", ", title, location(i))
}

func location(i *report.Instance) string {
	return join(", ", optional(i.Path), labeled("id", i.ID), labeled("ref", i.Ref), optional(i.State), labeled("in", i.Scope), labeled("account", i.Account))
}

func labeled(label, s string) string {
	if s == "" {
		return ""
	}
	return label + " " + name(s)
}

// details are the evidence and all steps with their commands.
func details(m *report.Machine) string {
	var b strings.Builder
	b.WriteString(evidence(m.Evidence))
	b.WriteString(steps(m.Remediation))
	return folded("Evidence and steps", b.String())
}

func evidence(es []report.Evidence) string {
	var b strings.Builder
	for _, e := range es {
		fmt.Fprintf(&b, "  - Evidence, %s: %s\n", prose(string(e.Strength)), prose(e.Detail))
	}
	return b.String()
}

func steps(all []report.Step) string {
	var b strings.Builder
	for i, s := range all {
		fmt.Fprintf(&b, "  - Step %d (%s, %s): %s\n", i+1, prose(s.When), prose(s.Who), prose(s.Text))
		// A fence is what a forge copies at one click, and a terminal runs the next
		// line of a paste whatever has become of the one before.
		for _, line := range s.Commands {
			b.WriteString("\n" + fenced("    ", []string{line}))
		}
	}
	return b.String()
}

// folded hides text behind a title, within an item of a list.
func folded(title, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("\n  <details><summary>%s</summary>\n\n%s\n  </details>\n\n", title, text)
}
