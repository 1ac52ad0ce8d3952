package rehearsal

import (
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/detector"
	"drift-detector/report"
	"drift-detector/report/code"
)

// with returns a health check's spec with members changed; a nil value removes one.
func with(spec fields, changes ...any) fields {
	for i := 0; i < len(changes); i += 2 {
		key, v := changes[i].(string), changes[i+1]
		if v == nil {
			delete(spec, key)
		} else {
			spec[key] = v
		}
	}
	return spec
}

// What a MachineSet has too many of and what has no instance goes, which harms nothing.
func TestMachineSetThatHasTooManyWithoutInstances(t *testing.T) {
	for replicas, says := range map[int64]string{0: "it deletes this one", 1: "counts as a replica"} {
		s := newStory(t)
		s.plane("a", found)
		s.worker("m", gone)
		for i := range s.snapshot.Groups {
			s.snapshot.Groups[i].Desired.N = replicas
		}
		if got := s.outcome(s.end(), "m"); got.Outcome != code.Stuck || !strings.Contains(got.Message, says) {
			t.Errorf("%d replicas: %+v", replicas, got)
		}
	}
}

func TestWhoReplacesAStaleWorker(t *testing.T) {
	expression := fields{"matchExpressions": []any{fields{"key": "group", "operator": "In", "values": []any{workers, "other"}}}}
	for name, c := range map[string]struct {
		check    fields
		arrange  func(*story)
		replaced bool
		why      string
	}{
		"covered":                          {checkSpec(workers), nil, true, "check-0 waits 2m0s"},
		"covered by an expression":         {with(checkSpec(workers), "selector", expression), nil, true, "check-0"},
		"covered by an empty selector":     {with(checkSpec(workers), "selector", fields{}), nil, true, "check-0"},
		"of another cluster":               {with(checkSpec(workers), "clusterName", "other"), nil, false, "no MachineHealthCheck covers it"},
		"of other machines":                {checkSpec("gpu"), nil, false, "no MachineHealthCheck covers it"},
		"selector that means nothing":      {with(checkSpec(workers), "selector", fields{"matchExpressions": []any{fields{"key": "group", "operator": "Near"}}}), nil, false, "no MachineHealthCheck covers it"},
		"asks to be spared":                {checkSpec(workers), func(s *story) { s.snapshot.Machines[1].SkipRemediation = true }, false, "skip-remediation"},
		"v1beta1":                          {with(checkSpec(workers), "checks", nil, "nodeStartupTimeout", "7m30s"), nil, true, "waits 7m30s"},
		"default timeout":                  {with(checkSpec(workers), "checks", nil), nil, true, "waits 10m0s"},
		"waits for ever":                   {with(checkSpec(workers), "checks", fields{"nodeStartupTimeoutSeconds": 0}), nil, false, "does not mind a missing Node"},
		"Node left and Ready":              {checkSpec(workers), func(s *story) { s.node("m", true) }, false, "finds that Node well"},
		"Node left, not Ready":             {checkSpec(workers), func(s *story) { s.node("m", false) }, true, "finds its Node node-m not Ready"},
		"Node left, Ready not minded":      {with(checkSpec(workers), "checks", fields{"unhealthyNodeConditions": []any{fields{"type": "DiskPressure", "status": "True"}}}), func(s *story) { s.node("m", false) }, false, "does not mind that Node"},
		"v1beta1 conditions":               {with(checkSpec(workers), "checks", nil, "unhealthyConditions", []any{fields{"type": "Ready", "status": "Unknown"}}), func(s *story) { s.node("m", false) }, true, "not Ready"},
		"Node left, and only False minded": {with(checkSpec(workers), "checks", nil, "unhealthyConditions", []any{fields{"type": "Ready", "status": "False"}}), func(s *story) { s.node("m", false) }, false, "does not mind that Node"},
		"another waits for a Node for ever": {with(checkSpec(workers), "checks", fields{"nodeStartupTimeoutSeconds": 0, "unhealthyNodeConditions": []any{fields{"type": "Ready", "status": "Unknown"}}}, "maxUnhealthy", 1), func(s *story) {
			s.worker("o", gone)
			s.node("m", false)
			s.node("n", true)
		}, false, "2 of 3 machines are unhealthy and 1 is its limit"},
		"control plane gone":            {checkSpec(workers), func(s *story) { *s.verdictOf("a") = setStatus(*s.verdictOf("a"), gone) }, false, "control plane is not initialised"},
		"external remediation":          {with(checkSpec(workers), "remediation", fields{"templateRef": fields{"kind": "Metal3RemediationTemplate", "name": "x", "apiVersion": "v1"}}), nil, false, "Metal3RemediationTemplate"},
		"external remediation, v1beta1": {with(checkSpec(workers), "remediationTemplate", fields{"kind": "Metal3RemediationTemplate"}), nil, false, "Metal3RemediationTemplate"},
		"without MachineSet":            {checkSpec(workers), func(s *story) { s.snapshot.Machines[1].Owner = backup.Owner{} }, false, "no MachineSet owns it"},
		"nothing may be in flight":      {checkSpec(workers), func(s *story) { s.snapshot.Groups[0].NoRemediation = true }, false, "maxInFlight of MachineDeployment md lets no unhealthy machine"},
		"older revision, and OnDelete":  {checkSpec(workers), func(s *story) { s.snapshot.Groups[0].OnDelete = true; s.older() }, false, "MachineSet md-old is of an older revision"},
		"MachineSet that creates none":  {checkSpec(workers), func(s *story) { s.snapshot.Groups[1].NoCreate = true }, false, "keeps MachineSet md-old from creating another"},
		"revision kept, and OnDelete":   {checkSpec(workers), func(s *story) { s.snapshot.Groups[0].OnDelete = true }, true, "check-0"},
		"control plane paused":          {checkSpec(workers), func(s *story) { s.snapshot.ControlPlanes[0].Paused = true }, false, "until KubeadmControlPlane cp is unpaused"},
		"control plane paused, and asked for": {checkSpec(workers), func(s *story) {
			s.snapshot.ControlPlanes[0].Paused, s.snapshot.Machines[1].Remediate = true, true
		}, false, "KubeadmControlPlane cp, which is paused, says which version it runs"},
		"control plane paused, and asked for, and not minded": {checkSpec(workers), func(s *story) {
			s.snapshot.ControlPlanes[0].Paused, s.snapshot.Machines[1].Remediate = true, true
			for i := range s.snapshot.Groups {
				s.snapshot.Groups[i].SkippedChecks = "All"
			}
		}, true, "check-0"},
		"control plane that is not taken over": {checkSpec(workers), func(s *story) {
			ref := backup.Ref{Kind: "KubeadmConfig", Namespace: "ns", Name: "a"}
			s.snapshot.Machines[0].Bootstrap = ref
			s.lacks(ref)
		}, false, "until KubeadmConfig ns/a exists, which the backup lacks"},
		"bootstrap object of a worker lost": {checkSpec(workers), func(s *story) {
			ref := backup.Ref{Kind: "KubeadmConfig", Namespace: "ns", Name: "n"}
			s.snapshot.Machines[2].Bootstrap = ref
			s.lacks(ref)
		}, true, "check-0"},
		"control plane not in the backup": {checkSpec(workers), func(s *story) {
			s.snapshot.ControlPlanes = nil
			s.lacks(s.snapshot.Clusters[0].ControlPlane)
		}, false, "until KubeadmControlPlane ns/cp exists, which the backup lacks"},
		"minor version skewed":         {checkSpec(workers), versions("v1.34.2", "v1.35.1", "KubeadmConfigTemplate", ""), false, "MachineSet md-old is of Kubernetes v1.34.2 and its control plane of v1.35.1"},
		"patch version skewed":         {checkSpec(workers), versions("v1.35.0", "v1.35.1", "KubeadmConfigTemplate", ""), true, "check-0"},
		"skewed, and no kubeadm":       {checkSpec(workers), versions("v1.34.2", "v1.35.1", "RKE2ConfigTemplate", ""), true, "check-0"},
		"too old, and no kubeadm":      {checkSpec(workers), versions("v1.31.2", "v1.35.1", "RKE2ConfigTemplate", ""), false, "of v1.35.1"},
		"newer than its control plane": {checkSpec(workers), versions("v1.36.0", "v1.35.1", "RKE2ConfigTemplate", ""), false, "of v1.35.1"},
		"skewed, and not minded":       {checkSpec(workers), versions("v1.34.2", "v1.35.1", "KubeadmConfigTemplate", "KubeadmVersionSkew,ControlPlaneIsStable"), true, "check-0"},
		"skewed, and nothing minded":   {checkSpec(workers), versions("v1.36.2", "v1.35.1", "KubeadmConfigTemplate", "All"), true, "check-0"},
		"skewed, and other is skipped": {checkSpec(workers), versions("v1.34.2", "v1.35.1", "KubeadmConfigTemplate", "ControlPlaneIsStable"), false, "of v1.35.1"},
		"patch skewed in a topology": {checkSpec(workers), func(s *story) {
			s.topology(fields{"class": "c", "version": "v1.35.1"})
			versions("v1.35.0", "v1.35.1", "RKE2ConfigTemplate", "")(s)
		}, false, "of v1.35.1"},
		"skewed, and names that contain others": {checkSpec(workers), versions("v1.34.2", "v1.35.1", "KubeadmConfigTemplate", "NotAll, KubeadmVersionSkewed"), false, "of v1.35.1"},
		"skewed, and not minded after a space":  {checkSpec(workers), versions("v1.34.2", "v1.35.1", "KubeadmConfigTemplate", "ControlPlaneIsStable, KubeadmVersionSkew"), true, "check-0"},
		"control plane cannot be upgraded":      {checkSpec(workers), behindBy(""), false, "until its control plane runs Kubernetes v1.35.1, and that waits for 1 Machine without a Node"},
		"control plane is upgraded first": {checkSpec(workers), func(s *story) {
			versions("v1.35.1", "v1.35.1", "KubeadmConfigTemplate", "")(s)
			s.snapshot.Machines[0].Version = "v1.34.2"
		}, true, "check-0"},
		"not upgraded, and not minded":                {checkSpec(workers), behindBy("ControlPlaneIsStable"), true, "check-0"},
		"held by a hook before its end":               {checkSpec(workers), func(s *story) { s.snapshot.Machines[1].Hooks = hookEnd }, false, "only once annotation " + hookEnd + " is taken away"},
		"held by a hook before a drain, Nodes unread": {checkSpec(workers), func(s *story) { s.snapshot.Machines[1].Hooks = hookDrain }, false, hookDrain},
		"held by a hook before a drain, Node left": {checkSpec(workers), func(s *story) {
			s.snapshot.Machines[1].Hooks = hookDrain
			s.node("m", false)
		}, false, hookDrain},
		"no Node, and nothing to drain": {checkSpec(workers), func(s *story) {
			s.snapshot.Machines[1].Hooks = hookDrain
			s.node("n", true)
		}, true, "check-0"},
		"version that means nothing":          {checkSpec(workers), versions("v1.34.2", "latest", "KubeadmConfigTemplate", ""), true, "check-0"},
		"minds infrastructure that fails":     {mindsMachine("InfrastructureReady", "False"), nil, true, "minds that condition InfrastructureReady"},
		"minds infrastructure not heard of":   {mindsMachine("InfrastructureReady", "Unknown"), nil, false, "does not mind"},
		"minds a Node that nobody sees":       {mindsMachine("NodeReady", "Unknown"), nil, true, "minds that condition NodeReady"},
		"minds a Node that says it is broken": {mindsMachine("NodeReady", "False"), nil, false, "does not mind"},
		"limit of none":                       {with(checkSpec(workers), "remediation", trigger("unhealthyLessThanOrEqualTo", 0)), nil, false, "1 of 2 machines is unhealthy and 0 is its limit"},
		"limit of one":                        {with(checkSpec(workers), "remediation", trigger("unhealthyLessThanOrEqualTo", 1)), nil, true, "check-0"},
		"limit of 40%":                        {with(checkSpec(workers), "maxUnhealthy", "40%"), nil, false, "40% is its limit"},
		"limit of 50%":                        {with(checkSpec(workers), "maxUnhealthy", "50%"), nil, true, "check-0"},
		"limit that one more may pass":        {with(checkSpec(workers), "maxUnhealthy", 1), func(s *story) { s.worker("o", unknown(code.ScopeIncomplete)) }, false, "2 of 3 machines are unhealthy and 1 is its limit, if those that are Unknown have no Node"},
		"limit that one more may reach":       {with(checkSpec(workers), "maxUnhealthy", 2), func(s *story) { s.worker("o", unknown(code.ScopeIncomplete)) }, true, "check-0"},
		"limit in words":                      {with(checkSpec(workers), "maxUnhealthy", "1"), nil, false, "neither a number nor a percentage: 1"},
		"limit that means nothing":            {with(checkSpec(workers), "maxUnhealthy", "few"), nil, false, "neither a number nor a percentage: few"},
		"limit of all that look alike":        {with(checkSpec(workers), "maxUnhealthy", 1), func(s *story) { s.worker("o", gone) }, false, "2 of 3 machines are unhealthy and 1 is its limit"},
		"asked for, while the control plane is not initialised": {with(checkSpec(workers), "maxUnhealthy", 0), func(s *story) {
			*s.verdictOf("a") = setStatus(*s.verdictOf("a"), gone)
			s.snapshot.Machines[1].Remediate = true
		}, false, "2 of 2 machines are unhealthy and 0 is its limit"},
		"range below":  {with(checkSpec(workers), "unhealthyRange", "[2-5]"), nil, false, "not within [2-5]"},
		"range within": {with(checkSpec(workers), "remediation", trigger("unhealthyInRange", "[1-5]")), nil, true, "check-0"},
		"range above":  {with(checkSpec(workers), "unhealthyRange", "[0-0]"), nil, false, "not within [0-0]"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, c.check)
			s.plane("a", found)
			s.worker("m", gone)
			s.worker("n", found)
			if c.arrange != nil {
				c.arrange(s)
			}
			got := s.outcome(s.end(), "m")
			if (got.Outcome == code.ReplacedByMachineHealthCheck) != c.replaced || !strings.Contains(got.Message, c.why) {
				t.Errorf("%+v, want %q", got, c.why)
			}
		})
	}
}

