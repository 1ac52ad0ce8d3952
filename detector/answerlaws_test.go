package detector_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra"
	"drift-detector/infra/all"
	"drift-detector/infra/walk"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/code"
	"drift-detector/report/ignore"
	"drift-detector/report/junit"
	"drift-detector/report/prometheus"
)

// world is a random one with what decides about a restore.
type world struct {
	snapshot  *backup.Snapshot
	expected  infra.Expected
	inventory infra.Inventory
	now       time.Time
	result    detector.Result
	secrets   rehearsal.Secrets
	trace     rehearsal.Trace
	checks    []check.Finding
	harm      []string // what was done to it that no answer may call safe
}

// randomWorld returns a random world, to which now and then something is done that a
// controller would act on.
func randomWorld(seed uint64) *world { return randomWorldWithout(seed, nil) }

// randomWorldWithout returns a random world of which less was seen.
func randomWorldWithout(seed uint64, lose func(*world)) *world {
	g := rand.New(rand.NewPCG(seed, 7))
	e := &world{}
	e.snapshot, e.expected, e.inventory, e.now = detector.RandomWorld(seed)
	odds, once := []int{0, 0, 4, 20}[g.IntN(4)], g.IntN(60) // percent, and the one time of worlds with few odds
	if g.IntN(4) > 0 {
		e.owned()
	}
	chance := func() bool { once--; return g.IntN(100) < odds || once == 0 }
	harm := func(what string, of ...any) { e.harm = append(e.harm, what+" "+fmt.Sprint(of...)) }
	e.disturbBackup(g, chance, harm)
	e.detect()
	if g.IntN(4) > 0 {
		e.alone()
	}
	if g.IntN(4) > 0 {
		e.joined()
	}
	if lose != nil {
		lose(e)
		e.detect()
	}
	for i := range e.result.Clusters {
		e.result.Clusters[i].Provider = []string{"vsphere", "aws"}[g.IntN(2)]
	}
	e.disturbResult(chance, harm)
	if chance() {
		e.checks = []check.Finding{{Severity: code.CheckError, Code: "X", Object: "o", Why: "w"}}
		harm("check")
	}
	return e
}

func (e *world) detect() {
	e.result = detector.Detect(e.snapshot, e.expected, e.inventory, detector.Options{Now: e.now})
}

// alone takes away the instances that belong to nobody, of which most worlds have some.
func (e *world) alone() {
	others := map[string]bool{}
	for i := range e.result.Unattributed {
		others[e.result.Unattributed[i].Instance.Identity] = true
	}
	for i := range e.inventory.Listings {
		l := &e.inventory.Listings[i]
		l.Instances = slices.DeleteFunc(slices.Clone(l.Instances), func(v infra.Instance) bool { return others[v.Identity] })
	}
	e.detect()
}

// joined gives every machine that lives its Node, where the Node list of its cluster was read.
func (e *world) joined() {
	for i := range e.inventory.Listings {
		l := &e.inventory.Listings[i]
		if l.NodeState != "read" {
			continue
		}
		l.Nodes = slices.Clone(l.Nodes)
		for j := range e.result.Clusters {
			c := &e.result.Clusters[j]
			if !slices.Contains(l.Clusters, c.ID) {
				continue
			}
			for _, s := range append([]detector.Set{c.ControlPlane}, c.WorkerGroups...) {
				for _, v := range s.Machines {
					if v.Status == code.Healthy {
						l.Nodes = append(l.Nodes, infra.Node{
							Cluster: c.ID, Name: v.Name, ProviderID: fmt.Sprint("of:", c.ID, v.Name), Ready: true, ControlPlane: v.ControlPlane,
							Heartbeat: e.now, Machine: v.Name, ClusterName: c.ID.Name, ClusterNamespace: c.ID.Namespace,
						})
					}
				}
			}
		}
	}
}

