package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// chapterText returns what a chapter of a plan says and runs.
func chapterText[S Step | report.Step](steps []S) string { return strings.Join(lines(steps), "\n") }

// pooled returns what is done after the restore of a cluster with a MachinePool.
func pooled(desired, now int64, change func(*report.Group)) []Step {
	r := sample("alpha")
	c := &r.Clusters[1]
	pool := &report.Pool{State: code.Present, Desired: &desired}
	for i := range now {
		pool.Now = append(pool.Now, fmt.Sprintf("i-0aa11bb22cc33dd%02d", i))
	}
	g := report.Group{Kind: "MachinePool", Name: "mp-0", Desired: &desired, Pool: pool}
	change(&g)
	c.Workers.Groups = append(c.Workers.Groups, g)
	return New(r, providerTools).Sections[2].Chapters[1].Steps
}

// MachinePools are set to what their groups have before a cluster is unpaused.
func TestPoolsAreScaledBeforeTheClusterIsUnpaused(t *testing.T) {
	two := int64(2)
	for name, tt := range map[string]struct {
		desired, now int64
		change       func(*report.Group)
		scales, says string
	}{
		"one more than the backup specifies": {2, 3, func(*report.Group) {}, "--current-replicas=2 --replicas=3", "so that CAPA terminates 1 running member"},
		"one less":                           {3, 2, func(*report.Group) {}, "--current-replicas=3 --replicas=2", "so that CAPA creates 1 more"},
		"as many":                            {2, 2, func(*report.Group) {}, "", ""},
		"set to what is wanted":              {2, 3, func(g *report.Group) { g.Pool.DesiredNow = &two }, "", ""},
		"set to another number":              {4, 3, func(g *report.Group) { g.Pool.DesiredNow = &two }, "--current-replicas=4 --replicas=2", "has 4 replicas and the group has 2"},
		"managed by others":                  {2, 3, func(g *report.Group) { g.Pool.ManagedBy = "external-autoscaler" }, "", ""},
		"nobody knows":                       {2, 3, func(g *report.Group) { g.Pool.State = code.Undecided }, "", ""},
		"gone":                               {2, 0, func(g *report.Group) { g.Pool.State = code.Absent }, "", ""},
		"no number":                          {2, 3, func(g *report.Group) { g.Pool.Desired = nil }, "", ""},
		"no member to look it up by":         {2, 0, func(*report.Group) {}, "", "Compare with the group itself first"},
	} {
		steps := pooled(tt.desired, tt.now, tt.change)
		text := chapterText(steps)
		if strings.Contains(text, " scale machinepools.") != (tt.scales != "") || !strings.Contains(text, tt.scales) || !strings.Contains(text, tt.says) {
			t.Errorf("%s: %s", name, text)
		}
		if tt.scales != "" {
			inOrder(t, commands(steps), " scale machinepools.cluster.x-k8s.io/mp-0 ", `"paused":false`)
		}
		if tt.says == "" && strings.Contains(text, "MachinePool mp-0") {
			t.Errorf("%s: it is mentioned: %s", name, text)
		}
	}
}

// The line that does it reads the size of the group again.
func TestTheGroupIsReadAgain(t *testing.T) {
	var line string
	for _, c := range commands(pooled(2, 3, func(*report.Group) {})) {
		if strings.Contains(c, " scale machinepools.") {
			line = c
		}
	}
	for name, tt := range map[string]struct {
		cases []string
		want  bool
	}{
		"as in the report":           {nil, true},
		"it has another size by now": {[]string{plantest.Stops(" pool ")}, false},
		"another management cluster": {[]string{plantest.Stops(" restored machinepools.cluster.x-k8s.io/")}, false},
	} {
		if o := plantest.Try(t, line, tt.cases...); o.Did(" scale ") != tt.want {
			t.Errorf("%s: %q\n%s", name, o.Calls, o.Printed)
		}
	}
}

