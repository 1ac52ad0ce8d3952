package releases

import (
	"encoding/json"
	"slices"
	"time"
)

// Reasons of a release, most important first: the first that applies is given.
const (
	Unreadable         = "Unreadable"
	Deleted            = "Deleted"
	Locked             = "Locked"
	Failed             = "Failed"
	Uninstalled        = "Uninstalled"
	NoDeployedRevision = "NoDeployedRevision"
	RevisionMismatch   = "RevisionMismatch"
	Drifted            = "Drifted"
	Incomplete         = "Incomplete"
	InSync             = "InSync"
)

// Verdicts of an object.
const (
	Changed       = "changed"
	Removed       = "removed"
	Excluded      = "excluded"
	Unchanged     = "unchanged"
	NotInBackup   = "notInBackup"   // its kind or namespace is not in the backup
	NotComparable = "notComparable" // the message says why
	Expired       = "expired"       // a Job whose time to live is over
)

// What Helm's next upgrade, with the same chart and values, does to a field.
const (
	Repairs = "repairs"
	Leaves  = "leaves"
	Fails   = "fails"
)

// Result is what becomes of every release.
type Result struct {
	Releases []*Release `json:"releases"`
	// WithoutRecord are releases that objects name and no record describes.
	WithoutRecord []WithoutRecord `json:"withoutRecord"`
	Rules         []*Rule         `json:"ignoreRules"`
	Said          []Said          `json:"said"`
	Problems      []Problem       `json:"problems"`
}

// Release is one release of Helm.
type Release struct {
	Name        string      `json:"name"`
	Namespace   string      `json:"namespace"`
	Storage     string      `json:"storage"` // Secret or ConfigMap; empty without record
	Revision    int         `json:"revision"`
	History     []Revision  `json:"history"` // older revisions, newest first
	HelmStatus  string      `json:"helmStatus"`
	Chart       string      `json:"chart"`
	ApplyMethod string      `json:"applyMethod"` // ssa or csa; empty is Helm 3
	Controller  string      `json:"controller"`  // HelmRelease/flux/shop, ClusterSummary/…; empty when nobody looks after it
	Mode        string      `json:"mode"`        // of drift detection
	Suspended   *bool       `json:"suspended"`
	Ready       string      `json:"ready"` // True, False, Unknown
	Reason      string      `json:"reason"`
	Message     string      `json:"message"`
	Stalled     bool        `json:"stalled"`
	Counts      Counts      `json:"counts"`
	Objects     []*Compared `json:"objects"` // all but those without anything to say
	Extra       []string    `json:"extra"`   // objects that have the release's annotations, and are not of it
	After       After       `json:"after"`

	target     string     // the namespace that it is installed in, which Flux may keep apart from that of the records
	modified   *time.Time // when the newest record was
	newer      string     // the storage that has newer records of it
	controller *controller
	hooks      map[string]bool
	base       map[string]json.RawMessage // see readBase
	faults     []string
}

func (r *Release) id() string { return r.Namespace + "/" + r.Name }

// Counts are objects of a release by verdict.
type Counts struct {
	Changed     int `json:"changed"`
	Removed     int `json:"removed"`
	Excluded    int `json:"excluded"`
	Unchanged   int `json:"unchanged"`
	Added       int `json:"added"` // fields that others added, without benign ones
	Extra       int `json:"extra"`
	Admitted    int `json:"changedAtAdmission"` // values that were changed in Helm's own request
	NotCompared int `json:"notCompared"`
}

// Compared is one object of a release.
type Compared struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespace  string   `json:"namespace,omitempty"`
	Name       string   `json:"name"`
	Verdict    string   `json:"verdict"`
	Refused    string   `json:"refused,omitempty"` // why no server accepts the repair
	Message    string   `json:"message,omitempty"`
	Summary    string   `json:"summary,omitempty"` // Flux's line; empty when Flux drops the object
	Patch      []Change `json:"patch,omitempty"`
	Added      []Added  `json:"added,omitempty"`
	// Event is Domino's text about the object, its patch cut at 500 characters.
	Event string `json:"event,omitempty"`
	// Upgrade is what Helm's next upgrade does to an object that was removed.
	Upgrade string `json:"upgrade,omitempty"`

	undefined bool // the upgrade fails for lack of its CustomResourceDefinition
	unowned   bool // it fails because the object is not Helm's
}

// Subject names the object as Flux does.
func (c *Compared) Subject() string { return subject(c.Kind, c.Namespace, c.Name) }

// Fails reports whether Helm's next upgrade fails at the object.
func (c *Compared) Fails() bool {
	return c.Upgrade == Fails || slices.ContainsFunc(c.Patch, func(c Change) bool { return c.Upgrade == Fails })
}

// After is what a restore makes of a release.
type After struct {
	State      string   `json:"state"` // drifted or desired; unknown without a comparison
	Missing    int      `json:"missing"`
	Overwrites string   `json:"overwrites"` // who, or empty
	Upgrade    string   `json:"upgrade"`    // of the whole release: repairs, leaves, fails
	Reasons    []string `json:"reasons"`
	Do         []Step   `json:"do"`
}

// Step is one thing to do, with the command if there is one.
type Step struct {
	Text    string `json:"text"`
	Command string `json:"command,omitempty"`
}

// WithoutRecord is a release of which objects have the annotations, and whose
// record is not in the backup: it is in an SQL database, or lost.
type WithoutRecord struct {
	Name      string   `json:"name"`
	Namespace string   `json:"namespace"`
	Objects   []string `json:"objects"` // the first ten
	Count     int      `json:"count"`
	Do        Step     `json:"do"`
}

// Said is what an object of the backup says about drift.
type Said struct {
	Object  string `json:"object"`
	Message string `json:"message"`
}

// Problem is what could not be read.
type Problem struct {
	Object string `json:"object"`
	Reason string `json:"reason"`
}

// Options narrow and refine a Collector.
type Options struct {
	Namespace string    // of the releases; empty is all
	Now       time.Time // for Jobs that expire
	Rules     []*Rule
	Server    string // version of the API server that was backed up, as v1.31.2; empty: not known
}

// Scope names what keeps objects of a resource and namespace out of a backup, or
// returns "". The namespace of cluster-scoped objects is empty.
type Scope func(resource, namespace string) string

// IsYoungerThan reports whether the newest record was written after a time.
func (r *Release) IsYoungerThan(at time.Time) bool { return r.modified != nil && r.modified.After(at) }
