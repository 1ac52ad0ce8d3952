package aws

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

var rowP15 = &walk.Row{
	ID: "aws.P15", Of: poolKind,
	Asks:      "the mixed instances policy of the group and its subnets, which are to be those of spec",
	None:      walk.OwnerHalts.Says("CAPA's comparison panics, or it finds no subnet in a zone, and nothing is done for the pool"),
	Differs:   walk.Replaces.Says("CAPA sets the group to the backup's policy and subnets: AWS replaces members that are in a zone without one, spreads the others again, and replaces them where another part of them is to be on demand"),
	Refused:   "autoscaling groups",
	Condition: code.PoolsUncompared,
	Source:    "updatePool, diffASG: exp/controllers/awsmachinepool_controller.go; SubnetIDs: pkg/cloud/services/autoscaling/autoscalinggroup.go v2.3.0 to v2.13.0",
}

var rowP2 = &walk.Row{
	ID: "aws.P2", Of: poolKind,
	Asks:     "no subnet in a local or Wavelength zone where the launch template enables enclaves, for an AWSManagedMachinePool with spec.awsLaunchTemplate too",
	Differs:  walk.OwnerHalts.Says("CAPA sets no size and replaces no member of the pool until it asks for one of both alone"),
	Versions: "v2.13 and later",
	Source:   "validateEnclaveEdgeZones: exp/controllers/helpers.go; reconcileNormal: exp/controllers/awsmachinepool_controller.go, awsmanagedmachinepool_controller.go v2.13.0",
}

var rowP20 = &walk.Row{
	ID: "aws.P20", Of: poolKind,
	Asks:      "the bounds of the group and its capacity rebalancing, which are to be minSize, maxSize and capacityRebalance",
	Differs:   walk.Does{Effect: walk.Writes, What: "CAPA sets them back, and an autoscaler can go no further than that", Code: code.ChangesUndone},
	Condition: conditionAsked,
	Source:    "diffASG: exp/controllers/awsmachinepool_controller.go; UpdateASG: pkg/cloud/services/autoscaling/autoscalinggroup.go v2.0.0 to v2.13.0",
}

// enclosed asks P2.
func (objs *objects) enclosed(p *pool) walk.Answer {
	var want templateSpec
	s, d := objs.locations[p.cluster], &p.record.Data
	if _ = json.Unmarshal([]byte(d.Template), &want); want.Enclave == nil || !want.Enclave.Enabled || s.record == nil {
		return pass
	}
	ids, _ := d.named()
	ids = append(ids, d.Subnets...)
	zones := textsIn(d.Zones)
	for _, n := range s.specSubnets() {
		if id := cmp.Or(n.ResourceID, n.ID); n.edge() && (slices.Contains(ids, id) || slices.Contains(zones, n.AvailabilityZone)) {
			return answer(walk.Differs, p.object(), fmt.Sprintf("%s enables enclaves, and subnet %s is in a %s", p.object(), id, n.ZoneType), "does not enable them, or names another subnet and zone")
		}
	}
	return pass
}

// named returns the ids of spec.subnets, and whether filters choose others.
func (d *awsPool) named() (ids []string, filtered bool) { return chosen(d.PoolSubnets) }

// chosen returns the ids in a list of references in JSON, and whether filters choose others
// (AWSResourceReference in api/v1beta2/types.go v2.13.0).
func chosen(references string) (ids []string, filtered bool) {
	var all []struct {
		ID      string          `json:"id"`
		Filters json.RawMessage `json:"filters"`
	}
	_ = json.Unmarshal([]byte(references), &all)
	for _, n := range all {
		switch {
		case n.ID != "":
			ids = append(ids, n.ID)
		case n.Filters != nil:
			filtered = true
		}
	}
	return ids, filtered
}

// bounded asks P20.
func (p *pool) bounded(f *ASGFact, object string) walk.Answer {
	d := &p.record.Data
	other := func(want backup.Number, is int32) bool { return want.Known && want.N != int64(is) }
	switch {
	case f.Min == nil || f.Max == nil:
		return walk.Answer{Found: walk.Unseen, Objects: []string{p.title()}}
	case other(d.Min, *f.Min), other(d.Max, *f.Max):
		return answer(walk.Differs, object, fmt.Sprintf("%s allows %d to %d members, and %s %d to %d", object, *f.Min, *f.Max, p.object(), d.Min.N, d.Max.N), "allows the same")
	case d.Rebalance != f.Rebalance:
		return answer(walk.Differs, object, fmt.Sprintf("%s rebalances capacity: %t, and %s says %t", object, f.Rebalance, p.object(), d.Rebalance), "is as the object says")
	}
	return pass
}