// What no controller starts is started before the restore, so before anything is
// unpaused: a health check ends it, and etcd needs it.
func TestStoppedInstancesAreStartedFirst(t *testing.T) {
	arrange := func(role report.Role, outcome string, of int) (*report.Report, *report.Machine) {
		r := sample("alpha")
		c := &r.Clusters[1]
		m := c.Workers.Groups[0].Machines[2]
		m.Role, m.Warnings = role, []report.Warning{{Reason: "PoweredOff"}}
		stopped := *m.Instance
		stopped.State = "stopped"
		m.Instance = &stopped
		if outcome != "" {
			m.Forecast = &report.MachineForecast{Outcome: code.Outcome(outcome)}
		}
		if role == "worker" {
			c.Workers.Groups[0].Machines[2] = m
			return r, &c.Workers.Groups[0].Machines[2]
		}
		c.ControlPlane = report.ControlPlane{Kind: "KubeadmControlPlane", Name: "alpha", Applicable: true, Counts: report.MachineCounts{Total: of, Healthy: of}}
		for i := range of {
			one := m
			one.Name = fmt.Sprintf("cp-%d", i)
			c.ControlPlane.Machines = append(c.ControlPlane.Machines, one)
		}
		c.Workers.Groups = nil
		return r, &c.ControlPlane.Machines[0]
	}
	for _, role := range []report.Role{"worker", "control-plane"} {
		for _, outcome := range []string{"", "Stuck", "ReplacedByMachineHealthCheck", "Adopted"} {
			for _, of := range []int{1, 3} {
				r, m := arrange(role, outcome, of)
				Fill(r, providerTools)
				started := ""
				for _, s := range m.Remediation {
					if slices.ContainsFunc(s.Commands, func(c string) bool { return strings.Contains(c, "start-instances --instance-ids="+plantest.EC2Living) }) {
						started += s.When + " "
					}
				}
				if role == "control-plane" && of > 1 {
					// They have one id in this report: no line starts what two may be.
					if started != "" {
						t.Errorf("%s %s: %q", role, outcome, started)
					}
					started = m.Remediation[0].When + " "
				}
				if strings.Contains(started, report.AfterRestore) || !strings.Contains(started, report.BeforeRestore) {
					t.Errorf("%s, %s, one of %d: started %q", role, outcome, of, started)
				}
				if text := fmt.Sprint(m.Remediation); slices.ContainsFunc(commands(m.Remediation), deletesMachine) || role == "control-plane" && !strings.Contains(text, "etcd needs it") {
					t.Errorf("%s, %s: %s", role, outcome, text)
				}
			}
		}
	}
}

// Nothing may act before all is restored: that is the first thing that a plan says,
// and the line that restores holds it.
func TestNothingActsBeforeAllIsRestored(t *testing.T) {
	r := sample("alpha")
	p := New(r, providerTools)
	if !slices.ContainsFunc(p.Answer, func(s string) bool {
		return strings.HasPrefix(s, "Most important") && strings.Contains(s, "terminates every running worker") && strings.Contains(s, "no other tool may create them first")
	}) {
		t.Errorf("%q", p.Answer)
	}
	steps := p.Sections[1].Chapters[0].Steps
	inOrder(t, lines(steps), "The new cluster must not contain any Clusters yet: the lines of this part stop where one is. Keep Flux, Argo CD, Helm and k0rdent off", "Only if that names one of the report: turn off what made it, and pause it at once. The line stops where the cluster holds one that the report does not name",
		"create configmap restore-paused", "restore create", "status.phase")
	if text := chapterText(steps); !strings.Contains(text, "Flux, Argo CD, Helm and k0rdent") {
		t.Error("other tools that make Clusters are not named")
	}
	find := func(piece string) string {
		for _, c := range commands(steps) {
			if strings.Contains(c, piece) {
				return c
			}
		}
		t.Fatalf("no %s", piece)
		return ""
	}
	for name, tt := range map[string]struct {
		piece, does string
		cases       []string
		want        bool
	}{
		"all is as it has to be":  {"restore create", "velero --kubecontext filled --namespace=filled restore create filled", nil, true},
		"a Cluster is there":      {"restore create", "restore create", []string{plantest.Stops(" management new")}, false},
		"an order of its own":     {"restore create", "restore create", []string{`*"get deployments.apps "*) echo '["server","--restore-resource-priorities=clusters.cluster.x-k8s.io,machines"]'; exit ;;`}, false},
		"no Velero there":         {"restore create", "restore create", []string{`*"get deployments.apps "*) exit ;;`}, false},
		"no such Velero":          {"restore create", "restore create", []string{`*"get deployments.apps "*) exit 1 ;;`}, false},
		"unpaused where restored": {`"paused":false`, `"paused":false`, nil, true},
	} {
		line := ""
		if tt.piece == `"paused":false` {
			line = commands(p.Sections[2].Chapters[1].Steps)[0]
		} else {
			line = find(tt.piece)
		}
		if o := plantest.Try(t, line, tt.cases...); o.Did(tt.does) != tt.want {
			t.Errorf("%s: %q\n%s", name, o.Calls, o.Printed)
		}
	}
	for name, tt := range map[string]struct{ piece, answer string }{
		"a Cluster is there":      {"--no-headers", `*"--no-headers") echo "n c Provisioned"; exit ;;`},
		"Clusters are not listed": {"--no-headers", `*"--no-headers") exit 1 ;;`},
		"partly failed":           {"status.phase", `*status.phase*) echo PartiallyFailed; exit ;;`},
		"no restore":              {"status.phase", `*status.phase*) exit 1 ;;`},
	} {
		if o := plantest.Try(t, find(tt.piece), tt.answer); o.OK {
			t.Errorf("%s: it goes on", name)
		}
		if o := plantest.Try(t, find(tt.piece)); !o.OK {
			t.Errorf("%s: it stops without cause: %s", name, o.Printed)
		}
	}
}