// versions sets those of the workers and of the control plane, how the workers are
// bootstrapped, and which preflight checks they skip.
func versions(set, plane, bootstrap, skips string) func(*story) {
	return func(s *story) {
		s.snapshot.ControlPlanes[0].Version = plane
		for i := range s.snapshot.Groups {
			g := &s.snapshot.Groups[i]
			g.Version, g.SkippedChecks = set, skips
			g.Bootstrap = backup.Ref{Group: "bootstrap.cluster.x-k8s.io", Kind: bootstrap, Namespace: "ns", Name: "join"}
		}
	}
}

// mindsMachine returns a health check of the workers that minds a condition of their Machines alone.
func mindsMachine(condition, status string) fields {
	return with(checkSpec(workers), "checks", fields{
		"nodeStartupTimeoutSeconds": 0, "unhealthyMachineConditions": []any{fields{"type": condition, "status": status}},
	})
}

// Annotations for which the deletion of a Machine waits.
const (
	hookDrain = "pre-drain.delete.hook.machine.cluster.x-k8s.io/x"
	hookEnd   = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/x"
)

// behind has one machine of the control plane gone and the other of an older version, while
// the workers are of the newer one and skip preflight checks.
func behindBy(skips string) func(*story) {
	return func(s *story) {
		versions("v1.35.1", "v1.35.1", "KubeadmConfigTemplate", skips)(s)
		s.snapshot.Machines[0].Version = "v1.34.2"
		s.plane("z", gone)
	}
}

