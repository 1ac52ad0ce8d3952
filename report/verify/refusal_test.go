package verify

import (
	"strings"
	"testing"
	"time"

	"drift-detector/report/code"
)

// A machine whose infrastructure's controller reports a failure is not taken over, of each provider and
// each of its objects, although its Machine is still called Running.
func TestTheInfrastructureRefuses(t *testing.T) {
	for provider := range forms {
		for i := range newScene(provider).seen.Objects {
			for name, c := range map[string]struct {
				is      Condition
				failure string
				want    Verdict
			}{
				"PoweringOnFailed, lately":   {Condition{Status: "False", Reason: "PoweringOnFailed", Since: now.Add(-time.Minute)}, "", NotYet},
				"PoweringOnFailed, for long": {Condition{Status: "False", Reason: "PoweringOnFailed", Since: later}, "", Not},
				"of severity Error":          {Condition{Status: "False", Reason: "Whatever", Severity: "Error"}, "", Not},
				"of severity Info":           {Condition{Status: "False", Reason: "ScalingFailed", Severity: "Info"}, "", As},
				"terminal":                   {Condition{Status: "True"}, "UpdateError", Not},
				"of nothing":                 {Condition{Status: "False", Reason: "NotPaused"}, "", As},
			} {
				s := newScene(provider).running("id-1")
				o := &s.seen.Objects[i]
				c.is.Type = "SomethingReady"
				o.Conditions, o.Failure = append(o.Conditions, c.is), c.failure
				v := s.one(t, code.Adopted)
				if v.Verdict != c.want || c.want != As && !strings.Contains(v.Seen, c.is.Reason+c.failure) || (v.Until == nil) != (c.want != NotYet) {
					t.Errorf("%s, %s: %+v", provider, name, v)
				}
				if v := s.one(t, code.NewInstanceCreated); v.Verdict == As {
					t.Errorf("%s, %s: %+v", provider, name, v)
				}
			}
		}
	}
}

// What the VSphereVM says now counts, not what the VSphereMachine said before.
func TestTheObjectThatKnowsMoreDecides(t *testing.T) {
	s := newScene("vsphere").running("id-1")
	s.seen.Objects[0].ID, s.seen.Objects[0].Conditions = "id-1", []Condition{{Type: "VirtualMachineProvisioned", Status: "True", Since: later}}
	s.seen.Objects[1].Conditions[0].Status, s.seen.Objects[1].Conditions[0].Reason = "False", "PoweringOn"
	if v := s.one(t, code.Adopted); v.Verdict != NotYet {
		t.Errorf("%+v", v)
	}
}
