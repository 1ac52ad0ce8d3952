package infra

import (
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/report/code"
)

// Target is one scope to list, with the credential for it.
type Target struct {
	// IDs are the scopes that machines and proofs call home and that this Target
	// covers. They are made from the backup without its Secrets, so that a saved
	// inventory fits the same backup on another machine. Scopes that turn out to share
	// endpoint and credential are listed once.
	IDs       []string
	Provider  string
	Endpoint  string // as the backup calls it, host or host:port
	Authority string // another server that logins are for, host:port; empty: Endpoint itself
	Dial      string // where to reach it instead (--endpoint); empty: Endpoint itself
	Location  string // region or the like; empty when the whole endpoint is listed
	Account   string // user name or account; never a secret
	Source    string // which object the credential comes from, by name
	Use       string // in a sentence, which credential goes where: for the operator, before it does
	Clusters  []backup.ClusterID
	Subject   code.Subject    // of sentences; Targets of a Registry sets it
	Refused   *Fault          // why it can't be listed at all: no credential, bad endpoint
	NodeState string          // of a Target for Nodes: the NodeState of a Listing that holds none
	Warnings  []string        // for the operator, before listing: settings of the backup that are ignored
	Probes    []Key           // what List is to look for, so that proofs can hold
	Progress  func(found int) `json:"-"` // called by Found; may be nil
	// IsRelated reports which instances the Listing is to keep as they are, see
	// Expected.IsRelated; the others are kept packed. If it is nil, all are
	// kept as they are.
	IsRelated  func(*Instance) bool `json:"-"`
	Credential any                  // the provider's own; it must print as redacted
	// Own are the backup's credentials, where Credential is the operator's; nil where it is
	// the backup's.
	Own []Own
	// Redaction hides the secrets in Credential, and those that List gets for it. Every
	// Target with a Credential has one, and List passes each text of a server that goes
	// into a Fault or a warning through it, before anything else.
	Redaction *Redaction `json:"-"`
	Detail    any        // the provider's own, without secrets

	sources map[string]bool // those in Source; nil until others join
}

// Begin returns the listing of the target by a provider, failed as long as nothing was
// listed. It is false where nothing can be: the target was refused, or mine is false because
// Detail and Credential are not of the provider's making.
func (t *Target) Begin(provider string, mine bool) (l Listing, ok bool) {
	l = Listing{
		IDs: t.IDs, Provider: provider, Endpoint: t.Endpoint, Location: t.Location, Account: t.Account, Clusters: t.Clusters,
		State: code.ScopeFailed, ListedAt: time.Now().UTC().Round(0), Fault: t.Refused,
	}
	if l.Fault == nil && !mine {
		l.Fault = &Fault{Reason: code.InternalError, Message: "the target was not made by this provider"}
	}
	return l, l.Fault == nil
}

// Found reports how many instances or Nodes a listing holds so far.
func (t *Target) Found(n int) {
	if t.Progress != nil {
		t.Progress(n)
	}
}

// Join adds another scope that is listed with the same credential. The provider
// joins what is its own, Credential and Detail.
func (t *Target) Join(o Target) {
	t.IDs = append(t.IDs, o.IDs...)
	t.Clusters = append(t.Clusters, o.Clusters...)
	t.Probes = append(t.Probes, o.Probes...)
	t.Warnings = append(t.Warnings, o.Warnings...)
	t.Own = append(t.Own, o.Own...)
	if t.sources == nil {
		t.sources = map[string]bool{}
		t.noteSources(t.Source)
	}
	if !t.sources[o.Source] {
		t.Source += ", " + o.Source
		t.noteSources(o.Source)
	}
}

func (t *Target) noteSources(source string) {
	for s := range strings.SplitSeq(source, ", ") {
		t.sources[s] = true
	}
}

// Borrow gives the target the credential of one for the same scope and cluster, which a
// newer backup names: it may have been changed since. Another server, or what the
// provider's Detail is not Same as, shares no more than the name. The Detail borrows what
// goes with the credential, if it has a method of that name. Borrow reports whether there
// was one to borrow.
func (t *Target) Borrow(o *Target) bool {
	same := slices.ContainsFunc(t.IDs, func(id string) bool { return slices.Contains(o.IDs, id) }) &&
		slices.ContainsFunc(t.Clusters, func(id backup.ClusterID) bool { return slices.Contains(o.Clusters, id) })
	if !same || o.Refused != nil || t.Detail == nil != (o.Detail == nil) || t.Refused == nil && t.Endpoint != o.Endpoint {
		return false
	}
	if d, ok := t.Detail.(interface{ Same(detail any) bool }); ok && !d.Same(o.Detail) {
		return false
	}
	t.Credential, t.Redaction, t.Refused = o.Credential, o.Redaction, nil
	t.sources = nil
	t.Account, t.Source, t.Use, t.Dial, t.NodeState = o.Account, o.Source, o.Use, o.Dial, o.NodeState
	if d, ok := t.Detail.(interface{ Borrow(detail any) }); ok {
		d.Borrow(o.Detail)
	}
	return true
}
