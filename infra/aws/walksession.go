package aws

import (
	"fmt"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of the session with AWS, which every controller of CAPA wants before all else.
var (
	rowS1 = &walk.Row{
		ID: "aws.S1", Of: clusterKind,
		Asks:    "the identity that spec.identityRef names, of a kind that is known; without one the controller's own, default",
		Differs: walk.Halts.Says("CAPA has no session and does nothing for the cluster"),
		Source:  "buildProvidersForRef: pkg/cloud/scope/session.go v2.0.0 to v2.13.0",
	}
	rowS2 = &walk.Row{
		ID: "aws.S2", Of: clusterKind,
		Asks:    "the name of an AWSClusterControllerIdentity, which must be default",
		Differs: walk.Halts.Says("CAPA takes no other, has no session and does nothing for the cluster"),
		Source:  "buildAWSClusterControllerIdentity: pkg/cloud/scope/session.go v2.0.0 to v2.13.0",
	}
	rowS5 = &walk.Row{
		ID: "aws.S5", Of: clusterKind,
		Asks:    "spec.allowedNamespaces of every identity in the chain, which must let the cluster's namespace",
		Differs: walk.Halts.Says("CAPA has no session and does nothing for the cluster"),
		Refused: "the Namespace, which the backup lacks",
		Source:  "isClusterPermittedToUsePrincipal: pkg/cloud/scope/session.go v2.0.0 to v2.13.0",
	}
	rowS6 = &walk.Row{
		ID: "aws.S6", Of: clusterKind,
		Asks:      "a login with the keys in the Secret of an AWSClusterStaticIdentity, and the roles that are assumed with it",
		None:      walk.Halts.Says("CAPA has no session and does nothing for the cluster"),
		Differs:   walk.Halts.Says("CAPA cannot log in and does nothing for the cluster"),
		Condition: code.CredentialUntried,
		Source:    "buildAWSClusterStaticIdentity, sessionForClusterWithRegion: pkg/cloud/scope/session.go v2.0.0 to v2.13.0",
	}
	rowS7 = &walk.Row{
		ID: "aws.S7", Of: clusterKind,
		Asks:    "spec.roleARN of every AWSClusterRoleIdentity in the chain, and what it is assumed with, which must not be itself",
		Differs: walk.Halts.Says("CAPA has no session and does nothing for the cluster"),
		Source:  "buildProvidersForRef: pkg/cloud/scope/session.go v2.0.0 to v2.13.0",
	}
	rowS9 = &walk.Row{
		ID: "aws.S9", Of: clusterKind,
		Asks:      "a login of the controller's own, with its Secret, its service account or its instance, and the roles that are assumed with it",
		Differs:   walk.Halts.Says("CAPA cannot log in and does nothing for the cluster"),
		Condition: code.ControllerLogin,
		Source:    "sessionForClusterWithRegion: pkg/cloud/scope/session.go; LoadDefaultConfig: aws-sdk-go-v2 config v2.0.0 to v2.13.0",
	}
	rowR1 = &walk.Row{
		ID: "aws.R1", Of: rosaKind,
		Asks:    "OpenShift Cluster Manager (OCM), with the login in spec.credentialsSecretRef, for the cluster and its machine pools",
		Refused: "OCM, which is not asked here, nor is its login looked for",
		Source:  "ocmCredentials: pkg/rosa/client.go; reconcileNormal: controlplane/rosa/controllers/rosacontrolplane_controller.go v2.4.0 to v2.13.0",
	}
	sessionRows = []*walk.Row{rowS1, rowS2, rowS5, rowS6, rowS7, rowS9, rowR1}
)

const rosaKind = "ROSAControlPlane"

// askROSA says of clusters of ROSA that nobody looks at what they are made of.
func (q *questions) askROSA() {
	for i := range q.objs.snapshot.Clusters {
		c := &q.objs.snapshot.Clusters[i]
		switch _, ours := q.objs.locations[c.ID()]; {
		case c.ControlPlane.Kind == rosaKind:
			object := fmt.Sprintf("%s %s/%s", rosaKind, c.Namespace, c.ControlPlane.Name)
			q.Note(rowR1, c.ID(), walk.Answer{Found: walk.Unread, Why: object + " is known to OCM alone, which is not asked here", Objects: []string{object}})
		case ours:
			q.Note(rowR1, c.ID(), pass)
		}
	}
}

// askSession asks whether CAPA has a session for a cluster.
func (q *questions) askSession(id backup.ClusterID, s *clusterLocation) {
	named := identityOf(id, s)
	if named.Kind == unknownIdentity {
		return // the cluster's own object is what is absent
	}
	chain := q.objs.chain(id.Backup, named)
	whole := q.askChain(id, named, chain)
	for _, at := range chain {
		switch p, why := q.objs.permission(id, at); p {
		case Allowed:
			q.Note(rowS5, id, pass)
		case Forbidden:
			q.Note(rowS5, id, answer(walk.Differs, at.Kind+" "+at.Name, why, "may be used"))
			whole = false
		default:
			q.Note(rowS5, id, walk.Answer{Found: walk.Unread, Why: why, Objects: []string{at.Kind + " " + at.Name}})
		}
	}
	if whole {
		q.askLogin(id, s, chain[len(chain)-1])
	}
}

// askChain asks of the identities whether they lead to a login, and reports whether they do.
func (q *questions) askChain(id backup.ClusterID, named identity, chain []identity) bool {
	if why := q.objs.mistake(id.Backup, named); why != "" {
		r := rowS7
		if named.Kind != roleIdentity {
			r = rowS1
		}
		q.Note(r, id, answer(walk.Differs, named.Kind+" "+named.Name, why, "may be used"))
		return false
	}
	q.Note(rowS1, id, pass)
	if named.Kind == roleIdentity {
		q.Note(rowS7, id, pass)
	}
	switch end := chain[len(chain)-1]; {
	case end.Kind != controllerIdentity:
		return q.objs.holds(id.Backup, end)
	case end.Name != defaultIdentity:
		q.Note(rowS2, id, answer(walk.Differs, end.Kind+" "+end.Name, "it is not called "+defaultIdentity, "is called "+defaultIdentity))
		return false
	}
	q.Note(rowS2, id, pass)
	return true
}

// askLogin asks the end of a chain. A controller whose Secret the backup lacks has another
// credential, which nobody else has.
func (q *questions) askLogin(id backup.ClusterID, s *clusterLocation, end identity) {
	at := infra.AccessAt{Cluster: id, Subject: infra.ClusterTitle(id), ID: s.target, With: fmt.Sprintf("%s %s", end.Kind, end.Name)}
	if end.Kind == staticIdentity {
		q.Steps = append(q.Steps, at.CredentialStep(rowS6))
		return
	}
	step := at.CredentialStep(rowS9)
	look := step.Look
	step.Look = func(inv *infra.Inventory) walk.Answer {
		l := inv.Named(s.target)
		if l != nil && inv.AccessFact(l, infra.FactOwn, s.target) == infra.OwnAbsent {
			return walk.Answer{Found: walk.Unseen, Objects: []string{at.With}}
		}
		return look(inv)
	}
	q.Steps = append(q.Steps, step)
}
