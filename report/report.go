// Package report is the versioned document that people, tickets and scripts
// read. Every output format prints the same [Report] and computes no verdict of
// its own.
package report

import (
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report/code"
)

// SchemaVersion is the version of the document. Within one version fields are
// only ever added.
const SchemaVersion = "1"

// Report is the document.
type Report struct {
	SchemaVersion string    `json:"schemaVersion"`
	Tool          Tool      `json:"tool"`
	GeneratedAt   time.Time `json:"generatedAt"`
	Options       Options   `json:"options"`
	Backups       []Backup  `json:"backups"`
	Summary       Summary   `json:"summary"`
	// ToDo is what a person has to do or to decide, in order. Absent from reports of versions
	// that did not say it.
	ToDo          []ToDo         `json:"toDo,omitzero"`
	Clusters      []Cluster      `json:"clusters"`
	InfraMachines []InfraMachine `json:"infraMachines"`
	Scopes        []Scope        `json:"scopes"`
	Checks        []Check        `json:"checks"`
	Errors        []Error        `json:"errors"`
	// Providers are the infrastructures that this release knows, whether or not the
	// report is of one. Absent from reports of versions that did not describe them.
	Providers []Provider `json:"providers,omitempty"`
	// IgnoreRules are the rules that set findings aside, in the order in which
	// they were read; absent when none were given.
	IgnoreRules []IgnoreRule `json:"ignoreRules,omitempty"`
	// Confirmations are those that were read; absent when none were given.
	Confirmations []Confirmation `json:"confirmations,omitempty"`
	// Variables are those that commands of steps read; absent when none does.
	Variables []Variable `json:"variables,omitempty"`
	// Digests are those of the members, by their names: see Sealed.
	Digests map[string]string `json:"digests,omitempty"`
}

// Tool says what made the report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit"`
}

// Options are those that change what the report holds.
type Options struct {
	// IgnoreHealthy leaves machines that are Healthy without a warning out of
	// the lists, never out of the counts.
	IgnoreHealthy bool `json:"ignoreHealthy"`
	SkipNodes     bool `json:"skipNodes"` // workload API servers were left alone
	// Filter says which clusters the report is of; absent when of all.
	Filter *Filter `json:"filter,omitempty"`
	// FailOn is what --fail-on of the run named: JUnit has it fail.
	FailOn []string `json:"failOn,omitempty"`
	// Confirmations are the files of --confirmations, as they were typed: the plan names them.
	Confirmations []string `json:"confirmations,omitempty"`
}

// Filter is the clusters that were asked for: those that match
// each of the given parts.
type Filter struct {
	Clusters   []string      `json:"clusters,omitempty"` // names, or namespace/name
	Namespaces []string      `json:"namespaces,omitempty"`
	Selector   string        `json:"selector,omitempty"` // of labels of the Cluster
	Statuses   []code.Status `json:"statuses,omitempty"` // of the machines that are listed
	View       bool          `json:"view,omitempty"`     // Narrow set it: the answer is that of a report of more
}

// Covers says in a sentence what a report that was filtered is of, and what its answer is of.
func (f *Filter) Covers() string {
	if f.View {
		return "This shows only " + f.String() + "; the answer is that of the whole report."
	}
	return "This report covers only " + f.String() + "."
}

// String says it in the words of the command line.
func (f *Filter) String() string {
	var parts []string
	for _, c := range f.Clusters {
		parts = append(parts, "--cluster "+c)
	}
	for _, n := range f.Namespaces {
		parts = append(parts, "--namespace "+n)
	}
	if f.Selector != "" {
		parts = append(parts, "--selector "+f.Selector)
	}
	for _, s := range f.Statuses {
		parts = append(parts, "--status "+strings.ToLower(string(s)))
	}
	return strings.Join(parts, " ")
}

// Backup is one tarball that was read.
type Backup struct {
	Path          string    `json:"path"`
	SHA256        string    `json:"sha256"`
	FormatVersion string    `json:"formatVersion"`
	WrittenFrom   time.Time `json:"writtenFrom"`
	WrittenTo     time.Time `json:"writtenTo"`
	Items         int       `json:"items"`
	KubeSystemUID string    `json:"kubeSystemUID,omitempty"`
	Live          bool      `json:"live,omitempty"`        // a management cluster that runs, and no tarball
	RestoreMode   string    `json:"restoreMode,omitempty"` // what restores it: velero or clusterctl; empty of a management cluster that runs
	Missing       []Missing `json:"missing"`
	// Installed are the releases of Cluster API and its providers in the management cluster,
	// as far as the backup says.
	Installed []Installed `json:"installed,omitempty"`
	// Velero is what Velero says of the backup; nil where neither its file nor the tarball does.
	Velero *Described `json:"velero,omitempty"`
}

