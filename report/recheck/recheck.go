// Package recheck looks once more, right before a line of a plan changes something, whether
// the line may: at the place and at the object that the line is about.
//
// It reads what the commands of the line themselves read: a place through the variables and
// files of govc, the AWS CLI or the openstack command, see infra.Reacher; objects of clusters as
// kubectl prints them, on standard input. So it needs no credential of its own, and a line
// that leads to another place, context or account is seen there. What could not be read whole
// lets nothing pass.
package recheck

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"drift-detector/infra"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Question is what is asked, of which thing.
type Question struct {
	Check   string
	Names   []string
	At      string // where the command line of the provider is: a URL, a profile, an entry of clouds.yaml
	Region  string // of the place, where it has one
	State   string // "off" or "on"; empty: any
	ID      string // that a VM has been given since the report, or by which a person knows the object
	Restore string // name of the Velero restore
}

// Eyes are how things are seen.
type Eyes struct {
	Objects io.Reader // what kubectl printed
	Place   func(ctx context.Context, provider, at string, s infra.Sought) infra.Listing
	Form    func(provider, id string) bool // whether an id has the form of a provider's
}

// check is one kind of question.
type check struct {
	name  string
	takes []string // of which form the things are
	says  string
	ask   func(*asking) (string, error)
	// restores is set where it takes a restore for granted: a report without a backup knows of none.
	restores bool
}

// checks are all that can be asked, in the order in which help lists them.
var checks = []check{
	{"place", []string{"ID"}, "--at leads to the place with that id", (*asking).isPlace, false},
	{"vm", []string{"ID", "[REF]"}, "that VM at --at is the report's", (*asking).vm, false},
	{"free", []string{"ID"}, "no VM at --at has the id", (*asking).free, false},
	{"pool", []string{"ID", "SIZE"}, "the group of instance ID has SIZE members", (*asking).pool, false},
	{"gone", []string{"machine/NAMESPACE/NAME"}, "no VM at --at is this Machine's", (*asking).gone, true},
	{"is", []string{"cluster/NAMESPACE/NAME"}, "these are the Nodes of the cluster", (*asking).isCluster, false},
	{"not-ready", []string{"machine/NAMESPACE/NAME"}, "none of these Nodes is Ready and its", (*asking).notReady, false},
	{"runs-on", []string{"node/NAME", "ID"}, "the Node, one of these, is on VM ID", (*asking).runsOn, false},
	{"member", []string{"node/NAME", "ID"}, "of these etcd members ID is the Node's", (*asking).member, false},
	{"no-member", []string{"node/NAME"}, "none of these etcd members is the Node's", (*asking).noMember, false},
	{"no-machine", []string{"ID"}, "no Machine of these has VM ID", (*asking).noMachine, true},
	{"restored", []string{"RESOURCE/NAMESPACE/NAME"}, "this object is of the --restore", (*asking).restored, true},
	{"management", []string{"WHICH"}, "old, new (no Clusters) or filled (of it)", (*asking).management, true},
	{"backup", []string{"backup/NAME"}, "this Backup of Velero is the report's", (*asking).backup, true},
	{"pauses", []string{"configmap/NAME"}, "this is the plan's ConfigMap", (*asking).pauses, true},
}

// Help lists what can be asked, a line each.
func Help() string {
	var b strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&b, "   %-33s %s\n", strings.Join(append([]string{c.name}, c.takes...), " "), c.says)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Names returns what can be asked.
func Names() []string {
	out := make([]string, len(checks))
	for i := range checks {
		out[i] = checks[i].name
	}
	return out
}

// Refusal says that a line must not go on: what was looked at is not as the report says.
type Refusal struct{ Text, Next string }

func (e *Refusal) Error() string { return e.Text }

// Unseen says that it could not be looked at, so that nothing may go on.
type Unseen struct{ Text, Next string }

func (e *Unseen) Error() string { return e.Text }

func refuse(next, format string, args ...any) error {
	return &Refusal{fmt.Sprintf(format, args...), next}
}

func unseen(next, format string, args ...any) error {
	return &Unseen{fmt.Sprintf(format, args...), next}
}

// again is what to do where the world is no more that of the report.
const again = "run detect again, and go on with the plan of that report"

// asking is a question under way.
type asking struct {
	Question
	*report.Report
	Eyes
	ctx context.Context
}

