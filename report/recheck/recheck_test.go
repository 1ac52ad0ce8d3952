package recheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

const (
	vcenter = "dbed6e0c-bd88-4ef6-b594-21283e1c677f"
	idGhost = "b8027b17-866e-5fe2-a015-a623c30c22ce"
	idRuns  = "f9e3e854-a71d-56c5-8477-7ef7f5d85166"
	idStale = "65599f85-96e2-5f5e-8b21-b431ece5ed0d"
)

// reported returns a report of a cluster with a machine of each kind.
func reported() *report.Report {
	vm := func(id, ref string) *report.Instance {
		return &report.Instance{Provider: "vsphere", Scope: "vsphere vc", ID: id, Ref: ref, Name: "n-" + ref}
	}
	return &report.Report{
		Backups: []report.Backup{{Path: "b.tar.gz", WrittenTo: time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)}},
		Scopes:  []report.Scope{{Provider: "vsphere", Endpoint: "vc", Identity: vcenter}},
		Clusters: []report.Cluster{{
			Namespace: "ns", Name: "c", Provider: "vsphere",
			Workers: report.Workers{Groups: []report.Group{{Kind: "MachineDeployment", Name: "md", Machines: []report.Machine{
				{Namespace: "ns", Name: "runs", Node: "runs", Status: code.Healthy, ProviderID: "vsphere://" + idRuns, Instance: vm(idRuns, "vm-1")},
				{Namespace: "ns", Name: "ghost", Node: "ghost", Status: code.Ghost, Instance: vm(idGhost, "vm-2")},
				{Namespace: "ns", Name: "stale", Node: "stale", Status: code.Stale, ProviderID: "vsphere://" + idStale},
			}}}},
		}},
	}
}

// seen returns the listing that is like the report.
func seen() infra.Listing {
	return infra.Listing{
		Provider: "vsphere", Endpoint: "vc", Identity: vcenter, State: code.ScopeComplete,
		Instances: []infra.Instance{{ID: idRuns, Ref: "vm-1", Name: "n-vm-1", State: "poweredOn"}, {ID: idGhost, Ref: "vm-2", Name: "n-vm-2", State: "poweredOff"}},
	}
}

const (
	staleObject = `{"kind":"Machine","metadata":{"namespace":"ns","name":"stale","creationTimestamp":"2026-11-25T12:00:00Z","labels":{"velero.io/restore-name":"r-1"}},"spec":{"providerID":"vsphere://` + idStale + `","infrastructureRef":{"name":"stale-vm"}}}`
	memberList  = `{"header":{"cluster_id":14841639068965178418,"member_id":26,"raft_term":2},"members":[{"ID":26,"name":"runs","peerURLs":["https://10.0.0.1:2380"],"clientURLs":["https://10.0.0.1:2379"]},{"ID":17442555302283345667,"name":"ghost","peerURLs":["https://10.0.0.2:2380"],"clientURLs":["https://10.0.0.2:2379"]}]}`
	ofGhost     = "f21067a1ffb47f03"
)

func nodeList(nodes ...[3]string) string {
	var items []string
	for _, n := range nodes {
		items = append(items, fmt.Sprintf(`{"kind":"Node","metadata":{"name":%q},"spec":{"providerID":%q},"status":{"conditions":[{"type":"Ready","status":%q}]}}`, n[0], n[1], n[2]))
	}
	return `{"apiVersion":"v1","items":[` + strings.Join(items, ",") + `],"kind":"List","metadata":{"resourceVersion":""}}`
}

func machineList(items ...string) string {
	return `{"apiVersion":"v1","items":[` + strings.Join(items, ",") + `],"kind":"List","metadata":{"resourceVersion":""}}`
}

var nodes = nodeList([3]string{"runs", "vsphere://" + idRuns, "True"}, [3]string{"ghost", "vsphere://" + strings.ToUpper(idGhost), "True"}, [3]string{"stale", "vsphere://" + idStale, "Unknown"})

// Outcomes of a question.
const (
	passes = "go on"
	stops  = "stop"
	blind  = "could not look"
	misuse = "wrong usage"
)

