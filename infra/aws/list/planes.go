package list

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"drift-detector/infra"
	capa "drift-detector/infra/aws"
)

// What CAPA asks of a control plane of EKS that is there, beside its own description.

// maxOfPlane bounds a server that makes up what a control plane has; EKS allows a hundred add-ons
// and fewer of all else but access entries, of which CAPA is given few.
const maxOfPlane = 1000

// ownersOf returns the clusters that the cloud provider's tag names.
func ownersOf(tags map[string]string) (all []string) {
	for key := range tags {
		if cluster, ok := strings.CutPrefix(key, capa.TagCloud); ok {
			all = append(all, cluster)
		}
	}
	slices.Sort(all)
	return all
}

// readParts reads what things have that were found: add-ons of control planes, and access entries,
// identity providers and Fargate profiles of those for which the backup has some; lifecycle hooks
// of autoscaling groups, target groups of load balancers. IAM roles are asked for by their names.
func (l *listing) readParts(ctx context.Context) {
	for _, of := range []struct {
		fact, action, what string
		names              []string
		read               func(context.Context, string) error
	}{
		{capa.FactAddons, "eks:ListAddons", "the add-ons of EKS", l.planes, l.readAddons},
		{capa.FactAccess, "eks:ListAccessEntries", "the access entries of EKS", l.wanted(l.detail.Access), l.readAccess},
		{capa.FactOIDC, "eks:ListIdentityProviderConfigs", "the identity providers of EKS", l.wanted(l.detail.OIDC), l.readOIDC},
		{capa.FactHooks, "autoscaling:DescribeLifecycleHooks", "the lifecycle hooks of autoscaling groups", l.asgs, l.readHooks},
		{capa.FactTargets, "elasticloadbalancing:DescribeTargetGroups", "the target groups of load balancers", slices.Sorted(maps.Keys(l.lbs)), l.readTargets},
		{capa.FactRole, "iam:GetRole", "IAM roles", l.detail.Roles, l.readRole},
	} {
		for i, name := range of.names {
			if err := of.read(ctx, name); err != nil {
				action := actionOf(err, of.action)
				l.unread(ctx, action, of.what, err)
				l.unreadFact(ctx, of.fact, action, of.what, err)
				break
			}
			if i == len(of.names)-1 {
				l.noteRead(of.fact)
			}
		}
	}
	_, targets := l.FactsUnread.Get(capa.FactTargets)
	if _, balancers := l.FactsUnread.Get(capa.FactBalancer); l.wants(capa.KeyClassicLB) && !targets && !balancers {
		l.noteRead(capa.FactTargets)
	}
	l.readProfiles(ctx)
}

// wanted returns those of the planes that were found.
func (l *listing) wanted(planes []string) (all []string) {
	for _, name := range planes {
		if slices.Contains(l.planes, name) {
			all = append(all, name)
		}
	}
	return all
}

// actionError is an error of another action than the first.
type actionError struct {
	action string
	error
}

func (e *actionError) Unwrap() error { return e.error }

func actionOf(err error, first string) string {
	if of, ok := err.(*actionError); ok { //nolint:errorlint // it is the outermost
		return of.action
	}
	return first
}

func (l *listing) readAddons(ctx context.Context, plane string) error {
	var names []string
	err := pages("ListAddons", func(token *string) (*string, error) {
		out, err := l.api.addons(ctx, &eks.ListAddonsInput{ClusterName: &plane, NextToken: token})
		if err != nil {
			return nil, err
		}
		if names = append(names, out.Addons...); len(names) > maxOfPlane {
			return nil, lacking("ListAddons", fmt.Sprintf("does not end: there are more than %d", maxOfPlane))
		}
		return out.NextToken, nil
	})
	if err != nil {
		return err
	}
	all := []capa.AddonFact{}
	for _, name := range names {
		out, err := l.api.addon(ctx, &eks.DescribeAddonInput{ClusterName: &plane, AddonName: &name})
		if err != nil && unlessMissing(err) == nil {
			continue // it was deleted in between
		}
		if err != nil {
			return &actionError{"eks:DescribeAddon", err}
		}
		a := out.Addon
		f := capa.AddonFact{Name: name, Version: aws.ToString(a.AddonVersion), Role: aws.ToString(a.ServiceAccountRoleArn), Config: capa.ConfigHash(aws.ToString(a.ConfigurationValues))}
		if a.Status != ekstypes.AddonStatusActive {
			f.Status = string(a.Status)
		}
		all = append(all, f)
	}
	l.note(capa.FactAddons, plane, all)
	return nil
}

func (l *listing) readAccess(ctx context.Context, plane string) error {
	var arns []string
	err := pages("ListAccessEntries", func(token *string) (*string, error) {
		out, err := l.api.accessEntries(ctx, &eks.ListAccessEntriesInput{ClusterName: &plane, NextToken: token})
		if err != nil {
			return nil, err
		}
		if arns = append(arns, out.AccessEntries...); len(arns) > maxOfPlane {
			return nil, lacking("ListAccessEntries", fmt.Sprintf("does not end: there are more than %d", maxOfPlane))
		}
		return out.NextToken, nil
	})
	if err != nil {
		return err
	}
	all := []capa.AccessFact{}
	for _, arn := range arns {
		out, err := l.api.accessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: &plane, PrincipalArn: &arn})
		if err != nil && unlessMissing(err) == nil {
			continue
		}
		if err != nil {
			return &actionError{"eks:DescribeAccessEntry", err}
		}
		e := out.AccessEntry
		f := capa.AccessFact{ARN: arn, Type: aws.ToString(e.Type), User: aws.ToString(e.Username), Groups: slices.Sorted(slices.Values(e.KubernetesGroups)), Owners: ownersOf(e.Tags)}
		if len(f.Owners) > 0 {
			if f.Policies, err = l.readPolicies(ctx, plane, arn); err != nil {
				return &actionError{"eks:ListAssociatedAccessPolicies", err}
			}
		}
		all = append(all, f)
	}
	l.note(capa.FactAccess, plane, all)
	return nil
}

