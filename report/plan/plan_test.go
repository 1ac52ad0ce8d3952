package plan

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// Each control-plane Ghost has its own look at the quorum, though it is the same line.
func TestQuorumIsLookedAtForEachGhostOfAControlPlane(t *testing.T) {
	r := sample("alpha")
	p := &r.Clusters[0].ControlPlane
	second := *plantest.Find(t, r, code.Ghost, "control-plane")
	second.Name, second.Node, second.Instance = "beta", "beta", plantest.VSphereVM("beta", plantest.CopyID, 7)
	p.Machines, p.Counts = append(p.Machines, second), report.MachineCounts{Total: 4, Healthy: 1, Stale: 1, Ghost: 2}
	for _, b := range New(r, providerTools).Sections[2].Chapters[0].Batches {
		if !strings.HasSuffix(b.Title, ": 2 Ghost") {
			continue
		}
		for _, item := range b.Items {
			var lines []string
			for _, c := range slices.Concat(item.Commands...) {
				lines = append(lines, c.Text())
			}
			inOrder(t, lines, "member remove", "member list", "drain node/"+item.Name, "vm.destroy", "member list")
		}
		return
	}
	t.Error("the Ghosts are not one block")
}

// What is Stale is replaced before what is a Ghost is drained, and a rollout is
// named as the one event that it is.
func TestStaleComesBeforeGhostAndARolloutIsOneEvent(t *testing.T) {
	r := sample("alpha")
	plantest.Group(r).Forecast = &report.GroupForecast{Rollout: &report.Rollout{Stale: 1, Ghosts: 1, Message: "it was rolled out"}}
	text := sectionText(New(r, providerTools).Sections[2])
	stale, ghost := strings.Index(text, "MachineDeployment alpha: 1 Stale"), strings.Index(text, "MachineDeployment alpha: 1 Ghost")
	if stale < 0 || ghost < stale {
		t.Errorf("Stale at %d, Ghost at %d", stale, ghost)
	}
	if n := strings.Count(text, "it was rolled out"); n != 1 {
		t.Errorf("the rollout is shown %d times", n)
	}
}

// That machines do not heal is said in the answer, and not again among the notes.
func TestMachinesThatDoNotHealAreToldOnce(t *testing.T) {
	for n, want := range map[int][2]int{0: {0, 1}, 3: {1, 0}} { // in the answer, among the notes
		r := sample("alpha")
		r.Summary.Forecast = &report.GeneralForecast{NotHealing: n, Notes: []report.Note{{Code: "NotHealing", Message: "3 will not heal"}, {Code: "Other", Message: "more of it."}}}
		p := New(r, providerTools)
		text := planText(p)
		if got := [2]int{strings.Count(text, "3 Stale machines will not be replaced automatically"), strings.Count(text, "3 will not heal.")}; got != want {
			t.Errorf("%d: shown %v, want %v", n, got, want)
		}
		if !slices.Contains(p.Sections[0].Chapters[0].Notes, "more of it.") {
			t.Errorf("%d: another note is not there, or ends in two full stops", n)
		}
	}
}

func TestPlanSaysAtItsTopWhatItCouldNotKnow(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*report.Report)
		want   string
		whole  bool
	}{
		"complete":        {func(*report.Report) {}, "", true},
		"incomplete":      {func(r *report.Report) { r.Summary.Complete = false }, "The report is incomplete, so this plan is, too", false},
		"without healthy": {func(r *report.Report) { r.Options.IgnoreHealthy = true }, "--ignore-healthy-resources", true},
		"Nodes skipped":   {func(r *report.Report) { r.Options.SkipNodes = true }, "Node lists were not read", true},
		"Nodes denied":    {func(r *report.Report) { r.Clusters[0].Nodes.State = "denied" }, "Node list of alpha/alpha could not be read", true},
		"itself":          {func(r *report.Report) { r.Clusters[0].Self = true }, "The management cluster itself has no steps", true},
		"derived":         {func(r *report.Report) { r.Clusters[0].Derived = true }, "no Cluster object", true},
		"errors":          {func(r *report.Report) { r.Summary.Errors = 3 }, "3 errors", true},
		"no forecast":     {func(r *report.Report) { r.Summary.Forecast = nil }, "no forecast", true},
		"a machine cut": {func(r *report.Report) {
			g := plantest.Group(r)
			g.Machines = g.Machines[1:]
		}, "cut or filtered", false},
		"a VM cut": {func(r *report.Report) { r.InfraMachines = nil }, "cut or filtered", false},
	} {
		r := sample("alpha")
		r.Clusters = r.Clusters[:1]
		r.Summary.Complete, r.Summary.Forecast = true, &report.GeneralForecast{}
		tt.change(r)
		p := New(r, providerTools)
		if got := strings.Join(p.Unknown, "\n"); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q", name, got)
		}
		if p.Whole != tt.whole {
			t.Errorf("%s: whole is %v", name, p.Whole)
		}
	}
}