func outcome(err error) string {
	var refusal *Refusal
	var unseen *Unseen
	switch {
	case err == nil:
		return passes
	case errors.As(err, &refusal):
		if refusal.Next == "" {
			return "a refusal that does not say what next"
		}
		return stops
	case errors.As(err, &unseen):
		if unseen.Next == "" {
			return "blind, and nothing says what next"
		}
		return blind
	}
	return misuse
}

// question is a row of a table: words of the command line, what is changed, what comes of it.
type question struct {
	name, words string
	printed     string
	change      func(*report.Report, *infra.Listing)
	want        string
}

func (q question) ask(t *testing.T) (string, error) {
	t.Helper()
	r, l := reported(), seen()
	if q.change != nil {
		q.change(r, &l)
	}
	ask := Question{At: "https://vc"}
	for _, w := range strings.Fields(q.words) {
		name, value, _ := strings.Cut(w, "=")
		if into := map[string]*string{"--at": &ask.At, "--region": &ask.Region, "--state": &ask.State, "--id": &ask.ID, "--restore": &ask.Restore}[name]; into != nil {
			*into = value
			continue
		}
		ask.Names = append(ask.Names, w)
	}
	ask.Check, ask.Names = ask.Names[0], ask.Names[1:]
	return ask.Ask(context.Background(), r, Eyes{
		Objects: strings.NewReader(q.printed),
		Place:   func(context.Context, string, string, infra.Sought) infra.Listing { return l },
		Form:    func(_, id string) bool { return strings.Count(id, "-") == 4 },
	})
}

func another(_ *report.Report, l *infra.Listing) { l.Identity = "0a0a0a0a-0000-4000-8000-000000000001" }
func partial(_ *report.Report, l *infra.Listing) { l.State = code.ScopePartial }
func refused(_ *report.Report, l *infra.Listing) {
	l.State, l.Fault = code.ScopeFailed, &infra.Fault{Reason: code.AuthenticationFailed, Message: "vc refuses user u", Hint: "set GOVC_PASSWORD"}
}

func vm(i int, change func(*infra.Instance)) func(*report.Report, *infra.Listing) {
	return func(_ *report.Report, l *infra.Listing) { change(&l.Instances[i]) }
}

func more(i infra.Instance) func(*report.Report, *infra.Listing) {
	return func(_ *report.Report, l *infra.Listing) { l.Instances = append(l.Instances, i) }
}