// older makes the story's MachineSet one of an older revision, beside a newer one.
func (s *story) older() {
	s.snapshot.Groups[0].Version = "v1.35.0"
	s.snapshot.Groups = append(s.snapshot.Groups, backup.Group{Meta: meta("md-new"), Kind: "MachineSet", Deployment: "md", Cluster: prod, Desired: number(0), Version: "v1.35.0"})
}

func trigger(key string, value any) fields { return fields{"triggerIf": fields{key: value}} }

// verdictOf returns the verdict on a machine of the control plane.
func (s *story) verdictOf(name string) *detector.Verdict {
	for _, v := range s.cluster.ControlPlane.Machines {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func setStatus(v, like detector.Verdict) detector.Verdict {
	v.Status, v.Reason, v.Instance = like.Status, like.Reason, like.Instance
	return v
}

func TestWhetherTheControlPlaneRemediates(t *testing.T) {
	for name, c := range map[string]struct {
		checks  []fields
		arrange func(*story)
		yes     bool
		why     string
	}{
		"one of three broken":         {coveredBy(planes), three(found, found, gone), true, "covers its machines"},
		"all well":                    {coveredBy(planes), three(found, found, found), true, "covers its machines"},
		"no health check":             {nil, three(found, found, gone), false, "no MachineHealthCheck"},
		"health check of the workers": {coveredBy(workers), three(found, found, gone), false, "no MachineHealthCheck"},
		"only Machine":                {coveredBy(planes), func(s *story) { s.plane("a", found) }, false, "never replaces its only Machine"},
		"two without a Node":          {coveredBy(planes), three(found, gone, gone), false, "2 of its Machines will have no Node"},
		"one of two broken":           {coveredBy(planes), func(s *story) { s.plane("a", found); s.plane("m", gone) }, false, "no quorum"},
		"one Unknown":                 {coveredBy(planes), three(found, gone, unknown(code.ScopeIncomplete)), false, "1 of its Machines is Unknown"},
		"none exists":                 {coveredBy(planes), three(gone, gone, gone), false, "never initialised, and deletes one of them"},
		"paused":                      {coveredBy(planes), func(s *story) { s.cluster.Paused = true; three(found, found, gone)(s) }, false, "paused"},
		"another kind":                {coveredBy(planes), func(s *story) { otherPlane(s); three(found, found, gone)(s) }, false, "RKE2ControlPlane"},
		"topology wants another": {coveredBy(planes), func(s *story) {
			s.topology(fields{"class": "c", "version": "v1.36.0"})
			s.snapshot.ControlPlanes[0].Version = "v1.35.1"
			three(found, found, gone)(s)
		}, false, "refuses until it is to have Kubernetes v1.36.0"},
		"over the limit":     {[]fields{with(checkSpec(planes), "maxUnhealthy", 0)}, three(found, found, gone), false, "0 is its limit"},
		"left to a template": {[]fields{with(checkSpec(planes), "remediationTemplate", fields{"kind": "Other"})}, three(found, found, gone), false, "leaves it to Other"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, c.checks...)
			c.arrange(s)
			f := s.end()
			if p := f.Clusters[0].ControlPlane; p.Remediates != c.yes || !strings.Contains(p.Why, c.why) {
				t.Errorf("%v %q, want %v %q", p.Remediates, p.Why, c.yes, c.why)
			}
			if len(s.cluster.ControlPlane.Machines) == 3 && !s.cluster.Paused && s.verdictOf("m").Status == code.Stale {
				if replaced := s.outcome(f, "m").Outcome == code.ReplacedByMachineHealthCheck; replaced != c.yes {
					t.Errorf("the broken machine: %+v", s.outcome(f, "m"))
				}
			}
		})
	}
}