// deleted returns a report of which the first cluster was deleted after the backup.
func deleted() *report.Report {
	r := sample("alpha")
	c := &r.Clusters[0]
	c.ControlPlane.Machines, c.ControlPlane.Counts = c.ControlPlane.Machines[2:3], report.MachineCounts{Total: 1, Stale: 1}
	c.Workers.Groups, c.Counts, c.Nodes.State = nil, report.MachineCounts{Total: 1, Stale: 1}, "unreachable"
	return r
}

// reported returns a step as reports have it.
func reported[S Step | report.Step](s S) report.Step {
	if s, ok := any(s).(Step); ok {
		return s.Step
	}
	return any(s).(report.Step)
}

// lines returns steps as one text each: words, then commands.
func lines[S Step | report.Step](steps []S) []string {
	out := make([]string, len(steps))
	for i, s := range steps {
		s := reported(s)
		out[i] = s.Text + "\n" + strings.Join(s.Commands, "\n")
	}
	return out
}

// What is of the management cluster itself is left out of each restore, where a selector can tell
// it, and so are the webhook configurations of the old cluster.
func TestTheOldManagementClusterIsLeftOut(t *testing.T) {
	r := deleted()
	r.Clusters[1].Self = true
	for want, name := range map[string]string{"notin (alpha,alpha2)": "alpha2", "notin (alpha)": "al)pha"} {
		r.Clusters[1].Name = name
		steps := New(r, providerTools).Sections[1].Chapters[0].Steps
		for _, c := range commands(steps) {
			if !strings.Contains(c, "restore create") {
				continue
			}
			if !strings.Contains(c, " --exclude-resources=validatingwebhookconfigurations,mutatingwebhookconfigurations,backupstoragelocations.velero.io,schedules.velero.io ") {
				t.Errorf("it restores webhook configurations, or what is Velero's own: %s", c)
			}
			if strings.Contains(c, want) {
				want = ""
			}
		}
		if want != "" {
			t.Errorf("no line has %s: %q", want, commands(steps))
		}
		if says := strings.Contains(chapterText(steps), "the label of the management cluster itself, alpha/alpha2"); says != (name == "alpha2") {
			t.Errorf("%s: it says so: %v", name, says)
		}
	}
}

// The restore of all and the restore without a cluster are one or the other, and
// so never one block to copy; the Cluster object may come back all the same.
func TestClusterThatIsGoneCanBeLeftOutOfTheRestore(t *testing.T) {
	steps := lines(New(deleted(), providerTools).Sections[1].Chapters[0].Steps)
	inOrder(t, steps, "If you leave clusters out, do not do this, but the next step.", "'--selector=cluster.x-k8s.io/cluster-name notin (alpha)'", "then it comes back alone. Paused, as here, it does no harm", "restore describe")
	creates := 0
	for _, s := range steps {
		n := strings.Count(s, "restore create")
		creates += n
		if n > 1 {
			t.Errorf("one step restores twice: %s", s)
		}
	}
	if creates != 2 {
		t.Errorf("%d ways to restore, want 2", creates)
	}
}

