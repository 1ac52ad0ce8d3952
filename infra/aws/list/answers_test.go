package list

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	capa "drift-detector/infra/aws"
	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// bent is what becomes of AWS's own answer on the way.
type bent func(whole []byte) (status int, body []byte)

func text(s string) bent { return func([]byte) (int, []byte) { return http.StatusOK, []byte(s) } }

func without(pattern string) bent {
	re := regexp.MustCompile(pattern)
	return func(whole []byte) (int, []byte) { return http.StatusOK, re.ReplaceAll(whole, nil) }
}

func instead(pattern, by string) bent {
	re := regexp.MustCompile(pattern)
	return func(whole []byte) (int, []byte) { return http.StatusOK, re.ReplaceAll(whole, []byte(by)) }
}

// foreign are successful answers that are not AWS's.
var foreign = map[string]bent{
	"204":                    func([]byte) (int, []byte) { return http.StatusNoContent, nil },
	"206":                    func(whole []byte) (int, []byte) { return http.StatusPartialContent, whole },
	"nothing":                text(""),
	"white space":            text("\n  \n"),
	"HTML":                   text("<html><body>Sign in to the network</body></html>"),
	"HTML that is no XML":    text("<!DOCTYPE html><html><br>Sign in"),
	"JSON":                   text("{}"),
	"JSON of a proxy":        text(`{"error":"denied"}`),
	"another root":           text("<a/>"),
	"EC2's errors":           text("<Response><Errors><Error><Code>Throttling</Code></Error></Errors><RequestID>r</RequestID></Response>"),
	"other services' errors": text("<ErrorResponse><Error><Code>Throttling</Code></Error><RequestId>r</RequestId></ErrorResponse>"),
	"another operation":      text("<DescribeRegionsResponse><requestId>r</requestId><regionInfo/></DescribeRegionsResponse>"),
	"the answer inside a page": func(whole []byte) (int, []byte) {
		return 200, slices.Concat([]byte("<html>"), whole, []byte("</html>"))
	},
	"text behind the answer": func(whole []byte) (int, []byte) { return 200, append(bytes.Clone(whole), "<!-- proxy -->"...) },
	"no request id":          without(`<[rR]equestId>[^<]*</[rR]equestId>`),
	"the wrong request id": func(whole []byte) (int, []byte) {
		swap := strings.NewReplacer("requestId>", "RequestId>", "RequestId>", "requestId>")
		return 200, []byte(swap.Replace(string(whole)))
	},
}

// bending bends each answer to an action, or only the first.
func bending(action string, b bent, once bool) func(call) *trouble {
	return func(c call) *trouble {
		if c.action != action || once && c.n > 1 {
			return nil
		}
		return &trouble{bend: b}
	}
}

// everyCall returns a cluster for which each call is made that there is but that for roles:
// a machine whose instance is there, one whose instance is gone, and an instance
// without machine. arn is that of a load balancer of the newer generation.
func everyCall(t *testing.T, arn string) (*backup.Snapshot, *backup.Secrets, lab.EC2Options, []lab.EC2Instance) {
	t.Helper()
	b := awstest.NewBackup().Keys()
	b.Add("clusters.cluster.x-k8s.io", awstest.CAPIObject("Cluster", "ns", "prod", "prod", map[string]any{
		"infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": awstest.ClusterKind, "name": "prod"},
	}))
	cluster := awstest.Object(awstest.ClusterKind, "ns", "prod", "prod", map[string]any{"region": awstest.Region, "network": map[string]any{
		"vpc":     map[string]any{"id": "vpc-1"},
		"subnets": []any{map[string]any{"id": "subnet-1", "natGatewayId": "nat-1"}},
	}})
	cluster["status"] = map[string]any{"networkStatus": map[string]any{
		"securityGroups": map[string]any{"node": map[string]any{"id": "sg-1"}},
		"apiServerElb":   map[string]any{"name": "prod-apiserver", "arn": arn},
	}}
	b.Add("awsclusters."+awstest.Group, cluster)
	b.Set("ns", "prod", "prod-md-0", 2).Machine("ns", "prod", "prod-md-0-here1", awstest.InstanceID(1)).Machine("ns", "prod", "prod-md-0-gone1", awstest.InstanceID(2))
	b.Pool("prod", "mp", awstest.PoolKind, "mp")
	b.Add("awsmachinepools."+awstest.Group, awstest.Object(awstest.PoolKind, "ns", "mp", "prod", map[string]any{}))
	s, secrets := load(t, b.Bytes())
	younger := capaInstance(awstest.InstanceID(3), "vpc-1", "prod", awstest.RoleNode, "ns/prod-md-0-new11", "prod-md-0-new11")
	younger.LaunchTime = s.Backups[0].WrittenTo.Add(time.Hour)
	member := instanceWith(awstest.InstanceID(4), "vpc-1", lab.EC2Tag{Key: awstest.TagGroup, Value: "mp"})
	return s, secrets, lab.EC2Options{Backup: awstest.Save(t, b)}, []lab.EC2Instance{
		capaInstance(awstest.InstanceID(1), "vpc-1", "prod", awstest.RoleNode, "ns/prod-md-0-here1", "prod-md-0-here1"),
		younger, member,
	}
}

