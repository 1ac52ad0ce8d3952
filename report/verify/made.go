package verify

import (
	"cmp"
	"time"

	"drift-detector/internal/english"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Made is a Machine or a VM that the report does not have.
type Made struct {
	Kind      string     `json:"kind"` // Machine or VM
	Namespace string     `json:"namespace,omitempty"`
	Name      string     `json:"name"`
	ID        string     `json:"id,omitempty"`
	Cluster   string     `json:"cluster,omitempty"`
	Group     string     `json:"group,omitempty"`
	Created   *time.Time `json:"created,omitempty"`
	Verdict   Verdict    `json:"verdict"`
	Seen      string     `json:"seen,omitempty"` // of a VM that no Machine of the report's clusters has
	foreign   bool       // a Machine of a Cluster that the report does not have has it
}

// title returns its kind and name.
func (m *Made) title() string {
	if m.Kind == "VM" {
		return "VM " + m.Name
	}
	return m.Kind + " " + english.Join("/", m.Namespace, m.Name)
}

// Gone is a VM of the report that is not listed any more.
type Gone struct {
	Name    string  `json:"name"`
	ID      string  `json:"id"`
	Machine string  `json:"machine,omitempty"` // namespace/name
	Verdict Verdict `json:"verdict"`
}

// made lists what was created since the report, for all its clusters: the net under outcomes that
// nobody thought of. A group may have as many new Machines as were foretold.
func (w *world) made(d *Document) []Made {
	out := []Made{}
	foretold := map[string]bool{} // names of Machines and ids whose VM is to be a new one
	for _, m := range w.newcomers {
		if !w.get(m.Namespace, m.Cluster).mine {
			continue
		}
		v := Made{Kind: "Machine", Namespace: m.Namespace, Name: m.Name, Cluster: m.Cluster, Group: m.Group, Created: moment(m.Created), Verdict: NotJudged}
		if r := w.get(m.Namespace, m.Cluster, m.Group).room; r != nil {
			v.Verdict = r.take()
		}
		if isUnread(w.seen, "Machine") {
			v.Verdict = NotJudged // how many there are is not known
		}
		foretold[m.Name] = v.Verdict != Not
		out = append(out, v)
	}
	for i := range d.Machines {
		m := &d.Machines[i]
		if m.Facts.ID != "" {
			foretold[m.Facts.ID] = m.Verdict != Not
		}
		switch m.Foretold {
		case code.NewInstanceCreated, code.NewInstanceNeverJoins, code.ReplacedByMachineHealthCheck, code.RolledByOwner: // CAPO creates one before it is replaced
			foretold[m.Name] = true
		}
	}
	return append(out, w.newVMs(foretold)...)
}

// room is how many new Machines of a group were foretold.
type room struct{ left int }

// room returns nil of a group that makes its Machines itself, or of which nothing is foretold.
func (g *group) room() *room {
	if g.pool || g.replicas == nil {
		return nil
	}
	out := &room{g.replicas.Created}
	for i := range g.machines {
		if isReplaced(g.machines[i].Forecast) {
			out.left++
		}
	}
	return out
}

func (r *room) take() Verdict {
	if r.left == 0 {
		return Not
	}
	r.left--
	return As
}

// isReplaced reports whether another Machine is to be there in place of one.
func isReplaced(f *report.MachineForecast) bool {
	return f != nil && (f.Outcome == code.ReplacedByMachineHealthCheck || f.Outcome == code.RolledByOwner)
}

// gone lists the VMs of the report that their places lack. Those of machines that were to be deleted
// were foretold to go.
func (w *world) gone() []Gone {
	out := []Gone{}
	add := func(v *report.Instance, provider, machine string, verdict Verdict) {
		if v != nil && w.lacks(v) && w.complete(provider, v) {
			out = append(out, Gone{Name: v.Name, ID: v.ID, Machine: machine, Verdict: verdict})
		}
	}
	for i := range w.report.Clusters {
		c := &w.report.Clusters[i]
		for _, g := range setsOf(c) {
			for j := range g.machines {
				m := &g.machines[j]
				verdict := Not
				if m.Forecast != nil && code.Of(m.Forecast.Outcome).Deletes {
					verdict = As
				}
				add(m.Instance, c.Provider, m.Namespace+"/"+m.Name, verdict)
			}
		}
	}
	for i := range w.report.InfraMachines {
		v := &w.report.InfraMachines[i].Instance
		add(v, v.Provider, "", NotJudged)
	}
	sorting.By(out, func(a, b Gone) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return out
}