// Ask returns what was seen where the line may go on, and why not otherwise: a *Refusal,
// an *Unseen, or another error where the question fits no report or not this one.
func (q Question) Ask(ctx context.Context, r *report.Report, e Eyes) (string, error) {
	i := slices.IndexFunc(checks, func(c check) bool { return c.name == q.Check })
	if i < 0 {
		return "", fmt.Errorf("%q is no check; it is one of %s", q.Check, strings.Join(Names(), ", "))
	}
	if checks[i].restores && r.IsLive() {
		return "", fmt.Errorf("the report is of a management cluster that runs, and of no backup: nothing is restored by it, and %s is about a restore; give the report of the backup", q.Check)
	}
	misuse := fmt.Errorf("it is: %s %s", q.Check, strings.Join(checks[i].takes, " "))
	least := slices.DeleteFunc(slices.Clone(checks[i].takes), func(form string) bool { return form[0] == '[' })
	if len(q.Names) < len(least) || len(q.Names) > len(checks[i].takes) || slices.Contains(q.Names, "") {
		return "", misuse
	}
	q.Names = slices.Clone(q.Names)
	for k, form := range least {
		if kind, _, typed := strings.Cut(form, "/"); typed && kind != "RESOURCE" {
			name, ok := strings.CutPrefix(q.Names[k], kind+"/")
			if !ok || name == "" {
				return "", misuse
			}
			q.Names[k] = name
		}
	}
	return checks[i].ask(&asking{q, r, e, ctx})
}

// place looks at where a line works, and proves that it is one of the scopes.
func (a *asking) place(provider string, scopes []*report.Scope, s infra.Sought) (*report.Scope, infra.Listing, error) {
	var none infra.Listing
	if a.At == "" {
		return nil, none, fmt.Errorf("%s needs --at: what the line gives to govc as GOVC_URL, to aws as --profile, to openstack as --os-cloud", a.Check)
	}
	s.Location = a.Region
	fits := slices.DeleteFunc(slices.Clone(scopes), func(p *report.Scope) bool { return p.Provider != provider || p.Location != a.Region })
	if len(fits) == 0 {
		return nil, none, fmt.Errorf("the report has no place of provider %s and region %q for that: see --region", provider, a.Region)
	}
	l := a.Place(a.ctx, provider, a.At, s)
	if l.Fault != nil || l.State != code.ScopeComplete {
		f := l.Fault
		if f == nil {
			f = &report.Fault{Message: l.Endpoint + " was not listed to its end", Hint: "run the line again"}
		}
		return nil, none, unseen(f.Hint, "could not look: %s", f.Message)
	}
	for _, p := range fits {
		if p.Identity != "" && strings.EqualFold(p.Identity, l.Identity) {
			return p, l, nil
		}
	}
	return nil, none, refuse("set the variable of this place to the one that the report names; nothing was changed",
		"%s is another place than that of the report: it says that it is %s, and the report has %s", where(&l), l.Identity, identities(fits))
}

// isPlace sees that a line works at the place that calls itself so.
func (a *asking) isPlace() (string, error) {
	var scopes []*report.Scope
	for k := range a.Scopes {
		if p := &a.Scopes[k]; strings.EqualFold(p.Identity, a.Names[0]) {
			scopes = append(scopes, p)
		}
	}
	if len(scopes) == 0 {
		return "", fmt.Errorf("no place of the report calls itself %s: is it the report that the plan was made from?", a.Names[0])
	}
	at, l, err := a.place(scopes[0].Provider, scopes, infra.Sought{})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is %s of the report, id %s, with %s", where(&l), at.Endpoint, at.Identity, english.Count(l.Count(), "VM")), nil
}

// holds reports whether an instance was seen at a place, by whichever account.
func (a *asking) holds(at *report.Scope, i *report.Instance) bool {
	return slices.ContainsFunc(a.Scopes, func(p report.Scope) bool {
		return p.Provider == at.Provider && p.Location == at.Location && strings.EqualFold(p.Identity, at.Identity) && p.Provider == i.Provider && p.Holds(i)
	})
}

func where(l *infra.Listing) string { return report.ScopeName(l.Provider, l.Endpoint, l.Location) }

func identities(scopes []*report.Scope) string {
	var out []string
	for _, p := range scopes {
		out = append(out, report.ScopeName(p.Provider, p.Endpoint, p.Location)+" ("+p.Identity+")")
	}
	return strings.Join(out, ", ")
}

// machine finds a Machine of the report by namespace/name, with its cluster and the others
// of its set.
func (a *asking) machine(title string) (*report.Cluster, *report.Set, *report.Machine, error) {
	var c *report.Cluster
	var in *report.Set
	var found *report.Machine
	for i := range a.Clusters {
		for _, s := range a.Clusters[i].Sets() {
			for k := range s.Machines {
				if m := &s.Machines[k]; m.Status != code.Ghost && m.Namespace+"/"+m.Name == title {
					if found != nil {
						return nil, nil, nil, fmt.Errorf("the report has several Machines %s", title)
					}
					c, in, found = &a.Clusters[i], &s, m
				}
			}
		}
	}
	if found == nil {
		return nil, nil, nil, fmt.Errorf("the report has no Machine %s: is it the report that the plan was made from?", title)
	}
	return c, in, found, nil
}