// kindsOf are the probes that an action looks up. Without the first two actions
// nothing of a region is known.
var kindsOf = map[string][]infra.KeyKind{
	"GetCallerIdentity": nil, "DescribeInstances": nil,
	"DescribeVpcs": {capa.KeyVPC}, "DescribeSubnets": {capa.KeySubnet}, "DescribeSecurityGroups": {capa.KeySecurityGroup},
	"DescribeNatGateways": {capa.KeyNAT}, "DescribeAutoScalingGroups": {capa.KeyASG}, "DescribeLoadBalancers": {capa.KeyClassicLB, capa.KeyLB},
}

// asEver says what differs from the verdicts on everyCall without any fault.
func asEver(l *infra.Listing, r detector.Result) string {
	o := outcomeOf(r)
	here, gone, ghost := o.machines["ns/prod-md-0-here1"], o.machines["ns/prod-md-0-gone1"], o.ghosts[awstest.InstanceID(3)]
	switch {
	case l.State != code.ScopeComplete || len(l.Unread) > 0 || len(l.Warnings) > 0 || !r.Complete:
		return fmt.Sprintf("the listing is %s, unread are %v, warnings %q, fault %+v", l.State, l.Unread, l.Warnings, l.Fault)
	case here.Status != code.Healthy || gone.Status != code.Stale || ghost.Status != code.Ghost:
		return fmt.Sprintf("it is %s %s, %s %s, %s %s", here.Status, here.Reason, gone.Status, gone.Reason, ghost.Status, ghost.Reason)
	}
	return ""
}

// notBelieved says what of a listing shows that an answer to an action was believed
// that is none: a region that counts as listed, or a probe that counts as looked for.
func notBelieved(action string, l *infra.Listing, r detector.Result) string {
	for name, v := range outcomeOf(r).machines {
		if v.Status == code.Stale && kindsOf[action] == nil {
			return fmt.Sprintf("%s is Stale %s", name, v.Reason)
		}
	}
	if kindsOf[action] == nil {
		if l.State == code.ScopeComplete || l.Fault == nil || l.Fault.Hint == "" || r.Complete {
			return fmt.Sprintf("the listing is %s, fault %+v, the result complete: %t", l.State, l.Fault, r.Complete)
		}
		return ""
	}
	if l.State != code.ScopeComplete || len(l.Unread) == 0 || !slices.Contains(kindsOf[action], l.Unread[0]) || len(l.Warnings) == 0 {
		return fmt.Sprintf("the listing is %s, unread are %v, warnings %q, fault %+v", l.State, l.Unread, l.Warnings, l.Fault)
	}
	for _, c := range r.Clusters {
		for _, res := range c.Resources {
			if res.State == code.Absent {
				return fmt.Sprintf("%s counts as absent", res.Name)
			}
		}
	}
	return ""
}

// What is not an answer of AWS is an error, whatever was called: it is asked again,
// and nothing is concluded where that does not help.
func TestForeignAnswers(t *testing.T) {
	for _, arn := range []string{"", "arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/net/x"} {
		s, secrets, options, instances := everyCall(t, arn)
		for action := range kindsOf {
			if arn != "" && action != "DescribeLoadBalancers" {
				continue
			}
			for name, bend := range foreign {
				t.Run(action+"/"+name, func(t *testing.T) {
					f := serve(t, options, bending(action, bend, false), instances...)
					inv := listAll(t, small(pageSize), s, secrets, infra.Access{})
					if bad := notBelieved(action, &inv.Listings[0], decide(t, s, inv)); bad != "" {
						t.Error(bad)
					}
					if n := f.counts()[action]; n != attempts {
						t.Errorf("it was called %d times", n)
					}
					serve(t, options, bending(action, bend, true), instances...)
					inv = listAll(t, small(pageSize), s, secrets, infra.Access{})
					if bad := asEver(&inv.Listings[0], decide(t, s, inv)); bad != "" {
						t.Errorf("asked again %s", bad)
					}
				})
			}
		}
	}
}