// readPolicies reads those of an access entry, each with its scope as capa.ScopedPolicy writes it.
func (l *listing) readPolicies(ctx context.Context, plane, arn string) (all []string, err error) {
	err = pages("ListAssociatedAccessPolicies", func(token *string) (*string, error) {
		out, err := l.api.policies(ctx, &eks.ListAssociatedAccessPoliciesInput{ClusterName: &plane, PrincipalArn: &arn, NextToken: token})
		if err != nil {
			return nil, err
		}
		for _, p := range out.AssociatedAccessPolicies {
			var scope ekstypes.AccessScope
			if p.AccessScope != nil {
				scope = *p.AccessScope
			}
			all = append(all, capa.ScopedPolicy(aws.ToString(p.PolicyArn), string(scope.Type), scope.Namespaces))
		}
		if len(all) > maxOfPlane {
			return nil, lacking("ListAssociatedAccessPolicies", fmt.Sprintf("does not end: there are more than %d", maxOfPlane))
		}
		return out.NextToken, nil
	})
	slices.Sort(all)
	return all, err
}

// readProfiles asks for each Fargate profile of the backup whose control plane is there.
func (l *listing) readProfiles(ctx context.Context) {
	var asked bool
	for _, n := range l.detail.Profiles {
		if !slices.Contains(l.planes, n.Cluster) {
			continue
		}
		asked = true
		out, err := l.api.profile(ctx, &eks.DescribeFargateProfileInput{ClusterName: &n.Cluster, FargateProfileName: &n.Name})
		if err != nil && unlessMissing(err) == nil {
			continue
		}
		if err != nil {
			l.unread(ctx, "eks:DescribeFargateProfile", "the Fargate profiles", err)
			l.unreadFact(ctx, capa.FactProfile, "eks:DescribeFargateProfile", "the Fargate profiles", err)
			return
		}
		l.note(capa.FactProfile, infra.Join(n.Cluster, n.Name), capa.ProfileFact{Status: string(out.FargateProfile.Status), Owners: ownersOf(out.FargateProfile.Tags)})
	}
	if asked {
		l.noteRead(capa.FactProfile)
	}
}

func itself(name *string) *string { return name }

func checkAddons(_ *eks.ListAddonsInput, out *eks.ListAddonsOutput) error {
	return complete("ListAddons", out.Addons, itself, nil)
}

func checkAccessEntries(_ *eks.ListAccessEntriesInput, out *eks.ListAccessEntriesOutput) error {
	return complete("ListAccessEntries", out.AccessEntries, itself, nil)
}

func checkPolicies(_ *eks.ListAssociatedAccessPoliciesInput, out *eks.ListAssociatedAccessPoliciesOutput) error {
	return complete("ListAssociatedAccessPolicies", out.AssociatedAccessPolicies, func(p *ekstypes.AssociatedAccessPolicy) *string { return p.PolicyArn }, nil)
}

func checkAddon(in *eks.DescribeAddonInput, out *eks.DescribeAddonOutput) error {
	if out.Addon == nil || aws.ToString(out.Addon.AddonName) != aws.ToString(in.AddonName) || aws.ToString(out.Addon.AddonVersion) == "" {
		return lacking("DescribeAddon", "is not about the add-on that was asked for, or lacks its version")
	}
	return nil
}

func checkAccessEntry(in *eks.DescribeAccessEntryInput, out *eks.DescribeAccessEntryOutput) error {
	if out.AccessEntry == nil || aws.ToString(out.AccessEntry.PrincipalArn) != aws.ToString(in.PrincipalArn) {
		return lacking("DescribeAccessEntry", "is not about the principal that was asked for")
	}
	return nil
}

func checkProfile(in *eks.DescribeFargateProfileInput, out *eks.DescribeFargateProfileOutput) error {
	if p := out.FargateProfile; p == nil || aws.ToString(p.FargateProfileName) != aws.ToString(in.FargateProfileName) || p.Status == "" {
		return lacking("DescribeFargateProfile", "is not about the profile that was asked for, or lacks its status")
	}
	return nil
}

func planeFactOf(c *ekstypes.Cluster) capa.PlaneFact {
	f := capa.PlaneFact{Status: string(c.Status), Version: aws.ToString(c.Version), Endpoint: capa.HostOf(aws.ToString(c.Endpoint)), Public: true}
	if a := c.AccessConfig; a != nil {
		f.Mode = string(a.AuthenticationMode)
	}
	for _, e := range c.EncryptionConfig {
		if e.Provider != nil {
			f.Key = aws.ToString(e.Provider.KeyArn)
		}
	}
	if v := c.ResourcesVpcConfig; v != nil {
		f.Group, f.Public, f.Private = aws.ToString(v.ClusterSecurityGroupId), v.EndpointPublicAccess, v.EndpointPrivateAccess
		f.CIDRs = slices.Sorted(slices.Values(v.PublicAccessCidrs))
	}
	return f
}