// placed asks P15.
func (q *questions) placed(at *place, p *pool, f *ASGFact, object string) walk.Answer {
	d := &p.record.Data
	switch given := d.Mixed != "" && d.Mixed != "null"; {
	case given && !f.Mixed && !strings.Contains(d.Mixed, `"instancesDistribution"`):
		return answer(walk.None, object, object+" has no mixed instances policy", "has one")
	case given != f.Mixed: // UpdateASG in pkg/cloud/services/autoscaling/autoscalinggroup.go v2.11.1
		return answer(walk.Differs, object, fmt.Sprintf("%s has a mixed instances policy: %t, and %s says %t", object, f.Mixed, p.object(), given), "is as the object says")
	}
	var policy *MixedPolicy
	if _ = json.Unmarshal([]byte(d.Mixed), &policy); policy != nil && f.Mixed {
		switch {
		case f.Policy == nil:
			return walk.Answer{Found: walk.Unseen, Objects: []string{p.title()}}
		case policy.differs(f.Policy):
			return answer(walk.Differs, object, fmt.Sprintf("the mixed instances policy of %s is another one than that of %s", object, p.object()), "has the same policy")
		}
	}
	want, lacking := q.objs.poolSubnets(at, p)
	switch {
	case lacking != "":
		return answer(walk.None, p.object(), fmt.Sprintf("%s is to be in zone %s, where its cluster has no such subnet", p.object(), lacking), "its cluster has one there, or it is not to be there")
	case want == nil || f.Subnets == nil:
		return walk.Answer{Found: walk.Unseen, Objects: []string{p.title()}}
	case !slices.Equal(want, f.Subnets):
		return answer(walk.Differs, object, fmt.Sprintf("%s is in the subnets %s, and %s specifies %s", object, list(f.Subnets), p.object(), list(want)), "is in the same subnets")
	}
	return pass
}

// differs reports whether CAPA sets another policy than a group has. AWS replaces running members
// where the base or the percentage changes (InstancesDistribution in the API of EC2 Auto Scaling); what
// the spec does not say stays (diffASG in exp/controllers/awsmachinepool_controller.go v2.3.0 to v2.13.0).
func (m *MixedPolicy) differs(have *MixedPolicy) bool {
	d, h := m.Distribution, have.Distribution
	other := func(want, is *int32) bool { return want != nil && (is == nil || *is != *want) }
	return d.OnDemand != "" && d.OnDemand != h.OnDemand || d.Spot != "" && d.Spot != h.Spot ||
		other(d.Base, h.Base) || other(d.Percentage, h.Percentage) || !slices.Equal(m.Overrides, have.Overrides)
}

// poolSubnets returns the ids of the subnets that CAPA wants a group to be in, sorted: those of spec,
// those in its zones or in the MachinePool's, else the cluster's private ones; or a zone that has none.
// They are nil where filters choose them, or nobody knows (SubnetIDs in
// pkg/cloud/services/autoscaling/autoscalinggroup.go, Place in pkg/cloud/scope/shared.go v2.3.0 to v2.13.0).
func (objs *objects) poolSubnets(at *place, p *pool) (ids []string, lacking string) {
	ids, filtered := p.record.Data.named()
	if filtered {
		return nil, ""
	}
	if ids == nil {
		ids, lacking = objs.zoneSubnets(at, p)
	}
	slices.Sort(ids)
	return slices.Compact(ids), lacking
}

func (objs *objects) zoneSubnets(at *place, p *pool) (ids []string, lacking string) {
	s := objs.locations[p.cluster]
	if s.record == nil || len(s.specSubnets()) == 0 { // CAPA has not written them
		return nil, ""
	}
	real, _, _ := read[[]SubnetFact](at, FactSubnets, s.vpc, s.vpc)
	zones, kind := textsIn(p.record.Data.Zones), p.record.Data.SubnetType
	if zones == nil {
		zones = textsIn(p.zones)
	}
	if zones == nil {
		zones, kind = []string{""}, privateType
	}
	for _, zone := range zones {
		found := zone == ""
		for _, n := range s.specSubnets() {
			switch {
			case zone != "" && n.AvailabilityZone == "":
				return nil, "" // it is in any
			case zone != "" && n.AvailabilityZone != zone || !n.isOf(kind):
				continue
			}
			found = true
			if !n.edge() {
				ids = append(ids, n.idIn(real))
			}
		}
		if !found {
			return nil, zone
		}
	}
	return ids, ""
}

// Values of spec.availabilityZoneSubnetType (AZSubnetType in exp/api/v1beta2/types.go v2.13.0).
const (
	privateType = "private"
	publicType  = "public"
)

// isOf reports whether CAPA takes the subnet for one of a type.
func (n *specSubnet) isOf(kind string) bool {
	switch kind {
	case privateType:
		return n.private()
	case publicType:
		return n.public()
	}
	return true
}

func textsIn(list string) (all []string) {
	_ = json.Unmarshal([]byte(list), &all)
	return all
}

// given reports whether a list in JSON holds anything.
func given(text string) bool {
	var all []json.RawMessage
	return json.Unmarshal([]byte(text), &all) == nil && len(all) > 0
}
