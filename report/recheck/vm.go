package recheck

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drift-detector/infra"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// instances yields each instance of the report, those of VMs to confirm last.
func (a *asking) instances(visit func(*report.Instance)) {
	for i := range a.Clusters {
		for _, s := range a.Clusters[i].Sets() {
			for k := range s.Machines {
				m := &s.Machines[k]
				if m.Instance != nil {
					visit(m.Instance)
				}
				for j := range m.Others {
					visit(&m.Others[j])
				}
			}
		}
	}
	for i := range a.InfraMachines {
		visit(&a.InfraMachines[i].Instance)
	}
}

// scopesOf returns where an instance was seen: several when accounts share the name of a place.
func (a *asking) scopesOf(i *report.Instance) []*report.Scope {
	var out []*report.Scope
	for k := range a.Scopes {
		if p := &a.Scopes[k]; p.Provider == i.Provider && p.Holds(i) {
			out = append(out, p)
		}
	}
	return out
}

// vm sees that an instance of the report is there, by its id and, where it has one, its managed
// object id: two VMs can have one BIOS UUID.
func (a *asking) vm() (string, error) {
	id, ref := a.Names[0], ""
	if len(a.Names) > 1 {
		ref = a.Names[1]
	}
	what := strings.TrimSpace(id + " " + ref)
	provider, scopes := "", []*report.Scope{}
	a.instances(func(i *report.Instance) {
		if strings.EqualFold(i.ID, id) && i.Ref == ref {
			provider, scopes = i.Provider, append(scopes, a.scopesOf(i)...)
		}
	})
	if provider == "" {
		return "", fmt.Errorf("the report has no VM %s: is it the report that the plan was made from?", what)
	}
	_, l, err := a.place(provider, scopes, infra.Sought{IDs: []string{id}})
	if err != nil {
		return "", err
	}
	want := cmp.Or(a.ID, id)
	for k := range l.Instances {
		v := &l.Instances[k]
		if v.Ref != ref || ref == "" && !strings.EqualFold(v.ID, want) {
			continue
		}
		what := fmt.Sprintf("VM %s (%s) in %s", cmp.Or(ref, id), v.Name, where(&l))
		switch {
		case v.Unreadable:
			return "", unseen("see why it cannot be read", "%s could not be read", what)
		case !strings.EqualFold(v.ID, want):
			return "", refuse(again, "%s is not the VM of the report: its id is %s, and %s was to be there", what, v.ID, want)
		case v.Gone || v.Exclude == infra.Template:
			return "", refuse(again, "%s has ended, or is a template", what)
		}
		return a.inState(v, what)
	}
	return "", refuse(again+"; if a line before this one removed it, this is done", "there is no VM %s in %s any more", what, where(&l))
}

// states are the words of infrastructures, of vSphere, EC2 and Nova, for instances that are
// off and on.
var states = map[string][]string{"off": {"poweredOff", "stopped", "SHUTOFF"}, "on": {"poweredOn", "running", "ACTIVE"}}

func (a *asking) inState(v *infra.Instance, what string) (string, error) {
	wanted, known := states[a.State]
	switch {
	case a.State != "" && !known:
		return "", fmt.Errorf("--state %q is not known; it is off or on", a.State)
	case a.State == "" || slices.Contains(wanted, v.State):
		return fmt.Sprintf("%s is the VM of the report, id %s, %s", what, v.ID, v.State), nil
	case a.State == "off":
		return "", refuse("stop it with the line before this one, and see that nothing needs it", "%s still runs (%s)", what, v.State)
	}
	return "", refuse("a copy of it may be what is alive: leave both as they are, and "+again, "%s does not run (%s)", what, v.State)
}

