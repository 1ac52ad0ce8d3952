package aws

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
)

// rowW1 is a row of CAPA's webhooks, as are W2 and W3. They take a restored object for a new one, of which they
// refuse what they let pass as CAPA wrote it into one that was there, or what an older release took.
var rowW1 = &walk.Row{
	ID: "aws.W1", Of: clusterKind,
	Asks:    "the webhook of its object, as Velero creates it: in spec.network.vpc no cidrBlock beside ipamPool, nor one that is among the secondary ones, although CAPA writes it there itself; of EKS the same in spec.network.vpc.ipv6, a poolId there, spec.secondaryCidrBlock among those of the VPC, and the creator as an administrator with authentication mode config_map; in an AWSCluster no IPv6 up to v2.10",
	Differs: walk.Halts.Says("CAPA's webhook refuses it as Velero creates it, and refused no change: the object does not come back, and nothing is done for the cluster"),
	Refused: "the release of CAPA, which the backup does not show, where an AWSCluster has IPv6",
	Source: "validateNetwork, validateAccessConfigCreate, called by ValidateCreate alone: api/v1beta2/awscluster_webhook.go, controlplane/eks/api/v1beta2/awsmanagedcontrolplane_webhook.go v2.0.0 to v2.10.3, webhooks, controlplane/eks/webhooks v2.11.0 to v2.11.1; " +
		"what writes it: reconcileVPC: pkg/cloud/services/network/vpc.go, which keeps spec.network.vpc.ipamPool from v2.3.0 on, and that of ipv6 from v2.11.0 on; reconcileSubnets: subnets.go",
}

// byModifier says what takes away that for which the webhook refuses an object.
const byModifier = " (a resource modifier of the restore takes it away)"

// vpcSpec is what the webhook asks of spec.network.vpc.
type vpcSpec struct {
	CIDRBlock string
	IPAMPool  *struct{}
	IPv6      *struct {
		CIDRBlock, PoolID string
		IPAMPool          *struct{}
	}
	SecondaryCIDRBlocks []struct{ IPv4CIDRBlock string }
}

// askCreated asks W1.
func (q *questions) askCreated(id backup.ClusterID, s *clusterLocation) {
	var vpc vpcSpec
	if text := s.record.Data.VPCSpec; text != "" && json.Unmarshal([]byte(text), &vpc) != nil {
		q.Note(rowW1, id, walk.Answer{Found: walk.Unread, Why: "spec.network.vpc of " + s.title() + " is of another form", Objects: []string{s.title()}})
		return
	}
	release := q.releases[id.Backup]
	six := s.kind == clusterKind && (vpc.IPv6 != nil || slices.ContainsFunc(s.specSubnets(), func(n specSubnet) bool { return n.IsIPv6 || n.IPv6CIDRBlock != "" }))
	switch why, until := s.refused(&vpc); {
	case why != "":
		q.Note(rowW1, id, answer(walk.Differs, s.title(), s.title()+" "+why, "comes back "+until))
	case six && release == nil:
		q.Note(rowW1, id, walk.Answer{Found: walk.Unread, Why: s.title() + " has IPv6, which CAPA up to v2.10 refuses to create, and the backup does not show which release ran", Objects: []string{s.title()}})
	case six && release.LessThan(version.MustParseGeneric("2.11")):
		q.Note(rowW1, id, answer(walk.Differs, s.title(), fmt.Sprintf("%s has IPv6, and CAPA v%s takes none there", s.title(), release),
			"comes back without IPv6 in spec.network, which CAPA writes again"+byModifier))
	default:
		q.Note(rowW1, id, pass)
	}
}

// refused returns why the webhook refuses the object of a cluster in all releases, and how it has to come
// back; empty when it does not.
func (s *clusterLocation) refused(vpc *vpcSpec) (why, until string) {
	d := &s.record.Data
	var secondary []string
	for _, b := range vpc.SecondaryCIDRBlocks {
		secondary = append(secondary, b.IPv4CIDRBlock)
	}
	six, without := vpc.IPv6, "without spec.network.vpc.cidrBlock, which CAPA writes again"+byModifier
	switch {
	case vpc.CIDRBlock != "" && vpc.IPAMPool != nil && s.kind == clusterKind:
		return "has cidrBlock beside ipamPool in spec.network.vpc", without
	case vpc.CIDRBlock != "" && (vpc.CIDRBlock == d.SecondaryCIDR || slices.Contains(secondary, vpc.CIDRBlock)):
		return "has the CIDR block of its VPC among the secondary ones, too", without
	case s.kind != planeKind:
	case six != nil && six.IPAMPool != nil && six.CIDRBlock+six.PoolID != "":
		return "has cidrBlock or poolId beside ipamPool in spec.network.vpc.ipv6", "without cidrBlock and poolId there, which CAPA writes again" + byModifier
	case six != nil && six.CIDRBlock != "" && six.PoolID == "":
		return "has cidrBlock without poolId in spec.network.vpc.ipv6", "without cidrBlock there, which CAPA writes again" + byModifier
	case d.SecondaryCIDR != "" && secondary != nil && !slices.Contains(secondary, d.SecondaryCIDR):
		return "has a spec.secondaryCidrBlock that spec.network.vpc.secondaryCidrBlocks lacks", "with it there, too (by a resource modifier of the restore)"
	case d.BootstrapAdmin == "false" && strings.EqualFold(d.EKS.Mode, "config_map"):
		return "has spec.accessConfig.bootstrapClusterCreatorAdminPermissions false with authentication mode config_map", "without it" + byModifier
	}
	return "", ""
}

