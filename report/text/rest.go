package text

import (
	"fmt"

	"drift-detector/report"
	"drift-detector/report/terminal"
)

// What follows the clusters: VMs that nobody claims, places that were not listed
// whole, what the backup lacks, errors.

func (p printer) infraMachines(r *report.Report) {
	open := len(r.InfraMachines) - r.Summary.IgnoredInfraMachines
	if open == 0 {
		return
	}
	p.Title(fmt.Sprintf("VMS TO CONFIRM (%d)", open))
	for i := range r.InfraMachines {
		m := &r.InfraMachines[i]
		if m.Ignored != nil {
			continue
		}
		row := terminal.Lead(terminal.Yellow, "?", 0).Field(terminal.Plain, terminal.Quoted(m.Instance.Name)).Field(terminal.Yellow, m.Reason)
		row = withInstance(row, &m.Instance).Named(terminal.Dim, "cluster", m.Cluster).Named(terminal.Dim, "foreign cluster", m.ForeignCluster)
		if m.Instance.Scope != "" && len(r.Scopes) > 1 {
			row = row.Prose(terminal.Dim, "in "+m.Instance.Scope)
		}
		p.Print(2, 4, row.Prose(terminal.Dim, m.Message))
	}
}

// ignored lists what rules set aside, with the reason that somebody gave.
func (p printer) ignored(r *report.Report) {
	if r.Summary.Ignored == 0 {
		return
	}
	p.Title(fmt.Sprintf("SET ASIDE BY IGNORE RULES (%d)", r.Summary.Ignored))
	row := func(status report.Status, name, cluster, reason string, by *report.Ignored) {
		l := terminal.Lead(terminal.Dim, report.Mark(status)+" "+string(status), statusWidth).Field(terminal.Plain, terminal.Quoted(name))
		if reason != "" {
			l = l.Field(terminal.Dim, reason)
		}
		p.Print(2, 4, l.Named(terminal.Dim, "cluster", cluster).Prose(terminal.Plain, "because: "+by.Reason))
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		for _, s := range c.Sets() {
			for j := range s.Machines {
				if m := &s.Machines[j]; m.Ignored != nil {
					row(m.Status, m.Name, c.Title(), m.Reason, m.Ignored)
				}
			}
		}
	}
	for i := range r.InfraMachines {
		if m := &r.InfraMachines[i]; m.Ignored != nil {
			row("to confirm", m.Instance.Name, m.Cluster, m.Reason, m.Ignored)
		}
	}
}

func (p printer) scopes(r *report.Report) {
	partial := r.Incomplete()
	if len(partial) == 0 {
		return
	}
	p.Title(fmt.Sprintf("NOT COMPLETE (%d)", len(partial)))
	for i := range partial {
		s := &partial[i]
		row := terminal.Lead(terminal.Yellow, "?", 0).Prose(terminal.Plain, s.Title()+":").Field(terminal.Yellow, string(s.State))
		if s.Error == nil {
			p.Print(2, 4, row)
			continue
		}
		p.Print(2, 4, row.Prose(terminal.Plain, s.Error.Reason+": "+s.Error.Message))
		p.hint(s.Error.Hint)
	}
}

func (p printer) hint(s string) {
	if s != "" {
		p.Print(4, 6, terminal.Lead(terminal.Bold, "Hint:", 0).Prose(terminal.Plain, s))
	}
}

func (p printer) missing(r *report.Report) {
	n := missingIn(r)
	if n == 0 {
		return
	}
	p.Title(fmt.Sprintf("MISSING IN THE BACKUP (%d)", n))
	for i := range r.Backups {
		b := &r.Backups[i]
		for j := range b.Missing {
			m := &b.Missing[j]
			row := terminal.Lead(terminal.Yellow, "?", 0).Field(terminal.Plain, m.Kind).Field(terminal.Plain, terminal.Quoted(join("/", m.Namespace, m.Name)))
			if len(r.Backups) > 1 {
				row = row.Named(terminal.Dim, "in", b.Path)
			}
			if m.ReferredBy != "" {
				row = row.Prose(terminal.Dim, "referred to by "+m.ReferredBy)
			}
			p.Print(2, 4, row.Prose(terminal.Plain, m.Why))
		}
	}
}

func (p printer) errors(r *report.Report) {
	errs := r.OtherErrors()
	if len(errs) == 0 {
		return
	}
	p.Title(fmt.Sprintf("ERRORS (%d)", len(errs)))
	for i := range errs {
		e := &errs[i]
		row := terminal.Lead(terminal.Yellow, "?", 0)
		for _, where := range []string{e.Scope, e.Object} {
			if where != "" {
				row = row.Prose(terminal.Plain, where+":")
			}
		}
		p.Print(2, 4, row.Prose(terminal.Plain, e.Message))
		p.hint(e.Hint)
	}
}

// missingIn counts what the backups refer to and lack.
func missingIn(r *report.Report) int {
	n := 0
	for i := range r.Backups {
		n += len(r.Backups[i].Missing)
	}
	return n
}
