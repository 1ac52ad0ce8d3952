package rehearsal

import (
	"strings"
	"testing"

	"drift-detector/report/code"
)

// external returns a health check that leaves what it finds to another program.
func external(spec fields) fields {
	return with(spec, "remediation", fields{"templateRef": fields{"kind": "Metal3RemediationTemplate", "name": "x", "apiVersion": "v1"}})
}

// waits returns a health check that minds nothing but a condition of a Machine.
func waits(condition, status string) fields {
	return with(mindsMachine(condition, status), "checks", fields{
		"nodeStartupTimeoutSeconds":  0,
		"unhealthyMachineConditions": []any{fields{"type": condition, "status": status, "timeoutSeconds": 60}},
	})
}

// What health checks see of a machine decides, and not which machine is asked about first.
func TestWhatHealthChecksSee(t *testing.T) {
	for name, c := range map[string]struct {
		checks  []fields
		arrange func(*story)
		want    code.Outcome
		says    string
	}{
		"asked for, and nobody sees the Nodes": {coveredBy(workers), func(s *story) {
			*s.verdictOf("a") = setStatus(*s.verdictOf("a"), gone)
			s.worker("m", gone).machine.Remediate = true
		}, code.ReplacedByMachineHealthCheck, "asks for it"},
		"two cover it, one leaves it to others":    {[]fields{external(checkSpec(workers)), checkSpec(workers)}, func(s *story) { s.worker("m", gone) }, code.ReplacedByMachineHealthCheck, "check-1"},
		"two cover it, the other leaves it":        {[]fields{checkSpec(workers), external(checkSpec(workers))}, func(s *story) { s.worker("m", gone) }, code.ReplacedByMachineHealthCheck, "check-0"},
		"stopped, and its Node was Ready":          {coveredBy(workers), func(s *story) { s.worker("m", asleep(found)); s.node("m", true) }, code.ReplacedByMachineHealthCheck, "node-m not Ready"},
		"lives, its Node is not Ready, and minded": {[]fields{waits("NodeReady", "False")}, func(s *story) { s.worker("m", found); s.node("m", false) }, code.ReplacedByMachineHealthCheck, "condition NodeReady"},
		"lives, its Node is Ready":                 {[]fields{waits("NodeReady", "False")}, func(s *story) { s.worker("m", found); s.node("m", true) }, code.Adopted, ""},
		"lives, without a Node, and minded":        {[]fields{waits("NodeReady", "Unknown")}, func(s *story) { s.worker("m", found); s.node("a", true) }, code.ReplacedByMachineHealthCheck, "condition NodeReady"},
		"its control plane is behind, and heals before": {append(coveredBy(workers), coveredBy(planes)...), func(s *story) {
			versions("v1.35.1", "v1.35.1", "KubeadmConfigTemplate", "")(s)
			s.snapshot.Machines[0].Version = "v1.34.2"
			s.plane("b", found)
			s.plane("z", gone)
			s.worker("m", gone)
		}, code.ReplacedByMachineHealthCheck, "check-0"},
		"looks like another, under other checks": {[]fields{external(with(checkSpec("o"), "clusterName", "prod")), checkSpec(workers)}, func(s *story) {
			s.worker("o", gone).machine.Labels = `{"group":"o"}`
			s.worker("m", gone)
		}, code.ReplacedByMachineHealthCheck, "check-1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, c.checks...)
			s.plane("a", found)
			c.arrange(s)
			if got := s.outcome(s.end(), "m"); got.Outcome != c.want || !strings.Contains(got.Message, c.says) {
				t.Errorf("%+v, want %s %q", got, c.want, c.says)
			}
		})
	}
}

// While nobody knows whether the API server answers, a health check counts all machines
// that it covers, and only one that covers the control plane has any of it deleted.
func TestHealthChecksOfAControlPlaneThatMayNotAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		check fields
		want  bool
	}{
		"of all, without a limit":    {with(checkSpec(""), "selector", fields{}), true},
		"of all, up to two":          {with(checkSpec(""), "selector", fields{}, "maxUnhealthy", 2), false},
		"of the control plane":       {with(checkSpec(planes), "maxUnhealthy", 2), true},
		"of the workers":             {checkSpec(workers), false},
		"of all, and waits for ever": {with(checkSpec(""), "selector", fields{}, "checks", fields{"nodeStartupTimeoutSeconds": 0}), false},
	} {
		s := newStory(t, c.check)
		s.plane("a", found)
		s.plane("b", gone)
		s.worker("m", found)
		if got := strings.Contains(effectsOf(s.end()), string(code.OutcomeUnknown)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Until a control plane is initialised health checks spare its workers, but not one that
// an annotation asks for.
func TestHealthChecksThatSpareWorkers(t *testing.T) {
	for _, asked := range []bool{true, false} {
		s := newStory(t, external(checkSpec(workers)))
		s.plane("a", gone)
		s.worker("m", found).machine.Remediate = asked
		if got := strings.Contains(effectsOf(s.end()), string(code.OutcomeUnknown)); got != asked {
			t.Errorf("asked for: %v, left to others: %v", asked, got)
		}
	}
}
