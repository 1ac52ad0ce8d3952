package list

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	capa "drift-detector/infra/aws"
	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// twoRegions returns two clusters in two regions, of two machines each: one whose
// instance is there, one whose instance is gone.
func twoRegions(t *testing.T) (*backup.Snapshot, *backup.Secrets, []lab.EC2Instance) {
	t.Helper()
	b := awstest.NewBackup().Keys()
	var all []lab.EC2Instance
	for n, region := range []string{"us-east-1", "eu-west-1"} {
		name, vpc := fmt.Sprintf("c%d", n), fmt.Sprintf("vpc-%d", n)
		b.Cluster("ns", name, region, vpc)
		b.Machine("ns", name, name+"-here", awstest.InstanceID(10*n+1)).Machine("ns", name, name+"-gone", awstest.InstanceID(10*n+2))
		there := []lab.EC2Instance{
			capaInstance(awstest.InstanceID(10*n+1), vpc, name, awstest.RoleNode, "ns/"+name+"-here", name+"-here"),
			capaInstance(awstest.InstanceID(10*n+3), vpc, name, awstest.RoleNode, "", name+"-new"),
			capaInstance(awstest.InstanceID(10*n+4), vpc, "other", awstest.RoleNode, "", "other"),
		}
		for i := range there {
			there[i].Placement.AvailabilityZone = region + "a"
		}
		all = append(all, there...)
	}
	s, secrets := load(t, b.Bytes())
	return s, secrets, all
}

// What goes wrong in one region costs the machines of that region their
// verdict, and no other's; nothing becomes Stale by it.
func TestFaultsCostTheirOwnScope(t *testing.T) {
	const broken = "eu-west-1"
	for name, c := range map[string]struct {
		fault  func(call) *trouble
		state  code.ScopeState
		reason string
		says   string
	}{
		"wrong keys": {
			always("", "AuthFailure"), code.ScopeFailed, "AuthenticationFailed", "Secret capa-system/capa-manager-bootstrap-credentials",
		},
		"expired token": {
			always("", "ExpiredToken"), code.ScopeFailed, "AuthenticationFailed", "expired",
		},
		"access denied": {
			always("DescribeInstances", "UnauthorizedOperation"), code.ScopeFailed, "NoPermission", "ec2:DescribeInstances",
		},
		"throttled without end": {
			always("DescribeInstances", "RequestLimitExceeded"), code.ScopeFailed, "Throttled", "RequestLimitExceeded",
		},
		"an availability zone is down": {
			always("DescribeInstances", "Unavailable"), code.ScopeFailed, "ListingBroken", "Unavailable",
		},
		"cut in the middle of page 3": {
			func(c call) *trouble {
				if c.action == "DescribeInstances" && c.n > 2 {
					return &trouble{cut: true}
				}
				return nil
			}, code.ScopePartial, "ListingBroken", "broke off after 2",
		},
		"looking up one instance fails": {
			func(c call) *trouble {
				if c.form.Has("InstanceId.1") {
					return &trouble{code: "InternalError"}
				}
				return nil
			}, code.ScopePartial, "ListingBroken", "looking up the instances that the backup names",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, secrets, instances := twoRegions(t)
			serve(t, lab.EC2Options{PageSize: 1}, func(got call) *trouble {
				if got.region != broken {
					return nil
				}
				return c.fault(got)
			}, instances...)
			inv := listAll(t, small(pageSize), s, secrets, infra.Access{})
			for _, l := range inv.Listings {
				if l.Location != broken {
					if l.State != code.ScopeComplete {
						t.Errorf("%s is %s: %+v", l.Location, l.State, l.Fault)
					}
					continue
				}
				if l.State != c.state || l.Fault == nil || string(l.Fault.Reason) != c.reason || !strings.Contains(l.Fault.Message, c.says) || l.Fault.Hint == "" {
					t.Errorf("%s is %s: %+v", l.Location, l.State, l.Fault)
				}
				if shown := fmt.Sprintf("%+v", l.Fault); strings.Contains(shown, awstest.LabKey) || strings.Contains(shown, awstest.LabToken) {
					t.Error("the fault repeats what AWS repeats of the request")
				}
			}
			r := decide(t, s, inv)
			o := outcomeOf(r)
			if r.Complete {
				t.Error("the result calls itself complete")
			}
			if v := o.machines["ns/c0-gone"]; v.Status != code.Stale {
				t.Errorf("c0-gone is %s %s", v.Status, v.Reason)
			}
			if v := o.machines["ns/c1-gone"]; v.Status != code.Unknown {
				t.Errorf("c1-gone is %s %s", v.Status, v.Reason)
			}
		})
	}
}