// owned gives every machine an owner that wants as many as there are, so that no owner
// has anything to do.
func (e *world) owned() {
	type key struct {
		cluster    backup.ClusterID
		kind, name string
	}
	at := map[key]int{}
	meta := func(id backup.ClusterID, name string) backup.Meta {
		return backup.Meta{Backup: id.Backup, Namespace: id.Namespace, Name: name}
	}
	e.snapshot.Groups, e.snapshot.ControlPlanes = nil, nil
	group := func(id backup.ClusterID, kind, name, deployment string) *backup.Group {
		k := key{id, kind, name}
		if _, ok := at[k]; !ok {
			at[k] = len(e.snapshot.Groups)
			e.snapshot.Groups = append(e.snapshot.Groups, backup.Group{Meta: meta(id, name), Kind: kind, Cluster: id, Deployment: deployment, Desired: backup.Number{Known: true}})
		}
		return &e.snapshot.Groups[at[k]]
	}
	for i := range e.snapshot.Clusters {
		c := &e.snapshot.Clusters[i]
		e.snapshot.ControlPlanes = append(e.snapshot.ControlPlanes, backup.ControlPlane{Meta: meta(c.ID(), "cp"), Kind: "KubeadmControlPlane", Cluster: c.ID(), Desired: backup.Number{Known: true}})
		c.ControlPlane.Kind = "KubeadmControlPlane"
	}
	for i := range e.snapshot.Machines {
		m := &e.snapshot.Machines[i]
		if m.ControlPlane {
			j := slices.IndexFunc(e.snapshot.ControlPlanes, func(p backup.ControlPlane) bool { return p.Cluster == m.Cluster })
			e.snapshot.ControlPlanes[j].Desired.N++
			continue
		}
		m.Deployment = "of-" + m.Set
		group(m.Cluster, "MachineSet", m.Set, m.Deployment).Desired.N++
		group(m.Cluster, "MachineDeployment", m.Deployment, "").Desired.N++
	}
	e.expected.Pools = slices.DeleteFunc(slices.Clone(e.expected.Pools), func(infra.Pool) bool { return true })
}

// disturbBackup does to the backup what makes a controller act, or do nothing.
func (e *world) disturbBackup(g *rand.Rand, chance func() bool, harm func(string, ...any)) {
	for i := range e.expected.Machines {
		c := &e.expected.Machines[i]
		c.ReadsID = !c.Strong.IsZero()
		if chance() {
			c.Restore = &infra.Restore{Refused: "it refuses"}
		}
	}
	for i := range e.snapshot.Clusters {
		if c := &e.snapshot.Clusters[i]; chance() {
			c.LeftAlone = "cluster.x-k8s.io/managed-by"
			if !c.Self {
				harm("left alone", c.ID())
			}
		}
		e.snapshot.Clusters[i].Paused = chance()
	}
	for i := range e.snapshot.Groups {
		grp := &e.snapshot.Groups[i]
		switch {
		case chance():
			grp.Desired = backup.Number{N: int64(g.IntN(5)), Known: true}
		case chance():
			grp.Version = "v2"
		case chance():
			grp.Paused = true
		}
	}
	for i := range e.snapshot.ControlPlanes {
		p := &e.snapshot.ControlPlanes[i]
		switch {
		case chance():
			p.Desired = backup.Number{N: int64(g.IntN(5)), Known: true}
		case chance():
			p.Unseen = true
		case chance():
			p.Version = "v2"
			for j := range e.snapshot.Machines {
				e.snapshot.Machines[j].Version = "v1"
			}
		}
	}
}

// disturbResult does to the Result what lookups may find.
func (e *world) disturbResult(chance func() bool, harm func(string, ...any)) {
	for i := range e.result.Clusters {
		c := &e.result.Clusters[i]
		if chance() {
			r := report.Resource{Kind: "VPC", Name: "v", State: code.Absent, WhenGone: code.HaltsCluster}
			if chance() {
				r.State = code.Undecided
			}
			if c.Resources = append(c.Resources, r); !c.Self {
				harm("VPC", c.ID)
			}
		}
		for j := range c.WorkerGroups {
			if p := c.WorkerGroups[j].Pool; p != nil && p.State == code.Present && p.Desired.Known {
				p.DesiredNow = p.Desired
				if chance() {
					p.DesiredNow.N++
				}
			}
		}
	}
}

