package plan

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/code"
)

// notAMachine is what a person says of a VM that belongs to no cluster of the backup.
const notAMachine = "notAMachine"

// planner is a report with what its commands need beside it.
type planner struct {
	*report.Report
	tools         Tools
	providers     map[string]*provider // by name
	identityKinds map[string]string    // resource and slash of each cluster-scoped kind that leads to credentials

	variables []Variable
	contexts  map[*report.Cluster]string // variable of a cluster's kubeconfig context
	scopes    map[string]*scope          // by scopeKey; nil where a scope's name means several
	withID    map[string]int             // how many instances of the report have an id
	tells     func(*report.Cluster) bool // of tellable, once it is made
	several   map[string]bool            // keys of clusters that several backups hold
	alike     map[string][]string        // VMs that may be of a cluster, by its key

	// Found out on the way.
	looked struct { // of absent, for the machine that was asked for last
		machine *report.Machine
		absence absence
	}
	lines   sharedLines // of linesOf, likewise
	managed struct {    // of manage, likewise
		namespace string
		shell.Command
	}
	scopesOf  map[*report.Cluster][]*scope
	seen      map[seenAt]bool
	alive     map[*report.Cluster]*report.Machine // of living
	membersOf map[*report.Cluster]*members        // of the control planes
	room      []Step                              // for the steps of the next machine
	joined    map[string]string                   // of once
	text      []byte                              // room for the next
	steps     map[*report.Machine][]Step          // of those that have any
	others    map[*report.InfraMachine][]Step
	read      map[string]bool // the variables that lines for findings read
	texts     bool            // see draft; of what is arranged nothing but numbers and subjects is read
	setsOf    map[*report.Cluster][]*set
	parts     map[string]int // objects, of clustersOf
	partOf    [][]*report.Cluster
	missing   map[int]map[string][]*report.Missing // by backup and object
	found     []*fault
	faultsOf  map[*report.Cluster][]*fault
	untied    int // how many faults concern clusters that are not known
	reasonsOf map[*report.Cluster][]ownReason
	copied    map[[3]string]copied       // by sameInstance
	outcomes  map[[2]string]code.Outcome // by key of the cluster and name of the machine, of outcomeOfNamesake
	said      said
	reported  map[setID]bool // sets of which the event behind their findings was noted
	// deployments are those of a cluster by what reasons call them, see deployment.
	deployments map[*report.Cluster]map[string]*report.Group
}

// sharedLines are those of a cluster that many of its machines have, or that those begin with.
type sharedLines struct {
	cluster                             *report.Cluster
	kubectl, nodes, attachments, listed shell.Command
}