// What other tools make is not unpaused, and made paused.
func TestClustersOfOtherTools(t *testing.T) {
	r := sample("alpha")
	p := New(r, providerTools)
	if o := plantest.Try(t, commands(p.Sections[2].Chapters[1].Steps)[0], plantest.Stops(" restored clusters.cluster.x-k8s.io/alpha/alpha2 --restore filled")); o.Did(`"paused":false`) || len(o.Calls) < 2 {
		t.Errorf("a Cluster that this restore did not make is unpaused: %q", o.Calls)
	}
	// One whose Cluster object another tool makes is made paused, and after its Machines.
	r.Clusters[0].Derived = true
	if text := chapterText(New(r, providerTools).Sections[2].Chapters[0].Steps); !strings.Contains(text, "paused at first, and only now that its Machines are back") {
		t.Error(text)
	}
}

// CAPA refuses the kubeconfig that was restored, and makes it when there is none.
func TestTheKubeconfigOfEKSIsDeletedBeforeTheClusterIsUnpaused(t *testing.T) {
	r := sample("alpha")
	c := &r.Clusters[1]
	c.ControlPlane = report.ControlPlane{Kind: "AWSManagedControlPlane", Name: "alpha2"}
	steps := New(r, providerTools).Sections[2].Chapters[1].Steps
	inOrder(t, commands(steps), "delete secrets/alpha2-kubeconfig", `"paused":false`)
	for _, s := range New(r, providerTools).Sections[2].Chapters[0].Steps {
		if strings.Contains(chapterText([]Step{s}), "-kubeconfig") {
			t.Errorf("a cluster that is none of EKS loses its kubeconfig: %+v", s)
		}
	}
	for _, line := range commands(steps) {
		if !strings.Contains(line, "delete secrets/") {
			continue
		}
		if o := plantest.Try(t, line); !o.Did("delete secrets/alpha2-kubeconfig") {
			t.Errorf("%s", o.Printed)
		}
		if o := plantest.Try(t, line, plantest.Stops(" restored secrets/alpha/alpha2-kubeconfig ")); o.Did(" delete ") {
			t.Errorf("one that CAPA created is deleted: %q", o.Calls)
		}
	}
}