func (e *world) report() (*report.Report, *rehearsal.Forecast) {
	f := rehearsal.Rehearse(rehearsal.Inputs{
		Snapshot: e.snapshot, Expected: e.expected, Inventory: e.inventory, Result: e.result,
		Controllers: all.Registry().Controllers(), Secrets: e.secrets, Now: e.now,
	})
	e.trace = f.Trace
	return build.New(build.Parts{Result: e.result, Snapshot: e.snapshot, Inventory: e.inventory, Forecast: f.Forecast, ByPlan: f.ByPlan, Checks: e.checks, GeneratedAt: e.now}), f.Forecast
}

// lots returns on how many random worlds the laws are held.
func lots(t *testing.T) uint64 {
	n := 1500
	if f := flag.Lookup("worlds"); f != nil {
		n, _ = strconv.Atoi(f.Value.String())
	}
	if testing.Short() {
		n = min(n, 300)
	}
	t.Logf("%d worlds", n)
	return uint64(n)
}

// TestLawsOfTheAnswer holds on random worlds what the answer promises. It is written
// from the promises, and knows none of the tables that decide.
func TestLawsOfTheAnswer(t *testing.T) {
	seen := map[string]int{}
	n := lots(t)
	for seed := range n {
		e := randomWorld(seed)
		r, f := e.report()
		a := r.Summary.Answer
		if a == nil {
			t.Fatalf("world %d has no answer", seed)
		}
		seen[string(a.Safe)]++
		for _, reason := range a.Reasons {
			seen[string(reason.Code)]++
		}
		for _, broken := range slices.Concat(promises(e, r, f), stepsOf(e, r), byPlan(r), neverAdopted(e, f), agreement(r)) {
			t.Errorf("world %d: %s: %s for %+v, status %s", seed, broken, a.Safe, a.Reasons, r.Summary.Status)
		}
		if t.Failed() {
			return
		}
	}
	for _, want := range []string{
		string(code.Yes), string(code.WithWork), string(code.Unclear), string(code.No), string(code.MachinesDeleted), string(code.MachinesMade), string(code.RolloutDue), string(code.ClusterHalted),
		string(code.GhostsLeft), string(code.MachinesUnknown), string(code.PoolScaledBack), string(code.BackupError), string(code.Incomplete), string(code.MachinesHalted),
	} {
		if seen[want] < int(n)/500+1 {
			t.Errorf("%s occurs %d times: the laws are held on too little: %v", want, seen[want], seen)
		}
	}
}

// promises returns the words of the answer that do not hold.
func promises(e *world, r *report.Report, f *rehearsal.Forecast) []string {
	var out []string
	demand := func(holds bool, text string) {
		if !holds {
			out = append(out, text)
		}
	}
	a, s := r.Summary.Answer, r.Summary
	yes, no, unknown := a.Safe == code.Yes, a.Safe == code.No, a.Safe == code.Unclear
	demand(!yes || s.Complete && len(r.OtherErrors()) == 0, "yes, and not complete")
	demand(!yes || s.Status == code.Healthy || s.Status == code.NeedFurtherConfirmationInfraMachines, "yes beside another status")
	demand(!yes || len(r.InfraMachines) == 0 || !slices.ContainsFunc(e.result.Unattributed, func(u detector.Unattributed) bool { return !u.Unlinked }), "yes, and an instance to confirm")
	demand(yes == (len(a.Reasons) == 0), "a reason and yes, or neither")
	demand(s.Complete || no || unknown, "not complete, and an answer")
	demand(s.Status != code.ManualRemediationRequired || !yes, "remediation is required")
	demand(r.CheckErrors() == 0 || no, "an error of a check")
	demand(!yes || len(e.harm) == 0, "yes, and "+strings.Join(e.harm, ", "))
	demand(len(a.Conditions) > 0 && a.Conditions[0].Code == code.RestoreOrder && a.Conditions[len(a.Conditions)-1].Code == code.NewestBackup, "conditions")
	if yes {
		out = append(out, quiet(e, f)...)
	}
	for _, reason := range a.Reasons {
		demand(reason.Message != "" && !strings.HasSuffix(reason.Message, "."), "a reason that is no sentence: "+reason.Message)
		nothing := reason.Code == code.NothingToCompare || reason.Code == code.StatusNotHealthy || reason.Code == code.Incomplete
		demand(len(reason.Objects) > 0 || nothing, string(reason.Code)+" is about nothing")
	}
	return out
}

