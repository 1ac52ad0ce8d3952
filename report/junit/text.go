package junit

import (
	"fmt"
	"strings"

	"drift-detector/report"
	"drift-detector/report/junit/document"
)

// clean makes foreign text fit for the document.
func clean(s string) string { return document.Clean(s) }

// text is lines for a person.
type text []string

func (t *text) add(parts ...string) {
	if s := join(" ", parts...); s != "" {
		*t = append(*t, clean(s))
	}
}

func (t text) String() string { return strings.Join(t, "\n") }

func join(sep string, parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, sep)
}

// labeled is a label and what it labels, or nothing.
func labeled(label, s string) string {
	if s == "" {
		return ""
	}
	return label + " " + s
}

// machineText says of a machine what a person needs to look at it: the verdict,
// where its VM is, what it rests on, what will become of it, what to do.
func machineText(m *report.Machine) text {
	var t text
	t.add(string(m.Status)+":", join(": ", m.Reason, m.Message))
	if m.Instance != nil {
		t.add("VM:", instance(m.Instance))
	} else {
		t.add(labeled("recorded as", m.ProviderID))
	}
	for i := range m.Others {
		t.add("also:", instance(&m.Others[i]))
	}
	t.evidence(m.Evidence)
	t.warnings(m.Warnings)
	if f := m.Forecast; f != nil {
		t.add("after the restore:", join(": ", f.Outcome, f.Message), parenthesis(f.Condition))
	}
	t.steps(m.Remediation)
	return t
}

func infraText(m *report.InfraMachine) text {
	var t text
	t.add(join(": ", m.Reason, m.Message))
	t.add("VM:", instance(&m.Instance))
	t.add(labeled("may belong to", m.Cluster))
	t.add(labeled("names the cluster", m.ForeignCluster))
	t.evidence(m.Evidence)
	t.steps(m.Remediation)
	return t
}

func (t *text) evidence(es []report.Evidence) {
	for _, e := range es {
		t.add(string(e.Strength), "evidence:", e.Detail)
	}
}

func (t *text) warnings(ws []report.Warning) {
	for _, w := range ws {
		t.add("warning:", join(": ", w.Reason, w.Message))
	}
}

func (t *text) missing(ms []report.Missing) {
	for _, m := range ms {
		t.add("missing in the backup:", m.Kind, join("/", m.Namespace, m.Name)+",", labeled("referred to by", m.ReferredBy)+":", m.Why)
	}
}

func (t *text) steps(steps []report.Step) {
	for _, s := range steps {
		t.add(fmt.Sprintf("%s, %s:", s.When, s.Who), s.Text)
	}
}

func parenthesis(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

// instance is where a VM is and its ids. The path of some providers does not
// hold its name.
func instance(i *report.Instance) string {
	name := i.Name
	if strings.HasSuffix(clean(i.Path), "/"+clean(name)) {
		name = ""
	}
	return join("  ", name, i.Path, labeled("id", i.ID), labeled("ref", i.Ref), i.State, labeled("in", i.Scope))
}
