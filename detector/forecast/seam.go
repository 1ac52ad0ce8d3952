package forecast

import (
	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
)

// What a Result of today leaves empty is derived here from what else is known.

// whenGone is what the absence of a resource means to the restored controllers. Of a
// Result that does not say it, the kind tells: CAPA stands still without its VPC or its
// load balancer (pkg/cloud/services/network/vpc.go and elb/loadbalancer.go v2.13.0),
// and makes NAT gateways and security groups again.
func whenGone(r *detector.ResourceState) infra.WhenGone {
	if r.WhenGone != "" {
		return r.WhenGone
	}
	switch r.Kind {
	case "VPC", "load balancer", "subnet":
		return infra.HaltsCluster
	case "NAT gateway", "security group":
		return infra.MadeAgain
	}
	return infra.FailsReplacement
}

// sizeNow is what a pool is set to where it is. A listing that does not hold it has its
// members.
func sizeNow(p *detector.PoolState) backup.Number {
	if !p.DesiredNow.Known && p.State == detector.Present {
		return backup.Number{N: int64(len(p.Now)), Known: true}
	}
	return p.DesiredNow
}

// finds is what the machine's controller takes for its instance.
func (f *facts) finds() detector.Finds {
	r := f.restore()
	switch {
	case f.verdict.Finds != detector.FindsUnknown:
		return f.verdict.Finds
	case f.machine == nil || f.claim != nil && f.claim.InfraMissing:
		return detector.FindsUnknown
	case f.healthy() && f.verdict.ByID && (r == nil || !r.ByName), r == nil && !f.healthy():
		return detector.FindsByID
	case f.healthy() && (f.misnamed() || f.off() && f.cluster.controller.RunningOnly):
		return detector.FindsNothing
	case f.healthy():
		return detector.FindsByName
	case f.stale() && r.ByName && !f.unprovisioned():
		return detector.FindsNothing
	}
	return detector.FindsUnknown
}

// misnamed reports whether the instance is not where its name says.
func (f *facts) misnamed() bool {
	if f.warned("Renamed") || f.warned("Moved") {
		return true
	}
	i := f.verdict.Instance
	return f.cluster.controller.RunningOnly && i != nil && f.machine != nil && i.Name != "" && i.Name != f.machine.Infrastructure.Name
}