// Described is the Backup of Velero that wrote a tarball, as its file velero-backup.json has it, or
// the tarball itself, which has it as it was while it ran.
type Described struct {
	Name    string    `json:"name"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`
	Items   int       `json:"items,omitempty"` // that Velero counted
}

// Installed is a release of a provider. Type is core, or what 'clusterctl init' calls it.
type Installed struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Missing is something that the backup refers to and lacks.
type Missing struct {
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	ReferredBy string `json:"referredBy"`
	Why        string `json:"why"`
}

// SafeAnswer answers whether it is safe to restore the backup. It is not the same as
// Summary.Status: that says what was found, this says what a restore does.
type SafeAnswer struct {
	Safe    code.Safe      `json:"safe"`    // Yes, WithWork, No or Unclear
	Reasons []AnswerReason `json:"reasons"` // why it is not Yes, the most dangerous first
	// Conditions are what the answer depends on: it holds only while each of them does.
	Conditions []Note `json:"conditions"`
}

// PlanAnswer answers whether it is safe to restore the backup where the Clusters are restored
// paused, the steps of the plan are done, and the Clusters are unpaused then. Its conditions
// are those of the SafeAnswer.
type PlanAnswer struct {
	Safe    code.Safe      `json:"safe"`
	Reasons []AnswerReason `json:"reasons"` // what the plan does not mend, the most dangerous first
	// Resolved are the reasons that are gone once the plan's steps about them are done, whether
	// they are reasons now or show only then.
	Resolved []AnswerReason `json:"resolved"`
}

// AnswerReason is one reason for which the answer is not Yes.
type AnswerReason struct {
	Code    code.Reason `json:"code"`
	Message string      `json:"message"` // sentences, without the last full stop
	Objects []string    `json:"objects"` // what it is about: "Machine tenant/md-0-x"
	// Until is what has to change first, by the name that checks have for it; absent when
	// that is not one object.
	Until string `json:"until,omitempty"`
	// Row is the row of docs/walks.md whose answer it is; absent when it is of none.
	Row string `json:"row,omitempty"`
}

// Reasons gathers reasons; the zero value is empty.
type Reasons struct {
	List []AnswerReason
	at   map[[2]string]int // by code and message, where they are many
}

// Add adds objects to the reason of that code and message, and returns it.
func (r *Reasons) Add(word code.Reason, message string, objects ...string) *AnswerReason {
	i := r.find(word, message)
	if i == len(r.List) {
		r.List = append(r.List, AnswerReason{Code: word, Message: message})
	}
	r.List[i].Objects = append(r.List[i].Objects, objects...)
	return &r.List[i]
}

// find returns where the reason of that code and message is, or is to be. Most lists are those of
// one cluster: to look through them takes less than a map.
func (r *Reasons) find(word code.Reason, message string) int {
	const many = 16
	for i := range r.List[:min(len(r.List), many)] {
		if r.List[i].Code == word && r.List[i].Message == message {
			return i
		}
	}
	if len(r.List) < many {
		return len(r.List)
	}
	if r.at == nil {
		r.at = map[[2]string]int{}
	}
	key := [2]string{string(word), message}
	i, known := r.at[key]
	if !known {
		i = len(r.List)
		r.at[key] = i
	}
	return i
}

// Copy adds objects to the reason that is like one, and else empty.
func (r *Reasons) Copy(like *AnswerReason, objects ...string) {
	out := r.Add(like.Code, like.Message, objects...)
	out.Until, out.Row = like.Until, like.Row
}

// Sentence returns the message with its last full stop.
func (a *AnswerReason) Sentence() string { return english.Sentence(a.Message) }

