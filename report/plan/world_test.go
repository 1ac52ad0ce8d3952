package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
	looking "drift-detector/report/recheck"
)

// world is what lines of a plan meet: places, clusters and etcd.
type world struct {
	report   *report.Report
	places   map[string]infra.Listing // by the variable that leads there
	nodes    map[string]string        // what kubectl prints, by the variable of the context
	object   func(context, resource, name string) string
	backups  string                   // what kubectl prints of Velero's
	newOne   func(filled bool) string // what is printed of the new management cluster
	members  []etcdMember
	machines string // what kubectl prints of the management cluster
	majority bool
}

// things is what a world is made of, so that it can be another one.
type things struct {
	identity func(string) string                 // of a place
	instance func(infra.Instance) infra.Instance // a nameless one is not there
	node     func(*nodeThing)
	recorded func(string) string // the id that a Machine has
	restore  string              // that objects are of
	ready    bool                // the Nodes of Stale Machines are
	gone     bool                // nothing answers
	evicted  bool                // Ghosts have left etcd
	switched bool                // the contexts of the management clusters
	workload bool                // the context of the new one leads to a workload cluster
	more     int                 // items that the Backup of Velero has
	others   bool                // the new one has Clusters that are in no report
	other    bool                // the restore was done, or was not
	later    time.Duration       // that Velero's Backup ran
	modifier string              // what a ConfigMap has
	owned    bool                // Ghosts have Machines by now
	majority bool
}

type etcdMember struct {
	ID   uint64 `json:"ID"`
	Name string `json:"name,omitempty"`
}

type nodeThing struct{ name, id, ready string }

// asReported returns the world of the report, in which VMs have a state.
func asReported(state func(name, provider string) string) things {
	return things{
		identity: func(s string) string { return s }, node: func(*nodeThing) {}, recorded: func(s string) string { return s }, restore: "RESTORE", majority: true, modifier: report.Modifiers,
		instance: func(i infra.Instance) infra.Instance {
			i.State = state(i.Name, i.State)
			return i
		},
	}
}

var stateWords = map[string][2]string{"vsphere": {"poweredOff", "poweredOn"}, "aws": {"stopped", "running"}}

func power(off func(name string) bool) func(name, provider string) string {
	return func(name, provider string) string {
		if off(name) {
			return stateWords[provider][0]
		}
		return stateWords[provider][1]
	}
}

