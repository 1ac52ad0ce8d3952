package rehearsal

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

// A control-plane instance that is stopped, and that nothing starts, is no
// member of etcd that works. What CAPV powers on is one.
func TestEtcdOfWhatIsStopped(t *testing.T) {
	onAWS := func(a, b, c detector.Verdict) func(*story) {
		return func(s *story) { s.cluster.Provider = aws; three(a, b, c)(s) }
	}
	for name, c := range map[string]struct {
		arrange  func(*story)
		quorum   code.Quorum
		existing int
		says     string // in the message
		noted    bool   // as controlPlaneStopped
	}{
		"the only one":                {func(s *story) { s.cluster.Provider = aws; s.plane("m", halted(found)) }, code.QuorumUncertain, 1, "The only control-plane machine is stopped (m), and CAPA does not start it", true},
		"one of three":                {onAWS(found, found, halted(found)), code.QuorumStands, 3, "a majority even without the others; 1 is stopped (m)", false},
		"two of three":                {onAWS(found, halted(found), halted(found)), code.QuorumUncertain, 3, "Of 3 control-plane machines only 1 surely runs: 2 are stopped (b, m)", true},
		"one, and one gone":           {onAWS(found, halted(found), gone), code.QuorumUncertain, 2, "1 is stopped (b)", true},
		"powered off":                 {three(found, halted(found), halted(found)), code.QuorumStands, 3, "(2 are off until CAPV powers them on)", false},
		"suspended":                   {three(found, asleep(found), asleep(found)), code.QuorumUncertain, 3, "CAPV does not start them", true},
		"powered off, paused":         {func(s *story) { s.cluster.Paused = true; s.plane("m", halted(found)) }, code.QuorumUncertain, 1, "CAPV does not power it on before it acts", true},
		"powered off, Machine paused": {func(s *story) { s.plane("m", halted(found)).machine.Paused = true }, code.QuorumUncertain, 1, "CAPV does not start it", true},
		"powered off, halted":         {func(s *story) { halt(s); s.plane("m", halted(found)) }, code.QuorumUncertain, 1, "CAPV does not power it on before it acts", true},
		"powered off, no Cluster":     {func(s *story) { s.cluster.Derived = true; s.plane("m", halted(found)) }, code.QuorumUncertain, 1, "CAPV does not power it on before it acts", true},
		"ghost that is off":           {func(s *story) { s.plane("m", found); *s.ghostPlane("g") = halted(ghostOf("g")) }, code.QuorumUncertain, 2, "1 is stopped (g)", true},
		"of an unknown provider":      {func(s *story) { s.cluster.Provider = "other"; s.plane("m", halted(found)) }, code.QuorumUncertain, 1, "no controller is known here that starts it", true},
		"etcd elsewhere, two stopped": {func(s *story) {
			onAWS(found, halted(found), halted(found))(s)
			s.snapshot.ControlPlanes[0].ExternalEtcd = true
		}, code.QuorumNotApplicable, 3, "etcd does not run on its machines", false},
		"beside an unknown one": {onAWS(halted(found), unknown("x"), gone), code.QuorumUncertain, 1, "Of 3 control-plane machines none surely runs: 1 is stopped", true},
		"etcd elsewhere": {func(s *story) {
			s.cluster.Provider = aws
			s.plane("m", halted(found))
			s.snapshot.ControlPlanes[0].ExternalEtcd = true
		}, code.QuorumNotApplicable, 1, "etcd does not run on its machines", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.arrange(s)
			f := s.end().Clusters[0]
			e := f.ControlPlane.Etcd
			if e.Quorum != c.quorum || e.Existing != c.existing || !strings.Contains(e.Message, c.says) {
				t.Errorf("%+v, want %s %d %q", e, c.quorum, c.existing, c.says)
			}
			if got := slices.ContainsFunc(f.Notes, func(n report.Note) bool { return n.Code == code.ControlPlaneStopped }); got != c.noted || strings.Contains(codes(f.Notes), string(code.ControlPlaneGone)) {
				t.Errorf("notes %v", f.Notes)
			}
			if e.After != e.Existing-e.Removed {
				t.Errorf("%+v", e)
			}
		})
	}
}

