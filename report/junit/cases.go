package junit

import (
	"drift-detector/report"
	"drift-detector/report/junit/document"
)

func machine(class string, m *report.Machine) document.Case {
	c := document.Case{Class: class, Name: m.Name}
	t := machineText(m)
	o := outcome(clean(string(m.Status)), clean(join(": ", m.Reason, m.Message)), t.String())
	switch {
	case m.Ignored != nil:
		c.Skipped = setAside(string(m.Status), m.Ignored, t)
	case m.Status == report.Ghost, m.Status == report.Stale:
		c.Failure = o
	case m.Status != report.Healthy:
		c.Error = o
	case len(m.Warnings) > 0:
		c.Out = &document.Output{Text: t.String()}
	}
	return c
}

// outcome is why a test does not pass. Its texts are clean.
func outcome(kind, message, text string) *document.Outcome {
	return &document.Outcome{Type: kind, Message: message, Text: text}
}

func setAside(kind string, i *report.Ignored, t text) *document.Outcome {
	why := clean("set aside by an ignore rule: " + i.Reason)
	return outcome(clean(kind), why, join("\n", why, t.String()))
}

// skipOwn sets aside what is of the management cluster itself, whatever became
// of it, and leaves what is known of it.
func skipOwn(c *report.Cluster, t document.Case) document.Case {
	if !c.Self {
		return t
	}
	const why = "the management cluster itself: not counted"
	skipped := outcome(string(report.Healthy), why, why)
	for _, o := range []*document.Outcome{t.Failure, t.Error, t.Skipped} {
		if o != nil {
			skipped = outcome(o.Type, why, join("\n", why, o.Text))
		}
	}
	if t.Out != nil {
		skipped.Text = join("\n", why, t.Out.Text)
	}
	return document.Case{Class: t.Class, Name: t.Name, Skipped: skipped}
}

// pool is whether a pool exists that makes its machines itself.
func pool(class string, p *report.Pool) document.Case {
	return existence(document.Case{Class: class, Name: "the pool itself"}, "Pool", p.State, p.Message)
}

// resource is whether something exists that a restore depends on.
func resource(title string, r *report.Resource) document.Case {
	c := document.Case{Class: title + "/resources", Name: join(" ", r.Kind, r.Name)}
	return existence(c, "Resource", r.State, r.Message, labeled("named by", r.UsedBy))
}

func existence(c document.Case, kind string, state report.Presence, message string, more ...string) document.Case {
	var t text
	t.add(join(": ", string(state), message))
	for _, line := range more {
		t.add(line)
	}
	switch state {
	case report.Present:
	case report.Absent:
		c.Failure = outcome(kind+"Absent", clean(message), t.String())
	default:
		c.Error = outcome(kind+"Undecided", clean(message), t.String())
	}
	return c
}