// Each check lets a line go on where all is as in the report, and stops it in every other
// case: a place, a VM or an object that differs, what cannot be seen, a report of something else.
func TestChecks(t *testing.T) {
	live := func(r *report.Report, _ *infra.Listing) { r.Backups[0].Live = true }
	const is = "vm " + idGhost + " vm-2"
	for _, q := range []question{
		{"place", "place " + vcenter, "", nil, passes},
		{"place: another", "place " + vcenter, "", another, stops},
		{"place: of no report", "place 0a0a0a0a-0000-4000-8000-000000000001", "", nil, misuse},
		{"place: cut off", "place " + vcenter, "", partial, blind},
		{"place: login refused", "place " + vcenter, "", refused, blind},
		{"place: nothing says where", "place " + vcenter + " --at=", "", nil, misuse},

		{"vm", is, "", nil, passes},
		{"vm: off", is + " --state=off", "", nil, passes},
		{"vm: upper case", is, "", vm(1, func(v *infra.Instance) { v.ID = strings.ToUpper(v.ID) }), passes},
		{"vm: it runs", is + " --state=off", "", vm(1, func(v *infra.Instance) { v.State = "poweredOn" }), stops},
		{"vm: suspended is not off", is + " --state=off", "", vm(1, func(v *infra.Instance) { v.State = "suspended" }), stops},
		{"vm: not on", is + " --state=on", "", nil, stops},
		{"vm: no such state", is + " --state=asleep", "", nil, misuse},
		{"vm: another place", is, "", another, stops},
		{"vm: another id", is, "", vm(1, func(v *infra.Instance) { v.ID = idStale }), stops},
		{"vm: the name is of another VM", is, "", vm(1, func(v *infra.Instance) { v.ID, v.Ref = idStale, "vm-99" }), stops},
		{"vm: registered again", is, "", vm(1, func(v *infra.Instance) { v.Ref = "vm-99" }), stops},
		{"vm: gone", is, "", vm(1, func(v *infra.Instance) { v.Gone = true }), stops},
		{"vm: a template by now", is, "", vm(1, func(v *infra.Instance) { v.Exclude = infra.Template }), stops},
		{"vm: unreadable", is, "", vm(1, func(v *infra.Instance) { v.Unreadable = true }), blind},
		{"vm: the list is partial", is, "", partial, blind},
		{"vm: no network", is, "", refused, blind},
		{"vm: not of the report", "vm " + idGhost + " vm-3", "", nil, misuse},
		{"vm: without its managed object id", "vm " + idGhost, "", nil, misuse},
		{"vm: of another region", is + " --region=x", "", nil, misuse},
		{"vm: given another id", is + " --id=" + idStale, "", vm(1, func(v *infra.Instance) { v.ID = idStale }), passes},
		{"vm: not yet given it", is + " --id=" + idStale, "", nil, stops},
		{"vm: the place is not known", is, "", func(r *report.Report, _ *infra.Listing) { r.Scopes[0].Identity = "" }, stops},

		{"free", "free " + idStale, "", nil, passes},
		{"free: it is taken", "free " + idGhost, "", nil, stops},
		{"free: another place", "free " + idStale, "", another, stops},
		{"free: a blind account", "free " + idStale, "", func(_ *report.Report, l *infra.Listing) { l.Instances = nil }, blind},
		{"free: no id", "free x", "", nil, misuse},

		{"gone", "gone machine/ns/stale --restore=r-1", staleObject, nil, passes},
		{"gone: it is there", "gone machine/ns/stale --restore=r-1", staleObject, more(infra.Instance{ID: strings.ToUpper(idStale), Name: "x"}), stops},
		{"gone: it has ended", "gone machine/ns/stale --restore=r-1", staleObject, more(infra.Instance{ID: idStale, Name: "x", Gone: true}), passes},
		{"gone: a VM has its name", "gone machine/ns/stale --restore=r-1", staleObject, more(infra.Instance{ID: "1", Name: "stale"}), stops},
		{"gone: a VM has the name of its object", "gone machine/ns/stale --restore=r-1", staleObject, more(infra.Instance{ID: "1", Name: "stale-vm"}), stops},
		{"gone: a template has its name", "gone machine/ns/stale --restore=r-1", staleObject, more(infra.Instance{ID: "1", Name: "stale", Exclude: infra.Template}), passes},
		{"gone: a VM that the report knows by its name", "gone machine/ns/stale --restore=r-1", staleObject, func(r *report.Report, l *infra.Listing) {
			r.Clusters[0].Workers.Groups[0].Machines[1].Instance.Name, l.Instances[1].Name = "stale", "stale"
		}, passes},
		{"gone: a known VM was given its name", "gone machine/ns/stale --restore=r-1", staleObject, vm(1, func(v *infra.Instance) { v.Name = "stale" }), stops},
		{"gone: no restore is named", "gone machine/ns/stale", staleObject, nil, misuse},
		{"gone: of another restore", "gone machine/ns/stale --restore=r-2", staleObject, nil, stops},
		{"gone: the Machine of the old management cluster", "gone machine/ns/stale --restore=r-1", strings.Replace(staleObject, "-25T", "-20T", 1), nil, stops},
		{"gone: nobody knows when it was created", "gone machine/ns/stale --restore=r-1", strings.Replace(staleObject, `"creationTimestamp":"2026-11-25T12:00:00Z",`, "", 1), nil, stops},
		{"gone: one that is unreadable", "gone machine/ns/stale --restore=r-1", staleObject, more(infra.Instance{Unreadable: true}), blind},
		{"gone: another place", "gone machine/ns/stale --restore=r-1", staleObject, another, stops},
		{"gone: no network", "gone machine/ns/stale --restore=r-1", staleObject, refused, blind},
		{"gone: a partial list", "gone machine/ns/stale --restore=r-1", staleObject, partial, blind},
		{"gone: a blind account", "gone machine/ns/stale --restore=r-1", staleObject, func(_ *report.Report, l *infra.Listing) { l.Instances = nil }, blind},
		{"gone: an account that sees another cluster", "gone machine/ns/stale --restore=r-1", staleObject, func(_ *report.Report, l *infra.Listing) { l.Instances = l.Instances[1:] }, blind},
		{"gone: nothing printed", "gone machine/ns/stale --restore=r-1", "", nil, blind},
		{"gone: cut off", "gone machine/ns/stale --restore=r-1", staleObject[:60], nil, blind},
		{"gone: followed by more", "gone machine/ns/stale --restore=r-1", staleObject + staleObject, nil, blind},
		{"gone: another Machine", "gone machine/ns/stale --restore=r-1", strings.Replace(staleObject, `"stale"`, `"other"`, 1), nil, stops},
		{"gone: another namespace", "gone machine/ns/stale --restore=r-1", strings.Replace(staleObject, `"ns"`, `"other"`, 1), nil, stops},
		{"gone: another kind", "gone machine/ns/stale --restore=r-1", strings.Replace(staleObject, "Machine", "Cluster", 1), nil, stops},
		{"gone: it records another id", "gone machine/ns/stale --restore=r-1", strings.Replace(staleObject, idStale, idGhost, 1), nil, stops},
		{"gone: it records none", "gone machine/ns/stale --restore=r-1", strings.Replace(staleObject, "vsphere://"+idStale, "", 1), nil, stops},
		{"gone: not of the report", "gone machine/ns/other", staleObject, nil, misuse},
		{"gone: a Ghost has no Machine", "gone machine/ns/ghost", staleObject, nil, misuse},
		{"gone: its port is another server's", "gone machine/ns/stale --restore=r-1", staleObject, func(_ *report.Report, l *infra.Listing) {
			l.Facts = infra.Facts{{Name: infra.FactHolder, Value: "stale-vm-0 77058bb1"}}
		}, stops},
		{"gone: its port is free", "gone machine/ns/stale --restore=r-1", staleObject, func(_ *report.Report, l *infra.Listing) {
			l.Facts = infra.Facts{{Name: infra.FactHolder, Value: "stale-vm-0 "}}
		}, passes},
		{"gone: shown by a resource", "gone machine/ns/stale --restore=r-1", staleObject, func(r *report.Report, l *infra.Listing) {
			r.Clusters[0].Workers.Groups[0].Machines[0].Status = code.Unknown
			r.Clusters[0].Resources = []report.Resource{{Kind: "VPC", Name: "vpc-1", State: code.Present}}
			l.ProbesFound = []infra.Key{{Kind: infra.KeyKindOf("vpc"), Value: "vpc-1"}}
		}, passes},
		{"gone: shown by nothing", "gone machine/ns/stale --restore=r-1", staleObject, func(r *report.Report, _ *infra.Listing) {
			r.Clusters[0].Workers.Groups[0].Machines[0].Status = code.Unknown
		}, blind},

		{"pool", "pool " + idRuns + " 3", "", func(_ *report.Report, l *infra.Listing) { l.PoolSizes = []infra.PoolSize{{Desired: 3}} }, passes},
		{"pool: another size", "pool " + idRuns + " 3", "", func(_ *report.Report, l *infra.Listing) { l.PoolSizes = []infra.PoolSize{{Desired: 4}} }, stops},
		{"pool: no group", "pool " + idRuns + " 3", "", nil, blind},
		{"pool: no number", "pool " + idRuns + " x", "", nil, misuse},

		{"is", "is cluster/ns/c", nodes, nil, passes},
		{"is: the Nodes of another", "is cluster/ns/c", nodeList([3]string{"runs", "vsphere://" + idStale, "True"}), nil, stops},
		{"is: no Nodes", "is cluster/ns/c", nodeList(), nil, stops},
		{"is: kubectl failed", "is cluster/ns/c", "", nil, blind},
		{"is: an error in JSON", "is cluster/ns/c", `{"kind":"Status","status":"Failure"}`, nil, blind},
		{"is: a page of a list", "is cluster/ns/c", strings.Replace(nodes, `"resourceVersion":""`, `"continue":"x"`, 1), nil, blind},
		{"is: cut off", "is cluster/ns/c", nodes[:len(nodes)-1], nil, blind},
		{"is: of no report", "is cluster/ns/d", nodes, nil, misuse},

		{"not-ready", "not-ready machine/ns/stale", nodes, nil, passes},
		{"not-ready: it is Ready again", "not-ready machine/ns/stale", strings.Replace(nodes, "Unknown", "True", 1), nil, stops},
		{"not-ready: a Node of its name is, on a VM that nobody knows", "not-ready machine/ns/stale", strings.Replace(strings.Replace(nodes, "Unknown", "True", 1), idStale, "1", 1), nil, stops},
		{"not-ready: a known machine has its Node's name", "not-ready machine/ns/stale", strings.Replace(strings.Replace(nodes, "Unknown", "True", 1), idStale, idGhost, 1), nil, passes},
		{"not-ready: the Nodes of another", "not-ready machine/ns/stale", nodeList(), nil, stops},

		{"runs-on", "runs-on node/ghost " + idGhost, nodes, nil, passes},
		{"runs-on: another machine's", "runs-on node/runs " + idGhost, nodes, nil, stops},
		{"runs-on: no such Node", "runs-on node/other " + idGhost, nodes, nil, stops},
		{"runs-on: a VM of no report", "runs-on node/ghost " + idStale, nodes, nil, misuse},
		{"runs-on: no Node is named", "runs-on node/ " + idGhost, nodes, nil, misuse},

		{"member", "member node/ghost " + ofGhost, memberList, nil, passes},
		{"member: another's", "member node/ghost 1a", memberList, nil, stops},
		{"member: no such id", "member node/ghost 3c", memberList, nil, stops},
		{"member: one has not started", "member node/ghost " + ofGhost, strings.Replace(memberList, `"name":"runs",`, "", 1), nil, stops},
		{"member: a list that fails", "member node/ghost " + ofGhost, "", nil, blind},
		{"member: an error", "member node/ghost " + ofGhost, "Error: context deadline exceeded\n", nil, blind},
		{"no-member: a line of text, as of a list cut short", "no-member node/other", "1a, started, runs, https://10.0.0.1:2380, https://10.0.0.1:2379, false\n", nil, blind},
		{"no-member: cut short", "no-member node/other", memberList[:strings.Index(memberList, `,{"ID":1744`)], nil, blind},
		{"no-member: no members", "no-member node/other", `{"header":{},"members":[]}`, nil, blind},
		{"no-member", "no-member node/other", memberList, nil, passes},
		{"no-member: it is one", "no-member node/ghost", memberList, nil, stops},
		{"no-member: a list that fails", "no-member node/other", "", nil, blind},

		{"no-machine", "no-machine " + idGhost + " --restore=r-1", machineList(staleObject), nil, passes},
		{"no-machine: a newer backup was restored, which has it", "no-machine " + idGhost + " --restore=r-1", machineList(staleObject, strings.Replace(staleObject, idStale, strings.ToUpper(idGhost), 1)), nil, stops},
		{"no-machine: a Machine is about to record it", "no-machine " + idGhost + " --restore=r-1", machineList(staleObject, `{"metadata":{"name":"n-vm-2"},"spec":{}}`), nil, stops},
		{"no-machine: the object of one is called so", "no-machine " + idGhost + " --restore=r-1", machineList(staleObject, `{"metadata":{"name":"x"},"spec":{"infrastructureRef":{"name":"n-vm-2"}}}`), nil, stops},
		{"no-machine: the old management cluster", "no-machine " + idGhost + " --restore=r-1", machineList(strings.Replace(staleObject, "-25T", "-20T", 1)), nil, stops},
		{"no-machine: of another restore", "no-machine " + idGhost + " --restore=r-2", machineList(staleObject), nil, stops},
		{"no-machine: an empty list", "no-machine " + idGhost + " --restore=r-1", machineList(), nil, blind},
		{"no-machine: a part of the list", "no-machine " + idGhost + " --restore=r-1", strings.Replace(machineList(staleObject), `"resourceVersion":""`, `"continue":"x"`, 1), nil, blind},
		{"no-machine: cut short", "no-machine " + idGhost + " --restore=r-1", machineList(staleObject)[:200], nil, blind},
		{"no-machine: Nodes", "no-machine " + idGhost + " --restore=r-1", nodes, nil, blind},
		{"no-machine: kubectl failed", "no-machine " + idGhost + " --restore=r-1", "", nil, blind},
		{"no-machine: not of the report", "no-machine " + idStale + " --restore=r-1", machineList(staleObject), nil, misuse},
		{"no-machine: no restore is named", "no-machine " + idGhost, machineList(staleObject), nil, misuse},

		{"restored", "restored machines.cluster.x-k8s.io/ns/stale --restore=r-1", staleObject, nil, passes},
		{"restored: the label of an earlier restore, in the old management cluster", "restored machines.cluster.x-k8s.io/ns/stale --restore=r-1", strings.Replace(staleObject, "-25T", "-20T", 1), nil, stops},
		{"restored: a Cluster", "restored clusters.cluster.x-k8s.io/ns/stale --restore=r-1", strings.Replace(staleObject, "Machine", "Cluster", 1), nil, passes},
		{"restored: a Cluster that is being deleted", "restored clusters.cluster.x-k8s.io/ns/stale --restore=r-1", strings.NewReplacer("Machine", "Cluster", `"labels"`, `"deletionTimestamp":"2026-11-25T12:30:00Z","labels"`).Replace(staleObject), nil, stops},
		{"restored: by another", "restored machines.cluster.x-k8s.io/ns/stale --restore=r-2", staleObject, nil, stops},
		{"restored: by none", "restored machines.cluster.x-k8s.io/ns/stale --restore=r-1", strings.Replace(staleObject, "velero.io", "x", 1), nil, stops},
		{"restored: another object", "restored machines.cluster.x-k8s.io/ns/other --restore=r-1", staleObject, nil, stops},
		{"restored: another kind", "restored clusters.cluster.x-k8s.io/ns/stale --restore=r-1", staleObject, nil, stops},
		{"restored: no restore", "restored machines.cluster.x-k8s.io/ns/stale", staleObject, nil, misuse},
		{"restored: no name", "restored machines.cluster.x-k8s.io --restore=r-1", staleObject, nil, misuse},
		{"restored: the report is of no backup", "restored machines.cluster.x-k8s.io/ns/stale --restore=r-1", staleObject, live, misuse},
		{"gone: the same", "gone machine/ns/stale --restore=r-1", staleObject, live, misuse},
		{"no-machine: the same", "no-machine " + idGhost + " --restore=r-1", machineList(staleObject), live, misuse},
		{"is: the same, without a restore", "is cluster/ns/c", nodes, live, passes},

		{"no check", "look x", "", nil, misuse},
		{"too few names", "vm", "", nil, misuse},
		{"too many", "free " + idStale + " x", "", nil, misuse},
		{"another kind of name", "gone cluster/ns/c", staleObject, nil, misuse},
	} {
		said, err := q.ask(t)
		if got := outcome(err); got != q.want || (said == "") != (err != nil) {
			t.Errorf("%s: %s (%v, %q), want %s", q.name, got, err, said, q.want)
		}
	}
}