// stepsOf says which steps of a walk the answer passes over. A yes has none that did not pass
// but those that nobody can see, each of which is a condition.
func stepsOf(e *world, r *report.Report) []string {
	var out []string
	a := r.Summary.Answer
	listed := func(word code.Reason) bool {
		return slices.ContainsFunc(a.Conditions, func(n report.Note) bool { return n.Code == word })
	}
	for i := range e.trace.Steps {
		s := &e.trace.Steps[i]
		switch does := s.Does().Effect; {
		case s.Found == walk.Unseen && !listed(s.Row.Condition):
			out = append(out, s.Row.ID+" is no condition: "+string(s.Row.Condition))
		case s.Found == walk.Unseen || does == walk.Retries || does == walk.Writes || does == walk.NotReady:
		case a.Safe == code.Yes && !e.self(s.Cluster):
			out = append(out, "yes, and "+s.Row.ID+" is "+string(s.Found))
		}
	}
	return out
}

func (e *world) self(id backup.ClusterID) bool {
	return slices.ContainsFunc(e.result.Clusters, func(c detector.Cluster) bool { return c.ID == id && c.Self })
}

// byPlan says where the answer by the plan promises what no plan can: what is not known stays
// so, and a yes needs no plan.
func byPlan(r *report.Report) []string {
	var out []string
	a, by := r.Summary.Answer, r.Summary.AnswerByPlan
	has := func(list []report.AnswerReason, word code.Reason) bool {
		return slices.ContainsFunc(list, func(o report.AnswerReason) bool { return o.Code == word })
	}
	if a.Safe == code.Yes && by.Safe != code.Yes || (by.Safe == code.Yes) != (len(by.Reasons) == 0) {
		out = append(out, fmt.Sprintf("%s by the plan, of %d reasons", by.Safe, len(by.Reasons)))
	}
	for _, reason := range a.Reasons {
		if code.SafeAfter(reason.Code) == code.Unclear && !has(by.Reasons, reason.Code) || !has(by.Reasons, reason.Code) && !has(by.Resolved, reason.Code) && reason.Code != code.StatusNotHealthy {
			out = append(out, string(reason.Code)+" is gone by the plan")
		}
	}
	return out
}

// quiet says what happens in a forecast beside taking over what lives.
func quiet(e *world, f *rehearsal.Forecast) []string {
	var out []string
	for i := range f.Clusters {
		if e.result.Clusters[i].Self {
			continue
		}
		c := &f.Clusters[i]
		for _, m := range c.ControlPlane.Machines {
			if m.After != code.Adopted {
				out = append(out, "yes, and "+string(m.After))
			}
		}
		owners := []report.Replicas{c.ControlPlane.Replicas}
		for _, g := range c.Groups {
			owners = append(owners, g.Replicas)
			for _, m := range g.Machines {
				if m.After != code.Adopted {
					out = append(out, "yes, and "+string(m.After))
				}
			}
		}
		for _, o := range owners {
			if o.Created+o.Deleted > 0 {
				out = append(out, fmt.Sprintf("yes, and %d made, %d deleted", o.Created, o.Deleted))
			}
		}
	}
	return out
}

