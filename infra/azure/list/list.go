package list

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"drift-detector/infra"
	"drift-detector/infra/azure"
	"drift-detector/infra/capi"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// maxVMs bounds a server that makes them up; a subscription has 25,000 in a region.
const maxVMs = 500_000

// maxMissing bounds how many VMs are looked up by themselves.
const maxMissing = 500

// provider implements infra.Provider. Its only state is the count of failed logins,
// which must outlive a single listing.
type provider struct {
	azure.Provider
	logins *infra.Logins
	retry  infra.Retry
}

// New returns the Azure provider. One value serves one run: it counts the logins that
// failed, so that no account is locked.
func New() infra.Provider {
	retry := infra.Patient
	retry.Also = overloaded
	az := func() (string, error) { return exec.LookPath("az") }
	return &provider{Provider: azure.Provider{Getenv: os.Getenv, Az: az}, logins: &infra.Logins{}, retry: retry}
}

// listing is one listing under way.
type listing struct {
	*infra.Listing
	target   infra.Target
	seek     *azure.Seek
	session  *session
	wanted   map[infra.Key]bool
	power    map[[16]byte]string // by id, of the VMs that are in no uniform set
	seen     map[[16]byte]bool   // ids of VMs
	absent   map[string]bool     // resource groups that do not exist
	broad    bool                // the account may read the subscription
	began    time.Time
	members  map[string][]string // ids of scale sets by the ids of VMs that they list
	living   map[string]int64    // running members, by set
	sets     map[string]*int64   // capacities of the sets that exist, by id; nil: not said
	models   map[string]*azure.ScaleSet
	flexible map[string]bool // those of them whose members are VMs of their own
	odd      string          // a VM of which Azure does not say what it says of each
}

// List reads all VMs of a subscription, and what else the backup names there.
func (p *provider) List(ctx context.Context, t infra.Target) infra.Listing {
	d, made := t.Detail.(*azure.Detail)
	c, mine := t.Credential.(azure.Credential)
	l, ok := t.Begin(azure.Name, made && mine)
	if !ok {
		l.Facts = lackingOwn(&t)
		return l
	}
	used := &c
	s, err := p.connect(ctx, &t, d, used)
	own := outcomeOf(err)
	if c.Instead != nil && own == infra.OwnRefused {
		l.Warnings = append(l.Warnings, fmt.Sprintf("%s refuses the credential of %s: %s is used instead", where(t), t.Subject.The(), c.InsteadSource))
		used = c.Instead
		s, err = p.connect(ctx, &t, d, used)
	}
	p.noteAccess(ctx, &t, d, used, s, own, &l)
	if err != nil {
		l.Fault = connectFault(ctx, t, used, err)
		return l
	}
	defer s.transport.close()
	l.Account, l.Identity = used.Subscription, used.Subscription
	run := listing{
		Listing: &l, target: t, seek: &d.Seek, session: s, wanted: map[infra.Key]bool{}, power: map[[16]byte]string{}, seen: map[[16]byte]bool{},
		absent: map[string]bool{}, began: time.Now(), members: map[string][]string{}, living: map[string]int64{}, sets: map[string]*int64{}, models: map[string]*azure.ScaleSet{}, flexible: map[string]bool{},
	}
	for _, k := range t.Probes {
		run.wanted[k] = true
	}
	run.read(ctx, used.Subscription)
	return l
}

// read asks in an order in which each VM is whole as it comes in.
func (l *listing) read(ctx context.Context, subscription string) {
	for _, step := range []struct {
		doing string
		read  func(context.Context, string) error
	}{
		{"reading the subscription", l.readSubscription},
		{"reading resource groups", l.readGroups},
		{"listing power states", l.readPower},
		{"listing scale sets", l.readSets},
		{"listing virtual machines", l.readVMs},
		{"looking up virtual machines that " + l.target.Subject.The() + " records", l.readMissing},
		{"looking up what the clusters need", l.readThings},
	} {
		if err := step.read(ctx, subscription); err != nil {
			l.Fault = listFault(ctx, l.target, step.doing, err)
			break
		}
	}
	if l.Fault == nil && l.odd != "" {
		l.Fault = listFault(ctx, l.target, "reading virtual machines", answerError("nothing is said of the vmId, the creation or the state of "+l.odd))
	}
	if l.Fault == nil {
		l.Fault = infra.CutOff(ctx, where(l.target))
	}
	for set, capacity := range l.sets {
		k := infra.Key{Kind: azure.KeyPool, Value: set}
		l.found(k)
		if capacity != nil && l.wanted[k] {
			living := l.living[set]
			l.PoolSizes = append(l.PoolSizes, infra.PoolSize{Probe: k, Desired: *capacity, Living: &living})
		}
	}
	sorting.By(l.PoolSizes, func(a, b infra.PoolSize) int { return capi.CompareKeys(a.Probe, b.Probe) })
	sorting.StableBy(l.Facts, func(a, b infra.Fact) int { return cmp.Compare(a.Name, b.Name) })
	sorting.By(l.Instances, func(a, b infra.Instance) int { return cmp.Compare(a.Identity, b.Identity) })
	slices.SortFunc(l.ProbesFound, capi.CompareKeys)
	l.ProbesFound = slices.Compact(l.ProbesFound)
	slices.SortFunc(l.Unread, infra.KeyKind.Compare)
	l.Unread = slices.Compact(l.Unread)
	switch {
	case l.Fault == nil:
		l.State = code.ScopeComplete
	case l.Count() > 0:
		l.State = code.ScopePartial
	}
}

