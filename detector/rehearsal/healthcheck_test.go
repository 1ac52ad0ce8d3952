package rehearsal

import (
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
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

// limitedTo returns a health check that acts on that many unhealthy machines at most.
func limitedTo(n int, spec fields) fields {
	return with(spec, "remediation", fields{"triggerIf": fields{"unhealthyLessThanOrEqualTo": n}})
}

// minding returns a health check of Nodes that have a condition beside Ready.
func minding(condition, status string) fields {
	return with(checkSpec(workers), "checks", fields{
		"nodeStartupTimeoutSeconds": 0, "unhealthyNodeConditions": []any{fields{"type": condition, "status": status, "timeoutSeconds": 60}},
	})
}

// Each health check acts by itself, whatever the limit of another that covers the same machine.
func TestSeveralHealthChecksOfAMachine(t *testing.T) {
	limited := func(of string) fields { return limitedTo(0, checkSpec(of)) }
	held := func(of string) fields { return limitedTo(1, checkSpec(of)) }
	others := func(of string) fields { return external(checkSpec(of)) }
	unknown := func(of string) fields {
		return with(waits("example.com/Disk", "False"), "selector", checkSpec(of)["selector"])
	}
	type checks = []func(of string) fields
	for name, c := range map[string]struct {
		checks  checks
		outcome code.Outcome
		effects string
	}{
		"the first is limited":                    {checks{limited, checkSpec}, code.ReplacedByMachineHealthCheck, "LivingReplaced"},
		"the other is":                            {checks{checkSpec, limited}, code.ReplacedByMachineHealthCheck, "LivingReplaced"},
		"both are":                                {checks{limited, limited}, code.Adopted, ""},
		"the own is limited, not that of others":  {checks{limited, others}, code.Adopted, "OutcomeUnknown"},
		"the own is not, that of others is there": {checks{others, checkSpec}, code.ReplacedByMachineHealthCheck, "LivingReplaced"},
		"the first minds something unknown":       {checks{unknown, checkSpec}, code.ReplacedByMachineHealthCheck, "LivingReplaced"},
	} {
		for _, plane := range []bool{false, true} {
			of := map[bool]string{false: workers, true: planes}[plane]
			var specs []fields
			for _, check := range c.checks {
				specs = append(specs, check(of))
			}
			s := newStory(t, specs...)
			for _, name := range []string{"a", "b"} {
				s.plane(name, found)
				s.node(name, true)
			}
			if plane {
				s.plane("m", found)
			} else {
				s.worker("m", found)
			}
			s.node("m", false)
			f := s.end()
			if got := s.outcome(f, "m"); got.Outcome != c.outcome || !strings.Contains(effectsOf(f), c.effects) || c.effects == "" && effectsOf(f) != "" {
				t.Errorf("%s, control plane %v: %+v, effects %s", name, plane, got, effectsOf(f))
			}
		}
	}
	for _, checks := range [][]fields{{limited(workers), held(workers)}, {held(workers), limited(workers)}} {
		s := newStory(t, checks...)
		s.plane("a", found)
		s.node("a", true)
		for _, name := range []string{"m", "n"} {
			s.worker(name, found)
			s.node(name, false)
		}
		if got := effectsOf(s.end()); !strings.Contains(got, "OutcomeUnknown") {
			t.Errorf("one acts once fewer are unhealthy: %q", got)
		}
	}
	s := newStory(t, limited(workers), checkSpec(workers))
	s.plane("a", found)
	s.worker("m", gone)
	if got := s.outcome(s.end(), "m"); got.Outcome != code.ReplacedByMachineHealthCheck {
		t.Errorf("gone: %+v", got)
	}
}

// What a health check minds may not hold of a machine that is not well, although nobody read it.
func TestConditionsOfWhatIsNotWell(t *testing.T) {
	plane := func(spec fields) fields {
		return with(spec, "selector", fields{"matchLabels": fields{"group": planes}})
	}
	described := func(conditions string, ready bool) func(*story) {
		return func(s *story) {
			s.node("m", ready)
			l := &s.inventory.Listings[len(s.inventory.Listings)-1]
			l.Facts = append(l.Facts, infra.Fact{Name: infra.FactNodeConditions, Value: "read"})
			l.Nodes[0].Conditions = conditions
		}
	}
	worker := func(s *story) { s.worker("m", found) }
	member := func(s *story) { s.plane("m", found) }
	for name, c := range map[string]struct {
		check   fields
		is      func(*story)
		node    func(*story)
		outcome code.Outcome
		effects string
	}{
		"a Node under pressure, summed up":     {waits("NodeHealthy", "False"), worker, described("MemoryPressure=True", true), code.ReplacedByMachineHealthCheck, "LivingReplaced"},
		"a Node under pressure, that is Ready": {waits("NodeReady", "False"), worker, described("MemoryPressure=True", true), code.Adopted, ""},
		"a Node under none":                    {waits("NodeHealthy", "False"), worker, described("", true), code.Adopted, ""},
		"another condition of a Node":          {waits("NodeHealthy", "False"), worker, described("Corrupt=True", true), code.Adopted, ""},
		"pods on a dead Node":                  {plane(waits("EtcdPodHealthy", "Unknown")), member, described("", false), code.ReplacedByMachineHealthCheck, "LivingReplaced"},
		"pods on a Node that is Ready":         {plane(waits("EtcdPodHealthy", "Unknown")), member, described("", true), code.Adopted, ""},
		"pods without a Node":                  {plane(waits("APIServerPodHealthy", "False")), member, func(*story) {}, code.ReplacedByMachineHealthCheck, "LivingReplaced"},
		"pods that a worker has not":           {waits("EtcdPodHealthy", "Unknown"), worker, described("", false), code.Adopted, ""},
		"a condition of others, and it is not": {waits("example.com/Disk", "False"), worker, described("", false), code.Adopted, "OutcomeUnknown"},
		"a condition of others, and it is":     {waits("example.com/Disk", "False"), worker, described("", true), code.Adopted, ""},
		"suspended, its kubelet is not heard":  {minding("MemoryPressure", "Unknown"), func(s *story) { s.worker("m", asleep(found)) }, described("MemoryPressure=Unknown", false), code.ReplacedByMachineHealthCheck, "LivingReplaced"},
		"suspended just now":                   {minding("MemoryPressure", "Unknown"), func(s *story) { s.worker("m", asleep(found)) }, described("", true), code.ReplacedByMachineHealthCheck, "LivingReplaced"},
		"dead, and its conditions not read":    {minding("DiskPressure", "Unknown"), worker, func(s *story) { s.node("m", false) }, code.ReplacedByMachineHealthCheck, "LivingReplaced"},
		"not Ready, and its kubelet is heard":  {minding("DiskPressure", "Unknown"), worker, described("", false), code.Adopted, ""},
		"pods of one that is gone":             {plane(waits("EtcdPodHealthy", "Unknown")), func(s *story) { s.plane("m", gone) }, described("", false), code.ReplacedByMachineHealthCheck, ""},
		"Ready":                                {minding("Ready", "True"), worker, described("", true), code.Adopted, "OutcomeUnknown"},
		"a Node under no pressure":             {minding("DiskPressure", "False"), worker, described("", true), code.Adopted, "OutcomeUnknown"},
		"a Machine that is not deleted":        {waits("Deleting", "False"), worker, described("", true), code.Adopted, "OutcomeUnknown"},
		"a Machine that is up to date":         {waits("UpToDate", "True"), worker, described("", true), code.Adopted, "OutcomeUnknown"},
		"its infrastructure is paused": {checkSpec(workers), func(s *story) {
			s.expect(s.worker("m", found), infra.Restore{Paused: "VSphereMachine m"})
		}, described("", false), code.ReplacedByMachineHealthCheck, "once that is resolved: VSphereMachine m"},
		"pods of others, soon": {with(waits("EtcdPodHealthy", "Unknown"), "soon", true), worker, described("", true), code.Adopted, ""},
		"its infrastructure is paused, and not ready": {waits("InfrastructureReady", "False"), func(s *story) {
			s.expect(s.worker("m", found), infra.Restore{Paused: "VSphereMachine m"})
		}, described("", true), code.ReplacedByMachineHealthCheck, "LivingReplaced"},
		"off, and pods may take long to come": {plane(waits("EtcdPodHealthy", "Unknown")), func(s *story) { s.plane("m", warned(found, "PoweredOff")) }, described("", false), code.CannotKnow, "OutcomeUnknown"},
		"off, and its Node is summed up":      {waits("NodeHealthy", "Unknown"), func(s *story) { s.worker("m", warned(found, "PoweredOff")) }, described("", false), code.CannotKnow, "OutcomeUnknown"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, with(c.check, "checks", patient(c.check)))
			for _, name := range []string{"a", "b"} {
				s.plane(name, found)
				s.node(name, true)
			}
			c.is(s)
			c.node(s)
			f := s.end()
			got := s.outcome(f, "m")
			if got.Outcome != c.outcome || !strings.Contains(effectsOf(f)+got.Message, c.effects) || c.effects == "" && (strings.Contains(effectsOf(f), "Living") || strings.Contains(effectsOf(f), "Unknown")) {
				t.Errorf("%+v, effects %q", got, effectsOf(f))
			}
		})
	}
}

