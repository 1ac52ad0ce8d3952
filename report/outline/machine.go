package outline

import (
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// machineItem returns what is said about a machine of a set of a cluster.
func machineItem(c *report.Cluster, set string, m *report.Machine) Item {
	it := Item{
		Mark: code.Mark(m.Status), Status: string(m.Status), Code: string(m.Reason), Name: m.Name, Text: m.Message,
		What: "machines", Cluster: c.Title(), Role: string(m.Role), Set: set, Steps: m.Remediation, Minor: !m.Finding() || m.Unsupported(),
		names: m.Unsupported() || blind(m) || m.Forecast != nil && m.Forecast.RolledOut && len(m.Warnings)+len(m.Others) == 0,
	}
	if m.Status == code.Healthy && len(m.Warnings) > 0 {
		it.Mark = "*"
	}
	if blind(m) || m.Unsupported() {
		it.Most = 10
	}
	if c.Self {
		it.Aside = "the management cluster itself, not counted"
	}
	it.Facts = append(it.Facts, whereabouts(m)...)
	it.Facts = append(it.Facts, evidence(m.Evidence, m.Status == code.Ghost || m.Status == code.Unknown && m.Message == "")...)
	for _, w := range m.Warnings {
		it.Facts = append(it.Facts, Fact{Label: "Warning", Code: string(w.Reason), Text: w.Message})
	}
	for i := range m.Others {
		v := &m.Others[i]
		also := vm("Also", v, "")
		also.Values = showScope(also.Values, m.Instance == nil || v.Scope != m.Instance.Scope)
		it.Facts = append(it.Facts, also)
	}
	if m.MoreOthers > 0 {
		it.Facts = append(it.Facts, Fact{Label: "Also", Text: english.Count(m.MoreOthers, "more VM")})
	}
	it.Facts = append(it.Facts, expectation(m)...)
	return it
}

// blind reports whether the machine is Unknown because its place could not be listed,
// and there is nothing else to say of it.
func blind(m *report.Machine) bool {
	return m.Status == code.Unknown && m.Reason == code.ScopeIncomplete && m.Instance == nil && len(m.Others)+len(m.Warnings) == 0
}

// saysID are the reasons whose messages name the recorded id.
var saysID = map[code.Reason]bool{
	code.InstanceNotFound: true, code.NodeAlive: true, code.NodeListUnread: true, code.FoundElsewhere: true,
	code.ClaimedTwice: true, code.ConflictingIDs: true, code.PoolMember: true,
}

// whereabouts returns the machine's VM, or the id that the backup has for it. Where room is
// short, the VM of a Healthy machine is left out, and an id that the message names.
func whereabouts(m *report.Machine) []Fact {
	if m.Instance != nil {
		f := vm("VM", m.Instance, m.Name)
		f.Detail = m.Status == code.Healthy
		return []Fact{f}
	}
	out := named("Recorded as", m.ProviderID)
	for i := range out {
		out[i].own = true
		out[i].Detail = saysID[m.Reason]
	}
	return out
}

// VM returns the fact where a VM is, with the place that it was seen in.
func VM(i *report.Instance) Fact {
	f := vm("VM", i, "")
	f.Values = showScope(f.Values, true)
	return f
}

// vm returns where a VM is, and its ids. The path of some providers ends with the name or
// the id, of others it does not.
func vm(label string, i *report.Instance, known string) Fact {
	name := i.Name
	if name == known || strings.HasSuffix(i.Path, "/"+name) {
		name = ""
	}
	path := i.Path
	if i.ID != "" {
		path = strings.TrimSuffix(path, "/"+i.ID)
	}
	return Fact{Label: label, own: true, Values: values(
		Value{Text: name}, Value{Text: path}, Value{Label: "id", Text: i.ID}, Value{Label: "ref", Text: i.Ref},
		Value{Text: i.State, Detail: true}, Value{Label: "in", Text: i.Scope, Detail: true}, Value{Label: "account", Text: i.Account, Detail: true},
	)}
}

// showScope shows where the place of a VM matters, also where room is short.
func showScope(all []Value, yes bool) []Value {
	for i := range all {
		if all[i].Label == "in" {
			all[i].Detail = !yes
		}
	}
	return all
}

// evidence returns all evidence. Where room is short, it is the strongest piece, if any.
func evidence(all []report.Evidence, show bool) []Fact {
	order := []code.Strength{code.Weak, code.Medium, code.Strong}
	best := 0
	out := make([]Fact, len(all))
	for i, e := range all {
		out[i] = Fact{Label: english.Join(" ", string(e.Strength), "evidence"), Text: e.Detail, Detail: true}
		if slices.Index(order, e.Strength) > slices.Index(order, all[best].Strength) {
			best = i
		}
	}
	if show && len(out) > 0 {
		out[best].Detail = false
	}
	return out
}

// expected is what becomes of a machine as its status alone lets expect.
var expected = map[code.Status]code.Outcome{code.Healthy: code.Adopted, code.Ghost: code.GhostKeepsRunning, code.Unknown: code.CannotKnow}

// fate is what becomes of the machine after the restore.
func expectation(m *report.Machine) []Fact {
	f := m.Forecast
	if f == nil {
		return nil
	}
	plain := expected[m.Status] == f.Outcome && (f.Condition == "" || m.Status == code.Unknown)
	return []Fact{{
		Label: "After the restore", Code: string(f.Outcome), Text: english.Join("; ", f.Message, f.Condition), Detail: plain || m.Unsupported(),
	}}
}