// free sees that nothing has an id, at a place that shows something of the report.
func (a *asking) free() (string, error) {
	provider, scopes, err := a.byForm()
	if err != nil {
		return "", err
	}
	at, l, err := a.place(provider, scopes, infra.Sought{IDs: []string{a.Names[0]}})
	if err != nil {
		return "", err
	}
	var seen []*report.Instance
	a.instances(func(i *report.Instance) {
		if a.holds(at, i) {
			seen = append(seen, i)
		}
	})
	if !sees(&l, seen) {
		return "", unseen("use an account that may see all VMs there", "this account sees none of the report's VMs in %s, so that nothing is known of the others", where(&l))
	}
	if err := noneHas(&l, a.Names[0], nil, nil); err != nil {
		return "", err
	}
	return fmt.Sprintf("nothing in %s has the id %s", where(&l), a.Names[0]), nil
}

// byForm returns the places whose instances have ids of the form of the one that is asked about.
func (a *asking) byForm() (provider string, scopes []*report.Scope, err error) {
	for k := range a.Scopes {
		p := &a.Scopes[k]
		if !a.Form(p.Provider, a.Names[0]) || p.Location != a.Region {
			continue
		}
		if provider != "" && p.Provider != provider {
			return "", nil, fmt.Errorf("%s may be the id of a VM of several providers of the report", a.Names[0])
		}
		provider, scopes = p.Provider, append(scopes, p)
	}
	if provider == "" {
		return "", nil, fmt.Errorf("%s is no id of a VM in the report's places (region %q)", a.Names[0], a.Region)
	}
	return provider, scopes, nil
}

// sees reports whether one of the instances was listed, by its id.
func sees(l *infra.Listing, any []*report.Instance) bool {
	for k := range l.Instances {
		v := &l.Instances[k]
		if v.Gone || v.ID == "" {
			continue
		}
		if slices.ContainsFunc(any, func(i *report.Instance) bool { return strings.EqualFold(i.ID, v.ID) && i.Ref == v.Ref }) {
			return true
		}
	}
	return false
}

// noneHas sees that nothing has the id, nor one of the names, other than what the report knows
// by that name as something else: what was given the name since may be taken by it.
func noneHas(l *infra.Listing, id string, names []string, known map[string]string) error {
	for k := range l.Instances {
		v := &l.Instances[k]
		what := fmt.Sprintf("%s (%s)", v.Name, cmp.Or(v.Ref, v.ID))
		switch named := slices.Contains(names, v.Name); {
		case v.Gone:
		case strings.EqualFold(v.ID, id):
			return refuse(again, "VM %s in %s has the id %s: it is not gone", what, where(l), id)
		case v.Unreadable && v.ID == "" && (v.Name == "" || named):
			return unseen("see why it cannot be read", "VM %s in %s could not be read, and may be it", what, where(l))
		case named && v.Exclude == "" && known[strings.ToLower(v.ID)] != v.Name:
			return refuse(again, "VM %s in %s has the name of the machine and another id, %s: it may be the machine", what, where(l), v.ID)
		}
	}
	return nil
}

// gone sees that nothing at a place is the VM of a Machine, which kubectl printed: by its id
// and its name, with an account that sees the machines of the cluster there.
func (a *asking) gone() (string, error) {
	c, in, m, err := a.machine(a.Names[0])
	if err != nil {
		return "", err
	}
	id := report.InstanceID(m.ProviderID)
	if !a.Form(c.Provider, id) {
		return "", fmt.Errorf("the report has no id of Machine %s by which a VM could be looked for", a.Names[0])
	}
	o, err := readObject(a.Objects)
	if err != nil {
		return "", err
	}
	if err := o.is("Machine", m.Namespace, m.Name); err != nil {
		return "", err
	}
	if err := a.madeByRestore(&o); err != nil {
		return "", err
	}
	if o.Spec.ProviderID != m.ProviderID {
		return "", refuse(again, "Machine %s is not the one of the report: it records %q, and the report has %q", a.Names[0], o.Spec.ProviderID, m.ProviderID)
	}
	s := infra.Sought{IDs: []string{id}, Name: o.Spec.InfrastructureRef.Name, Present: map[string]string{}}
	for _, r := range c.Resources {
		if r.State == code.Present {
			s.Present[r.Name] = r.Kind
		}
	}
	var scopes []*report.Scope
	for k := range a.Scopes {
		scopes = append(scopes, &a.Scopes[k])
	}
	at, l, err := a.place(c.Provider, scopes, s)
	if err != nil {
		return "", err
	}
	if witnesses := a.witnesses(c, in, at); !sees(&l, witnesses) && (len(witnesses) > 0 || !landmark(&l, s)) {
		return "", unseen("use an account that may see all VMs of the cluster there", "this account sees none of the machines of cluster %s in %s, so that nothing is known of others", c.Title(), where(&l))
	}
	known := map[string]string{}
	a.instances(func(i *report.Instance) { known[strings.ToLower(i.ID)] = i.Name })
	if err := noneHas(&l, id, []string{m.Name, s.Name}, known); err != nil {
		return "", err
	}
	if err := a.notTaken(&l, s.Name); err != nil {
		return "", err
	}
	return fmt.Sprintf("Machine %s has no VM: nothing in %s has the id %s or its name", a.Names[0], where(&l), id), nil
}