func three(a, b, m detector.Verdict) func(*story) {
	return func(s *story) { s.plane("a", a); s.plane("b", b); s.plane("m", m) }
}

func TestFailedTakesLongerThanAMachineMay(t *testing.T) {
	for age, failed := range map[time.Duration]bool{9 * time.Minute: false, 11 * time.Minute: true} {
		s := newStory(t)
		m := s.worker("m", never).machine
		m.InfraMessage, m.Created = "cloning", backuptest.Written.Add(-age)
		if got := s.outcome(s.end(), "m").Outcome; (got == code.Stuck) != failed {
			t.Errorf("%s old: %s", age, got)
		}
	}
}

// Nobody knows which machines a health check has replaced that cannot be read, or that
// leaves living ones to another controller.
func TestHealthChecksThatNobodyKnows(t *testing.T) {
	unreadable, foreign := checkSpec(workers), checkSpec(workers)
	unreadable["checks"].(fields)["nodeStartupTimeoutSeconds"] = "soon"
	foreign["remediation"] = fields{"templateRef": fields{"kind": "X", "name": "x", "apiVersion": "y/v1"}}
	arrange := func(s *story) {
		s.plane("cp", found)
		s.worker("m", found)
		s.node("m", false)
	}
	play(t, map[string]scene{
		"not to be read": {[]fields{unreadable}, arrange, string(code.OutcomeUnknown), []string{"MachineHealthCheck check-0 could not be read"}},
		"of others":      {[]fields{foreign}, arrange, string(code.OutcomeUnknown), []string{"calls running machines unhealthy and leaves them to X"}},
	})
}

