package rehearsal

import (
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/report/code"
)

// A machine of the control plane that is gone is not replaced while something holds its
// Machine, or once it was replaced too often; one that lives is taken to be replaced.
func TestControlPlaneMachineThatIsNotReplaced(t *testing.T) {
	const times, recent, old = 2, `{"machine":"x","timestamp":"2026-11-20T11:30:00Z","retryCount":2}`, `{"machine":"x","timestamp":"2026-11-01T00:00:00Z","retryCount":2}`
	at, err := time.Parse(time.RFC3339, "2026-11-20T12:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	retries := func(said string, most backup.Number) func(*backup.Machine, *backup.ControlPlane) {
		return func(m *backup.Machine, p *backup.ControlPlane) {
			m.Remediated, p.MaxRetry, p.MinHealthy = said, most, time.Hour
		}
	}
	hooks := func(all string) func(*backup.Machine, *backup.ControlPlane) {
		return func(m *backup.Machine, _ *backup.ControlPlane) { m.Hooks = all }
	}
	for name, c := range map[string]struct {
		change   func(*backup.Machine, *backup.ControlPlane)
		lives    bool
		replaced bool
		says     string // in message or condition
	}{
		"nothing keeps it":         {hooks(""), false, true, "check-0"},
		"held at its end":          {hooks(hookEnd), false, false, "only once annotation " + hookEnd + " is taken away"},
		"held before its drain":    {hooks(hookDrain), false, true, "check-0"},
		"held twice":               {hooks(hookDrain + ", " + hookEnd), false, false, "annotation " + hookEnd + " is"},
		"replaced too often":       {retries(recent, number(times)), false, false, "has replaced it 2 times already, which is its maxRetry, and does so no more before 2026-11-20 12:30Z"},
		"may be once more":         {retries(recent, number(times+1)), false, true, "check-0"},
		"without a limit":          {retries(recent, backup.Number{}), false, true, "check-0"},
		"replaced long ago":        {retries(old, number(times)), false, true, "check-0"},
		"of which nothing is read": {retries("soon", number(times)), false, false, "cannot read annotation"},
		"lives, and is held":       {hooks(hookDrain), true, true, "only once annotation " + hookDrain + " is taken away"},
		"lives, and too often":     {retries(recent, number(times)), true, true, "check-0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, checkSpec(planes))
			s.now = at
			s.plane("a", found)
			s.plane("b", found)
			m := s.plane("m", gone)
			if c.lives {
				*m.verdict = setStatus(*m.verdict, found)
			}
			s.node("a", true)
			s.node("b", true)
			if c.lives {
				s.node("m", false)
			}
			c.change(m.machine, &s.snapshot.ControlPlanes[0])
			got := s.outcome(s.end(), "m")
			if replaced := got.Outcome == code.ReplacedByMachineHealthCheck; replaced != c.replaced || !strings.Contains(got.Message+got.Condition, c.says) {
				t.Errorf("%+v, want %v %q", got, c.replaced, c.says)
			}
		})
	}
}

// A rollout makes no machine of a version that the control plane is not ready for. What
// lives is taken to be replaced all the same.
func TestRolloutThatMakesNone(t *testing.T) {
	for name, c := range map[string]struct {
		version string
		wanted  string // by the topology
		verdict detector.Verdict
		want    code.Outcome
		says    string
	}{
		"ahead of the control plane":           {"v1.36.0", "", gone, code.Stuck, "MachineDeployment md is of Kubernetes v1.36.0 and its control plane of v1.35.1"},
		"ahead of the control plane, running":  {"v1.36.0", "", found, code.RolledByOwner, "MachineDeployment md specifies v1.36.0"},
		"as the control plane":                 {"v1.35.1", "", gone, code.RolledByOwner, "MachineDeployment md specifies v1.35.1"},
		"of a topology, once that is upgraded": {"v1.35.1", "v1.36.0", gone, code.RolledByOwner, "MachineDeployment md specifies v1.35.1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, checkSpec(workers))
			versions("v1.34.2", "v1.35.1", "KubeadmConfigTemplate", "")(s)
			s.snapshot.Groups[0].Version = c.version
			if c.wanted != "" {
				s.topology(fields{"class": "c", "version": c.wanted})
			}
			s.plane("a", found)
			s.worker("m", c.verdict)
			if got := s.outcome(s.end(), "m"); got.Outcome != c.want || !strings.Contains(got.Message, c.says) {
				t.Errorf("%+v, want %s %q", got, c.want, c.says)
			}
		})
	}
}

