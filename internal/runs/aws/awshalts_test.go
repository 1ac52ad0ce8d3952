package aws_test

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
)

// Everything that CAPA needs of a cluster beside machines is looked up, and the report
// says what its absence means.
func TestWhatHaltsCAPA(t *testing.T) {
	const (
		halts, again = "haltsCluster", "madeAgain"
		prodA, poolB = "team-a/prod-a", "team-b/pool-b"
	)
	for title, c := range map[string]struct {
		remove, cluster, kind, name, means string
		change                             func(w *runs.World, ec2 *lab.EC2)
	}{
		"VPC":                    {prodVPC, prodA, "VPC", prodVPC, halts, nil},
		"subnet":                 {"subnet-50866d80676854d9f", prodA, "subnet", "subnet-50866d80676854d9f", halts, nil},
		"NLB":                    {"team-a-prod-a-apiserver", prodA, "load balancer", "team-a-prod-a-apiserver", halts, nil},
		"classic load balancer":  {"pool-b-apiserver", poolB, "load balancer", "pool-b-apiserver", halts, nil},
		"NAT gateway":            {"nat-a9f4521c684c30f99", prodA, "NAT gateway", "nat-a9f4521c684c30f99", again, nil},
		"security group of CAPA": {"sg-339a4ca6f699666d4", poolB, "security group", "sg-339a4ca6f699666d4", again, nil},
		"25 EKS control plane":   {"team-c_eks-c-control-plane", "team-c/eks-c", "EKS control plane", "team-c_eks-c-control-plane", again, nil},
		"security group that was there before": {"sg-0aaaaaaaaaaaaaaaa", poolB, "security group", "sg-0aaaaaaaaaaaaaaaa", halts, func(w *runs.World, _ *lab.EC2) {
			w.OnObject("awsclusters", "pool-b", func(o map[string]any) {
				within(o, "spec", "network")["securityGroupOverrides"] = map[string]any{"node": "sg-0aaaaaaaaaaaaaaaa"}
			})
		}},
		"45 second load balancer": {"none", prodA, "load balancer", "prod-a-internal", halts, func(w *runs.World, _ *lab.EC2) {
			w.OnObject("awsclusters", "prod-a", func(o map[string]any) {
				within(o, "spec")["secondaryControlPlaneLoadBalancer"] = map[string]any{"name": "prod-a-internal", "loadBalancerType": "nlb"}
			})
		}},
		"load balancer of the name in another VPC": {"none", prodA, "load balancer", "team-a-prod-a-apiserver", halts, func(w *runs.World, _ *lab.EC2) {
			w.OnObject("awsclusters", "prod-a", func(o map[string]any) { within(o, "spec", "network", "vpc")["id"] = "vpc-2560b4333beb8183a" })
		}},
		"load balancer without a status that names it": {"team-a-prod-a-apiserver", prodA, "load balancer", "team-a-prod-a-apiserver", halts, func(w *runs.World, _ *lab.EC2) {
			w.OnObject("awsclusters", "prod-a", func(o map[string]any) { delete(o, "status") })
		}},
		"bastion": {"none", prodA, "bastion", "", again, func(_ *runs.World, ec2 *lab.EC2) { forget(ec2, "i-3cca1b213ccd0e3f5") }},
	} {
		t.Run(title, func(t *testing.T) {
			w, ec2 := runs.CAPAFleet(t)
			ec2.Remove(c.remove)
			if c.change != nil {
				c.change(w, ec2)
			}
			o := w.DetectAWS()
			o.Demand(t, cli.ExitOK)
			if r := o.Resource(t, c.cluster, c.kind, c.name); r.State != "absent" || r.WhenGone != c.means || !strings.Contains(r.Message, "was not found") {
				t.Errorf("it is %+v, want absent, %s", r, c.means)
			}
		})
	}
}

// A NAT gateway in a VPC that CAPA did not make is not made again.
func TestGatewayThatCAPADidNotMake(t *testing.T) {
	w, ec2 := runs.CAPAFleet(t)
	ec2.Remove("nat-a9f4521c684c30f99")
	w.OnObject("awsclusters", "prod-a", func(o map[string]any) { delete(within(o, "spec", "network", "vpc"), "tags") })
	if r := w.DetectAWS().Resource(t, "team-a/prod-a", "NAT gateway", "nat-a9f4521c684c30f99"); r.State != "absent" || r.WhenGone != "failsReplacement" {
		t.Errorf("it is %+v", r)
	}
}