// releases returns the release of CAPA that ran when a backup was taken, where that is known and is one.
func releases(s *backup.Snapshot) map[int]*version.Version {
	one := map[int]*version.Version{}
	for n := range s.Backups {
		for _, p := range check.Installed(s, n) {
			if p.Type != "infrastructure" || p.Name != "aws" {
				continue
			}
			v, err := version.ParseGeneric(p.Version)
			if _, several := one[n]; several || err != nil {
				v = nil
			}
			one[n] = v
		}
	}
	return one
}

// Rows of dedicated hosts, which CAPA's webhooks ask of a restored object as W1 does.
var (
	rowW2 = &walk.Row{
		ID: "aws.W2", Of: machineKind,
		Asks:     "its webhook, as Velero creates it: tenancy host beside a host or hostAffinity host, which v2.10.0 wrote into every AWSMachine as the default, and from v2.11 on hostAffinity host beside dynamicHostAllocation",
		Differs:  walk.Waits.Says("CAPA's webhook refuses it as Velero creates it: the object does not come back, and nothing is done for the machine"),
		Versions: "v2.10.2 and later",
		Source:   "validateHostAllocation, by ValidateCreate: api/v1beta2/awsmachine_webhook.go v2.10.2 to v2.10.3, webhooks/awsmachine_webhook.go v2.11.0 to v2.11.1; validateHostAllocationUpdate, which lets the default be: v2.11.1; the default: config/crd/bases v2.10.0; getting on without tenancy: runInstance: pkg/cloud/services/ec2/instances.go",
	}
	rowW3 = &walk.Row{
		ID: "aws.W3", Of: templateKind,
		Asks:     "its webhook, as Velero creates it: as of an AWSMachine, and a host where it has hostAffinity host",
		Differs:  walk.OwnerHalts.Says("CAPA's webhook refuses the template as Velero creates it: it does not come back, and its owner makes and replaces no machine"),
		Versions: "v2.10.2 and later",
		Source:   "validateHostAllocation, by ValidateCreate alone: api/v1beta2/awsmachinetemplate_webhook.go v2.10.2 to v2.10.3, webhooks/awsmachinetemplate_webhook.go v2.11.0 to v2.11.1",
	}
)

// asked answers W2 and W3 of an object that a release creates. There is no Until: no line of the plan
// mends what does not come back.
func (h *hosting) asked(release *version.Version, object string, template bool) walk.Answer {
	since := func(v string) bool { return release == nil || !release.LessThan(version.MustParseGeneric(v)) }
	pinned, named := h.Affinity == "host", h.Host != "" || h.Allocation != ""
	why := ""
	switch {
	case !since("2.10.2"):
	case (pinned || named) && h.Tenancy != "host":
		why = "has hostAffinity host, or a host, without tenancy host"
	case h.Allocation != "" && !pinned && since("2.11"):
		why = "has dynamicHostAllocation without hostAffinity host"
	case template && pinned && !named:
		why = "has hostAffinity host, and no host"
	}
	if why == "" {
		return pass
	}
	return walk.Answer{Found: walk.Differs, Why: object + " " + why + ", unless a resource modifier of the restore changes that", Objects: []string{object}}
}

// askTemplates asks W3 of the templates of owners of machines. A MachineSet of a MachineDeployment has its
// template, or needs none.
func (q *questions) askTemplates() {
	all := capi.Index(templates.In(q.objs.snapshot))
	ask := func(m *backup.Meta, id backup.ClusterID, kind string, ref backup.Ref) {
		t := all[capi.Referred(m.Backup, m.Namespace, ref)]
		if ref.Kind != templateKind || t == nil {
			return
		}
		a := t.Data.asked(q.releases[m.Backup], fmt.Sprintf("%s %s/%s", templateKind, t.Namespace, t.Name), true)
		q.Keep(walk.Step{Row: rowW3, Cluster: id, Subject: fmt.Sprintf("%s %s/%s", kind, m.Namespace, m.Name), Machine: -1, Answer: a})
	}
	for i := range q.objs.snapshot.Groups {
		if g := &q.objs.snapshot.Groups[i]; g.Deployment == "" {
			ask(&g.Meta, g.Cluster, g.Kind, g.Infrastructure)
		}
	}
	for i := range q.objs.snapshot.ControlPlanes {
		p := &q.objs.snapshot.ControlPlanes[i]
		ask(&p.Meta, p.Cluster, p.Kind, p.Infrastructure)
	}
}