func (x things) world(r *report.Report) *world {
	w := &world{report: r, places: map[string]infra.Listing{}, nodes: map[string]string{}, majority: x.majority}
	pl := newPlanner(r, providerTools)
	for i := range r.Scopes {
		s := &r.Scopes[i]
		p := pl.scopes[report.ScopeName(s.Provider, s.Endpoint, s.Location)]
		if p == nil {
			continue
		}
		l := infra.Listing{Provider: s.Provider, Endpoint: s.Endpoint, Location: s.Location, Identity: x.identity(s.Identity), State: code.ScopeComplete}
		if x.gone {
			l.State, l.Fault = code.ScopeFailed, &infra.Fault{Reason: code.Unreachable, Message: "it does not answer"}
		}
		seen := map[string]bool{}
		add := func(v *report.Instance) {
			if v == nil || !s.Holds(v) || seen[v.ID+v.Ref] {
				return
			}
			seen[v.ID+v.Ref] = true
			if i := x.instance(infra.Instance{ID: v.ID, Ref: v.Ref, Name: v.Name, State: s.Provider}); i.Name != "" {
				l.Instances = append(l.Instances, i)
			}
		}
		for _, m := range pl.machines() {
			add(m.Instance)
			for k := range m.Others {
				add(&m.Others[k])
			}
		}
		for k := range r.InfraMachines {
			add(&r.InfraMachines[k].Instance)
		}
		w.places[p.Variable] = l
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		w.nodes[pl.contexts[c]] = x.nodesOf(pl, c)
		for k := range c.ControlPlane.Machines {
			if m := &c.ControlPlane.Machines[k]; m.Status == code.Healthy || m.Status == code.Ghost && !x.evicted {
				one := etcdMember{ID: uint64(10 + k)}
				if x.majority {
					one.Name = nodeOf(m)
				}
				w.members = append(w.members, one)
			}
		}
	}
	if x.gone {
		w.members, w.nodes = nil, nil
	}
	if began := plantest.Written.Add(x.later).Format(time.RFC3339); !x.gone {
		w.backups = `{"kind":"List","items":[{"kind":"Backup","metadata":{"name":"BACKUP"},"status":{"phase":"Completed","startTimestamp":"` + began + `","completionTimestamp":"` + plantest.Written.Add(x.later+2*time.Minute).Format(time.RFC3339) + `","progress":{"itemsBackedUp":` + fmt.Sprint(588+x.more) + `}}}]}`
	}
	w.newOne = func(filled bool) string { return x.newOne(w, pl, filled) }
	w.object = func(context, resource, name string) string {
		if x.gone {
			return ""
		}
		kind, _, _ := strings.Cut(resource, ".")
		switch text, _ := json.Marshal(x.modifier); {
		case kind == "namespaces":
			return `{"kind":"Namespace","metadata":{"name":"` + name + `","uid":"` + map[bool]string{true: plantest.OldKubeSystem, false: plantest.NewKubeSystem}[(context == oldManagement) != x.switched] + `"}}`
		case kind == "configmaps":
			return `{"kind":"ConfigMap","metadata":{"name":"` + name + `"},"data":{"modifiers.yaml":` + string(text) + `}}`
		}
		o := map[string]any{"kind": strings.TrimSuffix(kind, "s"), "metadata": map[string]any{"namespace": "alpha", "name": name, "creationTimestamp": "2030-01-01T00:00:00Z", "labels": map[string]string{"velero.io/restore-name": x.restore}}}
		for _, m := range pl.machines() {
			if kind == "machines" && m.Name == name && m.ProviderID != "" && m.Status == code.Stale {
				o["spec"] = map[string]any{"providerID": x.recorded(m.ProviderID), "infrastructureRef": map[string]string{"name": m.Name}}
			}
		}
		text, _ := json.Marshal(o)
		return string(text)
	}
	var all []string
	for _, m := range pl.machines() {
		if one := w.object(management, "machines.cluster.x-k8s.io", m.Name); m.Status != code.Ghost {
			all = append(all, strings.Replace(one, `"machine"`, `"Machine"`, 1))
		}
		if m.Status == code.Ghost && x.owned && m.Instance != nil {
			all = append(all, fmt.Sprintf(`{"kind":"Machine","metadata":{"name":"new"},"spec":{"providerID":"x://%s"}}`, m.Instance.ID))
		}
	}
	w.machines = `{"kind":"List","items":[` + strings.Join(all, ",") + `]}`
	if x.gone {
		w.machines = ""
	}
	return w
}

// newOne returns what is printed of the new management cluster.
func (x things) newOne(w *world, pl *planner, filled bool) string {
	if x.gone {
		return ""
	}
	node := "x://of-the-new-one"
	for _, m := range pl.machines() {
		if x.workload && m.Instance != nil {
			node = "x://" + m.Instance.ID
		}
	}
	var clusters []string
	held := func(namespace, name string) {
		clusters = append(clusters, fmt.Sprintf(`{"metadata":{"namespace":%q,"name":%q,"creationTimestamp":"2030-01-01T00:00:00Z"},"spec":{"paused":true}}`, namespace, name))
	}
	for i := range w.report.Clusters {
		if c := &w.report.Clusters[i]; filled != x.other {
			held(c.Namespace, c.Name)
		}
	}
	if x.others {
		held("prod", "shop")
	}
	return `{"kind":"List","apiVersion":"v1","items":[` + w.object(management, "namespaces", "kube-system") + `,{"kind":"Node","metadata":{"name":"new"},"spec":{"providerID":"` + node + `"}}]}
{"kind":"ClusterList","apiVersion":"cluster.x-k8s.io/v1beta2","metadata":{},"items":[` + strings.Join(clusters, ",") + `]}`
}

func nodeOf(m *report.Machine) string {
	if m.Instance != nil {
		return cmp.Or(m.Node, "node-"+m.Instance.ID)
	}
	return cmp.Or(m.Node, m.Name)
}

func (x things) nodesOf(pl *planner, c *report.Cluster) string {
	var items []any
	for _, m := range pl.machinesOf(c) {
		n := nodeThing{nodeOf(m), m.ProviderID, "True"}
		switch {
		case m.Instance != nil:
			n.id = "x://" + m.Instance.ID
		case x.ready:
		case m.Status == code.Stale:
			n.ready = "Unknown"
		}
		x.node(&n)
		items = append(items, map[string]any{
			"kind": "Node", "metadata": map[string]any{"name": n.name}, "spec": map[string]any{"providerID": n.id},
			"status": map[string]any{"conditions": []any{map[string]string{"type": "Ready", "status": n.ready}}},
		})
	}
	text, _ := json.Marshal(map[string]any{"kind": "List", "items": items, "metadata": map[string]string{"resourceVersion": ""}})
	return string(text)
}