func ghostOf(name string) detector.Verdict {
	v := alien
	v.Namespace, v.Name, v.ControlPlane = "ns", name, true
	return v
}

func TestWhoStartsAnInstance(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*story)
		outcome code.Outcome
		says    string
	}{
		"CAPV":            {func(s *story) { s.worker("m", halted(found)) }, code.AdoptedPoweredOn, "CAPV powers it on at once"},
		"CAPV, suspended": {func(s *story) { s.worker("m", asleep(found)) }, code.Stuck, "fails at a VM that is suspended"},
		"CAPV, by name":   {func(s *story) { s.worker("m", halted(byName)) }, code.AdoptedByName, "found by its name"},
		"CAPA":            {func(s *story) { s.cluster.Provider = aws; s.worker("m", halted(found)) }, code.Stuck, "CAPA never starts one"},
		"CAPA, without id": {func(s *story) {
			s.cluster.Provider = aws
			s.worker("m", finding(halted(byName), detector.FindsNothing))
		}, code.NewInstanceCreated, "among the instances that run"},
		"somebody else": {func(s *story) { s.cluster.Provider = "other"; s.worker("m", halted(found)) }, code.CannotKnow, "controller of provider other does after a restore is not known here"},
		"ghost":         {func(s *story) { *s.ghostWorker("m") = halted(workerGhost("m")) }, code.GhostKeepsRunning, "the VM stays off"},
		"ghost of the control plane": {func(s *story) {
			s.plane("a", found)
			s.plane("b", found)
			*s.ghostPlane("m") = halted(ghostOf("m"))
		}, code.GhostEtcdMemberRemoved, "within seconds after its start; the VM stays off"},
		"ghost beside a stopped one": {func(s *story) {
			s.cluster.Provider = aws
			s.plane("a", halted(found))
			s.ghostPlane("m")
		}, code.CannotKnow, "only while etcd has a majority"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.arrange(s)
			if got := s.outcome(s.end(), "m"); got.Outcome != c.outcome || !strings.Contains(got.Message, c.says) {
				t.Errorf("%+v, want %s %q", got, c.outcome, c.says)
			}
		})
	}
}

func workerGhost(name string) detector.Verdict {
	v := alien
	v.Namespace, v.Name = "ns", name
	return v
}

// Without its infrastructure object a Machine may have an instance, or none that
// anybody found.
func TestInfraObjectMissing(t *testing.T) {
	for says, instance := range map[string]*infra.Instance{"the instance that exists": {ID: "1"}, "looks for an instance or creates one": nil} {
		s := newStory(t)
		v := unknown(code.InfraObjectMissing)
		v.Instance = instance
		s.worker("m", v)
		if m := s.outcome(s.end(), "m"); m.Outcome != code.Stuck || !strings.Contains(m.Message, says) {
			t.Errorf("%+v, want %q", m, says)
		}
	}
}

// A cluster whose only control-plane instance is stopped is not all adopted.
func TestStoppedIsNotCountedAsAdopted(t *testing.T) {
	s := newStory(t, checkSpec(workers))
	s.cluster.Provider = aws
	s.plane("a", halted(found))
	s.worker("b", found)
	s.worker("m", gone)
	f := s.end()
	c := f.Clusters[0]
	if want := "1 adopted, 2 broken until you act"; c.Text != want || c.Outcomes[code.Adopted] != 1 || c.NotHealing != 1 {
		t.Errorf("%q, want %q; %d do not heal", c.Text, want, c.NotHealing)
	}
	if r := c.ControlPlane.Replicas; r.Working != 0 || r.Missing != 1 {
		t.Errorf("%+v", r)
	}
	// The API server does not answer: health checks skip the cluster.
	if m := s.outcome(f, "m"); m.Outcome != code.Stuck || !strings.Contains(m.Message, "no machine of that runs") {
		t.Errorf("%+v", m)
	}
}
