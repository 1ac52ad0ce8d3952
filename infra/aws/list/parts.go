package list

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	capa "drift-detector/infra/aws"
)

func (l *listing) readHooks(ctx context.Context, group string) error {
	out, err := l.api.hooks(ctx, &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: &group})
	if err != nil {
		return err
	}
	all := []capa.HookFact{}
	for i := range out.LifecycleHooks {
		h := &out.LifecycleHooks[i]
		all = append(all, capa.HookFact{
			Name: aws.ToString(h.LifecycleHookName), Transition: aws.ToString(h.LifecycleTransition), Result: aws.ToString(h.DefaultResult), Seconds: int64(aws.ToInt32(h.HeartbeatTimeout)),
			Target: aws.ToString(h.NotificationTargetARN), Role: aws.ToString(h.RoleARN), Metadata: capa.ConfigHash(aws.ToString(h.NotificationMetadata)),
		})
	}
	l.note(capa.FactHooks, group, all)
	return nil
}

func classicTargets(lb *elbtypes.LoadBalancerDescription) capa.TargetsFact {
	var f capa.TargetsFact
	for _, i := range lb.Instances {
		f.Members = append(f.Members, aws.ToString(i.InstanceId))
	}
	slices.Sort(f.Members)
	return f
}

// readTargets reads what is behind a load balancer that is not classic. It has fifty listeners
// at most, and as many target groups as their rules name (quotas of Elastic Load Balancing); one
// page of each is all.
func (l *listing) readTargets(ctx context.Context, name string) error {
	arn := l.lbs[name]
	tags, err := l.api.lbTags(ctx, &elbv2.DescribeTagsInput{ResourceArns: []string{arn}})
	if err != nil {
		return &actionError{"elasticloadbalancing:DescribeTags", err}
	}
	groups, err := l.api.targetGroups(ctx, &elbv2.DescribeTargetGroupsInput{LoadBalancerArn: &arn})
	if err != nil {
		return err
	}
	listeners, err := l.api.listeners(ctx, &elbv2.DescribeListenersInput{LoadBalancerArn: &arn})
	if err != nil {
		return &actionError{"elasticloadbalancing:DescribeListeners", err}
	}
	f := capa.TargetsFact{Owners: ownersOfBalancer(tags.TagDescriptions)}
	names, members := map[string]string{}, map[string]bool{}
	for i := range groups.TargetGroups {
		g := &groups.TargetGroups[i]
		names[aws.ToString(g.TargetGroupArn)] = aws.ToString(g.TargetGroupName)
		f.Groups = append(f.Groups, capa.TargetGroup{Name: aws.ToString(g.TargetGroupName), Protocol: string(g.Protocol), Port: int64(aws.ToInt32(g.Port))})
		targets, err := l.api.targets(ctx, &elbv2.DescribeTargetHealthInput{TargetGroupArn: g.TargetGroupArn})
		if err != nil {
			return &actionError{"elasticloadbalancing:DescribeTargetHealth", err}
		}
		for _, t := range targets.TargetHealthDescriptions {
			members[aws.ToString(t.Target.Id)] = true
		}
	}
	for i := range listeners.Listeners {
		n := &listeners.Listeners[i]
		one := capa.ListenerFact{Port: int64(aws.ToInt32(n.Port))}
		if len(n.DefaultActions) > 0 {
			one.Group = names[aws.ToString(n.DefaultActions[0].TargetGroupArn)]
		}
		f.Listeners = append(f.Listeners, one)
	}
	f.Members = slices.Sorted(maps.Keys(members))
	l.note(capa.FactTargets, "v2/"+name, f)
	return nil
}

func ownersOfBalancer(all []elbv2types.TagDescription) []string {
	var t capa.Tags
	for i := range all {
		for _, one := range all[i].Tags {
			t.Add(aws.ToString(one.Key), aws.ToString(one.Value))
		}
	}
	return t.Owners
}

