package vsphere

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of VSphereClusterIdentity and VSphereDeploymentZone, whose status.ready others wait for:
// a restore drops it.
var (
	rowI1 = &walk.Row{
		ID: "vsphere.I1", Of: identityKind,
		Asks:    "itself, which must not be paused",
		Differs: walk.Halts.Says("its status does not say after a restore that it is ready; CAPV does nothing for the cluster"),
		Source:  "Reconcile: controllers/vsphereclusteridentity_controller.go v1.10.0 to v1.16.1",
	}
	rowI3 = &walk.Row{
		ID: "vsphere.I3", Of: identityKind,
		Asks:    "its Secret, which no other VSphereClusterIdentity and no VSphereCluster may own",
		Several: walk.Halts.Says("the first that comes owns the Secret, the others never say that they are ready; CAPV does nothing for their clusters"),
		Source:  "Reconcile: controllers/vsphereclusteridentity_controller.go; IsOwnedByIdentityOrCluster: pkg/identity/identity.go v1.5.8 to v1.16.1",
	}
	rowZ1 = &walk.Row{
		ID: "vsphere.Z1", Of: zoneKind,
		Asks:    "itself, which must not be paused",
		Differs: walk.Halts.Says("its status does not say after a restore that it is ready; CAPV does nothing for the cluster"),
		Source:  "Reconcile: controllers/vspheredeploymentzone_controller.go; reconcileDeploymentZones: controllers/vspherecluster_reconciler.go v1.10.0 to v1.16.1",
	}
	rowZ2 = &walk.Row{
		ID: "vsphere.Z2", Of: zoneKind,
		Asks:   "its VSphereFailureDomain",
		None:   walk.Halts.Says("its status says neither that it is ready nor that it is not; CAPV does nothing for the clusters that select it"),
		Source: "reconcileNormal: controllers/vspheredeploymentzone_controller.go; reconcileDeploymentZones: controllers/vspherecluster_reconciler.go v1.10.0 to v1.16.1",
	}
	rowZ5 = &walk.Row{
		ID: "vsphere.Z5", Of: zoneKind,
		Asks:      "the tags of region and zone on its datacenter, compute cluster and hosts, which CAPV creates and attaches where autoConfigure is set",
		Condition: conditionNamed,
		Versions:  "up to v1.15",
		Source:    "createAndAttachMetadata: controllers/vspheredeploymentzone_controller_domain.go; CreateCategory: pkg/services/govmomi/metadata/metadata.go v1.5.8 to v1.15.3",
	}
	identityRows = []*walk.Row{rowI1, rowI3, rowZ1, rowZ2, rowZ5}
)

// Rows of VSphereCluster.
var (
	rowC4 = &walk.Row{
		ID: "vsphere.C4", Of: clusterKind,
		Asks:    "the Secret that it names, which no other VSphereCluster and no VSphereClusterIdentity may own",
		Several: walk.Halts.Says("the first that comes owns the Secret; CAPV does nothing for the other clusters"),
		Source:  "reconcileIdentitySecret: controllers/vspherecluster_reconciler.go v1.5.8 to v1.16.1",
	}
	rowC5 = &walk.Row{
		ID: "vsphere.C5", Of: clusterKind,
		Asks:    "the identity that it names, of a kind that is known, whose allowedNamespaces let it",
		Differs: walk.Halts.Says("CAPV has no credential and does nothing for the cluster"),
		Refused: "the Namespace or the identity, which the backup lacks",
		Source:  "GetCredentials: pkg/identity/identity.go v1.10.0 to v1.16.1",
	}
	rowC6 = &walk.Row{
		ID: "vsphere.C6", Of: clusterKind,
		Asks:      "a session with the credential in the backup",
		None:      walk.Halts.Says("CAPV has no credential and does nothing for the cluster"),
		Differs:   walk.Halts.Says("CAPV cannot log in and does nothing for the cluster"),
		Condition: code.CredentialUntried,
		Source:    "reconcileVCenterConnectivity: controllers/vspherecluster_reconciler.go; GetOrCreate: pkg/session/session.go v1.16.1",
	}
	rowC6b = &walk.Row{
		ID: "vsphere.C6b", Of: clusterKind,
		Asks:      "the certificate of vCenter, by the authorities of its image, else by spec.thumbprint; without that it takes any",
		Differs:   walk.Halts.Says("CAPV refuses the certificate and does nothing for the cluster"),
		Condition: code.CertificateUnchecked,
		Source:    "newClient: pkg/session/session.go v1.16.1; dialTLSContext: govmomi vim25/soap/client.go v0.53.0",
	}
	rowC6c = &walk.Row{
		ID: "vsphere.C6c", Of: clusterKind,
		Asks:      "the identity that it names; without one CAPV logs in with the Secret of its own installation, which is there before the restore",
		Condition: code.ControllerLogin,
		Source:    "reconcileVCenterConnectivity: controllers/vspherecluster_reconciler.go; main.go v1.5.8 to v1.16.1",
	}
	clusterRows = []*walk.Row{rowC4, rowC5, rowC6, rowC6b, rowC6c, rowC8}
)

