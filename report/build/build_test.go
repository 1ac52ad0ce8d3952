package build_test

import (
	"slices"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/build/buildtest"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
)

func TestNewCounts(t *testing.T) {
	s := build.New(buildtest.Sample()).Summary
	if want := (report.MachineCounts{Total: 45, Healthy: 24, Stale: 4, Ghost: 2, Unknown: 15}); s.Machines != want {
		t.Errorf("machines %+v, want %+v", s.Machines, want)
	}
	if want := (report.ClusterCounts{Total: 5, Healthy: 1, ManualRemediationRequired: 1, NeedFurtherConfirmation: 3}); s.Clusters != want {
		t.Errorf("clusters %+v, want %+v", s.Clusters, want)
	}
	if s.InfraMachines != 2 || s.Errors != 2 || s.OutOfScope != 4 || s.Excluded["template"] != 10 || s.ForeignTags["beta-new"] != 1 || s.Complete {
		t.Errorf("summary %+v", s)
	}
}

// TestCountsAddUp adds every number of the document up from its lists.
func TestCountsAddUp(t *testing.T) {
	r := build.New(buildtest.Sample())
	for i := range r.Clusters {
		c := &r.Clusters[i]
		var sum report.MachineCounts
		for _, s := range c.Sets() {
			var n report.MachineCounts
			for _, m := range s.Machines {
				n.Count(m.Status)
			}
			if n != s.Counts {
				t.Errorf("%s %s: counts %+v, listed %+v", c.Title(), s.Title, s.Counts, n)
			}
			sum.Add(n)
		}
		if sum != c.Counts || sum.Total != sum.Healthy+sum.Stale+sum.Ghost+sum.Unknown {
			t.Errorf("%s: counts %+v, sum %+v", c.Title(), c.Counts, sum)
		}
	}
}

func TestIgnoreHealthyShortensListsAndNothingElse(t *testing.T) {
	p := buildtest.Sample()
	all := build.New(p)
	p.Options.IgnoreHealthy = true
	short := build.New(p)
	if short.Summary.Machines != all.Summary.Machines || short.Summary.Clusters != all.Summary.Clusters {
		t.Errorf("summary %+v, without the option %+v", short.Summary, all.Summary)
	}
	for i := range all.Clusters {
		a, s := all.Clusters[i].Sets(), short.Clusters[i].Sets()
		if all.Clusters[i].Counts != short.Clusters[i].Counts || len(a) != len(s) {
			t.Fatalf("%s: counts or groups differ", all.Clusters[i].Title())
		}
		for j := range a {
			want := slices.DeleteFunc(slices.Clone(a[j].Machines), func(m report.Machine) bool { return m.Status == code.Healthy && len(m.Warnings) == 0 })
			if a[j].Counts != s[j].Counts || len(s[j].Machines) != len(want) || s[j].Machines == nil {
				t.Errorf("%s: counts %+v and %d machines, want %+v and %d", a[j].Title, s[j].Counts, len(s[j].Machines), a[j].Counts, len(want))
			}
		}
	}
}

func TestMachine(t *testing.T) {
	r := build.New(buildtest.Sample())
	cp := r.Clusters[1].ControlPlane
	ghost, healthy := cp.Machines[0], cp.Machines[1]
	if ghost.Instance == nil || ghost.Instance.Scope != "vsphere vc1.example:443" || ghost.Instance.Provider != "vsphere" {
		t.Errorf("instance %+v: scope is not named", ghost.Instance)
	}
	if c := ghost.Instance.Created; c == nil || c.Format(time.RFC3339Nano) != "2026-11-20T08:30:00Z" {
		t.Errorf("created %v", c)
	}
	if *cp.Desired != 3 || r.Clusters[0].ControlPlane.Desired != nil {
		t.Error("desired is not what the backup knows")
	}
	if ghost.Role != "control-plane" || r.Clusters[1].Workers.Groups[0].Machines[0].Role != "worker" || healthy.Warnings[0].Reason != "DuplicateID" {
		t.Errorf("roles or warnings are lost: %+v", cp.Machines)
	}
	unknownRole := build.New(build.Parts{Result: detector.Result{Clusters: []detector.Cluster{{
		ID:           backup.ClusterID{Namespace: "ns", Name: "c"},
		WorkerGroups: []detector.Set{{Machines: []*detector.Verdict{{Status: code.Ghost, ControlPlane: true, Name: "vm", Scope: "some/target", Instance: buildtest.VM(1, "/f", "vm")}}}},
	}}}}).Clusters[0].Workers.Groups[0].Machines[0]
	if unknownRole.Role != "" || unknownRole.Namespace != "ns" || unknownRole.Instance.Scope != "some/target" {
		t.Errorf("machine %+v: want no role, the cluster's namespace, the target's id for want of a name", unknownRole)
	}
}

// TestOthersAreNamedWhereTheyAre: a further instance may be in any scope.
func TestOthersAreNamedWhereTheyAre(t *testing.T) {
	p := buildtest.Sample()
	v := p.Result.Clusters[1].WorkerGroups[0].Machines[2]
	v.Others = append(v.Others, *buildtest.VM(77, "/f", "nowhere"))
	v.OtherScopes = []string{buildtest.HomeTarget, buildtest.OtherTarget}
	var got []string
	for _, o := range build.New(p).Clusters[1].Workers.Groups[0].Machines[2].Others {
		got = append(got, o.Scope)
	}
	if want := []string{"vsphere vc1.example:443", "vsphere vc2.example:443", ""}; !slices.Equal(got, want) {
		t.Errorf("scopes %q, want %q", got, want)
	}
}