// Summary is the answer: counts and the worst status.
type Summary struct {
	Status   code.Status `json:"status"`
	Complete bool        `json:"complete"`
	// Answer is absent from reports of versions that did not give one.
	Answer        *SafeAnswer    `json:"answer,omitempty"`
	AnswerByPlan  *PlanAnswer    `json:"answerByPlan,omitempty"`
	Clusters      ClusterCounts  `json:"clusters"`
	Machines      MachineCounts  `json:"machines"`
	InfraMachines int            `json:"infraMachines"`
	Excluded      map[string]int `json:"excluded"`
	OutOfScope    int            `json:"outOfScope"`
	Resources     ResourceCounts `json:"resources"`
	ForeignTags   map[string]int `json:"foreignTags,omitempty"`
	// Ignored is how many findings rules set aside: machines and infraMachines.
	// They stay in all counts above; statuses leave them out.
	Ignored              int            `json:"ignored"`
	IgnoredMachines      *MachineCounts `json:"ignoredMachines,omitempty"` // by status; absent without rules
	IgnoredInfraMachines int            `json:"ignoredInfraMachines,omitempty"`
	// ConfirmedInfraMachines are those of InfraMachines that a person has confirmed.
	ConfirmedInfraMachines int              `json:"confirmedInfraMachines,omitempty"`
	StatusWithoutRules     code.Status      `json:"statusWithoutRules,omitempty"`
	Errors                 int              `json:"errors"`
	Forecast               *GeneralForecast `json:"forecast,omitempty"`
}

// ClusterCounts counts clusters by status. The management cluster itself is not
// counted, here and in Summary.Machines.
type ClusterCounts struct {
	Total                        int `json:"total"`
	Healthy                      int `json:"Healthy"`
	ManualRemediationNotRequired int `json:"ManualRemediationNotRequired"`
	ManualRemediationRequired    int `json:"ManualRemediationRequired"`
	NeedFurtherConfirmation      int `json:"NeedFurtherConfirmation"`
}

// MachineCounts counts machines by status; Total is the sum of the four.
type MachineCounts struct {
	Total   int `json:"total"`
	Healthy int `json:"Healthy"`
	Stale   int `json:"Stale"`
	Ghost   int `json:"Ghost"`
	Unknown int `json:"Unknown"`
}

// Cluster is one cluster of the backup.
type Cluster struct {
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	Backup    int         `json:"backup"`
	Provider  string      `json:"provider"`
	Status    code.Status `json:"status"`
	Derived   bool        `json:"derived"`
	Self      bool        `json:"self"`
	Paused    bool        `json:"paused"`
	Endpoint  string      `json:"endpoint"`
	// APILoadBalancers are those before the API server that the infrastructure's
	// controller makes (AWS), as the backup records them.
	APILoadBalancers []LoadBalancer `json:"apiLoadBalancers,omitempty"`
	// Counts, here and below, are of all machines, also of those that
	// Options.IgnoreHealthy leaves out of the lists.
	Counts       MachineCounts    `json:"counts"`
	Nodes        Nodes            `json:"nodes"`
	ControlPlane ControlPlane     `json:"controlPlane"`
	Workers      Workers          `json:"workers"`
	Resources    []Resource       `json:"resources"`
	Forecast     *ClusterForecast `json:"forecast,omitempty"`
	Confirmed    *Confirmed       `json:"confirmed,omitempty"` // that it is given up
}

// LoadBalancer is a load balancer as the backup records it.
type LoadBalancer struct {
	Type string `json:"type,omitempty"` // absent: the controller's default
	Name string `json:"name,omitempty"`
	ARN  string `json:"arn,omitempty"`
}

// Nodes says what became of the cluster's Node list.
type Nodes struct {
	State string `json:"state"`
	Count int    `json:"count"`
	Error string `json:"error,omitempty"`
}

// ControlPlane is the control plane of a cluster.
type ControlPlane struct {
	Kind       string                `json:"kind"`
	Name       string                `json:"name"`
	Status     code.Status           `json:"status"`
	Reason     code.Reason           `json:"reason,omitempty"`
	Applicable bool                  `json:"applicable"`
	Desired    *int64                `json:"desired,omitempty"`
	Counts     MachineCounts         `json:"counts"`
	Machines   []Machine             `json:"machines"`
	Forecast   *ControlPlaneForecast `json:"forecast,omitempty"`
}

// Workers is all groups of workers of a cluster.
type Workers struct {
	Status code.Status `json:"status"`
	Groups []Group     `json:"groups"`
}

// Group is a MachineDeployment, MachineSet or MachinePool with its machines.
type Group struct {
	Kind    string      `json:"kind"`
	Name    string      `json:"name"`
	Status  code.Status `json:"status"`
	Reason  code.Reason `json:"reason,omitempty"`
	Desired *int64      `json:"desired,omitempty"`
	// Topology is the name of a MachineDeployment in spec.topology of its
	// Cluster, from which its replicas come.
	Topology string         `json:"topology,omitempty"`
	Pool     *Pool          `json:"pool,omitempty"`
	Counts   MachineCounts  `json:"counts"`
	Machines []Machine      `json:"machines"`
	Forecast *GroupForecast `json:"forecast,omitempty"`
}