// The API server of a Ghost leaves the load balancer that the cluster has.
func TestAGhostLeavesTheLoadBalancerThatTheClusterHas(t *testing.T) {
	const arn = "arn:aws:elasticloadbalancing:us-east-1:123456789012:loadbalancer/net/alpha-apiserver/50dc6c495c0c9188"
	const second = "arn:aws-us-gov:elasticloadbalancing:us-gov-west-1:123456789012:loadbalancer/net/alpha-second/50dc6c495c0c9189"
	plan := func(lbs ...report.LoadBalancer) []report.Step {
		r := sample("alpha")
		c := &r.Clusters[1]
		ghost, living := c.Workers.Groups[0].Machines[0], c.Workers.Groups[0].Machines[2]
		ghost.Role, living.Role = "control-plane", "control-plane"
		c.ControlPlane = report.ControlPlane{Kind: "KubeadmControlPlane", Name: "alpha", Applicable: true, Counts: report.MachineCounts{Total: 2, Healthy: 1, Ghost: 1}, Machines: []report.Machine{ghost, living}}
		c.Workers.Groups, c.APILoadBalancers = nil, lbs
		Fill(r, providerTools)
		return c.ControlPlane.Machines[0].Remediation
	}
	for name, tt := range map[string]struct {
		lbs  []report.LoadBalancer
		want []string
		not  []string
	}{
		"NLB":            {[]report.LoadBalancer{{Type: "nlb", Name: "alpha-apiserver", ARN: arn}}, []string{"describe-target-groups --load-balancer-arn " + arn, "deregister-targets"}, []string{" elb "}},
		"ALB":            {[]report.LoadBalancer{{Type: "alb", Name: "alpha-apiserver", ARN: arn}}, []string{"--load-balancer-arn " + arn, "deregister-targets"}, []string{" elb "}},
		"of no type":     {[]report.LoadBalancer{{Name: "alpha-apiserver", ARN: arn}}, []string{"deregister-targets"}, []string{" elb "}},
		"without ARN":    {[]report.LoadBalancer{{Type: "nlb", Name: "alpha-apiserver"}}, []string{"describe-load-balancers --names=alpha-apiserver", "BALANCER=''", `--load-balancer-arn "${BALANCER:?}"`, "deregister-targets"}, []string{" elb "}},
		"two":            {[]report.LoadBalancer{{Type: "nlb", Name: "alpha-apiserver", ARN: arn}, {Type: "nlb", Name: "alpha-second", ARN: second}}, []string{"--load-balancer-arn " + arn, "deregister-targets", "--load-balancer-arn " + second, "deregister-targets"}, nil},
		"classic":        {[]report.LoadBalancer{{Type: "classic", Name: "alpha-apiserver"}}, []string{"elb deregister-instances-from-load-balancer --load-balancer-name=alpha-apiserver --instances=" + plantest.EC2ID}, []string{"elbv2"}},
		"as by default":  {[]report.LoadBalancer{{Name: "alpha-apiserver"}}, []string{"elb deregister-instances-from-load-balancer --load-balancer-name=alpha-apiserver"}, []string{"elbv2"}},
		"disabled":       {[]report.LoadBalancer{{Type: "disabled"}}, nil, []string{"elbv2", " elb "}},
		"not known":      {nil, nil, []string{"elbv2", " elb "}},
		"no name at all": {[]report.LoadBalancer{{Type: "nlb", ARN: "x"}}, nil, []string{"elbv2", " elb "}},
		"a hostile ARN":  {[]report.LoadBalancer{{Type: "nlb", Name: "a", ARN: "arn:aws:elasticloadbalancing:$(touch x):1:loadbalancer/net/a/1"}}, []string{"describe-load-balancers --names=a"}, []string{"touch"}},
	} {
		steps := plan(tt.lbs...)
		inOrder(t, commands(steps), append(tt.want, "drain")...)
		text := strings.Join(commands(steps), "\n")
		for _, not := range tt.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q is in\n%s", name, not, text)
			}
		}
		if said := strings.Contains(fmt.Sprint(steps), "The backup does not say what that is"); said != (tt.want == nil) {
			t.Errorf("%s: it says that nothing is known: %v", name, said)
		}
	}
	for _, line := range commands(plan(report.LoadBalancer{Type: "nlb", Name: "alpha-apiserver", ARN: arn})) {
		if !strings.Contains(line, "deregister-targets") {
			continue
		}
		groups := func(of string) string { return `*"--target-group-arns filled"*) echo ` + of + `; exit ;;` }
		if o := plantest.Try(t, line, groups(arn)); !o.Did("elbv2 deregister-targets --target-group-arn filled --targets=Id=" + plantest.EC2ID) {
			t.Errorf("%q\n%s", o.Calls, o.Printed)
		}
		for _, c := range []string{groups(second), groups(""), plantest.Stops(" vm ")} {
			if o := plantest.Try(t, line, c, groups(arn)); o.Did("deregister") {
				t.Errorf("%s: %q", c, o.Calls)
			}
		}
	}
}

// Webhooks answer before controllers make anything: asked, not only looked for.
func TestWebhooksAreAskedBeforeAnythingIsUnpaused(t *testing.T) {
	r := sample("alpha")
	steps := New(r, providerTools).Sections[1].Chapters[0].Steps
	last := steps[len(steps)-1]
	if !strings.Contains(last.Text, "Before any Cluster is unpaused") {
		t.Fatalf("%+v", last)
	}
	for _, piece := range []string{"=cluster-api ", "=infrastructure-vsphere ", "=infrastructure-aws ", "annotate machines.cluster.x-k8s.io ", "annotate vspheremachines.infrastructure.cluster.x-k8s.io ", "annotate awsmachines.infrastructure.cluster.x-k8s.io "} {
		at := slices.IndexFunc(last.Commands, func(c string) bool { return strings.Contains(c, piece) })
		if at < 0 {
			t.Errorf("nothing for %q in %q", piece, last.Commands)
			continue
		}
		line := last.Commands[at]
		if strings.Contains(line, "annotate") && !strings.Contains(line, "--dry-run=server") {
			t.Errorf("it changes something: %s", line)
		}
		if o := plantest.Try(t, line); !o.OK {
			t.Errorf("%s: %s", line, o.Printed)
		}
		for _, c := range []string{`*mutatingwebhook*|*annotate*) exit 1 ;;`} {
			if o := plantest.Try(t, line, c); o.OK {
				t.Errorf("it goes on: %s", line)
			}
		}
	}
	if o := plantest.Try(t, last.Commands[0], `*mutatingwebhook*) exit ;;`); o.OK {
		t.Error("no webhook configuration is there, and it goes on")
	}
}