// readOIDC reads the first identity provider of a control plane, as CAPA does; there is one at
// most.
func (l *listing) readOIDC(ctx context.Context, plane string) error {
	all, err := l.api.providers(ctx, &eks.ListIdentityProviderConfigsInput{ClusterName: &plane})
	if err != nil {
		return err
	}
	if len(all.IdentityProviderConfigs) == 0 {
		return nil
	}
	out, err := l.api.provider(ctx, &eks.DescribeIdentityProviderConfigInput{ClusterName: &plane, IdentityProviderConfig: &all.IdentityProviderConfigs[0]})
	if err != nil {
		if unlessMissing(err) == nil {
			return nil
		}
		return &actionError{"eks:DescribeIdentityProviderConfig", err}
	}
	c := out.IdentityProviderConfig.Oidc
	l.note(capa.FactOIDC, plane, capa.OIDCFact{
		Name: aws.ToString(c.IdentityProviderConfigName), Issuer: aws.ToString(c.IssuerUrl), Client: aws.ToString(c.ClientId),
		GroupsClaim: aws.ToString(c.GroupsClaim), GroupsPrefix: aws.ToString(c.GroupsPrefix), UsernameClaim: aws.ToString(c.UsernameClaim), UsernamePrefix: aws.ToString(c.UsernamePrefix), Claims: c.RequiredClaims,
	})
	return nil
}

func (l *listing) readRole(ctx context.Context, name string) error {
	if _, err := l.api.role(ctx, &iam.GetRoleInput{RoleName: &name}); err != nil {
		return unlessMissing(err)
	}
	l.note(capa.FactRole, name, capa.RoleFact{})
	return nil
}

func checkHooks(_ *autoscaling.DescribeLifecycleHooksInput, out *autoscaling.DescribeLifecycleHooksOutput) error {
	return complete("DescribeLifecycleHooks", out.LifecycleHooks, func(h *astypes.LifecycleHook) *string { return h.LifecycleHookName }, nil)
}

func checkLBTags(in *elbv2.DescribeTagsInput, out *elbv2.DescribeTagsOutput) error {
	if len(out.TagDescriptions) != len(in.ResourceArns) {
		return lacking("DescribeTags", "is not about the load balancer that was asked for")
	}
	for i := range out.TagDescriptions {
		if err := complete("DescribeTags", out.TagDescriptions[i].Tags, func(t *elbv2types.Tag) *string { return t.Key }, nil); err != nil {
			return err
		}
	}
	return complete("DescribeTags", out.TagDescriptions, func(d *elbv2types.TagDescription) *string { return d.ResourceArn }, nil)
}

func checkTargetGroups(_ *elbv2.DescribeTargetGroupsInput, out *elbv2.DescribeTargetGroupsOutput) error {
	return complete("DescribeTargetGroups", out.TargetGroups, func(g *elbv2types.TargetGroup) *string { return g.TargetGroupArn }, out.NextMarker)
}

func checkTargets(_ *elbv2.DescribeTargetHealthInput, out *elbv2.DescribeTargetHealthOutput) error {
	if slices.ContainsFunc(out.TargetHealthDescriptions, func(d elbv2types.TargetHealthDescription) bool { return d.Target == nil }) {
		return lacking("DescribeTargetHealth", "holds a state without its target")
	}
	return complete("DescribeTargetHealth", out.TargetHealthDescriptions, func(d *elbv2types.TargetHealthDescription) *string { return d.Target.Id }, nil)
}

func checkListeners(_ *elbv2.DescribeListenersInput, out *elbv2.DescribeListenersOutput) error {
	return complete("DescribeListeners", out.Listeners, func(n *elbv2types.Listener) *string { return n.ListenerArn }, out.NextMarker)
}

func checkProviders(_ *eks.ListIdentityProviderConfigsInput, out *eks.ListIdentityProviderConfigsOutput) error {
	return complete("ListIdentityProviderConfigs", out.IdentityProviderConfigs, func(p *ekstypes.IdentityProviderConfig) *string { return p.Name }, out.NextToken)
}

func checkProvider(in *eks.DescribeIdentityProviderConfigInput, out *eks.DescribeIdentityProviderConfigOutput) error {
	if c := out.IdentityProviderConfig; c == nil || c.Oidc == nil || aws.ToString(c.Oidc.IdentityProviderConfigName) != aws.ToString(in.IdentityProviderConfig.Name) {
		return lacking("DescribeIdentityProviderConfig", "is not about the identity provider that was asked for")
	}
	return nil
}

func checkRole(in *iam.GetRoleInput, out *iam.GetRoleOutput) error {
	if out.Role == nil || aws.ToString(out.Role.RoleName) != aws.ToString(in.RoleName) {
		return lacking("GetRole", "is not about the role that was asked for")
	}
	return nil
}
