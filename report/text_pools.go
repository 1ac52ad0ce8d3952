package report

import (
	"fmt"
	"slices"

	"drift-detector/report/terminal"
)

// What is said of pools that make their machines themselves, and of the things
// besides machines that a restore depends on.

// poolNote counts the members of the cluster's pools.
func (c *Cluster) poolNote() string {
	pools, members, undecided := 0, 0, 0
	for i := range c.Workers.Groups {
		if p := c.Workers.Groups[i].Pool; p != nil {
			pools++
			members += len(p.Now)
			undecided += one(!p.decided())
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

// decided says that it is known whether the pool exists, and so who is a member.
func (p *Pool) decided() bool { return p.State == Present || p.State == Absent }

// brief says what a set holds: its machines, the members of its pool, and how
// many there should be.
func (s *Set) brief() string {
	members := ""
	switch {
	case s.Pool == nil:
	case s.Pool.decided() || len(s.Pool.Now) > 0:
		members = plural(len(s.Pool.Now), "member")
	default:
		members = "members not known"
	}
	text := join(", ", s.Counts.brief(), members)
	if s.Desired != nil {
		text = join(" ", text, fmt.Sprintf("(%d desired)", *s.Desired))
	}
	return text
}

// said is what there is to say of a set besides its machines.
func (s *Set) said() bool { return s.Reason != "" || s.Pool != nil && s.Pool.Message != "" }

// resources are the things that are gone, and how many there are of which that
// cannot be told, with the reason that all of those have.
func (c *Cluster) resources() (absent []Resource, unknown int, why string) {
	for _, r := range c.Resources {
		switch r.State {
		case Present:
		case Absent:
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
func (p printer) needs(c *Cluster, all bool) {
	absent, unknown, why := c.resources()
	list := absent
	if all {
		list = c.Resources
	}
	for _, r := range list {
		l := look{"?", terminal.Yellow, 1}
		if r.State == Present {
			l = looks[Healthy]
		}
		row := terminal.Lead(l.style, l.mark+" "+r.State, statusWidth).Field(terminal.Plain, r.Kind).Field(terminal.Plain, terminal.Quoted(r.Name))
		p.Print(2, 4, row.Prose(terminal.Dim, r.Message).Prose(terminal.Dim, "named by "+r.UsedBy))
	}
	if unknown > 0 && !all {
		p.Print(2, 4, terminal.Lead(terminal.Yellow, "? "+Undecided, statusWidth).Prose(terminal.Plain, plural(unknown, "resource")+": "+why))
	}
}

// needy says that something which a restore depends on is not known to exist.
func (c *Cluster) needy() bool {
	return slices.ContainsFunc(c.Resources, func(r Resource) bool { return r.State != Present })
}