// Throttling that ends is only slow.
func TestThrottlingOnEverySecondCall(t *testing.T) {
	s, secrets, instances := twoRegions(t)
	serve(t, lab.EC2Options{PageSize: 1}, func(c call) *trouble {
		if c.n%2 == 1 {
			return &trouble{code: "RequestLimitExceeded"}
		}
		return nil
	}, instances...)
	for _, l := range listAll(t, small(pageSize), s, secrets, infra.Access{}).Listings {
		if l.State != code.ScopeComplete || len(l.Instances) != 3 || len(l.Unread) > 0 {
			t.Errorf("%s is %s with %d instances, unread %v: %+v", l.Location, l.State, len(l.Instances), l.Unread, l.Fault)
		}
	}
}

// Another account answers everything with nothing: that proves nothing.
func TestAnotherAccountProvesNothing(t *testing.T) {
	s, secrets, instances := twoRegions(t)
	serve(t, lab.EC2Options{Keys: []lab.EC2Key{{ID: awstest.LabKey, Secret: awstest.LabSecret, Token: awstest.LabToken, Account: "999999999999"}}}, nil, instances...)
	inv := listAll(t, New(), s, secrets, infra.Access{})
	for _, l := range inv.Listings {
		if l.State != code.ScopeComplete || l.Account != "999999999999" {
			t.Errorf("%s is %s of %s", l.Location, l.State, l.Account)
		}
	}
	r := decide(t, s, inv)
	for name, v := range outcomeOf(r).machines {
		if v.Status != code.Unknown {
			t.Errorf("%s is %s %s", name, v.Status, v.Reason)
		}
	}
	for _, sc := range r.Scopes {
		if sc.State != code.ScopePartial || sc.Error.Reason != "VisibilityUnproven" {
			t.Errorf("%s is %s: %+v", sc.Location, sc.State, sc.Error)
		}
	}
}

// A VPC that is shared shows to every account that it is shared with, and the
// instances in it to their own only: it proves nothing. A recorded instance does.
func TestASharedVPCProvesNothing(t *testing.T) {
	const shared, other = "vpc-1", "999999999999"
	for name, c := range map[string]struct {
		caller, owner string // accounts; the instances are all the lab's
		proven        bool
		status        code.Status // of the machine whose instance is there
	}{
		"the account that owns it":                {lab.EC2Account, lab.EC2Account, true, code.Healthy},
		"one that owns it for other accounts":     {other, other, false, code.Unknown},
		"another one that it is shared with":      {other, lab.EC2Account, false, code.Unknown},
		"the one that the cluster is in":          {lab.EC2Account, other, true, code.Healthy},
		"a third one that it is shared with":      {other, "888888888888", false, code.Unknown},
		"no known instance in any":                {lab.EC2Account, lab.EC2Account, false, code.Unknown},
		"the cluster's, without a known instance": {lab.EC2Account, other, false, code.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			b := awstest.NewBackup().Keys().Cluster("ns", "prod", awstest.Region, shared).Machine("ns", "prod", "here", awstest.InstanceID(1)).Machine("ns", "prod", "gone", awstest.InstanceID(2))
			s, secrets := load(t, b.Bytes())
			mine := capaInstance(awstest.InstanceID(1), shared, "prod", awstest.RoleNode, "ns/here", "here")
			if !c.proven && c.caller == lab.EC2Account {
				mine.InstanceID = awstest.InstanceID(9)
			}
			serve(t, lab.EC2Options{
				Backup: awstest.Save(t, b), SharedVPCs: map[string]string{shared: c.owner},
				Keys: []lab.EC2Key{{ID: awstest.LabKey, Secret: awstest.LabSecret, Token: awstest.LabToken, Account: c.caller}},
			}, nil, mine)
			inv := listAll(t, New(), s, secrets, infra.Access{})
			if l := inv.Listings[0]; l.State != code.ScopeComplete || !slices.Contains(l.ProbesFound, infra.Key{Kind: capa.KeyVPC, Value: shared}) {
				t.Fatalf("the listing is %s and found %v: %+v", l.State, l.ProbesFound, l.Fault)
			}
			r := decide(t, s, inv)
			gone := code.Unknown
			if c.proven {
				gone = code.Stale
			}
			o := outcomeOf(r)
			for machine, want := range map[string]code.Status{"ns/here": c.status, "ns/gone": gone} {
				if v := o.machines[machine]; v.Status != want {
					t.Errorf("%s is %s %s, want %s", machine, v.Status, v.Reason, want)
				}
			}
			if r.Complete != c.proven {
				t.Errorf("complete is %t", r.Complete)
			}
		})
	}
}

