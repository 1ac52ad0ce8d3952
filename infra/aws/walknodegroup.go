package aws

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of AWSManagedMachinePool. Whether the node group exists is said of the pool.
var (
	rowG2 = &walk.Row{
		ID: "aws.G2", Of: managedPoolKind,
		Asks:      "the launch template of spec.awsLaunchTemplate, as an AWSMachinePool does",
		None:      walk.Does{Effect: walk.Replaces, What: "CAPA creates another template, and has EKS replace all nodes"},
		Differs:   walk.Replaces.Says("CAPA creates a new version of the template, and has EKS replace all nodes"),
		Refused:   "launch templates",
		Condition: code.PoolsUncompared,
		Source:    "ReconcileLaunchTemplate: pkg/cloud/services/ec2/launchtemplate.go; reconcileNodegroupVersion: pkg/cloud/services/eks/nodegroup.go v2.3.0 to v2.13.0",
	}
	rowG4 = &walk.Row{
		ID: "aws.G4", Of: managedPoolKind,
		Asks:      "the tag kubernetes.io/cluster/CLUSTER of the node group",
		Differs:   walk.OwnerHalts.Says("CAPA takes it for another's, and does nothing for the pool"),
		Refused:   "EKS node groups",
		Condition: code.PoolsUncompared,
		Source:    "reconcileNodegroup: pkg/cloud/services/eks/nodegroup.go v2.0.0 to v2.13.0",
	}
	rowG5 = &walk.Row{
		ID: "aws.G5", Of: managedPoolKind,
		Asks:    "the status of the node group",
		Differs: walk.OwnerHalts.Says("CAPA goes no further with the pool, or the pool does not become ready"),
		Source:  "setStatus: pkg/cloud/services/eks/nodegroup.go v2.0.0 to v2.13.0",
	}
	rowG8 = &walk.Row{
		ID: "aws.G8", Of: managedPoolKind,
		Asks:    "Kubernetes version, release and launch template version of the node group, which are not to be behind the backup's",
		None:    walk.OwnerHalts.Says("CAPA compares the template of a node group that has none, and panics: nothing is done for the pool"),
		Differs: walk.Replaces.Says("CAPA has EKS replace all nodes"),
		Source:  "reconcileNodegroupVersion: pkg/cloud/services/eks/nodegroup.go v2.0.0 to v2.13.0",
	}
	rowG9 = &walk.Row{
		ID: "aws.G9", Of: managedPoolKind,
		Asks:      "labels, taints, bounds, repair and update configuration of the node group, and its size, which is to be replicas unless an autoscaler sets it, within spec.scaling",
		Several:   walk.OwnerHalts.Says("AWS refuses a size that is outside of its bounds, and nothing more is done for the pool"),
		Differs:   walk.Does{Effect: walk.Writes, What: "CAPA writes what the backup has, and takes off other labels and taints", Code: code.ChangesUndone},
		Condition: conditionAsked,
		Source:    "reconcileNodegroupConfig: pkg/cloud/services/eks/nodegroup.go v2.0.0 to v2.13.0",
	}
	rowG10 = &walk.Row{
		ID: "aws.G10", Of: managedPoolKind,
		Asks:      "the bootstrap data in the launch template of spec.awsLaunchTemplate: of another text CAPA creates a new version, and has EKS replace all nodes",
		Condition: code.PoolsUncompared,
		Source:    "ReconcileLaunchTemplate: pkg/cloud/services/ec2/launchtemplate.go; reconcileNodegroupVersion: pkg/cloud/services/eks/nodegroup.go v2.3.0 to v2.13.0",
	}
	nodegroupRows = []*walk.Row{rowG2, rowG3, rowG4, rowG5, rowG8, rowG9, rowG10}
)

// unsound are the statuses after which CAPA goes no further.
var unsound = []string{"DEGRADED", "CREATE_FAILED", "DELETE_FAILED", "DELETING"}

