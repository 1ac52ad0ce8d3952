package aws

import (
	"drift-detector/backup"
	"drift-detector/infra/walk"
)

// Rows of IAM roles. A role that its object does not name is not asked for: CAPA writes the name
// there before it looks for the role.
var (
	rowE3 = roleRow("aws.E3", planeKind, "reconcileControlPlaneIAMRole", walk.Halts.Says("CAPA creates the role if its feature gate EKSEnableIAM is on, else does nothing more for the cluster"))
	rowG3 = roleRow("aws.G3", managedPoolKind, "reconcileNodegroupIAMRole", walk.OwnerHalts.Says("CAPA creates the role if its feature gate EKSEnableIAM is on, else does nothing for the pool"))
	rowF1 = roleRow("aws.F1", fargateKind, "reconcileFargateIAMRole", walk.OwnerHalts.Says("CAPA creates the role if its feature gate EKSEnableIAM is on, else does nothing for the profile"))
)

func roleRow(id, of, function string, none walk.Does) *walk.Row {
	return &walk.Row{
		ID: id, Of: of,
		Asks:      "the IAM role that spec.roleName names",
		None:      none,
		Refused:   "IAM roles",
		Condition: conditionAsked,
		Source:    function + ": pkg/cloud/services/eks/roles.go v2.0.0 to v2.13.0",
	}
}

// askRole asks for a role of a subject.
func (q *questions) askRole(r *walk.Row, id backup.ClusterID, subject, role string) {
	object := "IAM role " + role
	if role == "" {
		q.Keep(walk.Step{Row: r, Cluster: id, Subject: subject, Machine: -1, Answer: walk.Answer{Found: walk.Unseen, Objects: []string{"the IAM role of " + subject}}})
		return
	}
	q.look(r, id, subject, func(p *place) walk.Answer {
		_, there, open := read[RoleFact](p, FactRole, role, object)
		switch {
		case open.Found != "":
			return open
		case !there:
			return answer(walk.None, object, object+" does not exist", "exists")
		}
		return pass
	})
}