func TestClusterThatMayLiveIsNotLeftOut(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*report.Report)
		says   string
	}{
		"it had no control plane": {func(r *report.Report) { r.Clusters[0].ControlPlane = report.ControlPlane{} }, ""},
		"its API server answers":  {func(r *report.Report) { r.Clusters[0].Nodes.State = report.NodesRead }, ""},
		"one machine lives":       {func(r *report.Report) { r.Clusters[0].Counts = report.MachineCounts{Total: 2, Healthy: 1, Stale: 1} }, ""},
		"another has its name":    {func(r *report.Report) { r.Clusters[1].Name = "alpha" }, "can't tell it from others"},
		"its name is no label":    {func(r *report.Report) { r.Clusters[0].Name = "alpha)" }, "can't tell it from others"},
		"others are not shown":    {func(r *report.Report) { r.Options.Filter = &report.Filter{Namespaces: []string{"alpha"}} }, "the report is only of some clusters"},
	} {
		r := deleted()
		tt.change(r)
		text := strings.Join(lines(New(r, providerTools).Sections[1].Chapters[0].Steps), "\n")
		if strings.Contains(text, "notin (") {
			t.Errorf("%s: it is left out all the same", name)
		}
		if got := strings.Contains(text, "no line is made that leaves that out"); got != (tt.says != "") || !strings.Contains(text, tt.says) {
			t.Errorf("%s: it does not say why: %s", name, text)
		}
	}
}

