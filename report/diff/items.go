package diff

import (
	"cmp"
	"slices"

	"drift-detector/report"
	"drift-detector/report/code"
)

// Item is a machine, a Ghost, or a VM to confirm, as one report has it.
type Item struct {
	Cluster   string           `json:"cluster"` // namespace/name; of a VM to confirm, the one that it may belong to
	Namespace string           `json:"namespace"`
	Name      string           `json:"name"`
	UID       string           `json:"uid,omitempty"` // VMs without an object have none
	Role      report.Role      `json:"role,omitempty"`
	Status    code.Status      `json:"status"`
	Reason    string           `json:"reason,omitempty"`
	Message   string           `json:"message,omitempty"`
	Warnings  []string         `json:"warnings"` // their codes
	Instance  *report.Instance `json:"instance"`
	Ignored   bool             `json:"ignored"` // an ignore rule sets it aside
	Because   string           `json:"because,omitempty"`
	Self      bool             `json:"self"` // of the management cluster itself, which is lost anyway
}

// open says that the item is one to act upon.
func (i *Item) open() bool { return !i.Ignored && !i.Self }

// items compares the machines and the VMs of two reports: all at once, so that a
// VM that was to be confirmed and is a Ghost now is one change.
func items(old, new *report.Report) (machines, vms Lists[Item]) {
	all := compare(itemsOf(old), itemsOf(new), itemIdentities, itemFields, compareItems)
	is := func(i Item) bool { return i.Status == code.Unattributed }
	both := func(c Change[Item]) bool { return is(c.Old) && is(c.New) }
	vms.NotSeen, machines.NotSeen = []Item{}, []Item{}
	vms.New, machines.New = split(all.New, is)
	vms.Gone, machines.Gone = split(all.Gone, is)
	vms.Changed, machines.Changed = split(all.Changed, both)
	return machines, vms
}

func split[T any](all []T, first func(T) bool) (a, b []T) {
	a, b = []T{}, []T{}
	for _, one := range all {
		if first(one) {
			a = append(a, one)
		} else {
			b = append(b, one)
		}
	}
	return a, b
}

func itemsOf(r *report.Report) []Item {
	var out []Item
	for i := range r.Clusters {
		c := &r.Clusters[i]
		for _, s := range c.Sets() {
			for j := range s.Machines {
				out = append(out, itemOfMachine(c, &s.Machines[j]))
			}
		}
	}
	for i := range r.InfraMachines {
		m := &r.InfraMachines[i]
		one := Item{Cluster: m.Cluster, Name: m.Instance.Name, Status: code.Unattributed, Reason: string(m.Reason), Message: m.Message, Warnings: []string{}, Instance: &m.Instance}
		one.ignore(m.Ignored)
		out = append(out, one)
	}
	return out
}

func itemOfMachine(c *report.Cluster, m *report.Machine) Item {
	out := Item{
		Cluster: c.Title(), Namespace: m.Namespace, Name: m.Name, UID: m.UID, Role: m.Role,
		Status: m.Status, Reason: string(m.Reason), Message: m.Message, Warnings: []string{}, Instance: m.Instance, Self: c.Self,
	}
	for _, w := range m.Warnings {
		out.Warnings = append(out.Warnings, string(w.Reason))
	}
	out.ignore(m.Ignored)
	return out
}

func (i *Item) ignore(by *report.Ignored) {
	if by != nil {
		i.Ignored, i.Because = true, by.Reason
	}
}