// Pool compares the members of a pool that makes its machines itself: as a set,
// by their ids.
type Pool struct {
	State   code.Presence `json:"state"`
	Then    []string      `json:"then"`    // in the backup
	Now     []string      `json:"now"`     // alive
	Missing []string      `json:"missing"` // Then without Now
	Added   []string      `json:"added"`   // Now without Then
	Desired *int64        `json:"desired,omitempty"`
	// DesiredNow is what the pool is set to where it is.
	DesiredNow *int64 `json:"desiredNow,omitempty"`
	ManagedBy  string `json:"managedBy,omitempty"`
	Message    string `json:"message,omitempty"`
}

// Resource is something other than machines that a restore depends on.
type Resource struct {
	Kind     string        `json:"kind"`
	Name     string        `json:"name"`
	State    code.Presence `json:"state"`
	UsedBy   string        `json:"usedBy"`
	WhenGone code.WhenGone `json:"whenGone,omitempty"` // what its absence means to the controllers
	Message  string        `json:"message,omitempty"`
	// Several says that more than one thing answers its name, so that there is not the one that
	// controllers take: it is absent.
	Several bool `json:"several,omitempty"`
}

// ResourceCounts counts resources by state.
type ResourceCounts struct {
	Present int `json:"present"`
	Absent  int `json:"absent"`
	Unknown int `json:"unknown"`
}

// Machine is the verdict on one machine.
type Machine struct {
	Namespace  string      `json:"namespace"`
	Name       string      `json:"name"`
	UID        string      `json:"uid,omitempty"`
	Role       Role        `json:"role"`
	Status     code.Status `json:"status"`
	Reason     code.Reason `json:"reason,omitempty"`
	Message    string      `json:"message,omitempty"`
	ProviderID string      `json:"providerID,omitempty"`
	Node       string      `json:"node,omitempty"`
	// Infrastructure is the object of the infrastructure's controller. Absent from reports of
	// versions that did not name it, and where the backup refers to none.
	Infrastructure *ObjectName      `json:"infrastructure,omitempty"`
	Instance       *Instance        `json:"instance"`
	Others         []Instance       `json:"otherInstances,omitempty"`
	MoreOthers     int              `json:"moreInstances,omitempty"` // beside Others
	Evidence       []Evidence       `json:"evidence"`
	Warnings       []Warning        `json:"warnings,omitempty"`
	Ignored        *Ignored         `json:"ignored,omitempty"`
	Confirmed      *Confirmed       `json:"confirmed,omitempty"` // that its VM stays off, or runs on without its Machine
	Forecast       *MachineForecast `json:"forecast,omitempty"`
	// Deleting is since when a management cluster that runs deletes it. Absent where it does not.
	Deleting *time.Time `json:"deleting,omitempty"`
	// Remediation is what to do about it, in a safe order.
	Remediation []Step `json:"remediation,omitempty"`
}

// ObjectName names an object of the API server.
type ObjectName struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Evidence is one fact that a verdict rests on.
type Evidence struct {
	Kind     string        `json:"kind"`
	Detail   string        `json:"detail"`
	Strength code.Strength `json:"strength"`
}

// Warning goes with a verdict that is right but not the whole story.
type Warning struct {
	Reason  code.Reason `json:"reason"`
	Message string      `json:"message"`
}

// Instance is one VM.
type Instance struct {
	Provider  string     `json:"provider"`
	Scope     string     `json:"scope"`
	Account   string     `json:"account,omitempty"` // of the scope, where several accounts share its name
	ID        string     `json:"id"`
	Ref       string     `json:"ref"`
	Name      string     `json:"name"`
	Path      string     `json:"path"`
	State     string     `json:"state"`
	Created   *time.Time `json:"created,omitempty"`
	Size      Size       `json:"size,omitzero"`
	Addresses []string   `json:"addresses,omitempty"`
	// Tags are those of the infrastructure (AWS); vSphere's are not read.
	Tags map[string]string `json:"tags,omitempty"`
}