// askCluster asks what the backup says of a cluster, and what its vCenter does.
func (q *questions) askCluster(id backup.ClusterID, c *backup.Record[vsphereCluster]) {
	objs, named := q.objs, q.objs.identityOf(id)
	q.askZones(id, c)
	switch {
	case mistake(named.Kind) != "":
		q.note(rowC5, id, answer(walk.Differs, named.Kind+" "+named.Name, mistake(named.Kind), "may be used"))
	case named.Kind == secretKind:
		q.note(rowC4, id, q.shared(id, c))
		q.note(rowC5, id, pass)
	}
	if shared := objs.sharedIdentity(c); shared != nil {
		q.askIdentity(id, c, shared)
	}
	q.askModules(id, c)
	at := infra.AccessAt{Cluster: id, Subject: clusterTitle(id), ID: objs.targetID(id, objs.server(c.Data.Server)), With: credentialTitle(named)}
	if objs.mayUse(id, c) {
		q.Steps = append(q.Steps, at.CredentialStep(rowC6))
	}
	own := pass
	if named.Kind == managerIdentity {
		own = walk.Answer{Found: walk.Unseen, Objects: []string{clusterKind + " " + c.Namespace + "/" + c.Name}}
	}
	q.note(rowC6c, id, own)
	object, target, pin := clusterKind+" "+c.Namespace+"/"+c.Name, at.ID, c.Data.Thumbprint // without the record
	q.look(rowC6b, id, func(inv *infra.Inventory) walk.Answer {
		return certificateAnswer(inv, inv.Named(target), object, pin)
	})
}

// mayUse reports whether a cluster has a credential by C5.
func (objs *objects) mayUse(id backup.ClusterID, c *backup.Record[vsphereCluster]) bool {
	shared := objs.sharedIdentity(c)
	if c.Data.IdentityKind == identityKind && shared == nil {
		return false // the identity itself is absent
	}
	if shared != nil {
		if why, _ := objs.excluded(c, shared); why != "" {
			return false
		}
	}
	return mistake(objs.identityOf(id).Kind) == ""
}

// askIdentity asks I1 and C5 of the identity that a cluster shares with others.
func (q *questions) askIdentity(id backup.ClusterID, c *backup.Record[vsphereCluster], shared *backup.Record[vsphereIdentity]) {
	object := identityKind + " " + shared.Name
	q.note(rowI1, id, whenPaused(object, shared.Paused))
	switch why, decided := q.objs.excluded(c, shared); {
	case why == "":
		q.note(rowC5, id, pass)
	case decided:
		q.note(rowC5, id, answer(walk.Differs, object, why, "may be used"))
	default:
		q.note(rowC5, id, walk.Answer{Found: walk.Unread, Why: why, Objects: []string{object}})
	}
	if others := q.objs.ofSecret()[capi.Object{Backup: shared.Backup, Namespace: managerSpace, Name: shared.Data.Secret}]; len(others) > 1 {
		q.note(rowI3, id, severalOwners(managerSpace, shared.Data.Secret, others))
	} else {
		q.note(rowI3, id, pass)
	}
}

func whenPaused(object string, paused bool) walk.Answer {
	if paused {
		return answer(walk.Differs, object, "it has the annotation "+clusterv1.PausedAnnotation, "is unpaused")
	}
	return pass
}

func severalOwners(namespace, secret string, owners []string) walk.Answer {
	object := fmt.Sprintf("Secret %s/%s", namespace, secret)
	a := answer(walk.Several, object, fmt.Sprintf("%d claim %s: %s", len(owners), object, strings.Join(owners[:min(3, len(owners))], ", ")), "belongs to one alone")
	a.Objects = append(a.Objects, owners...)
	return a
}

// shared asks C4: a Secret belongs to whatever comes first after a restore, which takes
// away its ownerReferences.
func (q *questions) shared(_ backup.ClusterID, c *backup.Record[vsphereCluster]) walk.Answer {
	owners := q.objs.ofSecret()[capi.Object{Backup: c.Backup, Namespace: c.Namespace, Name: c.Data.IdentityName}]
	if len(owners) > 1 {
		return severalOwners(c.Namespace, c.Data.IdentityName, owners)
	}
	return pass
}