// itemIdentities: machines by their UID, whatever became of them; then VMs,
// whether or not an object is known for them in one of the reports. Two UIDs are
// two machines, even of one name and one VM. A VM may be renamed and moved. It
// may be registered again, under another managed object id or in another place:
// its own id and its name tell it then. Its id alone does not: copies have the same.
var itemIdentities = []identity[Item]{
	{of: func(i *Item) string {
		if i.UID == "" {
			return ""
		}
		return key(i.Cluster, i.Namespace, i.Name, i.UID)
	}},
	{of: ofVM(func(v *report.Instance) string {
		if v.ID == "" && v.Ref == "" {
			return ""
		}
		return key(v.Provider, v.Scope, v.ID, v.Ref)
	}), unless: twoObjects},
	{of: ofVM(func(v *report.Instance) string {
		if v.ID == "" {
			return ""
		}
		return key(v.Provider, v.ID, v.Ref)
	}), only: true, unless: twoObjects},
	{of: ofVM(func(v *report.Instance) string {
		if v.ID == "" {
			return ""
		}
		return key(v.Provider, v.ID, v.Name)
	}), only: true, unless: twoObjects},
	// An id that could not be read in one of the reports. Two different ids under
	// one managed object id are two VMs: a vCenter that was set up again counts again.
	{of: ofVM(func(v *report.Instance) string {
		if v.Ref == "" {
			return ""
		}
		return key(v.Provider, v.Scope, v.Ref)
	}), only: true, unless: func(a, b *Item) bool {
		return twoObjects(a, b) || a.Instance.ID != "" && b.Instance.ID != ""
	}},
	{of: ofVM(func(v *report.Instance) string {
		if v.ID != "" || v.Ref != "" {
			return ""
		}
		return key(v.Provider, v.Scope, v.Path, v.Name)
	}), unless: twoObjects},
	{of: func(i *Item) string {
		if i.UID != "" || i.Instance != nil {
			return ""
		}
		return key(i.Cluster, i.Namespace, i.Name)
	}},
}

func ofVM(of func(*report.Instance) string) func(*Item) string {
	return func(i *Item) string {
		if i.Instance == nil {
			return ""
		}
		return of(i.Instance)
	}
}

func twoObjects(a, b *Item) bool { return a.UID != "" && b.UID != "" }

// itemFields lists what differs between two sights of one item.
func itemFields(a, b *Item) []Field {
	out := differences(a.parts(b), b.parts(a))
	for _, w := range without(b.Warnings, a.Warnings) {
		out = append(out, Field{"warning", "", w})
	}
	for _, w := range without(a.Warnings, b.Warnings) {
		out = append(out, Field{"warning", w, ""})
	}
	if a.Ignored != b.Ignored {
		out = append(out, Field{"ignored", a.ignored(), b.ignored()})
	}
	return out
}

// parts returns what may differ from the other sight of the item. A VM that only one
// of them has is known by where it is and its id.
func (i *Item) parts(other *Item) []part {
	out := []part{{"status", string(i.Status)}, {"reason", i.Reason}, {"cluster", i.Cluster}, {"name", i.Name}}
	v := i.Instance
	switch {
	case v == nil:
	case other.Instance == nil:
		out = append(out, part{"VM path", cmp.Or(v.Path, v.Name)}, part{"VM id", v.ID})
	default:
		out = append(out, part{"VM path", v.Path}, part{"VM id", v.ID}, part{"VM ref", v.Ref}, part{"VM place", v.Scope})
		if i.UID != "" || other.UID != "" { // else it is the name of both
			out = append(out, part{"VM name", v.Name})
		}
	}
	return out
}

func (i *Item) ignored() string {
	if i.Ignored {
		return cmp.Or(i.Because, "yes")
	}
	return ""
}

// without returns a less what is in b, one for one.
func without(a, b []string) []string {
	left := slices.Clone(b)
	var out []string
	for _, s := range a {
		if i := slices.Index(left, s); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// compareItems orders by urgency, what nobody must act upon last.
func compareItems(a, b *Item) int {
	return cmp.Or(
		cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID), cmp.Compare(a.vm(), b.vm()),
	)
}

func (i *Item) rank() int {
	r := code.Urgency(i.Status)
	if i.Status == code.Unattributed {
		r = code.Urgency(code.Unknown)
	}
	if i.Status == code.Healthy && len(i.Warnings) == 0 {
		r++
	}
	if i.Ignored {
		r += 10
	}
	if i.Self {
		r += 20
	}
	return r
}

func (i *Item) vm() string {
	if v := i.Instance; v != nil {
		return key(v.Provider, v.Scope, v.ID, v.Ref, v.Path, v.Name)
	}
	return ""
}