// A role whose keys are not AWS's is not assumed.
func TestForeignKeysOfARole(t *testing.T) {
	b := awstest.One(awstest.RoleIdentity, "a").Keys().Identity(awstest.RoleIdentity, "a", awstest.RoleSpec(awstest.RoleA, "", "", ""))
	s, secrets := load(t, b.Bytes())
	for name, bend := range foreign {
		serve(t, lab.EC2Options{Roles: []lab.EC2Role{{ARN: awstest.RoleA}}}, bending("AssumeRole", bend, false))
		l := listAll(t, small(pageSize), s, secrets, infra.Access{}).Listings[0]
		if l.State != code.ScopeFailed || l.Fault.Reason != "UnexpectedAnswer" {
			t.Errorf("%s: it is %s: %+v", name, l.State, l.Fault)
		}
	}
}

// An answer that ends early is an error wherever it ends: with its connection, and
// with a length that agrees.
func TestCutAnswers(t *testing.T) {
	s, secrets, options, instances := everyCall(t, "")
	for action := range kindsOf {
		t.Run(action, func(t *testing.T) {
			const cuts = 16
			for i := range cuts {
				serve(t, options, bending(action, func(whole []byte) (int, []byte) {
					whole = bytes.TrimRight(whole, " \n")
					return 200, whole[:min(len(whole)-1, len(whole)*(i+1)/cuts)]
				}, false), instances...)
				inv := listAll(t, small(pageSize), s, secrets, infra.Access{})
				if bad := notBelieved(action, &inv.Listings[0], decide(t, s, inv)); bad != "" {
					t.Errorf("cut after %d/%d: %s", i+1, cuts, bad)
				}
			}
			serve(t, options, func(c call) *trouble {
				if c.action != action {
					return nil
				}
				return &trouble{cut: true}
			}, instances...)
			inv := listAll(t, small(pageSize), s, secrets, infra.Access{})
			if bad := notBelieved(action, &inv.Listings[0], decide(t, s, inv)); bad != "" {
				t.Errorf("with the connection: %s", bad)
			}
		})
	}
}