// askNodegroup asks for the node group of a pool.
func (q *questions) askNodegroup(p *pool) {
	n := q.objs.nodegroupName(p)
	object := fmt.Sprintf("EKS node group %s/%s", n.Cluster, n.Name)
	of := func(ask func(*place, *NodegroupFact) walk.Answer, first bool) func(*place) walk.Answer {
		return func(at *place) walk.Answer {
			f, there, open := read[NodegroupFact](at, FactNodegroup, infra.Join(n.Cluster, n.Name), object)
			if open.Objects != nil {
				open.Objects = []string{p.title()}
			}
			switch {
			case open.Found != "" && first:
				return open
			case open.Found != "" || !there:
				return walk.Answer{}
			}
			return ask(at, &f)
		}
	}
	if p.record.Data.Template == "" {
		q.notePool(rowG10, p, pass)
	} else {
		q.notePool(rowG10, p, walk.Answer{Found: walk.Unseen, Objects: []string{p.title()}})
	}
	q.askRole(rowG3, p.cluster, p.title(), p.record.Data.Role)
	q.look(rowG4, p.cluster, p.title(), of(func(_ *place, f *NodegroupFact) walk.Answer {
		if !slices.Contains(f.Owners, p.cluster.Name) {
			return answer(walk.Differs, object, fmt.Sprintf("%s lacks the tag %s%s", object, TagCloud, p.cluster.Name), "has the tag")
		}
		return pass
	}, true))
	q.look(rowG5, p.cluster, p.title(), of(func(_ *place, f *NodegroupFact) walk.Answer {
		if slices.Contains(unsound, f.Status) {
			return answer(walk.Differs, object, fmt.Sprintf("%s is %s", object, f.Status), "is ACTIVE")
		}
		return pass
	}, false))
	if p.record.Data.Template != "" {
		q.askNodeData(p)
		q.askTemplate(p, rowG2, rowG2, rowG2)
	}
	q.look(rowG8, p.cluster, p.title(), of(func(at *place, f *NodegroupFact) walk.Answer { return q.versioned(at, p, f, object) }, false))
	q.look(rowG9, p.cluster, p.title(), of(func(_ *place, f *NodegroupFact) walk.Answer { return p.configured(f, object) }, false))
}

// askNodeData asks P4 of a node group, whose template has the bootstrap data of its MachinePool.
func (q *questions) askNodeData(p *pool) {
	switch {
	case p.group.BootstrapSecret != "":
		q.askBootstrap(p)
	case p.group.Bootstrap.IsZero():
		q.notePool(rowP4, p, answer(walk.None, p.title(), p.title()+" names no bootstrap data, which its launch template needs", "names it"))
	}
}

// versioned asks G8.
func (q *questions) versioned(at *place, p *pool, f *NodegroupFact, object string) walk.Answer {
	d := &p.record.Data
	switch {
	case d.Template != "" && !f.HasTemplate:
		return answer(walk.None, object, object+" has no launch template, and "+p.object()+" specifies one", "has one")
	case older(f.Version, p.group.Version):
		return answer(walk.Differs, object, fmt.Sprintf("%s has version %s, and %s specifies %s", object, f.Version, p.title(), p.group.Version), "has it")
	case d.AMIVersion != "" && d.AMIVersion != f.Release:
		return answer(walk.Differs, object, fmt.Sprintf("%s has release %s, and %s specifies %s", object, f.Release, p.object(), d.AMIVersion), "has it")
	}
	if d.Template != "" {
		t, there, _ := read[TemplateFact](at, FactTemplate, q.objs.templateName(p), object)
		if newest := strconv.FormatInt(t.Version, 10); there && newest != f.Template {
			return answer(walk.Differs, object, fmt.Sprintf("%s has version %s of its launch template, and the newest is %s", object, f.Template, newest), "has the newest")
		}
	}
	return pass
}

// configured asks G9. EKS refuses a size outside of the bounds: that of the backup, or the one
// that an autoscaler has set.
func (p *pool) configured(f *NodegroupFact, object string) walk.Answer {
	d := &p.record.Data
	size, whose := int64(f.Desired), object+" is set to"
	if p.managedBy == "" && p.desired.Known {
		size, whose = p.desired.N, p.title()+" specifies"
	}
	var bounds *struct{ MinSize, MaxSize int64 }
	if _ = json.Unmarshal([]byte(d.Scaling), &bounds); bounds != nil && (size > bounds.MaxSize || size < bounds.MinSize) {
		return answer(walk.Several, object, fmt.Sprintf("%s %d, and %s allows %d to %d", whose, size, p.object(), bounds.MinSize, bounds.MaxSize), "is within them")
	}
	var update UpdateConfig
	_ = json.Unmarshal([]byte(d.Update), &update)
	labels, taints := map[string]string{}, []Taint{}
	_ = json.Unmarshal([]byte(d.Labels), &labels)
	_ = json.Unmarshal([]byte(d.Taints), &taints)
	switch {
	case !maps.Equal(labels, f.Labels):
		return answer(walk.Differs, object, object+" has other labels than "+p.object(), "has the same")
	case !slices.Equal(TaintTexts(taints), f.Taints):
		return answer(walk.Differs, object, fmt.Sprintf("%s has the taints %s, and %s specifies %s", object, list(f.Taints), p.object(), list(TaintTexts(taints))), "has the same")
	case f.Max == 0:
		return walk.Answer{Found: walk.Unseen, Objects: []string{p.title()}}
	case bounds != nil && (bounds.MinSize != int64(f.Min) || bounds.MaxSize != int64(f.Max)):
		return answer(walk.Differs, object, fmt.Sprintf("%s allows %d to %d nodes, and %s %d to %d", object, f.Min, f.Max, p.object(), bounds.MinSize, bounds.MaxSize), "allows the same")
	case update != UpdateConfig{} && update != f.Update, f.Repair != d.Repair:
		return answer(walk.Differs, object, object+" has another update or repair configuration than "+p.object(), "has the same")
	}
	return pass
}