// A restore takes away that a control plane was initialised, and while none of its
// machines runs nothing says so again: health checks do not spare its machines, and
// KubeadmControlPlane replaces even the only one. Workers are spared.
func TestControlPlaneThatIsNotInitialised(t *testing.T) {
	const empty, first = "creates another, with an empty etcd", "and deletes one of them"
	on := func(provider string, planes ...detector.Verdict) func(*story) {
		return func(s *story) {
			s.cluster.Provider = provider
			for i, v := range planes {
				s.plane([]string{"m", "a", "b"}[i], v)
			}
		}
	}
	external := func(s *story) { on(vsphere, gone)(s); s.snapshot.ControlPlanes[0].ExternalEtcd = true }
	everything := with(checkSpec(planes), "selector", fields{})
	for name, c := range map[string]struct {
		check   fields
		arrange func(*story)
		outcome code.Outcome
		says    string // in message or condition
		effect  string // in that of the control plane; empty: none beside that it is lost
	}{
		"the only one is gone":          {checkSpec(planes), on(vsphere, gone), code.ReplacedByMachineHealthCheck, empty, empty},
		"the only one is stopped":       {checkSpec(planes), on(aws, halted(found)), code.ReplacedByMachineHealthCheck, "its instance is deleted", empty},
		"the only one is suspended":     {checkSpec(planes), on(vsphere, asleep(found)), code.ReplacedByMachineHealthCheck, "its instance is deleted", empty},
		"powered off, and powered on":   {checkSpec(planes), on(vsphere, halted(found)), code.AdoptedPoweredOn, "powers it on", ""},
		"powered on once it may be":     {checkSpec(planes), func(s *story) { halt(s); on(vsphere, halted(found))(s) }, code.AdoptedPoweredOn, "", ""},
		"etcd is elsewhere":             {checkSpec(planes), external, code.ReplacedByMachineHealthCheck, "creates another", "creates another"},
		"all of three are gone":         {checkSpec(planes), on(vsphere, gone, gone, gone), code.Stuck, first, first},
		"all of three are stopped":      {checkSpec(planes), on(aws, halted(found), halted(found), halted(found)), code.Stuck, first, first},
		"no health check":               {checkSpec("other"), on(vsphere, gone), code.Stuck, "no MachineHealthCheck", ""},
		"a missing Node is not minded":  {with(checkSpec(planes), "checks", fields{"nodeStartupTimeoutSeconds": 0}), on(vsphere, gone), code.Stuck, "does not mind", ""},
		"over the limit":                {with(checkSpec(planes), "maxUnhealthy", "40%"), on(vsphere, gone), code.Stuck, "40% is its limit", ""},
		"workers count for its limit":   {with(everything, "maxUnhealthy", 1), func(s *story) { on(vsphere, gone)(s); s.worker("w", found) }, code.Stuck, "2 of 2 machines are unhealthy", ""},
		"another kind of control plane": {checkSpec("RKE2ControlPlane"), func(s *story) { otherPlane(s); on(vsphere, gone)(s) }, code.Stuck, "RKE2ControlPlane", ""},
		"one of two may run":            {checkSpec(planes), on(vsphere, gone, unknown(code.ScopeIncomplete)), code.Stuck, "is Unknown", ""},
		"its API server answers":        {checkSpec(planes), func(s *story) { on(vsphere, gone)(s); s.node("other", true) }, code.Stuck, "never replaces its only Machine", ""},
		"paused":                        {checkSpec(planes), func(s *story) { on(vsphere, gone)(s); s.cluster.Paused = true }, code.UntouchedPaused, "and then replaced by its health check", empty},
		"an annotation asks for it":     {checkSpec(planes), func(s *story) { on(vsphere, gone)(s); s.snapshot.Machines[0].Remediate = true }, code.ReplacedByMachineHealthCheck, empty, empty},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, c.check)
			c.arrange(s)
			f := s.end()
			if m := s.outcome(f, "m"); m.Outcome != c.outcome || !strings.Contains(m.Message+m.Condition, c.says) {
				t.Errorf("%+v, want %s %q", m, c.outcome, c.says)
			}
			said := ""
			for _, e := range f.Clusters[0].Effects {
				if e.Code == code.ControlPlaneDown && strings.Contains(e.Message, "KubeadmControlPlane takes") {
					said += e.Message
				}
			}
			if (said == "") != (c.effect == "") || !strings.Contains(said, c.effect) || c.arrange != nil && name == "etcd is elsewhere" && strings.Contains(said, "empty") {
				t.Errorf("%q, want %q", said, c.effect)
			}
			for _, n := range f.Clusters[0].Notes {
				if (n.Code == code.ControlPlaneGone || n.Code == code.ControlPlaneStopped) && said != "" && !strings.Contains(n.Message, "KubeadmControlPlane takes") {
					t.Errorf("note %q", n.Message)
				}
			}
		})
	}
}