// What a ClusterClass made is scaled at the Cluster: its name there is said.
func TestTopologyOfAGroup(t *testing.T) {
	p := buildtest.Sample()
	c := &p.Result.Clusters[1]
	name := c.WorkerGroups[0].Name
	group := func(cluster backup.ClusterID, kind string, labels backup.Labels) backup.Group {
		return backup.Group{Meta: backup.Meta{Name: name}, Kind: kind, Cluster: cluster, Labels: labels}
	}
	const own, named = `"topology.cluster.x-k8s.io/owned":""`, `"topology.cluster.x-k8s.io/deployment-name":"md-0"`
	other := c.ID
	other.Namespace += "-2"
	for labels, want := range map[string]string{"{" + own + "," + named + "}": "md-0", "{" + named + "}": "", "{}": ""} {
		p.Snapshot.Groups = []backup.Group{
			group(other, "MachineDeployment", "{"+own+`,"topology.cluster.x-k8s.io/deployment-name":"of-another"}`),
			group(c.ID, "MachineDeployment", backup.Labels(labels)),
			group(c.ID, "MachineSet", "{"+own+`,"topology.cluster.x-k8s.io/deployment-name":"of-its-set"}`),
		}
		if got := build.New(p).Clusters[1].Workers.Groups[0].Topology; got != want {
			t.Errorf("%s: %q, want %q", labels, got, want)
		}
	}
}

func TestPoolsAndResources(t *testing.T) {
	r := build.New(buildtest.Pools())
	p := r.Clusters[0].Workers.Groups[0].Pool
	if !slices.Equal(p.Missing, []string{"i-1"}) || !slices.Equal(p.Added, []string{"i-3", "i-4"}) || *p.Desired != 2 || p.ManagedBy != "external-autoscaler" {
		t.Errorf("pool %+v", p)
	}
	if r.Clusters[1].Workers.Groups[0].Pool != nil {
		t.Error("a MachineDeployment is no pool")
	}
	if want := (report.ResourceCounts{Present: 2, Absent: 1, Unknown: 1}); r.Summary.Resources != want {
		t.Errorf("resources %+v, want %+v", r.Summary.Resources, want)
	}
	self := buildtest.Pools()
	self.Result.Clusters[0].Self = true
	if want, got := (report.ResourceCounts{Present: 1}), build.New(self).Summary.Resources; got != want {
		t.Errorf("resources %+v, want %+v: those of the management cluster do not count", got, want)
	}
}

func TestMissingIsJoinedAndSorted(t *testing.T) {
	p := buildtest.Sample()
	more := backup.Absence{Kind: "Secret", Namespace: "capv-system", Name: "creds", ReferredBy: "VSphereClusterIdentity shared", Why: "w"}
	p.Absent = []backup.Absence{more, more, p.Snapshot.Absent[0], {Backup: 7, Kind: "Lost"}}
	var got []string
	for _, m := range build.New(p).Backups[0].Missing {
		got = append(got, m.Kind+" "+m.Name)
	}
	if want := []string{"Secret creds", "VSphereClusterIdentity shared"}; !slices.Equal(got, want) {
		t.Errorf("missing %q, want %q", got, want)
	}
}

func TestTimesThatNoDocumentCanCarry(t *testing.T) {
	p := buildtest.Sample()
	p.Snapshot.Backups[0].WrittenTo = time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)
	p.Snapshot.Backups[0].WrittenFrom = time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)
	r := build.New(p)
	reporttest.JSON(t, r)
	if b := r.Backups[0]; !b.WrittenTo.IsZero() || !b.WrittenFrom.IsZero() {
		t.Errorf("times %v and %v, want none", b.WrittenFrom, b.WrittenTo)
	}
	if got := r.GeneratedAt.Format(time.RFC3339Nano); got != "2026-11-20T08:30:00Z" {
		t.Errorf("generated at %s", got)
	}
}

// Where nobody could look, no member is missing.
func TestAnUndecidedPoolMissesNobody(t *testing.T) {
	for _, tt := range []struct {
		state   code.Presence
		missing int
	}{{code.Present, 1}, {code.Absent, 1}, {code.Undecided, 0}} {
		if p := poolOf(detector.PoolState{State: tt.state, Then: []string{"i-1"}}); len(p.Missing) != tt.missing {
			t.Errorf("a pool that is %s misses %v", tt.state, p.Missing)
		}
	}
}

func poolOf(p detector.PoolState) *report.Pool {
	c := detector.Cluster{WorkerGroups: []detector.Set{{Pool: &p}}}
	return build.New(build.Parts{Result: detector.Result{Clusters: []detector.Cluster{c}}}).Clusters[0].Workers.Groups[0].Pool
}

// A machine names the object of its infrastructure's controller; a Ghost has none.
func TestMachinesNameTheirInfrastructureObjects(t *testing.T) {
	p := buildtest.Sample()
	ref := backup.Ref{Group: "infrastructure.cluster.x-k8s.io", Kind: "VSphereMachine", Namespace: "tenant", Name: "short"}
	p.Result.Clusters[0].ControlPlane.Machines[0].Infrastructure = &ref
	c := build.New(p).Clusters[0]
	if got := c.ControlPlane.Machines[0].Infrastructure; got == nil || *got != (report.ObjectName{Kind: "VSphereMachine", Namespace: "tenant", Name: "short"}) {
		t.Errorf("%+v", got)
	}
	if got := c.Workers.Groups[0].Machines[0].Infrastructure; got != nil {
		t.Errorf("%+v without one", got)
	}
}