// landmark reports whether one of the resources was found that show the place.
func landmark(l *infra.Listing, s infra.Sought) bool {
	return slices.ContainsFunc(l.ProbesFound, func(k infra.Key) bool { return s.Present[k.Value] != "" })
}

// witnesses returns the Healthy machines of a cluster at a place, of which one has to be seen
// there: those of the Machine's own set, where there are any, since machines of a set are side by
// side, and rather those without a warning, which may say that they are elsewhere.
func (a *asking) witnesses(c *report.Cluster, in *report.Set, at *report.Scope) []*report.Instance {
	var best []*report.Instance
	rank := -1
	for _, s := range c.Sets() {
		for k := range s.Machines {
			m := &s.Machines[k]
			if m.Status != code.Healthy || m.Instance == nil || !a.holds(at, m.Instance) {
				continue
			}
			is := 0
			if len(m.Warnings) == 0 {
				is += 2
			}
			if s.Title == in.Title {
				is++
			}
			if is > rank {
				best, rank = nil, is
			}
			if is == rank {
				best = append(best, m.Instance)
			}
		}
	}
	return best
}

// notTaken sees that no controller takes an instance or a thing of it by the name of one that
// is gone, and deletes that with the Machine. Only places whose controllers do so say so,
// see infra.FactHolder.
func (a *asking) notTaken(l *infra.Listing, name string) error {
	holders := map[string]string{} // of things that are named after it
	for _, v := range l.Facts.All(infra.FactHolder) {
		if at := strings.LastIndexByte(v, ' '); at >= 0 {
			holders[v[:at]] = v[at+1:]
		}
	}
	var named []string
	for k := range l.Instances {
		if v := &l.Instances[k]; v.Name == name && !v.Gone {
			named = append(named, v.ID)
		}
	}
	for thing, holder := range holders {
		if holder != "" && !slices.Contains(named, holder) {
			return refuse(again, "%s in %s, which is named after the machine, is attached to %s: the controller would delete it with the Machine", thing, where(l), holder)
		}
	}
	return nil
}

// pool sees that the group of an instance still has a size.
func (a *asking) pool() (string, error) {
	size, err := strconv.ParseInt(a.Names[1], 10, 64)
	if err != nil {
		return "", fmt.Errorf("%q is no number of members", a.Names[1])
	}
	provider, scopes, err := a.byForm()
	if err != nil {
		return "", err
	}
	_, l, err := a.place(provider, scopes, infra.Sought{Member: a.Names[0]})
	if err != nil {
		return "", err
	}
	if len(l.PoolSizes) != 1 {
		return "", unseen("see with the console which group it is in", "no one group in %s has instance %s", where(&l), a.Names[0])
	}
	if now := l.PoolSizes[0].Desired; now != size {
		return "", refuse(again, "the group of instance %s in %s is set to %s, and no more to %d", a.Names[0], where(&l), english.Count(int(now), "member"), size)
	}
	return fmt.Sprintf("the group of instance %s in %s is set to %s", a.Names[0], where(&l), english.Count(int(size), "member")), nil
}