// neverAdopted holds the sixth law: nothing is called taken over of which the verdict
// is Unknown, and nothing that does not live.
func neverAdopted(e *world, f *rehearsal.Forecast) []string {
	var out []string
	look := func(verdicts []*detector.Verdict, outcomes []rehearsal.Machine) {
		for i := range verdicts {
			adopted := strings.HasPrefix(string(outcomes[i].After), "Adopted")
			if adopted && (verdicts[i].Status != code.Healthy || verdicts[i].Instance == nil) {
				out = append(out, fmt.Sprintf("%s is %s, and %s", verdicts[i].Name, verdicts[i].Status, outcomes[i].After))
			}
		}
	}
	for i := range f.Clusters {
		c := &e.result.Clusters[i]
		look(c.ControlPlane.Machines, f.Clusters[i].ControlPlane.Machines)
		for j := range c.WorkerGroups {
			look(c.WorkerGroups[j].Machines, f.Clusters[i].Groups[j].Machines)
		}
	}
	return out
}

// agreement says where screens and files say another answer than the document, and
// where rules that set findings aside change it.
func agreement(r *report.Report) []string {
	var out []string
	safe := r.Summary.Answer.Safe
	word := string(safe)
	var metrics, tests bytes.Buffer
	if err := prometheus.Write(&metrics, r); err != nil || !strings.Contains(metrics.String(), `safe_to_restore{answer="`+word+`"} 1`) {
		out = append(out, "Prometheus says something else")
	}
	if err := junit.Write(&tests, r); err != nil || !strings.Contains(tests.String(), `name="answer" value="`+word+`"`) {
		out = append(out, "JUnit says something else")
	}
	if head := r.Answer(); (head.Safe == "YES") != (safe == code.Yes) || (safe == code.No) != (head.Safe == "NO") ||
		head.As == code.Healthy && safe != code.Yes && head.Safe != "NOTHING TO COMPARE" {
		out = append(out, "the screens say "+head.Safe+" as "+string(head.As))
	}
	rules, err := ignore.Read("rules", strings.NewReader("rules:\n- match: {status: \"*\"}\n  reason: all of it\n"))
	if err == nil {
		_, err = ignore.Apply(r, rules, time.Now())
	}
	if err != nil {
		return append(out, err.Error())
	}
	if head := r.Answer(); r.Summary.Answer.Safe != safe || (head.Safe == "YES") != (safe == code.Yes) {
		out = append(out, "ignore rules make it "+string(r.Summary.Answer.Safe)+" and "+head.Safe)
	}
	return out
}

// Losing a fact makes no yes: whoever sees less knows less.
func TestLosingFactsMakesNoYes(t *testing.T) {
	losses := map[string]func(*infra.Listing){
		"Nodes": func(l *infra.Listing) {
			if l.NodeState == report.NodesRead {
				l.NodeState, l.Nodes = "denied", nil
			}
		},
		"the list as a whole": func(l *infra.Listing) { l.State, l.Instances = code.ScopeFailed, nil },
		"that it is whole":    func(l *infra.Listing) { l.State = code.ScopePartial },
		"what was looked up":  func(l *infra.Listing) { l.ProbesFound = nil },
		"facts":               func(l *infra.Listing) { l.Facts = nil },
	}
	answers := map[code.Safe]int{}
	for seed := range lots(t) / 2 {
		before, _ := randomWorld(seed).report()
		if before.Summary.Answer.Safe == code.Yes {
			continue
		}
		for what, lose := range losses {
			after, _ := randomWorldWithout(seed, func(e *world) {
				e.inventory.Listings = slices.Clone(e.inventory.Listings)
				for i := range e.inventory.Listings {
					lose(&e.inventory.Listings[i])
				}
			}).report()
			answers[after.Summary.Answer.Safe]++
			if after.Summary.Answer.Safe == code.Yes {
				t.Fatalf("world %d is %s, and without %s yes: %+v", seed, before.Summary.Answer.Safe, what, before.Summary.Answer.Reasons)
			}
		}
	}
	t.Log(answers)
}