// What an owner may delete although it makes none, or waits for somebody to delete it.
func TestRolloutThatMayDelete(t *testing.T) {
	onDelete := func(s *story) { s.snapshot.Groups[0].OnDelete = true }
	for name, c := range map[string]struct {
		arrange      func(*story)
		verdict      detector.Verdict
		effect, says string // in the condition, or the message
	}{
		"on delete, of an older revision":         {func(s *story) { onDelete(s); s.older() }, found, string(code.RolloutDue), "unless its owner deletes it at once: its MachineSet md-old is of an older revision"},
		"on delete, of the revision that is kept": {func(s *story) { onDelete(s) }, found, "", ""},
		"on delete, and no MachineSet fits":       {func(s *story) { onDelete(s); s.snapshot.Groups[0].Version = "v2" }, gone, "", "MachineSet md-old is of an older revision, and from Cluster API 1.9 on leaves it"},
		"rolled out, and none can be created":     {func(s *story) { s.noTemplate(); s.older() }, found, string(code.OutcomeUnknown), "before it creates another, which it cannot: VSphereMachineTemplate md"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, checkSpec(workers))
			s.plane("a", found)
			s.worker("m", c.verdict)
			c.arrange(s)
			f := s.end()
			if got := s.outcome(f, "m"); deletes[got.Outcome] || !strings.Contains(got.Condition+got.Message, c.says) || !strings.Contains(effectCodes(f), c.effect) {
				t.Errorf("%+v, effects %q", got, effectsOf(f))
			}
		})
	}
}

// A Node that is left keeps a health check away that minds only Nodes which say that they
// are broken.
func TestNodeThatMayBeLeft(t *testing.T) {
	for status, says := range map[string]string{"False": "unless its Node is still registered:", "Unknown": "still registered and Ready"} {
		s := newStory(t, with(checkSpec(workers), "checks", fields{"unhealthyNodeConditions": []any{fields{"type": "Ready", "status": status}}}))
		s.plane("a", found)
		s.worker("m", gone)
		if got := s.outcome(s.end(), "m"); got.Outcome != code.ReplacedByMachineHealthCheck || !strings.Contains(got.Condition, says) {
			t.Errorf("%s: %+v", status, got)
		}
	}
}

// A Machine whose bootstrap object the backup lacks is not Ready, and a health check may
// have it replaced, although it lives. What else a check minds is not known here.
func TestHealthChecksThatMindWhatARestoreBreaks(t *testing.T) {
	for _, c := range []struct {
		condition string
		lacks     bool
		want      code.Outcome
		unread    string // in the condition that nothing minded is there
	}{
		{"Ready", true, code.ReplacedByMachineHealthCheck, ""},
		{"BootstrapConfigReady", true, code.ReplacedByMachineHealthCheck, ""},
		{"NodeReady", true, code.Adopted, ""},
		{"Ready", false, code.Adopted, ""},
		{"UpToDate", true, code.Adopted, ""},
		{"NodeHealthy", true, code.Adopted, "MachineHealthCheck ns/check-0 (NodeHealthy of the Machine)"}, // its Node's own were not read
		{"EtcdPodHealthy", true, code.Adopted, "MachineHealthCheck ns/check-0 (EtcdPodHealthy of the Machine)"},
		{"example.com/Disk", false, code.Adopted, "MachineHealthCheck ns/check-0 (example.com/Disk of the Machine)"},
	} {
		s := newStory(t, mindsMachine(c.condition, "False"))
		s.plane("a", found)
		m := s.worker("m", found).machine
		s.node("m", true)
		s.node("a", true)
		if c.lacks {
			m.Bootstrap = backup.Ref{Kind: "KubeadmConfig", Namespace: "ns", Name: "m"}
			s.lacks(m.Bootstrap)
		}
		f := s.end()
		if got := s.outcome(f, "m"); got.Outcome != c.want {
			t.Errorf("%s: %+v", c.condition, got)
		}
		unread := ""
		for _, n := range f.Conditions {
			if n.Code == code.NodeConditionsUnread {
				unread = n.Message
			}
		}
		if (unread == "") != (c.unread == "") || !strings.Contains(unread, c.unread) {
			t.Errorf("%s: %q, want %q", c.condition, unread, c.unread)
		}
	}
}

