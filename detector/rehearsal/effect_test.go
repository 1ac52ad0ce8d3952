package rehearsal

import (
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/report/code"
)

// Every outcome that a row leads to has its effects, and every effect of a machine
// its words.
func TestEveryOutcomeHasItsEffects(t *testing.T) {
	for _, row := range outcomeRows {
		codes, known := byOutcome[row.Outcome]
		if !known {
			t.Errorf("%s has none", row.Outcome)
		}
		for _, code := range codes {
			if code != "" && sayings[code] == "" {
				t.Errorf("%s of %s says nothing", code, row.Outcome)
			}
		}
	}
	for code, text := range sayings {
		if text == "" || strings.HasSuffix(text, ".") {
			t.Errorf("%s: %q", code, text)
		}
	}
	f := machine{verdict: &detector.Verdict{Status: code.Healthy}}
	if got := f.effect("Something"); got != code.OutcomeUnknown {
		t.Errorf("of an outcome that nobody knows: %s", got)
	}
}

// One effect is of all machines that have it, and names each.
func TestEffectsAreGathered(t *testing.T) {
	s := newStory(t)
	s.worker("a", gone)
	s.worker("b", gone)
	s.worker("c", found)
	s.ghostWorker("g")
	s.orphan("o")
	f := s.end()
	for code, want := range map[string]string{
		string(code.MachinesBroken):  "(Machine ns/a, Machine ns/b)",
		string(code.GhostsLeft):      "(instance g)",
		string(code.MachinesMissing): "(Machine ns/o)",
	} {
		if got := effect(f, code); !strings.HasSuffix(got, want) || strings.Count(got, "\n") > 0 {
			t.Errorf("%s: %q", code, got)
		}
	}
}

// Of a paused cluster the effects are those that come once it is unpaused, and the
// conditions say so.
func TestEffectsOfWhatIsPaused(t *testing.T) {
	conditions := func(f Forecast) map[string]string {
		out := map[string]string{}
		for _, n := range f.Conditions {
			out[string(n.Code)] = n.Message
		}
		return out
	}
	for name, c := range map[string]struct {
		arrange func(*story)
		codes   string
		of      map[string]string // conditions that there must be
	}{
		"a cluster":       {func(s *story) { s.cluster.Paused = true; s.worker("a", gone) }, string(code.MachinesBroken), map[string]string{string(code.ClustersPaused): "Cluster ns/prod"}},
		"a cluster, well": {func(s *story) { s.cluster.Paused = true; s.worker("a", found) }, "", map[string]string{string(code.ClustersPaused): "Cluster ns/prod"}},
		"a machine":       {func(s *story) { s.worker("a", found).machine.Paused = true }, "", map[string]string{string(code.ClustersPaused): "Machine ns/a"}},
		"owners": {func(s *story) {
			s.worker("a", found)
			s.snapshot.ControlPlanes[0].Paused, s.snapshot.Groups[0].Paused, s.snapshot.Groups[1].Paused = true, true, true
		}, "", map[string]string{string(code.OwnersPaused): "KubeadmControlPlane ns/cp, MachineDeployment ns/md, MachineSet ns/md-old"}},
		"short of machines": {func(s *story) { s.cluster.Paused = true; s.worker("a", found); want(s, 2) }, string(code.MachinesMade), map[string]string{string(code.ClustersPaused): ""}},
		"managed by others": {func(s *story) { s.worker("a", found); s.snapshot.Groups[0].Autoscaled = true }, "", map[string]string{string(code.ReplicasManaged): "MachineDeployment ns/md by cluster autoscaler"}},
		"no template":       {func(s *story) { s.noTemplate(); s.worker("a", found) }, "", map[string]string{string(code.NothingToReplace): "MachineDeployment ns/md (VSphereMachineTemplate md is not in the backup)"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.arrange(s)
			f := s.end()
			if got := effectCodes(f); got != c.codes {
				t.Errorf("%q, want %q", got, c.codes)
			}
			got := conditions(f)
			for code, text := range c.of {
				if m, ok := got[code]; !ok || !strings.HasSuffix(m, text) {
					t.Errorf("%s: %q, want %q", code, m, text)
				}
			}
			if f.Conditions[0].Code != code.RestoreOrder || f.Conditions[len(f.Conditions)-1].Code != code.NewestBackup {
				t.Errorf("%+v", f.Conditions)
			}
		})
	}
}

// Of the management cluster itself only that it stays paused is a condition.
func TestConditionsSpeakOfNoManagementCluster(t *testing.T) {
	s := newStory(t, checkSpec(workers))
	s.cluster.Self, s.cluster.Paused = true, true
	s.worker("a", found)
	s.snapshot.Groups[0].Autoscaled = true
	paused := false
	for _, n := range s.end().Conditions {
		paused = paused || n.Code == code.ClustersPaused && strings.HasSuffix(n.Message, "Cluster ns/prod")
		if n.Code == code.ReplicasManaged || n.Code == code.NodesUnread {
			t.Errorf("%+v", n)
		}
	}
	if !paused {
		t.Error("that it is paused is no condition")
	}
}

// Nothing is reconciled while the server of an extension does not answer, whoever uses it.
func TestExtensionsMustAnswer(t *testing.T) {
	b := newTarball(nil, nil)
	for name, config := range map[string]fields{"a": {"service": fields{"namespace": "ext", "name": "server", "port": 443}}, "b": {"url": "https://elsewhere.example"}} {
		b.Add("extensionconfigs.runtime.cluster.x-k8s.io", fields{
			"apiVersion": "runtime.cluster.x-k8s.io/v1beta2", "kind": "ExtensionConfig",
			"metadata": fields{"name": name}, "spec": fields{"clientConfig": config},
		})
	}
	s := newStory(t)
	s.snapshot = load(t, b)
	var got []string
	for _, n := range s.end().Conditions {
		if n.Code == code.ExtensionsAnswer {
			got = append(got, n.Message)
		}
	}
	if len(got) != 1 || !strings.HasSuffix(got[0], ": ExtensionConfig a (Service ext/server), ExtensionConfig b") {
		t.Errorf("%q", got)
	}
}

// When the backup was written is said where it is known.
func TestWhenTheBackupWasWritten(t *testing.T) {
	s := newStory(t)
	if got := written(s.snapshot); !strings.HasPrefix(got, "b was written on ") {
		t.Error(got)
	}
	s.snapshot.Backups = []backup.Info{{Path: "x"}}
	if got := written(s.snapshot); got != "the backup does not say when it was written" {
		t.Error(got)
	}
}
