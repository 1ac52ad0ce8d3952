package rehearsal

import (
	"testing"

	"drift-detector/report"
)

// When a health check acts is said with what it counts from; of what none replaces nothing is.
func TestWhenAHealthCheckActs(t *testing.T) {
	minded := func(key string, conditions ...any) fields {
		return fields{"nodeStartupTimeoutSeconds": 120, key: conditions}
	}
	node := fields{"type": "Ready", "status": "Unknown", "timeoutSeconds": 300}
	for name, c := range map[string]struct {
		check   fields
		arrange func(*story)
		want    report.ExpectedBy
	}{
		"no Node":              {checkSpec(workers), nil, report.ExpectedBy{Event: report.NodeStartup, Seconds: 120}},
		"by default":           {with(checkSpec(workers), "checks", nil), nil, report.ExpectedBy{Event: report.NodeStartup, Seconds: 600}},
		"not covered":          {checkSpec("gpu"), nil, report.ExpectedBy{}},
		"asked for":            {checkSpec(workers), func(s *story) { s.snapshot.Machines[1].Remediate = true }, report.ExpectedBy{Event: report.ControllersStart}},
		"a Node not Ready":     {with(checkSpec(workers), "checks", minded("unhealthyNodeConditions", node)), func(s *story) { s.node("m", false) }, report.ExpectedBy{Event: report.NodeCondition, Seconds: 300}},
		"a condition":          {with(checkSpec(workers), "checks", minded("unhealthyMachineConditions", fields{"type": "InfrastructureReady", "status": "False", "timeoutSeconds": 900})), nil, report.ExpectedBy{Event: report.MachineCondition, Seconds: 900}},
		"a condition, at once": {with(checkSpec(workers), "checks", minded("unhealthyMachineConditions", fields{"type": "InfrastructureReady", "status": "False"})), nil, report.ExpectedBy{Event: report.MachineCondition}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, c.check)
			s.plane("a", found)
			s.worker("m", gone)
			s.worker("n", found)
			if c.arrange != nil {
				c.arrange(s)
			}
			if got := s.outcome(s.end(), "m"); got.ExpectedBy != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