// Right after a restore no machine has a Node, so that a health check passes numbers of
// unhealthy machines which it acts on and which it does not end with.
func TestHealthCheckThatPassesItsRange(t *testing.T) {
	for within, want := range map[string]bool{"[2-3]": true, "[3-9]": false, "[0-0]": false} {
		s := newStory(t, with(checkSpec(workers), "unhealthyRange", within))
		s.plane("a", found)
		s.worker("m", found)
		s.worker("n", found)
		s.node("a", true)
		s.node("m", false)
		s.node("n", true)
		f := s.end()
		if got := s.outcome(f, "m"); got.Outcome != code.Adopted || strings.Contains(effectsOf(f), string(code.OutcomeUnknown)) != want {
			t.Errorf("%s: %+v, effects %q", within, got, effectsOf(f))
		}
	}
}

// A machine of the control plane that runs and whose Node is not Ready may be replaced also
// where those that are gone are not, once its cluster is unpaused, and by a control plane of
// another kind.
func TestControlPlaneMachineThatMayBeReplaced(t *testing.T) {
	arrange := func(more func(*story)) func(*story) {
		return func(s *story) {
			more(s)
			for _, name := range []string{"a", "b", "m"} {
				s.plane(name, found)
				s.node(name, name != "m")
			}
		}
	}
	two := func(s *story) { s.plane("d", gone); s.plane("e", gone) }
	limit := with(checkSpec(planes), "maxUnhealthy", 2)
	play(t, map[string]scene{
		"paused cluster":       {[]fields{checkSpec(planes)}, arrange(func(s *story) { s.cluster.Paused = true }), string(code.LivingReplaced), nil},
		"another kind":         {[]fields{checkSpec("RKE2ControlPlane")}, arrange(otherPlane), string(code.OutcomeUnknown), []string{"what RKE2ControlPlane does about a broken machine is not known here"}},
		"another kind, paused": {[]fields{checkSpec("RKE2ControlPlane")}, arrange(func(s *story) { otherPlane(s); s.snapshot.ControlPlanes[0].Paused = true }), "", nil},
		"paused Machine":       {[]fields{checkSpec(planes)}, arrange(func(s *story) { s.plane("d", found).machine.Paused = true }), string(code.OutcomeUnknown), []string{"Machine d is paused"}},
		"one is gone, and there is another": {[]fields{checkSpec(planes)}, func(s *story) {
			arrange(func(s *story) { s.plane("d", gone) })(s)
			s.ghostPlane("g")
		}, "EtcdMembersRemoved LivingReplaced StaleReplaced", nil},
		"one is gone, and more are wanted": {[]fields{checkSpec(planes)}, func(s *story) {
			arrange(func(s *story) { s.plane("d", gone) })(s)
			s.snapshot.ControlPlanes[0].Desired = number(5)
		}, "LivingReplaced MachinesMade StaleReplaced", nil},
		"paused worker": {[]fields{checkSpec(workers)}, func(s *story) {
			s.worker("m", found).machine.Paused = true
			s.node("m", false)
		}, string(code.LivingReplaced), nil},
		"two are gone":              {[]fields{checkSpec(planes)}, arrange(two), string(code.MachinesBroken) + " " + string(code.OutcomeUnknown), []string{"check-0 calls running machines unhealthy. Whether they are replaced is not known here: 2 of its Machines will have no Node"}},
		"two are gone, and a limit": {[]fields{limit}, arrange(two), string(code.MachinesBroken), nil},
	})
}
