package plan

import (
	"cmp"
	"fmt"
	"strings"

	"drift-detector/report"
)

// Names of variables that every runbook may need.
const (
	management    = "MGMT"
	oldManagement = "OLD_MGMT"
	backupName    = "BACKUP"
	restoreName   = "RESTORE"
	veleroSpace   = "VELERO_NAMESPACE"
	etcdPod       = "ETCD_POD"
)

// Variable is a value that only the operator knows. It is set once, at the top.
type Variable struct {
	Name, Meaning string
	Value         string // what most operators need; empty: nobody else knows it
}

// book is a report with what its commands need beside it.
type book struct {
	*report.Report
	tools         Tools
	providers     map[string]*provider // by name
	identityKinds map[string]string    // resource and slash of each cluster-scoped kind that leads to credentials

	variables []Variable
	contexts  map[*report.Cluster]string // variable of a cluster's kubeconfig context
	scopes    map[string]*scope          // by scopeKey; nil where a scope's name means several
	withID    map[string]int             // how many instances of the report have an id
	names     map[string]int             // how many clusters have a name
	backupsOf map[string]map[int]bool    // backups that hold a cluster of a key
	alike     map[string][]string        // VMs that may be of a cluster, by its key

	// What plan finds out.
	scopesOf  map[*report.Cluster][]*scope
	witnesses map[witnessKey]*report.Machine
	alive     map[*report.Cluster]*report.Machine // of living
	steps     map[*report.Machine][]report.Step
	others    map[*report.InfraMachine][]report.Step
	reported  map[setID]bool // of which sets the event behind their findings was told
}

func open(r *report.Report, tools Tools) *book {
	b := &book{
		Report: r, tools: tools, providers: map[string]*provider{}, identityKinds: map[string]string{}, contexts: map[*report.Cluster]string{}, scopes: map[string]*scope{}, withID: map[string]int{}, names: map[string]int{},
		backupsOf: map[string]map[int]bool{}, alike: map[string][]string{},
		scopesOf: map[*report.Cluster][]*scope{}, witnesses: map[witnessKey]*report.Machine{}, alive: map[*report.Cluster]*report.Machine{}, reported: map[setID]bool{},
	}
	b.readProviders()
	b.variables = []Variable{
		{Name: management, Meaning: "context of the new management cluster in your kubeconfig"},
		{Name: oldManagement, Meaning: "context of the old management cluster, as long as it answers"},
		{Name: backupName, Meaning: "name of the Backup that Velero restores; there has to be one of that name in the new cluster"},
		{Name: restoreName, Meaning: "a name of your choice for the restore, of small letters, digits and dashes, 63 at most"},
		{Name: veleroSpace, Meaning: "namespace of Velero in the new cluster; OADP uses openshift-adp", Value: "velero"},
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if b.backupsOf[key(c)] == nil {
			b.backupsOf[key(c)] = map[int]bool{}
		}
		b.backupsOf[key(c)][c.Backup] = true
	}
	taken := map[string]bool{}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		b.names[c.Name]++
		name := variableName("CTX_"+c.Namespace+"_"+c.Name, taken)
		b.contexts[c] = name
		b.variables = append(b.variables, Variable{Name: name, Meaning: b.contextMeaning(c)})
		for _, s := range sets(c) {
			for j := range s.machines {
				b.countID(s.machines[j].Instance)
			}
		}
	}
	for i := range r.InfraMachines {
		m := &r.InfraMachines[i]
		b.countID(&m.Instance)
		if m.Cluster != "" {
			b.alike[m.Cluster] = append(b.alike[m.Cluster], cmp.Or(m.Instance.Path, m.Instance.Name))
		}
	}
	b.variables = append(b.variables, Variable{Name: etcdPod, Meaning: "an etcd pod of a living control-plane Node, in kube-system of the cluster in question"})
	b.findScopes()
	return b
}

// contextMeaning tells the cluster from one of its name in another backup. Only of
// kubeadm's control planes clusterctl's name for the context is known.
func (b *book) contextMeaning(c *report.Cluster) string {
	text := "context of workload cluster " + key(c)
	if b.isInAnotherBackup(c) && c.Backup >= 0 && c.Backup < len(b.Backups) {
		text += " of backup " + b.Backups[c.Backup].Path
	}
	if b.providers[c.Provider].planeResource(c) != "" {
		return text
	}
	return text + "; clusterctl names it " + c.Name + "-admin@" + c.Name
}

// isInAnotherBackup reports whether another backup has a cluster of that namespace and name: they are
// of different management clusters.
func (b *book) isInAnotherBackup(c *report.Cluster) bool { return len(b.backupsOf[key(c)]) > 1 }

func (b *book) countID(i *report.Instance) {
	if i != nil {
		b.withID[strings.ToLower(i.ID)]++
	}
}

// variableName makes a name for a shell out of a foreign one.
func variableName(from string, taken map[string]bool) string {
	const most = 60
	clean := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		default:
			return '_'
		}
	}, from)
	clean = clean[:min(len(clean), most)]
	name := clean
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", clean, n)
	}
	taken[name] = true
	return name
}

func key(c *report.Cluster) string { return c.Namespace + "/" + c.Name }

// set is a control plane or a group of workers.
type set struct {
	cluster    *report.Cluster
	kind, name string
	reason     string
	desired    *int64
	counts     report.MachineCounts
	machines   []report.Machine
	plane      bool
	managedBy  string                    // who sets the replicas instead of the operator
	topology   string                    // its name in spec.topology of its Cluster, where its replicas are set
	etcd       *report.Etcd              // nil without a forecast
	rollout    *report.Rollout           // nil when there was none
	scopes     map[*report.Machine]int64 // of nth
}

// setID tells a set from all others.
type setID struct {
	cluster    *report.Cluster
	kind, name string
	plane      bool
}

func (s *set) id() setID { return setID{s.cluster, s.kind, s.name, s.plane} }

func sets(c *report.Cluster) []*set {
	p := &c.ControlPlane
	plane := &set{cluster: c, kind: p.Kind, name: p.Name, reason: p.Reason, desired: p.Desired, counts: p.Counts, machines: p.Machines, plane: true}
	if p.Forecast != nil {
		plane.etcd, plane.rollout = p.Forecast.Etcd, p.Forecast.Rollout
	}
	out := []*set{plane}
	for i := range c.Workers.Groups {
		g := &c.Workers.Groups[i]
		group := &set{cluster: c, kind: g.Kind, name: g.Name, reason: g.Reason, desired: g.Desired, topology: g.Topology, counts: g.Counts, machines: g.Machines}
		if g.Forecast != nil {
			group.managedBy, group.rollout = g.Forecast.ManagedBy, g.Forecast.Rollout
		}
		out = append(out, group)
	}
	return out
}

// title names the set for a heading.
func (s *set) title() string {
	switch {
	case s.kind == "" && s.plane:
		return "Control plane"
	case s.kind == "":
		return "Machines of no known owner"
	default:
		return strings.TrimSpace(s.kind + " " + s.name)
	}
}