// patient returns the checks of a health check, those of Machines with a timeout after which
// controllers have found what is theirs, but for one that is to be soon.
func patient(spec fields) fields {
	checks := spec["checks"].(fields)
	of, is := checks["unhealthyMachineConditions"].([]any)
	if is && spec["soon"] == nil {
		of[0].(fields)["timeoutSeconds"] = 600
	}
	return checks
}

// A paused MachineDeployment rolls nothing out, and Machines that differ from it are not UpToDate: its
// MachineSets replace what a health check marks for that.
func TestHealthCheckOfWhatAPausedMachineDeploymentLeaves(t *testing.T) {
	for name, c := range map[string]struct {
		pause func(*backup.Group)
		set   bool
		want  code.Outcome
	}{
		"by its annotation":       {func(md *backup.Group) { md.Paused = true }, false, code.ReplacedByMachineHealthCheck},
		"by its spec":             {func(md *backup.Group) { md.Halted = true }, false, code.ReplacedByMachineHealthCheck},
		"with its MachineSet":     {func(md *backup.Group) { md.Paused = true }, true, code.Adopted},
		"without another version": {func(md *backup.Group) { md.Halted = true; md.Infrastructure = backup.Ref{} }, false, code.Adopted},
	} {
		s := newStory(t, mindsMachine("UpToDate", "False"))
		s.plane("a", found)
		s.worker("m", found)
		for i := range s.snapshot.Groups {
			g := &s.snapshot.Groups[i]
			switch g.Kind {
			case "MachineDeployment":
				old := g.Infrastructure
				g.Infrastructure = backup.Ref{Kind: "VSphereMachineTemplate", Namespace: "ns", Name: "new"}
				if c.pause(g); g.Infrastructure.Name == "" {
					g.Infrastructure = old
				}
			default:
				g.Paused = c.set
			}
		}
		if got := s.outcome(s.end(), "m"); got.Outcome != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
