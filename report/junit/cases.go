package junit

import "drift-detector/report"

func machine(class string, m *report.Machine) testcase {
	c := testcase{Class: class, Name: m.Name}
	t := machineText(m)
	o := &outcome{clean(m.Status), clean(join(": ", m.Reason, m.Message)), t.String()}
	switch {
	case m.Ignored != nil:
		c.Skipped = setAside(m.Status, m.Ignored, t)
	case m.Status == report.Ghost, m.Status == report.Stale:
		c.Failure = o
	case m.Status != report.Healthy:
		c.Error = o
	case len(m.Warnings) > 0:
		c.Out = &output{t.String()}
	}
	return c
}

func setAside(kind string, i *report.Ignored, t text) *outcome {
	why := clean("set aside by an ignore rule: " + i.Reason)
	return &outcome{clean(kind), why, join("\n", why, t.String())}
}

// skipOwn sets aside what is of the management cluster itself, whatever became
// of it, and leaves what is known of it.
func skipOwn(c *report.Cluster, t testcase) testcase {
	if !c.Self {
		return t
	}
	const why = "the management cluster itself: not counted"
	skipped := &outcome{report.Healthy, why, why}
	for _, o := range []*outcome{t.Failure, t.Error, t.Skipped} {
		if o != nil {
			skipped = &outcome{o.Type, why, join("\n", why, o.Text)}
		}
	}
	if t.Out != nil {
		skipped.Text = join("\n", why, t.Out.Text)
	}
	return testcase{Class: t.Class, Name: t.Name, Skipped: skipped}
}

// pool is whether a pool exists that makes its machines itself.
func pool(class string, p *report.Pool) testcase {
	return existence(testcase{Class: class, Name: "the pool itself"}, "Pool", p.State, p.Message)
}

// resource is whether something exists that a restore depends on.
func resource(title string, r *report.Resource) testcase {
	c := testcase{Class: title + "/resources", Name: join(" ", r.Kind, r.Name)}
	return existence(c, "Resource", r.State, r.Message, labeled("named by", r.UsedBy))
}

func existence(c testcase, kind, state, message string, more ...string) testcase {
	var t text
	t.add(join(": ", state, message))
	for _, line := range more {
		t.add(line)
	}
	switch state {
	case report.Present:
	case report.Absent:
		c.Failure = &outcome{kind + "Absent", clean(message), t.String()}
	default:
		c.Error = &outcome{kind + "Undecided", clean(message), t.String()}
	}
	return c
}