var (
	readsVariable = regexp.MustCompile(`"?(node/)?\$\{([A-Z0-9_]+):\?\}"?`)
	asksKubectl   = regexp.MustCompile(`^kubectl --context ([A-Z0-9_]+)(?: --namespace=\S+)? get (?:([a-z.0-9-]+)/(\S+) --output=json|(?:nodes|backups.velero.io|machines.cluster.x-k8s.io --all-namespaces) --output=json)$`)
)

// run does what a line does, with the real recheck, and returns what it changes and why it
// stopped.
func (w *world) run(t *testing.T, line string) (changes []string, stopped error) {
	t.Helper()
	line = strings.ReplaceAll(line, printsNewLine, "prints-new")
	member, nodeName := "a", "" // what the operator filled in
	for piece := range strings.SplitSeq(line, " && ") {
		piece = readsVariable.ReplaceAllStringFunc(piece, func(s string) string {
			found := readsVariable.FindStringSubmatch(s)
			switch found[2] {
			case "MEMBER_ID":
				return member
			case "NODE":
				return found[1] + nodeName
			}
			return found[1] + found[2]
		})
		asked, question, piped := strings.Cut(piece, " | ")
		if !piped {
			asked, question = "", piece
		}
		if !strings.HasPrefix(question, "drift-detector recheck REPORT ") {
			if strings.Contains(piece, " endpoint health") && !w.majority {
				return changes, fmt.Errorf("etcd has no majority")
			}
			if slices.ContainsFunc(plantest.Changing, func(word string) bool { return strings.Contains(piece+" ", word) }) {
				changes = append(changes, piece)
			}
			continue
		}
		text, err := json.Marshal(map[string]any{"members": w.members})
		if err != nil {
			t.Fatal(err)
		}
		printed := string(text)
		if found := asksKubectl.FindStringSubmatch(asked); found != nil && found[2] != "" {
			printed = w.object(found[1], found[2], found[3])
		} else if asked == "prints-new" {
			printed = w.newOne(strings.Contains(question, " filled"))
		} else if strings.HasSuffix(asked, " get backups.velero.io --output=json") {
			printed = w.backups
		} else if strings.HasSuffix(asked, " --all-namespaces --output=json") {
			printed = w.machines
		} else if found != nil {
			printed = w.nodes[found[1]]
		} else if piped && !strings.HasSuffix(asked, " member list --write-out=json") {
			t.Fatalf("what does it print? %s", asked)
		}
		if strings.Contains(question, " runs-on node/ ") { // as the list of Nodes says
			id := question[strings.LastIndexByte(question, ' ')+1:]
			nodeName = "node-" + id
			question = strings.Replace(question, " node/ ", " node/"+nodeName+" ", 1)
		}
		for _, one := range w.members {
			if strings.Contains(question, " member node/"+one.Name+" ") {
				member = fmt.Sprintf("%x", one.ID)
				question = question[:strings.LastIndexByte(question, ' ')+1] + member
			}
		}
		if err := w.recheck(question, printed); err != nil {
			return changes, err
		}
	}
	return changes, nil
}

// recheck asks what the words of a line ask.
func (w *world) recheck(line, printed string) error {
	q := looking.Question{}
	all := strings.Fields(line)[3:]
	for i := 0; i < len(all); i++ {
		name, value, given := strings.Cut(all[i], "=")
		if into := map[string]*string{"--at": &q.At, "--region": &q.Region, "--state": &q.State, "--id": &q.ID, "--restore": &q.Restore}[name]; into != nil {
			if !given {
				i++
				value = all[i]
			}
			*into = value
			continue
		}
		q.Names = append(q.Names, all[i])
	}
	q.Check, q.Names = q.Names[0], q.Names[1:]
	_, err := q.Ask(context.Background(), w.report, looking.Eyes{
		Objects: strings.NewReader(printed),
		Place: func(_ context.Context, provider, at string, s infra.Sought) infra.Listing {
			l := w.places[at]
			if s.Member != "" {
				l.PoolSizes = []infra.PoolSize{{Desired: 3}}
			}
			return l
		},
		Form: func(provider, id string) bool { return providerTools[provider].Identifies(id) },
	})
	return err
}
