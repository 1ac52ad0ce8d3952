package list

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"drift-detector/infra"
	capa "drift-detector/infra/aws"
)

// groupPage is the most that DescribeAutoScalingGroups gives in one answer.
const groupPage = 100

// maxGroups bounds a server that makes them up: AWS allows 500 in a region unless it is
// asked for more (Service Quotas of EC2 Auto Scaling).
const maxGroups = 100_000

const describeGroups = "DescribeAutoScalingGroups"

// readGroups reads the autoscaling groups of the region when the backup has
// pools there. An EKS node group is an autoscaling group with tags that name it.
func (l *listing) readGroups(ctx context.Context) {
	if !l.wants(capa.KeyASG) && !l.wants(capa.KeyNodegroup) {
		return
	}
	if err := l.readGroupPages(ctx); err != nil {
		l.unread(ctx, "autoscaling:DescribeAutoScalingGroups", "the autoscaling groups", err, capa.KeyASG, capa.KeyNodegroup)
		l.unreadFact(ctx, capa.FactASG, "autoscaling:DescribeAutoScalingGroups", "the autoscaling groups", err)
		return
	}
	l.noteRead(capa.FactASG)
}

func (l *listing) readGroupPages(ctx context.Context) error {
	in := &autoscaling.DescribeAutoScalingGroupsInput{MaxRecords: aws.Int32(groupPage)}
	var quiet infra.Quiet
	seen := map[string]bool{} // names, which are unique in a region
	for range maxPages {
		out, err := l.api.groups(ctx, in)
		if err != nil {
			return err
		}
		before := len(seen)
		for i := range out.AutoScalingGroups {
			g := &out.AutoScalingGroups[i]
			if name := aws.ToString(g.AutoScalingGroupName); !seen[name] {
				seen[name] = true
				l.takeGroup(g)
			}
		}
		if aws.ToString(out.NextToken) == "" {
			return nil
		}
		if len(seen) > maxGroups {
			return lacking(describeGroups, fmt.Sprintf("does not end: there are more than %d groups", maxGroups))
		}
		if err := quiet.Page(len(seen) > before); err != nil {
			return lacking(describeGroups, "does not end: "+err.Error())
		}
		in.NextToken = out.NextToken
	}
	return errEndless
}

func (l *listing) takeGroup(g *types.AutoScalingGroup) {
	name := aws.ToString(g.AutoScalingGroupName)
	var t capa.Tags
	for i := range g.Tags {
		t.Add(aws.ToString(g.Tags[i].Key), aws.ToString(g.Tags[i].Value))
	}
	for i := range g.Instances {
		if k := capa.MemberKey(aws.ToString(g.Instances[i].InstanceId)); l.marks[k] && g.DesiredCapacity != nil {
			l.ProbesFound = append(l.ProbesFound, k)
			l.PoolSizes = append(l.PoolSizes, infra.PoolSize{Probe: k, Desired: int64(*g.DesiredCapacity), Living: living(g)})
		}
	}
	for _, id := range l.target.IDs {
		for subnet := range strings.SplitSeq(aws.ToString(g.VPCZoneIdentifier), ",") {
			k := capa.PlacedKey(capa.NodegroupKey(id, t.EKSCluster, t.Nodegroup), strings.TrimSpace(subnet))
			l.found(k.Kind, k.Value)
		}
		for _, k := range []infra.Key{capa.ASGKey(id, name), capa.NodegroupKey(id, t.EKSCluster, t.Nodegroup)} {
			if !l.marks[k] {
				continue
			}
			l.ProbesFound = append(l.ProbesFound, k)
			if k.Kind == capa.KeyASG {
				l.note(capa.FactASG, name, asgFactOf(g))
				l.asgs = append(l.asgs, name)
			}
			if n := g.DesiredCapacity; n != nil {
				l.PoolSizes = append(l.PoolSizes, infra.PoolSize{Probe: k, Desired: int64(*n), Living: living(g)})
			}
			for i := range g.Instances {
				member := aws.ToString(g.Instances[i].InstanceId)
				l.members[member] = append(l.members[member], k)
			}
		}
	}
}

func asgFactOf(g *types.AutoScalingGroup) capa.ASGFact {
	f := capa.ASGFact{Living: int(*living(g)), Status: aws.ToString(g.Status), Mixed: g.MixedInstancesPolicy != nil}
	f.Policy = mixedIn(g.MixedInstancesPolicy)
	f.Min, f.Max, f.Rebalance = g.MinSize, g.MaxSize, aws.ToBool(g.CapacityRebalance)
	for _, p := range g.SuspendedProcesses {
		f.Suspended = append(f.Suspended, aws.ToString(p.ProcessName))
	}
	for subnet := range strings.SplitSeq(aws.ToString(g.VPCZoneIdentifier), ",") {
		if subnet = strings.TrimSpace(subnet); subnet != "" {
			f.Subnets = append(f.Subnets, subnet)
		}
	}
	slices.Sort(f.Subnets)
	slices.Sort(f.Suspended)
	return f
}

// mixedIn returns what a group's policy of mixed instances says, nil for none.
func mixedIn(p *types.MixedInstancesPolicy) *capa.MixedPolicy {
	if p == nil {
		return nil
	}
	m := new(capa.MixedPolicy)
	if d := p.InstancesDistribution; d != nil {
		m.Distribution = capa.Distribution{
			OnDemand: aws.ToString(d.OnDemandAllocationStrategy), Spot: aws.ToString(d.SpotAllocationStrategy),
			Base: d.OnDemandBaseCapacity, Percentage: d.OnDemandPercentageAboveBaseCapacity,
		}
	}
	if p.LaunchTemplate != nil {
		for _, o := range p.LaunchTemplate.Overrides {
			m.Overrides = append(m.Overrides, capa.InstanceType{Type: aws.ToString(o.InstanceType)})
		}
	}
	return m
}

// living returns how many members a group has that run or come to: of those that it is set to, the
// others may be ones that cannot be launched.
func living(g *types.AutoScalingGroup) *int64 {
	var n int64
	for i := range g.Instances {
		if s := string(g.Instances[i].LifecycleState); s == "InService" || strings.HasPrefix(s, "Pending") || s == "" {
			n++
		}
	}
	return &n
}

// addGroupKeys adds the keys of the groups that list an instance as theirs, in
// case it has lost its tags.
func (l *listing) addGroupKeys() {
	if len(l.members) > 0 {
		l.Instances = append(l.Instances, l.Unrelated.Take(func(i *infra.Instance) bool { return l.members[i.ID] != nil })...)
	}
	for i := range l.Instances {
		for _, k := range l.members[l.Instances[i].ID] {
			l.addKnown(&l.Instances[i], k)
		}
	}
}

// wants reports whether probes of a kind are to be looked for.
func (l *listing) wants(kind infra.KeyKind) bool {
	for k := range l.marks {
		if k.Kind == kind {
			return true
		}
	}
	return false
}

// unread notes kinds of probes that could not be looked up, and says so once.
func (l *listing) unread(ctx context.Context, action, what string, err error, kinds ...infra.KeyKind) {
	for _, k := range kinds {
		if l.wants(k) {
			l.Unread = append(l.Unread, k)
		}
	}
	f := listFault(ctx, l.target, action, "reading "+what, err)
	// Of all that the end of its time cuts off, the fault is the same.
	if said := fmt.Sprintf("%s; %s", f.Message, f.Hint); !slices.Contains(l.Warnings, said) {
		l.Warnings = append(l.Warnings, said)
	}
}