func newPlanner(r *report.Report, tools Tools) *planner {
	pl := &planner{
		Report: r, tools: tools, providers: map[string]*provider{}, identityKinds: map[string]string{},
		contexts: map[*report.Cluster]string{}, scopes: map[string]*scope{}, withID: make(map[string]int, r.Summary.Machines.Total), tells: r.Tellable(),
		several: map[string]bool{}, alike: map[string][]string{},
		scopesOf: map[*report.Cluster][]*scope{}, seen: map[seenAt]bool{},
		alive: map[*report.Cluster]*report.Machine{}, membersOf: map[*report.Cluster]*members{}, reported: map[setID]bool{},
		setsOf: make(map[*report.Cluster][]*set, len(r.Clusters)), joined: map[string]string{},
	}
	pl.readProviders()
	pl.variables = []Variable{
		{Name: reportFile, Meaning: "the file of this report, which recheck, confirm and ready read"},
		{Name: management, Meaning: "context of the new management cluster in your kubeconfig"},
		{Name: managementUID, Meaning: "uid of namespace kube-system there, once you have seen by hand that it is not the old management cluster"},
		{Name: oldManagement, Meaning: "context of the old management cluster, as long as it answers"},
		{Name: oldUID, Meaning: "uid of namespace kube-system there, once you have seen by hand that it is the old management cluster"},
		{Name: backupName, Meaning: "name of the Backup that Velero restores; there has to be one of that name in the new cluster", Value: backupOf(r)},
		{Name: backupUID, Meaning: "uid of that Backup, once you have seen by hand that it is the one that the report is of"},
		{Name: backupFile, Meaning: "the backup of the report as detect took it; kubeconfigs: drift-detector extract kubeconfigs --backup \"$BACKUP_FILE\" -o kubeconfigs", Value: fileOf(r)},
		{Name: saidFile, Meaning: "the file of what people say, which detect reads with --confirmations", Value: saidFileOf(r)},
		{Name: restoreName, Meaning: "a name of your choice for the restore, of small letters, digits and dashes, 63 at most"},
		{Name: veleroSpace, Meaning: "namespace of Velero in the new cluster; OADP uses openshift-adp, k0rdent kcm-system", Value: "velero"},
	}
	if r.IsMoved() {
		i := slices.IndexFunc(pl.variables, func(v Variable) bool { return v.Name == restoreName })
		pl.variables[i].Meaning, pl.variables[i].Value = "clusterctl gives no name to what it restores", "clusterctl"
	}
	first := make(map[string]int, len(r.Clusters)) // backup that holds a cluster
	for i := range r.Clusters {
		c, name := &r.Clusters[i], key(&r.Clusters[i])
		if backup, known := first[name]; !known {
			first[name] = c.Backup
		} else if backup != c.Backup {
			pl.several[name] = true
		}
	}
	taken := map[string]int{}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		name := variableName(contextPrefix+c.Namespace+"_"+c.Name, taken)
		pl.contexts[c] = name
		meaning, value := pl.contextMeaning(c)
		pl.variables = append(pl.variables, Variable{Name: name, Meaning: meaning, Value: value})
		for _, m := range pl.machinesOf(c) {
			pl.countID(m.Instance)
		}
	}
	for i := range r.InfraMachines {
		m := &r.InfraMachines[i]
		pl.countID(&m.Instance)
		if m.Confirmed != nil && m.Confirmed.As == notAMachine {
			continue
		}
		for _, of := range m.MayBelongTo() {
			pl.alike[of] = append(pl.alike[of], cmp.Or(m.Instance.Path, m.Instance.Name))
		}
	}
	pl.variables = append(pl.variables, Variable{Name: etcdPod, Meaning: "an etcd pod of a control-plane Node that runs, in kube-system of the cluster in question"})
	pl.findScopes()
	return pl
}

// saidFileOf returns the first file that detect was given of what people say: what else they say is
// added to it.
func saidFileOf(r *report.Report) string {
	return append(slices.Clip(r.Options.Confirmations), "said.yaml")[0]
}

// fileOf returns where the backup of a report is; empty where there are several.
func fileOf(r *report.Report) string {
	if len(r.Backups) != 1 {
		return ""
	}
	return r.Backups[0].Path
}

// contextMeaning names the cluster, and the backup where another one has it, too, and the
// context as the files of extract have it.
func (pl *planner) contextMeaning(c *report.Cluster) (meaning, value string) {
	meaning, value = "context of workload cluster "+key(c), key(c)
	if pl.isInAnotherBackup(c) && c.Backup >= 0 && c.Backup < len(pl.Backups) {
		meaning += " of backup " + pl.Backups[c.Backup].Path
	}
	return meaning + "; in the extracted kubeconfigs it is " + value, value
}

// isInAnotherBackup reports whether another backup has a cluster of that namespace and name: they are
// of different management clusters.
func (pl *planner) isInAnotherBackup(c *report.Cluster) bool { return pl.several[key(c)] }

func (pl *planner) countID(i *report.Instance) {
	if i != nil {
		pl.withID[strings.ToLower(i.ID)]++
	}
}

// once joins texts that thousands of steps have: they share one string.
func (pl *planner) once(texts ...string) string {
	pl.text = pl.text[:0]
	for _, t := range texts {
		pl.text = append(pl.text, t...)
	}
	text, known := pl.joined[string(pl.text)]
	if !known {
		text = string(pl.text)
		pl.joined[text] = text
	}
	return text
}

// done returns the steps of a draft whose room is for the next.
func (pl *planner) done(d *draft) []Step {
	pl.room = d.steps
	return slices.Clone(d.steps)
}