// Where too few machines of a control plane are left for etcd, its API server may not
// answer, and KubeadmControlPlane may take it for one that was never initialised.
func TestControlPlaneThatMayNotAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		check   fields
		arrange func(*story)
		says    bool
	}{
		"one of three is left":         {checkSpec(planes), three(found, gone, gone), true},
		"one of two is left":           {checkSpec(planes), func(s *story) { s.plane("a", found); s.plane("m", gone) }, true},
		"two of three are left":        {checkSpec(planes), three(found, found, gone), false},
		"its Nodes were read":          {checkSpec(planes), func(s *story) { three(found, gone, gone)(s); s.node("a", true) }, false},
		"no health check covers it":    {checkSpec(workers), three(found, gone, gone), false},
		"a missing Node is not minded": {with(checkSpec(planes), "checks", fields{"nodeStartupTimeoutSeconds": 0}), three(found, gone, gone), false},
		"over the limit":               {with(checkSpec(planes), "maxUnhealthy", 2), three(found, gone, gone), false},
		"left to another":              {with(checkSpec(planes), "remediationTemplate", fields{"kind": "Other"}), three(found, gone, gone), false},
		"paused":                       {checkSpec(planes), func(s *story) { three(found, gone, gone)(s); s.snapshot.ControlPlanes[0].Paused = true }, false},
		"etcd of another kind":         {checkSpec("RKE2ControlPlane"), func(s *story) { otherPlane(s); three(found, gone, gone)(s) }, false},
	} {
		s := newStory(t, c.check)
		c.arrange(s)
		got := slices.ContainsFunc(s.end().Clusters[0].Effects, func(e report.AnswerReason) bool {
			return e.Code == code.OutcomeUnknown && strings.Contains(e.Message, "never initialised")
		})
		if got != c.says {
			t.Errorf("%s: %v", name, got)
		}
	}
}