// found notes a probe that was found, if it was asked for.
func (l *listing) found(k infra.Key) {
	if l.wanted[k] {
		l.ProbesFound = append(l.ProbesFound, k)
	}
}

// one reads a single object.
func one[T any](ctx context.Context, s *session, id, version, more string) (*T, error) {
	var out *T
	err := s.get(ctx, id+"?api-version="+version+more, func(dec *json.Decoder) error {
		out = nil
		return dec.Decode(&out)
	})
	if err == nil && out == nil {
		err = answerError("the answer is empty")
	}
	return out, err
}

// readSubscription proves the place: the id of a subscription is the backup's own, and no
// other one has it.
func (l *listing) readSubscription(ctx context.Context, subscription string) error {
	type answer struct{ SubscriptionID string }
	a, err := one[answer](ctx, l.session, "/subscriptions/"+subscription, groupVersion, "")
	switch {
	case codeOf(err) == http.StatusForbidden:
		return nil // the account may still read resource groups
	case err != nil:
		return err
	case azure.UUIDOf(a.SubscriptionID) != subscription:
		return answerError("the answer is about another subscription than the one that was asked for")
	}
	l.broad = true
	return nil
}

// readGroups asks each resource group of the clusters. That it does not exist is an answer to
// an account that may read the subscription.
func (l *listing) readGroups(ctx context.Context, _ string) error {
	for _, g := range slices.Sorted(maps.Keys(l.seek.Groups)) {
		type answer struct{ ID string }
		a, err := one[answer](ctx, l.session, g, groupVersion, "")
		switch {
		case err == nil:
			if id, ok := azure.ParseID(a.ID); !ok || id.Text != g {
				return answerError("the answer is about another resource group than the one that was asked for")
			}
			l.found(azure.Answered(g))
			l.found(infra.Key{Kind: azure.KeyResource, Value: g})
		case groupNowhere(err) && l.broad:
			l.absent[g] = true
			l.found(azure.Answered(g))
		case groupNowhere(err), codeOf(err) == http.StatusForbidden:
			l.Warnings = append(l.Warnings, fmt.Sprintf("%s: resource group %s is not shown to %s: %s", where(l.target), g[strings.LastIndex(g, "/")+1:], l.session.used.Who(), l.target.Redaction.Brief(err.Error())))
			l.Unread = append(l.Unread, azure.KeyResource)
		default:
			return err
		}
	}
	return nil
}

// readPower lists power states, which no list of VMs has (armcompute v7.3.0 options.go: of a
// subscription alone, and by statusOnly).
func (l *listing) readPower(ctx context.Context, subscription string) error {
	err := list(ctx, l.session, "/subscriptions/"+subscription+"/providers/Microsoft.Compute/virtualMachines", "api-version="+computeVersion+"&statusOnly=true", func(v *vmAnswer) error {
		id, ok := azure.ParseID(v.ID)
		if !ok || id.Subscription != subscription || id.Kind != azure.KindVM {
			return answerError("the answer holds something that is no virtual machine of the subscription")
		}
		if p := v.power(); p != "" && len(p) <= maxName {
			l.power[short(id.Text)] = strings.Clone(p)
		}
		if len(l.power) > maxVMs {
			return answerError(fmt.Sprintf("there are more than %d virtual machines", maxVMs))
		}
		return nil
	})
	if codeOf(err) == http.StatusForbidden {
		return nil // each VM is asked then
	}
	return err
}

// readVMs lists the VMs of the subscription, and, where that is refused, those of each
// resource group.
func (l *listing) readVMs(ctx context.Context, subscription string) error {
	const query = "api-version=" + computeVersion
	take := func(v *vmAnswer) error { return l.take(ctx, v, subscription) }
	err := list(ctx, l.session, "/subscriptions/"+subscription+"/providers/Microsoft.Compute/virtualMachines", query, take)
	if codeOf(err) != http.StatusForbidden || l.Count() > 0 {
		return err
	}
	refused := err
	readable := 0
	for _, g := range slices.Sorted(maps.Keys(l.seek.Groups)) {
		if l.absent[g] {
			continue
		}
		switch err := list(ctx, l.session, g+"/providers/Microsoft.Compute/virtualMachines", query, take); {
		case groupNowhere(err) || codeOf(err) == http.StatusForbidden:
			l.unanswered(g)
		case err != nil:
			return err
		default:
			readable++
		}
	}
	if readable == 0 {
		return refused
	}
	l.Warnings = append(l.Warnings, where(l.target)+": the account may not list the subscription: VMs outside of the clusters' resource groups are not seen")
	return nil
}