// What shows that an account sees a cluster is a machine of the same set, where there is one,
// and rather one without a warning, which may say that it is elsewhere.
func TestTheWitnessIsASibling(t *testing.T) {
	moved := report.Machine{Namespace: "ns", Name: "moved", Status: code.Healthy, Warnings: []report.Warning{{Reason: "Moved"}}, Instance: &report.Instance{Provider: "vsphere", Scope: "vsphere vc", ID: "77777777-7777-7777-7777-777777777777", Ref: "vm-7"}}
	for name, c := range map[string]struct {
		add  []report.Machine
		want string
	}{"a sibling": {[]report.Machine{moved}, "vm-1"}, "no sibling": {nil, "vm-1"}} {
		r := reported()
		c0 := &r.Clusters[0]
		stale := c0.Workers.Groups[0].Machines[2]
		c0.Workers.Groups = append(c0.Workers.Groups, report.Group{Kind: "MachineDeployment", Name: "other", Machines: append(slices.Clone(c.add), stale)})
		a := &asking{Report: r}
		in := c0.Sets()[2]
		var refs []string
		for _, i := range a.witnesses(c0, &in, &r.Scopes[0]) {
			refs = append(refs, i.Ref)
		}
		if !slices.Equal(refs, []string{c.want}) {
			t.Errorf("%s: %q", name, refs)
		}
	}
}