// InfraMachine is an instance that no object of the backup accounts for and
// that no cluster can be held responsible for.
type InfraMachine struct {
	Instance Instance `json:"instance"`
	// Cluster is namespace/name of the cluster of the backup that it may belong to; empty where
	// that may be one of several, which are Candidates, or where none is known.
	Cluster    string   `json:"cluster"`
	Candidates []string `json:"candidates,omitempty"`
	// ForeignCluster is the cluster that it names and that the backup does not
	// hold, with its namespace where known.
	ForeignCluster string      `json:"foreignCluster,omitempty"`
	Reason         code.Reason `json:"reason"`
	Message        string      `json:"message,omitempty"`
	Evidence       []Evidence  `json:"evidence"`
	Ignored        *Ignored    `json:"ignored,omitempty"`
	Confirmed      *Confirmed  `json:"confirmed,omitempty"`
	Remediation    []Step      `json:"remediation,omitempty"`
}

// Ignored says which rule sets a finding aside.
type Ignored struct {
	Rule   int    `json:"rule"`   // index in Report.IgnoreRules
	Reason string `json:"reason"` // the rule's
}

// Confirmed says on whose word a thing is no question any more.
type Confirmed struct {
	As      string `json:"as"`                // what it is: notAMachine, leave, givenUp or staysOff
	By      string `json:"by"`                // a person, a ticket
	On      string `json:"on"`                // the day, YYYY-MM-DD, UTC
	Expires string `json:"expires,omitempty"` // the last day on which it is taken, likewise
}

// String says it: "notAMachine, on the word of OPS-1 (2026-11-25)".
func (c *Confirmed) String() string {
	return c.As + ", " + c.OnTheWord()
}

// OnTheWord says whose word it is: "on the word of OPS-1 (2026-11-25)".
func (c *Confirmed) OnTheWord() string { return "on the word of " + c.By + " (" + c.On + ")" }

// Confirmation is the word of a person, as a file of confirmations has it, and whether it was
// taken.
type Confirmation struct {
	Subject string            `json:"subject"`       // what it is about, with its kind: "VM jumphost-01"
	ID      string            `json:"id,omitempty"`  // of a VM
	IDs     []string          `json:"ids,omitempty"` // of a folder: of the VMs that it held
	As      string            `json:"as"`
	By      string            `json:"by"`
	On      string            `json:"on"`
	Expires string            `json:"expires,omitempty"`
	State   ConfirmationState `json:"state"`
	Message string            `json:"message,omitempty"` // why it is not taken, or of what that is there
}

// ConfirmationState is whether a confirmation was taken.
type ConfirmationState string

// States of a confirmation.
const (
	ConfirmationTaken   ConfirmationState = "taken"
	ConfirmationExpired ConfirmationState = "expired" // its last day is over
	ConfirmationChanged ConfirmationState = "changed" // what it is about is another now
	ConfirmationUnused  ConfirmationState = "unused"  // the report has nothing that it is about
	// ConfirmationContradicted stands for a word of which another says the contrary.
	ConfirmationContradicted ConfirmationState = "contradicted"
)

// IgnoreRule is one rule of an ignore file.
type IgnoreRule struct {
	File    string    `json:"file"`
	Line    int       `json:"line"`
	Reason  string    `json:"reason,omitempty"`  // required of a rule that ignores
	Expires string    `json:"expires,omitempty"` // the last day on which it holds, YYYY-MM-DD, UTC
	Include bool      `json:"include,omitempty"` // takes back what rules before it set aside
	State   RuleState `json:"state"`
	Matched int       `json:"matched"` // findings that its selector matches, whichever rule won
}

// RuleState is whether a rule still holds.
type RuleState string

// States of a rule.
const (
	RuleActive  RuleState = "active"
	RuleExpired RuleState = "expired" // it sets nothing aside any more
)

// Scope is one place that was listed.
type Scope struct {
	Provider string `json:"provider"`
	Endpoint string `json:"endpoint"`
	Location string `json:"location"`
	Account  string `json:"account"`
	// Identity is the id by which the place itself says who it is: a vCenter's
	// about.instanceUuid, the number of an AWS account. Absent when it did not say.
	Identity string `json:"identity,omitempty"`
	// ListedAt is when it was listed; absent where nobody looked, and in reports of older versions.
	ListedAt  time.Time       `json:"listedAt,omitzero"`
	State     code.ScopeState `json:"state"`
	Instances int             `json:"instances"`
	Error     *Fault          `json:"error,omitempty"`
	// Clusters are those with machines or resources there, as namespace/name;
	// absent when the scope is complete.
	Clusters []string `json:"clusters,omitempty"`
}

// Fault is why a scope is not complete.
type Fault struct {
	Reason  code.Reason `json:"reason"`
	Message string      `json:"message"`
	Hint    string      `json:"hint,omitempty"`
}

// Error is something that went wrong during the run.
type Error struct {
	Scope   string `json:"scope,omitempty"`
	Object  string `json:"object,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}