// What is given up the list, the lines and the cluster's own step speak of alike: it is left out of
// each way to restore, or restored and left paused where no selector tells it from others.
func TestWhatIsGivenUpIsSaidOnce(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*report.Report)
		leftOut bool
		creates int // ways to restore
	}{
		"alone":             {func(*report.Report) {}, true, 1},
		"one has its name":  {func(r *report.Report) { r.Clusters[1].Namespace, r.Clusters[1].Name = "other", "alpha" }, false, 1},
		"a report of some":  {func(r *report.Report) { r.Options.Filter = &report.Filter{Namespaces: []string{"alpha"}} }, false, 1},
		"the name no label": {func(r *report.Report) { r.Clusters[0].Name = "alpha)" }, false, 1},
		"another one is gone": {func(r *report.Report) {
			other := r.Clusters[0]
			other.Name, other.Confirmed = "gone", nil
			r.Clusters = append(r.Clusters, other)
		}, true, 2},
	} {
		r := deleted()
		r.Clusters[0].Confirmed = &report.Confirmed{As: "givenUp", By: "OPS-1", On: "2026-11-25"}
		c.change(r)
		title := r.Clusters[0].Title()
		r.Summary.Answer = &report.SafeAnswer{Safe: code.No, Reasons: []report.AnswerReason{{Code: code.ClusterHalted, Message: "halted", Objects: []string{"Cluster " + title}}}, Conditions: []report.Note{{Code: code.UnpausedClusters}}}
		p := New(r, providerTools)
		text := strings.Join(lines(p.Sections[1].Chapters[0].Steps), "\n")
		own := strings.Join(lines(p.Sections[2].Chapters[0].Steps), "\n")
		ways, without := strings.Count(text, "restore create"), strings.Count(text, "notin (alpha")
		if ways != c.creates || (without == ways) != c.leftOut || without != 0 && !c.leftOut {
			t.Errorf("%s: %d ways to restore, %d leave it out\n%s", name, ways, without, text)
		}
		if strings.Contains(own, "The restore brings it back") == c.leftOut || !strings.Contains(own, "leave it paused") {
			t.Errorf("%s: %s", name, own)
		}
		at := slices.IndexFunc(p.toDo(), func(d report.ToDo) bool { return d.Code == code.ClusterHalted })
		if at < 0 {
			t.Fatalf("%s: it is not in the list", name)
		}
		d := p.toDo()[at]
		phase, step := code.Restoring, p.Sections[1].Chapters[0].Number
		if !c.leftOut {
			phase, step = code.Paused, p.Sections[2].Chapters[0].Number
		}
		if d.Phase != phase || strings.Contains(d.Message, ": left out") != c.leftOut || !slices.Equal(d.Steps, []int{step}) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// Whether or not it can be left out, no step unpauses what is gone.
func TestClusterThatIsGoneStaysPaused(t *testing.T) {
	r := deleted()
	for _, filter := range []*report.Filter{nil, {Clusters: []string{"alpha"}}} {
		r.Options.Filter = filter
		text := strings.Join(lines(New(r, providerTools).Sections[2].Chapters[0].Steps), "\n")
		if strings.Contains(text, `"paused":false`) || !strings.Contains(text, "leave it paused") {
			t.Errorf("filter %v: %s", filter, text)
		}
	}
}

func TestAllClustersOfTheOldManagementClusterArePausedWhateverTheReportIsOf(t *testing.T) {
	for _, filter := range []*report.Filter{nil, {Clusters: []string{"alpha"}}} {
		r := sample("alpha")
		r.Options.Filter = filter
		text := strings.Join(lines(New(r, providerTools).Sections[0].Chapters[0].Steps), "\n")
		if strings.Count(text, `--context "${OLD_MGMT:?}" get clusters.cluster.x-k8s.io --all-namespaces`) != 2 {
			t.Errorf("filter %v: nothing lists what the old management cluster has", filter)
		}
	}
}

func TestPausedClusterIsNotUnpausedWithTheOthers(t *testing.T) {
	r := sample("alpha")
	r.Clusters[0].Paused = true
	p := New(r, providerTools)
	after := p.Sections[2].Chapters
	first, second := after[0].Steps, after[1].Steps
	if !strings.Contains(first[len(first)-1].Text, "Leave it so until you know who paused it") {
		t.Errorf("%+v", first)
	}
	if !strings.Contains(second[len(second)-1].Text, "Unpause it") {
		t.Errorf("%+v", second)
	}
}

// To remove members of Ghosts costs the quorum when one that stays is silent.
// That holds for a paused cluster as for any other, from when it is unpaused, and
// for one whose Cluster object has still to be made.
func TestEvictionIsWarnedOfBeforeAnythingIsUnpaused(t *testing.T) {
	for name, change := range map[string]func(*report.Cluster){
		"running": func(*report.Cluster) {},
		"paused":  func(c *report.Cluster) { c.Paused = true },
		"derived": func(c *report.Cluster) { c.Derived = true },
	} {
		r := sample("alpha")
		change(&r.Clusters[0])
		steps := lines(New(r, providerTools).Sections[2].Chapters[0].Steps)
		inOrder(t, steps, "Ghosts with a member: 1 (alpha). See that every member answers. If one that is to stay does not, leave the cluster paused, and repair that member or take a newer backup", "")
		i := slices.IndexFunc(steps, func(s string) bool { return strings.Contains(s, "Ghosts with a member") })
		if i < 0 || !strings.Contains(steps[i], "Only if the silent one is a Ghost's, all that are to stay answer, and so does a majority of all: remove") || !strings.Contains(steps[i], "endpoint health") {
			t.Errorf("%s: %q", name, steps)
		}
		for _, s := range steps[:i+1] {
			if strings.Contains(s, `"paused":false`) {
				t.Errorf("%s: it is unpaused before: %s", name, s)
			}
		}
	}
}

func TestIdentityIsAppliedBeforeItsClustersAreUnpaused(t *testing.T) {
	r := sample("alpha")
	r.Clusters = append(r.Clusters, sample("beta").Clusters[0])
	for _, i := range []int{0, 2} {
		r.Clusters[i].Forecast.Notes = []report.Note{{Code: code.IdentityAbsent, Objects: []string{"VSphereClusterIdentity alpha"}}}
	}
	chapters := New(r, providerTools).Sections[2].Chapters
	for i, name := range map[int]string{0: "alpha", 2: "beta"} {
		inOrder(t, commands(chapters[i].Steps), "get vsphereclusteridentities.infrastructure.cluster.x-k8s.io/alpha",
			"annotate vsphereclusters.infrastructure.cluster.x-k8s.io --selector=cluster.x-k8s.io/cluster-name="+name, `{"spec":{"paused":false}}`)
	}
	for _, s := range chapters[1].Steps {
		if strings.Contains(s.Text, "VSphereClusterIdentity") {
			t.Error("another cluster waits for it too")
		}
	}
}

// KubeadmControlPlane acts within seconds, so that the quorum is looked at before.
func TestQuorumIsLookedAtBeforeAClusterWithGhostMembersIsUnpaused(t *testing.T) {
	r := sample("alpha")
	inOrder(t, commands(New(r, providerTools).Sections[2].Chapters[0].Steps), "member list", "endpoint health", `{"spec":{"paused":false}}`)
	p := &r.Clusters[0].ControlPlane
	p.Machines, p.Counts.Ghost = p.Machines[:1], 0
	if text := strings.Join(commands(New(r, providerTools).Sections[2].Chapters[0].Steps), "\n"); strings.Contains(text, "etcdctl") {
		t.Errorf("without such Ghosts too: %s", text)
	}
}