// What could not be looked at is neither there nor gone.
func TestWhatMayNotBeLookedAtIsUnknown(t *testing.T) {
	options := runs.CAPAEC2()
	options.Faults.DenyActions = []string{"elasticloadbalancing:DescribeLoadBalancers", "eks:DescribeCluster"}
	w, _ := runs.CAPAFleet(t)
	runs.ServeEC2(t, options)
	o := w.DetectAWS()
	for _, c := range []struct{ cluster, kind, name, means string }{
		{"team-a/prod-a", "load balancer", "team-a-prod-a-apiserver", "haltsCluster"},
		{"team-b/pool-b", "load balancer", "pool-b-apiserver", "haltsCluster"},
		{"team-c/eks-c", "EKS control plane", "team-c_eks-c-control-plane", "madeAgain"},
	} {
		if r := o.Resource(t, c.cluster, c.kind, c.name); r.State != "unknown" || r.WhenGone != c.means {
			t.Errorf("%s of %s is %+v", c.kind, c.cluster, r)
		}
	}
	for _, action := range options.Faults.DenyActions {
		if !strings.Contains(o.Stderr, action) {
			t.Errorf("stderr does not say that %s is missing:\n%s", action, o.Stderr)
		}
	}
}

// What a pool is set to is compared with what the backup desires, as CAPA does it.
func TestPoolsThatAreSetBack(t *testing.T) {
	four, none := 4, 0
	w, ec2 := runs.CAPAFleet(t)
	o := w.DetectAWS()
	if p := o.Pool(t, "eks-c-ng-0"); p.Desired != 2 || p.DesiredNow != 3 || len(p.Now) != 3 || !strings.Contains(p.Message, "it is set to 3 and has 3 members, the backup desires 2") {
		t.Errorf("the node group is %+v", p)
	}
	group := func(name, account string, desired *int) lab.EC2Group {
		return lab.EC2Group{Name: name, ARN: "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:" + account + ":autoScalingGroupName/" + name, Desired: desired}
	}
	ec2.SetGroup(group("pool-b-mp-0", "9666ee68-b830-45b8-9cf9-0693a8c71fea", &none))
	ec2.SetGroup(group("pool-b-mp-1", "4874497e-24bc-4ae6-b2f3-9a32f6bf1964", &four))
	o = w.DetectAWS()
	if p := o.Pool(t, "pool-b-mp-0"); p.Desired != 3 || p.DesiredNow != 0 || !strings.Contains(p.Message, "it is set to 0 and has 2 members, the backup desires 3") {
		t.Errorf("the first pool is %+v", p)
	}
	if p := o.Pool(t, "pool-b-mp-1"); p.Desired != 2 || p.DesiredNow != 4 || len(p.Now) != 2 {
		t.Errorf("the second pool is %+v", p)
	}
}

// Members of a pool that was never read have not left it, though another identity of
// the account lists them.
func TestMembersOfAPoolThatWasNotRead(t *testing.T) {
	w, _ := runs.CAPAFleet(t)
	w.OnObject("awsclusterroleidentities", "eks-role", takenOut)
	o := w.DetectAWS()
	o.Demand(t, cli.ExitIncomplete)
	p := o.Pool(t, "eks-c-ng-0")
	if p.State != "unknown" || len(p.Now) != 3 {
		t.Errorf("the pool is %+v", p)
	}
	for _, id := range p.Then {
		if where, _, _ := runs.PlacementOfID(o.Report, id); where != "nowhere" {
			t.Errorf("member %s is %s", id, where)
		}
	}
}

// A changed tag Name is a warning, as long as nobody asked for another name.
func TestAChangedTagNameIsAWarning(t *testing.T) {
	const name = "prod-a-md-0-vm488-vh4sh"
	renamed := func(o runs.Outcome) bool {
		for _, w := range o.Machine(t, "team-a/"+name).Warnings {
			if w.Reason == "Renamed" {
				return strings.Contains(w.Message, "do-not-touch-anna") && strings.Contains(w.Message, name)
			}
		}
		return false
	}
	w, _ := runs.CAPAFleet(t)
	if !renamed(w.DetectAWS()) {
		t.Error("there is no warning of a changed name")
	}
	w.OnObject("awsmachines", name, func(o map[string]any) {
		within(o, "spec")["additionalTags"] = map[string]any{"Name": "do-not-touch-anna"}
	})
	if renamed(w.DetectAWS()) {
		t.Error("a warning of a name that additionalTags ask for")
	}
	for _, c := range w.DetectAWS().Report.Clusters {
		for _, g := range c.Workers.Groups {
			for _, m := range g.Machines {
				if g.Pool != nil && len(m.Warnings) > 0 {
					t.Errorf("%s, which its group made and named, has %v", m.Name, m.Warnings)
				}
			}
		}
	}
}