// unanswered takes the answer of a resource group back, without which nothing is concluded for it.
func (l *listing) unanswered(group string) {
	l.ProbesFound = slices.DeleteFunc(l.ProbesFound, func(k infra.Key) bool { return k == azure.Answered(group) })
}

// take adds a VM that is in no uniform scale set.
func (l *listing) take(ctx context.Context, v *vmAnswer, subscription string) error {
	id, ok := azure.ParseID(v.ID)
	if !ok || id.Subscription != subscription || id.Kind != azure.KindVM || len(v.Name) > maxName {
		return answerError("the answer holds something that is no virtual machine of the subscription")
	}
	if l.seen[short(id.Text)] {
		return nil
	}
	power, known := l.power[short(id.Text)]
	if !known {
		var err error
		if power, err = l.lookUpPower(ctx, id, v); err != nil {
			return err
		}
	}
	l.file(v, id, power, l.members[id.Text])
	if l.Count() > maxVMs {
		return answerError(fmt.Sprintf("there are more than %d virtual machines", maxVMs))
	}
	return nil
}

// file adds an instance, and counts it for its scale sets where it runs.
func (l *listing) file(v *vmAnswer, id azure.ID, power string, sets []string) {
	l.seen[short(id.Text)] = true
	i := l.instance(v, id, power, sets)
	if i.Runs() && !i.Unreadable {
		for _, k := range i.Keys {
			if k.Kind == azure.KeyPool {
				l.living[k.Value]++
			}
		}
	}
	l.File(&l.target, i)
	l.target.Found(l.Count())
}

// lookUpPower asks for the power state of a VM that the list of states lacks: it is new, or
// the account may not read that list. Of VMs that nothing ties to the backup it does not
// matter.
func (l *listing) lookUpPower(ctx context.Context, id azure.ID, v *vmAnswer) (string, error) {
	if !l.isRelated(id, v) {
		return "", nil
	}
	view, err := one[viewAnswer](ctx, l.session, id.Text+"/instanceView", computeVersion, "")
	switch {
	case codeOf(err) == http.StatusForbidden, nowhere(err):
		return "", nil
	case err != nil:
		return "", err
	}
	return view.power(), nil
}

// readMissing looks up, one by one, what the backup records and the list lacks: a list holds
// what the account may read, and only an answer about the VM itself says that it does not
// exist.
func (l *listing) readMissing(ctx context.Context, subscription string) error {
	var ids []azure.ID
	for _, vm := range slices.Sorted(maps.Keys(l.seek.VMs)) {
		id, ok := azure.ParseID(vm)
		if !ok || l.seen[short(vm)] || l.absent[id.GroupID()] || !l.mayAsk(id) {
			continue
		}
		if _, exists := l.sets[azure.SetOf(vm)]; id.Kind == azure.KindVM || exists {
			ids = append(ids, id)
		}
	}
	if len(ids) > maxMissing {
		return answerError(fmt.Sprintf("%d of them are not in the list; no more than %d are looked up one by one", len(ids), maxMissing))
	}
	for _, id := range ids {
		more := ""
		if id.Kind == azure.KindMember {
			more = "&$expand=instanceView"
		}
		v, err := one[vmAnswer](ctx, l.session, id.Text, computeVersion, more)
		switch {
		case nowhere(err):
			continue
		case err != nil:
			return err
		}
		if of, ok := azure.ParseID(v.ID); !ok || of.Text != id.Text {
			return answerError("the answer is about something else than what was asked for")
		}
		hidden := v.Properties == nil || !dateOf(v.Properties.Created).After(l.began.Add(-azure.ClockSkew))
		if id.Kind == azure.KindMember {
			l.file(v, id, v.power(), []string{azure.SetOf(id.Text)})
		} else if err := l.take(ctx, v, subscription); err != nil {
			return err
		}
		if hidden {
			return errHidden
		}
	}
	return nil
}

// errHidden says that a list is not whole.
var errHidden = errors.New("the list lacks a virtual machine that exists: it may lack others")

// mayAsk reports whether the resource group of a VM has answered: where it has not, nothing
// is concluded for its clusters.
func (l *listing) mayAsk(id azure.ID) bool {
	k := azure.Answered(id.GroupID())
	return !l.wanted[k] || slices.Contains(l.ProbesFound, k)
}
