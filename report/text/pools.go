package text

import (
	"fmt"
	"slices"

	"drift-detector/report"
	"drift-detector/report/terminal"
)

// What is said of pools that make their machines themselves, and of the things
// besides machines that a restore depends on.

// poolNote counts the members of the cluster's pools.
func poolNote(c *report.Cluster) string {
	pools, members, undecided := 0, 0, 0
	for i := range c.Workers.Groups {
		if p := c.Workers.Groups[i].Pool; p != nil {
			pools++
			members += len(p.Now)
			undecided += one(!decided(p))
		}
	}
	switch {
	case pools == 0:
		return ""
	case undecided == pools:
		return fmt.Sprintf("%s, members not known", plural(pools, "pool"))
	case undecided > 0:
		return fmt.Sprintf("%s in %s, those of %d not known", plural(members, "member"), plural(pools, "pool"), undecided)
	}
	return fmt.Sprintf("%s in %s", plural(members, "member"), plural(pools, "pool"))
}

// decided reports whether it is known that the pool exists or not, and so who is a member.
func decided(p *report.Pool) bool { return p.State == report.Present || p.State == report.Absent }

// setBrief says what a set holds: its machines, the members of its pool, and how
// many there should be.
func setBrief(s *report.Set) string {
	members := ""
	switch {
	case s.Pool == nil:
	case decided(s.Pool) || len(s.Pool.Now) > 0:
		members = plural(len(s.Pool.Now), "member")
	default:
		members = "members not known"
	}
	text := join(", ", brief(s.Counts), members)
	if s.Desired != nil {
		text = join(" ", text, fmt.Sprintf("(%d desired)", *s.Desired))
	}
	return text
}

// said reports whether there is something to say of a set besides its machines.
func said(s *report.Set) bool { return s.Reason != "" || s.Pool != nil && s.Pool.Message != "" }

// resources returns the absent resources, the number that could not be checked,
// and why if they share one reason.
func resources(c *report.Cluster) (absent []report.Resource, unknown int, why string) {
	for _, r := range c.Resources {
		switch r.State {
		case report.Present:
		case report.Absent:
			absent = append(absent, r)
		default:
			if unknown++; unknown > 1 && r.Message != why {
				why = "for several reasons"
			} else {
				why = r.Message
			}
		}
	}
	return absent, unknown, why
}

// needs prints the things that a restore depends on: those that are gone one by
// one, the others in one line or, with all, one by one too.
func (p printer) needs(c *report.Cluster, all bool) {
	absent, unknown, why := resources(c)
	list := absent
	if all {
		list = c.Resources
	}
	for _, r := range list {
		l := lookOf(report.Unknown)
		if r.State == report.Present {
			l = lookOf(report.Healthy)
		}
		row := terminal.Lead(l.style, l.mark+" "+string(r.State), statusWidth).Field(terminal.Plain, r.Kind).Field(terminal.Plain, terminal.Quoted(r.Name))
		p.Print(2, 4, row.Prose(terminal.Dim, r.Message).Prose(terminal.Dim, "named by "+r.UsedBy))
	}
	if unknown > 0 && !all {
		p.Print(2, 4, terminal.Lead(terminal.Yellow, "? "+string(report.Undecided), statusWidth).Prose(terminal.Plain, plural(unknown, "resource")+": "+why))
	}
}

// needy reports whether something that a restore depends on is not known to exist.
func needy(c *report.Cluster) bool {
	return slices.ContainsFunc(c.Resources, func(r report.Resource) bool { return r.State != report.Present })
}