// An answer of the right form in which something is missing that AWS never leaves
// out proves nothing either.
func TestIncompleteAnswers(t *testing.T) {
	for _, c := range []struct {
		action, name string
		bend         bent
	}{
		{"GetCallerIdentity", "no account", without(`<Account>.*</Account>`)},
		{"GetCallerIdentity", "no result", without(`<GetCallerIdentityResult>.*</GetCallerIdentityResult>`)},
		{"DescribeInstances", "no list", without(`<reservationSet>.*</reservationSet>`)},
		{"DescribeInstances", "no instances in a reservation", without(`<instancesSet>.*?</instancesSet>`)},
		{"DescribeInstances", "a reservation of nothing", instead(`<instancesSet>.*?</instancesSet>`, "<instancesSet/>")},
		{"DescribeInstances", "an id that is none", instead(`<instanceId>[^<]*<`, "<instanceId>?<")},
		{"DescribeInstances", "no id", without(`<instanceId>[^<]*</instanceId>`)},
		{"DescribeInstances", "an empty id", instead(`<instanceId>[^<]*<`, "<instanceId><")},
		{"DescribeInstances", "a page that leads to itself", instead(`</DescribeInstancesResponse>`, "<nextToken>from-0</nextToken></DescribeInstancesResponse>")},
		{"DescribeInstances", "an empty list each time", instead(`<reservationSet>.*</reservationSet>`, "<reservationSet/>")},
		{"DescribeInstances", "one reservation fewer each time", without(`<item><reservationId>.*?</instancesSet></item>`)},
		{"DescribeInstances", "no token of the next page", without(`<nextToken>[^<]*</nextToken>`)},
		{"DescribeVpcs", "no list", without(`<vpcSet>.*</vpcSet>`)},
		{"DescribeVpcs", "no id", without(`<vpcId>[^<]*</vpcId>`)},
		{"DescribeVpcs", "more pages", instead(`<vpcSet>.*</vpcSet>`, "<vpcSet/><nextToken>t</nextToken>")},
		{"DescribeSubnets", "no list", without(`<subnetSet>.*</subnetSet>`)},
		{"DescribeSubnets", "more pages", instead(`<subnetSet>.*</subnetSet>`, "<subnetSet/><nextToken>t</nextToken>")},
		{"DescribeSecurityGroups", "no list", without(`<securityGroupInfo>.*</securityGroupInfo>`)},
		{"DescribeSecurityGroups", "no id", without(`<groupId>[^<]*</groupId>`)},
		{"DescribeNatGateways", "no list", without(`<natGatewaySet>.*</natGatewaySet>`)},
		{"DescribeNatGateways", "no state", without(`<state>[^<]*</state>`)},
		{"DescribeAutoScalingGroups", "no list", without(`<AutoScalingGroups>.*</AutoScalingGroups>`)},
		{"DescribeAutoScalingGroups", "no name", without(`<AutoScalingGroupName>[^<]*</AutoScalingGroupName>`)},
		{"DescribeAutoScalingGroups", "no id of a member", without(`<InstanceId>[^<]*</InstanceId>`)},
		{"DescribeAutoScalingGroups", "a page that leads to itself", instead(`</DescribeAutoScalingGroupsResult>`, "<NextToken>from-0</NextToken></DescribeAutoScalingGroupsResult>")},
		{"DescribeLoadBalancers", "no list", without(`<LoadBalancerDescriptions>.*</LoadBalancerDescriptions>`)},
		{"DescribeLoadBalancers", "an empty list", instead(`<LoadBalancerDescriptions>.*</LoadBalancerDescriptions>`, "<LoadBalancerDescriptions/>")},
	} {
		t.Run(c.action+"/"+c.name, func(t *testing.T) {
			s, secrets, options, instances := everyCall(t, "")
			serve(t, options, bending(c.action, c.bend, false), instances...)
			inv := listAll(t, small(pageSize), s, secrets, infra.Access{})
			if bad := notBelieved(c.action, &inv.Listings[0], decide(t, s, inv)); bad != "" {
				t.Error(bad)
			}
		})
	}
}

// An instance of which EC2 does not say whether it runs is none of the four for sure:
// it is listed, and its machine is Unknown; so is the machine of another.
func TestInstanceWithoutState(t *testing.T) {
	for name, bend := range map[string]bent{
		"no state":        without(`<instanceState>.*?</instanceState>`),
		"an empty state":  instead(`<instanceState>.*?</instanceState>`, "<instanceState/>"),
		"a state unknown": instead(`<name>running</name>`, "<name>dreaming</name>"),
	} {
		t.Run(name, func(t *testing.T) {
			s, secrets, options, instances := everyCall(t, "")
			serve(t, options, bending("DescribeInstances", bend, false), instances...)
			inv := listAll(t, small(pageSize), s, secrets, infra.Access{})
			l := inv.Listings[0]
			if l.State != code.ScopePartial || l.Fault == nil || l.Fault.Reason != "UnexpectedAnswer" || len(l.Instances) != 3 {
				t.Fatalf("it is %s with %d instances: %+v", l.State, len(l.Instances), l.Fault)
			}
			r := decide(t, s, inv)
			o := outcomeOf(r)
			if v := o.machines["ns/prod-md-0-here1"]; v.Status != code.Unknown || v.Reason != code.InstanceUnreadable {
				t.Errorf("the machine of the instance is %s %s", v.Status, v.Reason)
			}
			if v := o.machines["ns/prod-md-0-gone1"]; v.Status != code.Unknown {
				t.Errorf("the other machine is %s %s", v.Status, v.Reason)
			}
			if u, ok := o.unattributed[awstest.InstanceID(3)]; !ok || u.Reason != code.InstanceUnreadable || len(o.ghosts) > 0 {
				t.Errorf("the instance without machine is %+v, Ghosts are %v", u, o.ghosts)
			}
		})
	}
}

// Services that speak JSON are held to the same: an object with something in it.
func TestAnswersInJSONAreObjectsWithSomethingInThem(t *testing.T) {
	for body, fine := range map[string]bool{
		`{"cluster":{"name":"a"}}`: true, " {\"a\":1}\n": true,
		"": false, "{}": false, "[]": false, "null": false, `"a"`: false, `{"a":1`: false, `{"a":1}{}`: false, "<html/>": false,
	} {
		if why := notJSON([]byte(body)); (why == "") != fine {
			t.Errorf("%q: %q", body, why)
		}
	}
}