// Cluster API takes every value of the annotation but "false" for yes.
func TestPoolsManagedBy(t *testing.T) {
	for value, managed := range map[string]bool{"false": false, "true": true, "": true, "external-autoscaler": true} {
		w, _ := runs.CAPAFleet(t)
		w.OnObject("machinepools", "eks-c-ng-0", func(o map[string]any) {
			within(o, "metadata", "annotations")["cluster.x-k8s.io/replicas-managed-by"] = value
		})
		o := w.DetectAWS()
		p := o.Pool(t, "eks-c-ng-0")
		if strings.Contains(p.Message, "sets now") != managed {
			t.Errorf("%q: %s", value, p.Message)
		}
		for _, c := range o.Report.Clusters {
			for _, g := range c.Workers.Groups {
				if g.Name == "eks-c-ng-0" && ((g.Pool.ManagedBy != "") != managed || g.Forecast != nil && (g.Forecast.ManagedBy != "") != managed) {
					t.Errorf("%q: managed by %q, foretold %+v", value, g.Pool.ManagedBy, g.Forecast)
				}
			}
		}
	}
}

// Whether a cluster may use the identity that it names is in the backup. Keys that it
// may not use are not used.
func TestAllowedNamespaces(t *testing.T) {
	label := func(w *runs.World) {
		w.OnObject("namespaces", "team-a", func(o map[string]any) { within(o, "metadata", "labels")["tenant"] = "a" })
	}
	for title, c := range map[string]struct {
		allowed any
		change  func(*runs.World)
		may     bool
		says    string
	}{
		"everybody":               {map[string]any{}, nil, true, ""},
		"everybody, in full":      {map[string]any{"list": nil, "selector": map[string]any{}}, nil, true, ""},
		"its namespace":           {map[string]any{"list": []any{"team-b", "team-a"}}, nil, true, ""},
		"by label":                {map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"tenant": "a"}}}, label, true, ""},
		"nobody":                  {nil, nil, false, "it has no allowedNamespaces"},
		"nobody, an empty list":   {map[string]any{"list": []any{}}, nil, false, "do not name namespace team-a"},
		"another namespace":       {map[string]any{"list": []any{"team-b"}}, nil, false, "do not name namespace team-a"},
		"another label":           {map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"tenant": "b"}}}, label, false, "do not select Namespace team-a"},
		"an empty list of labels": {map[string]any{"selector": map[string]any{"matchLabels": map[string]any{}}}, nil, false, "do not name namespace team-a"},
	} {
		t.Run(title, func(t *testing.T) {
			w, ec2 := runs.CAPAFleet(t)
			w.OnObject("awsclusterstaticidentities", "team-a-account", func(o map[string]any) {
				within(o, "spec")["allowedNamespaces"] = c.allowed
				if c.allowed == nil {
					delete(within(o, "spec"), "allowedNamespaces")
				}
			})
			if c.change != nil {
				c.change(w)
			}
			o := w.DetectAWS()
			m := o.Machine(t, "team-a/prod-a-control-plane-9dc85")
			if c.may {
				o.Demand(t, cli.ExitOK)
				if m.Status != "Healthy" {
					t.Errorf("the machine is %s %s: %s", m.Status, m.Reason, m.Message)
				}
				return
			}
			o.Demand(t, cli.ExitIncomplete)
			if m.Status != "Unknown" || m.Reason != "ScopeIncomplete" || !strings.Contains(m.Message, c.says) {
				t.Errorf("the machine is %s %s: %s", m.Status, m.Reason, m.Message)
			}
			if !strings.Contains(o.Stderr, "AWSClusterStaticIdentity team-a-account may not be used by clusters of namespace team-a") {
				t.Errorf("stderr does not say why:\n%s", o.Stderr)
			}
			if slices.Contains(ec2.Callers(), "AKIAIOSFODNN7TEAMAAA") {
				t.Error("the key was used")
			}
			// The operator's own credential is a way out.
			if m := w.DetectAWS("--aws-ambient").Machine(t, "team-a/prod-a-control-plane-9dc85"); m.Status != "Healthy" {
				t.Errorf("with the operator's credential it is %s %s: %s", m.Status, m.Reason, m.Message)
			}
		})
	}
}
