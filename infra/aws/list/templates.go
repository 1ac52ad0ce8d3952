package list

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"drift-detector/infra"
	capa "drift-detector/infra/aws"
)

// tagSecret is where CAPA writes the bootstrap Secret's name into a template
// (LaunchTemplateBootstrapDataSecret in api/v1beta2/tags.go v2.4.0 to v2.13.0).
const tagSecret = "sigs.k8s.io/cluster-api-provider-aws/bootstrap-data-secret"

// readTemplates reads the newest versions of all launch templates of the region, which is
// one call for 200, and keeps those of the backup's pools. Their user data is not kept.
func (l *listing) readTemplates(ctx context.Context) {
	if len(l.detail.Templates) == 0 {
		return
	}
	err := pages("DescribeLaunchTemplateVersions", func(token *string) (*string, error) {
		out, err := l.api.templates(ctx, &ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{"$Latest"}, MaxResults: aws.Int32(idBatch), NextToken: token})
		if err != nil {
			return nil, err
		}
		for i := range out.LaunchTemplateVersions {
			v := &out.LaunchTemplateVersions[i]
			if name := aws.ToString(v.LaunchTemplateName); v.LaunchTemplateData != nil && slices.Contains(l.detail.Templates, name) {
				l.note(capa.FactTemplate, name, templateFactOf(v))
			}
		}
		return out.NextToken, nil
	})
	if err != nil {
		l.unread(ctx, "ec2:DescribeLaunchTemplateVersions", "the launch templates", err)
		l.unreadFact(ctx, capa.FactTemplate, "ec2:DescribeLaunchTemplateVersions", "the launch templates", err)
		return
	}
	l.noteRead(capa.FactTemplate)
}

// templateFactOf reads a version as CAPA does (SDKToLaunchTemplate in
// pkg/cloud/services/ec2/launchtemplate.go v2.13.0).
func templateFactOf(v *types.LaunchTemplateVersion) capa.TemplateFact {
	d := v.LaunchTemplateData
	f := capa.TemplateFact{Version: aws.ToInt64(v.VersionNumber), Image: aws.ToString(d.ImageId), Type: string(d.InstanceType), Key: aws.ToString(d.KeyName)}
	if p := d.IamInstanceProfile; p != nil {
		f.Profile = aws.ToString(p.Name)
		if _, name, ok := strings.Cut(aws.ToString(p.Arn), "instance-profile/"); ok {
			f.Profile = name
		}
	}
	if o := d.MetadataOptions; o != nil {
		m := capa.Metadata{Endpoint: cmp.Or(string(o.HttpEndpoint), "enabled"), Tokens: string(o.HttpTokens), Tags: cmp.Or(string(o.InstanceMetadataTags), "disabled"), Hops: int64(aws.ToInt32(o.HttpPutResponseHopLimit))}
		f.Metadata = m.String()
	}
	if o := d.InstanceMarketOptions; o != nil && o.MarketType == types.MarketTypeSpot {
		f.Spot = "spot"
		if o.SpotOptions != nil {
			f.Spot += " " + aws.ToString(o.SpotOptions.MaxPrice)
		}
	}
	if r := d.CapacityReservationSpecification; r != nil && r.CapacityReservationTarget != nil {
		f.Reservation = aws.ToString(r.CapacityReservationTarget.CapacityReservationId)
	}
	if o := d.PrivateDnsNameOptions; o != nil {
		f.DNS = capa.DNSText(string(o.HostnameType), aws.ToBool(o.EnableResourceNameDnsARecord), aws.ToBool(o.EnableResourceNameDnsAAAARecord))
	}
	if o := d.EnclaveOptions; o != nil && aws.ToBool(o.Enabled) {
		f.Enclave = "enabled"
	}
	f.Groups = slices.Sorted(slices.Values(d.SecurityGroupIds))
	for _, s := range d.TagSpecifications {
		for _, t := range s.Tags {
			if s.ResourceType == types.ResourceTypeInstance && aws.ToString(t.Key) == tagSecret && strings.Contains(aws.ToString(t.Value), "/") {
				f.Secret = aws.ToString(t.Value)
			}
		}
	}
	return f
}

// readNodegroups asks for each node group of the backup's pools.
func (l *listing) readNodegroups(ctx context.Context) {
	if len(l.detail.Nodegroups) == 0 {
		return
	}
	for _, n := range l.detail.Nodegroups {
		out, err := l.api.nodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &n.Cluster, NodegroupName: &n.Name})
		if err != nil && unlessMissing(err) == nil {
			continue
		}
		if err != nil {
			l.unread(ctx, "eks:DescribeNodegroup", "the EKS node groups", err)
			l.unreadFact(ctx, capa.FactNodegroup, "eks:DescribeNodegroup", "the EKS node groups", err)
			return
		}
		g := out.Nodegroup
		f := capa.NodegroupFact{Status: string(g.Status), Version: aws.ToString(g.Version), Release: aws.ToString(g.ReleaseVersion), Owners: ownersOf(g.Tags), Labels: g.Labels}
		var taints []capa.Taint
		for _, t := range g.Taints {
			taints = append(taints, capa.Taint{Key: aws.ToString(t.Key), Value: aws.ToString(t.Value), Effect: string(t.Effect)})
		}
		f.Taints = capa.TaintTexts(taints)
		if t := g.LaunchTemplate; t != nil {
			f.HasTemplate, f.Template = true, aws.ToString(t.Version)
		}
		if s := g.ScalingConfig; s != nil {
			f.Desired, f.Min, f.Max = aws.ToInt32(s.DesiredSize), aws.ToInt32(s.MinSize), aws.ToInt32(s.MaxSize)
		}
		if u := g.UpdateConfig; u != nil {
			f.Update = capa.UpdateConfig{MaxUnavailable: aws.ToInt32(u.MaxUnavailable), MaxUnavailablePercentage: aws.ToInt32(u.MaxUnavailablePercentage)}
		}
		f.Repair = g.NodeRepairConfig != nil && aws.ToBool(g.NodeRepairConfig.Enabled)
		l.note(capa.FactNodegroup, infra.Join(n.Cluster, n.Name), f)
	}
	l.noteRead(capa.FactNodegroup)
}

func checkTemplates(_ *ec2.DescribeLaunchTemplateVersionsInput, out *ec2.DescribeLaunchTemplateVersionsOutput) error {
	return complete("DescribeLaunchTemplateVersions", out.LaunchTemplateVersions, func(v *types.LaunchTemplateVersion) *string { return v.LaunchTemplateName }, nil)
}

func checkNodegroup(in *eks.DescribeNodegroupInput, out *eks.DescribeNodegroupOutput) error {
	if out.Nodegroup == nil || aws.ToString(out.Nodegroup.NodegroupName) != aws.ToString(in.NodegroupName) || out.Nodegroup.Status == "" {
		return lacking("DescribeNodegroup", "is not about the node group that was asked for, or lacks its status")
	}
	return nil
}