// ofSecret returns the objects that claim each Secret, but for those that are paused. It is made once.
func (objs *objects) ofSecret() map[capi.Object][]string {
	if objs.secretOwners != nil {
		return objs.secretOwners
	}
	all := make(map[capi.Object][]string, len(objs.snapshot.Clusters))
	add := func(at capi.Object, owner string) {
		if !slices.Contains(all[at], owner) {
			all[at] = append(all[at], owner)
		}
	}
	for i := range objs.snapshot.Clusters {
		cluster := &objs.snapshot.Clusters[i]
		c := objs.vsphereCluster(cluster.ID())
		if c != nil && !cluster.Paused && !c.Paused && c.Data.IdentityKind == secretKind {
			add(capi.Object{Backup: c.Backup, Namespace: c.Namespace, Name: c.Data.IdentityName}, clusterKind+" "+c.Namespace+"/"+c.Name)
		}
	}
	for i := range identities.In(objs.snapshot).All() {
		if !i.Paused && i.Data.Secret != "" {
			add(capi.Object{Backup: i.Backup, Namespace: managerSpace, Name: i.Data.Secret}, identityKind+" "+i.Name)
		}
	}
	for at := range all {
		slices.Sort(all[at])
	}
	objs.secretOwners = all
	return all
}

func credentialTitle(i identity) string {
	switch {
	case i.Kind == managerIdentity:
		return secretKind + " " + managerSpace + "/" + managerSecret
	case i.Namespace == "":
		return i.Kind + " " + i.Name
	}
	return i.Kind + " " + i.Namespace + "/" + i.Name
}

// askZones asks Z1 and Z2 of the zones that a cluster selects at its vCenter, with machines
// in them or without.
func (q *questions) askZones(id backup.ClusterID, c *backup.Record[vsphereCluster]) {
	for z := range zones.In(q.objs.snapshot).All() {
		if z.Backup != c.Backup || z.Data.Server != c.Data.Server || !selectsZone(c.Data.Zones, z.Data.Labels) {
			continue
		}
		object := zoneKind + " " + z.Name
		q.note(rowZ1, id, whenPaused(object, z.Paused))
		domain := domainKind + " " + z.Data.Domain
		if q.objs.domains[capi.Object{Backup: z.Backup, Name: z.Data.Domain}] == nil {
			q.note(rowZ2, id, answer(walk.None, domain, fmt.Sprintf("%s of %s is not in the backup", domain, object), "exists"))
		} else {
			q.note(rowZ2, id, pass)
		}
	}
}

// selectsZone reports whether a selector in JSON selects labels in JSON. Without one CAPV
// asks for no zone; one that cannot be read selects any.
func selectsZone(selector, of string) bool {
	if selector == "" {
		return false
	}
	var s metav1.LabelSelector
	if err := json.Unmarshal([]byte(selector), &s); err != nil {
		return true
	}
	selects, err := metav1.LabelSelectorAsSelector(&s)
	return err != nil || selects.Matches(labels.Set(backup.Labels(of).Map()))
}

// askTags asks Z5 of all zones: CAPV does that for those that no cluster selects, too.
func (q *questions) askTags() {
	for z := range zones.In(q.objs.snapshot).All() {
		domain := q.objs.domainOf(z)
		if domain == nil || z.Paused {
			continue
		}
		a := pass
		if domain.Data.Region || domain.Data.Zone {
			a = walk.Answer{Found: walk.Unseen, Objects: []string{domainKind + " " + domain.Name}}
		}
		q.Keep(walk.Step{Row: rowZ5, Subject: zoneKind + " " + z.Name, Machine: -1, Answer: a})
	}
}

// certificateAnswer asks C6b of an object with a thumbprint. govmomi compares that only where no
// authority has signed the certificate: one of CAPV's image, and not of the machine that looked.
func certificateAnswer(inv *infra.Inventory, l *infra.Listing, object, thumbprint string) walk.Answer {
	switch {
	case l == nil:
		return walk.Answer{}
	case strings.TrimSpace(thumbprint) == "":
		return pass
	}
	long, short := inv.AccessFact(l, FactThumbprint, ""), inv.AccessFact(l, FactShort, "")
	switch pin := strings.TrimSpace(thumbprint); {
	case long == "" && l.State == code.ScopeFailed:
		return walk.Answer{}
	case strings.EqualFold(pin, long), strings.EqualFold(pin, short):
		return pass
	case long == "", inv.AccessFact(l, infra.FactCertificate, "") == infra.CertificateVerified:
		return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	}
	return answer(walk.Differs, object, fmt.Sprintf("%s pins %s, and vCenter %s shows %s", object, infra.Brief(thumbprint), l.Endpoint, long), "has the thumbprint of the certificate that vCenter shows")
}