// A resource that may not be read is unread, not absent, and costs no instance.
func TestForbiddenResourcesAreUnread(t *testing.T) {
	for action, kind := range map[string]infra.KeyKind{"DescribeVpcs": capa.KeyVPC, "DescribeAutoScalingGroups": capa.KeyASG, "DescribeLoadBalancers": capa.KeyClassicLB} {
		t.Run(action, func(t *testing.T) {
			serve(t, fleetEC2(), always(action, "AccessDenied"))
			s, secrets := load(t, fleet(t, awstest.Profile(awstest.LabKey, awstest.LabSecret, awstest.LabToken)))
			inv := listAll(t, small(pageSize), s, secrets, infra.Access{})
			l := inv.Listings[0]
			if l.State != code.ScopeComplete || len(l.Unread) != 1 || l.Unread[0] != kind {
				t.Errorf("it is %s, unread %v", l.State, l.Unread)
			}
			for _, k := range l.ProbesFound {
				if k.Kind == kind {
					t.Errorf("it found %s all the same", k)
				}
			}
			warned := strings.Join(l.Warnings, "\n")
			if !strings.Contains(warned, ":"+action) || !strings.Contains(warned, "drift-detector permissions aws") {
				t.Errorf("the warning does not name the action and the command: %s", warned)
			}
			outcomeOf(decide(t, s, inv)).agrees(t, readVerdicts(t))
		})
	}
}

// Ten thousand instances, and no more calls than the package documentation says.
func TestCallsForTenThousandInstances(t *testing.T) {
	const n, m = 10_000, 450
	b := awstest.NewBackup().Keys().Cluster("ns", "big", awstest.Region, "vpc-1")
	for i := range m { // are not there any more
		b.Machine("ns", "big", fmt.Sprint("gone-", i), awstest.InstanceID(2*n+i))
	}
	s, secrets := load(t, b.Bytes())
	f := serve(t, lab.EC2Options{Synthetic: n, Backup: awstest.Save(t, b)}, nil)
	l := listRelated(t, New(), s, secrets, infra.Access{}).Listings[0]
	if l.State != code.ScopeComplete || l.Count() != n || len(l.Instances) != 0 {
		t.Fatalf("it is %s with %d instances, %d of them near: %+v", l.State, l.Count(), len(l.Instances), l.Fault)
	}
	want := map[string]int{"GetCallerIdentity": 1, "DescribeInstances": 10 + 3, "DescribeVpcs": 1, "DescribeSecurityGroups": 1}
	got := f.counts()
	for action, calls := range got {
		if want[action] != calls {
			t.Errorf("%s was called %d times, want %d", action, calls, want[action])
		}
	}
	if len(got) != len(want) {
		t.Errorf("the calls are %v, want %v", got, want)
	}
	kept := heap()
	l.Unrelated = infra.Unrelated{}
	if kept -= heap(); kept > 200*n {
		t.Errorf("an unrelated VM takes %d bytes", kept/n)
	}
}

// heap returns how many bytes are in use.
func heap() int64 {
	var m runtime.MemStats
	for range 3 { // what has a finalizer or is pooled goes later
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A region that goes on answering slowly gets its share of time, and its listing
// says that it was not read whole.
func TestARegionThatTakesTooLong(t *testing.T) {
	s, secrets, instances := twoRegions(t)
	serve(t, lab.EC2Options{PageSize: 1}, func(call) *trouble {
		time.Sleep(50 * time.Millisecond)
		return nil
	}, instances...)
	registry := infra.NewRegistry(small(pageSize))
	registry.Timeout = 120 * time.Millisecond
	for _, l := range registry.Collect(t.Context(), registry.Targets(s, secrets, infra.Access{}), nil).Listings {
		if l.State == code.ScopeComplete || l.Fault == nil || l.Fault.Reason != "TimedOut" || !strings.Contains(l.Fault.Message, "120ms of --timeout") {
			t.Errorf("%s is %s: %+v", l.Location, l.State, l.Fault)
		}
	}
}
