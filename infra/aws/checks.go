package aws

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"drift-detector/backup"
	"drift-detector/backup/readiness"
	"drift-detector/infra"
)

var (
	ruleCredential = readiness.Rule{
		Code: "CredentialAbsent", Severity: readiness.Error,
		Why: "CAPA can't log in to AWS: after the restore nothing of these clusters is reconciled.",
		Do:  "create the Secret by hand before the clusters are unpaused; a controller that gets its credential from its service account or its instance needs none; use credentials of your own for drift-detector detect with --aws-profile or --aws-ambient",
	}
	ruleForbidden = readiness.Rule{
		Code: "IdentityForbidden", Severity: readiness.Error,
		Why: "CAPA refuses the identity to clusters of that namespace (pkg/cloud/scope/session.go): after the restore nothing of them is reconciled.",
		Do:  "correct spec.allowedNamespaces of the identity, or the labels of the Namespace, before the clusters are unpaused",
	}
	ruleMaybeForbidden = readiness.Rule{
		Code: "IdentityForbidden", Severity: readiness.Warning, Why: ruleForbidden.Why, Do: ruleForbidden.Do,
	}
	ruleKubeconfig = readiness.Rule{
		Code: "KubeconfigNotAdopted", Severity: readiness.Error,
		Why: "A restore takes ownerReferences away, and CAPA refuses a kubeconfig that its AWSManagedControlPlane does not own (pkg/cloud/services/eks/config.go): the control plane is never ready again. Without the Secret CAPA makes a new one.",
		Do:  "leave the Secret out of the restore (velero restore create --exclude-resources or a label selector), or delete it after the restore, before the cluster is unpaused",
	}
	ruleBootstrap = readiness.Rule{
		Code: "BootstrapDataAbsent", Severity: readiness.Warning,
		Why: "The AWSMachine records no instance: CAPA looks for one by its tags, and where it finds none that runs, it can't launch one without the bootstrap data.",
		Do:  "see whether its instance runs (drift-detector detect tells); if not, delete the Machine after the restore, so that its owner makes another",
	}
)

// servedVersions are CAPA's: it served v1alpha3 and v1alpha4 up to v1.5 and v1beta1 up
// to v2.3 (config/crd/bases v1.5.5, v2.0.0, v2.3.0, v2.4.0).
var servedVersions = []readiness.ServedVersion{
	{Version: "v1alpha3", Until: "Cluster API Provider AWS serves it up to release v1.5"},
	{Version: "v1alpha4", Until: "Cluster API Provider AWS serves it up to release v1.5"},
	{Version: "v1beta1", Until: "Cluster API Provider AWS serves it up to release v2.3"},
}

var versionedKinds = []*readiness.VersionKind{
	readiness.NewVersionKind("awsclusters." + group),
	readiness.NewVersionKind("awsmanagedcontrolplanes." + planeGroup),
}

// allowance is spec.allowedNamespaces of an identity, in JSON.
type allowance struct{ Allowed string }

// allowances are those of each kind of identities.
var allowances = map[string]*backup.Kind[allowance]{
	staticIdentity:     newAllowance("awsclusterstaticidentities."),
	roleIdentity:       newAllowance("awsclusterroleidentities."),
	controllerIdentity: newAllowance("awsclustercontrolleridentities."),
}

func newAllowance(resource string) *backup.Kind[allowance] {
	return backup.NewKind(resource+group, backup.Raw(func(a *allowance) *string { return &a.Allowed }, "spec.allowedNamespaces"))
}

// namespaceKind is asked for labels, which say who may use an identity.
var namespaceKind = backup.NewKind("namespaces", backup.Raw(func(n *namespace) *string { return &n.Labels }, "metadata.labels"))

type namespace struct{ Labels string }

// checkKinds are what Check asks of a backup beside what claims and targets need.
var checkKinds = []backup.AnyKind{
	versionedKinds[0], versionedKinds[1], namespaceKind,
	allowances[staticIdentity], allowances[roleIdentity], allowances[controllerIdentity],
}

// Check tells what of CAPA's will not work after a restore: credentials that the
// backup lacks or that a namespace may not use, kubeconfigs that CAPA does not take
// back, and API versions that it does not serve.
func (p *provider) Check(s *backup.Snapshot, secrets *backup.Secrets, _ time.Time) []readiness.Finding {
	e := newEstate(s)
	return slices.Concat(e.credentialsAbsent(secrets), e.forbidden(), e.kubeconfigs(secrets), e.bootstrapAbsent(secrets),
		readiness.Versions(s, versionedKinds, servedVersions))
}

// credentialsAbsent are the identities of which the keys are not in the backup.
func (e *estate) credentialsAbsent(secrets *backup.Secrets) []readiness.Finding {
	var found readiness.Shared
	for _, h := range e.homes() {
		if h.identity.Kind == unknownIdentity {
			continue // the cluster's own object is what the backup lacks
		}
		_, fault := e.credentialOf(h, secrets, infra.Access{})
		if fault == nil {
			continue
		}
		what := "credential of " + h.identity.Kind + " " + h.identity.Name
		if h.identity.Kind == controllerIdentity {
			what = "Secret " + managerSpace + "/" + managerSecret
		}
		found.Add(ruleCredential.On(h.backup, what, "%s", fault.Message).At("secrets", managerSpace), h.clusters...)
	}
	return found.Findings()
}

// forbidden are the identities that a cluster names, by itself or along a chain of
// roles, and that its namespace may not use.
func (e *estate) forbidden() []readiness.Finding {
	byName, spaces := index(roles.In(e.snapshot)), index(namespaceKind.In(e.snapshot))
	objects := map[string]map[object]*backup.Record[allowance]{}
	for kind, k := range allowances {
		objects[kind] = index(k.In(e.snapshot))
	}
	var found readiness.Shared
	for _, id := range e.order() {
		if r := e.sites[id].record; r == nil || r.Data.IdentityKind == "" {
			continue // CAPA asks nobody then
		}
		var of map[string]string
		n := spaces[object{backup: id.Backup, name: id.Namespace}]
		if n != nil {
			of = backup.Labels(n.Data.Labels).Map()
		}
		for _, at := range chain(byName, id.Backup, identityOf(id, e.sites[id])) {
			r := objects[at.Kind][object{backup: id.Backup, name: at.Name}]
			if r == nil {
				continue // that it is absent is said elsewhere
			}
			if allowed, sure, why := permits(r.Data.Allowed, id.Namespace, of, n != nil); !allowed {
				rule := ruleForbidden
				if !sure {
					rule = ruleMaybeForbidden
				}
				found.Add(rule.On(id.Backup, fmt.Sprintf("%s for namespace %s", at, id.Namespace), "%s", why), id)
			}
		}
	}
	return found.Findings()
}

// permits reports whether CAPA lets clusters of a namespace use an identity with these
// allowedNamespaces, in JSON; sure is false where the backup does not tell. Without
// allowedNamespaces it lets nobody, with an empty object everybody; else the namespace
// is in the list, or its labels match a selector that is not empty
// (pkg/cloud/scope/session.go isClusterPermittedToUsePrincipal v2.11.1).
func permits(allowed, namespace string, of map[string]string, known bool) (ok, sure bool, why string) {
	var a struct {
		List     []string             `json:"list"`
		Selector metav1.LabelSelector `json:"selector"`
	}
	if allowed == "" || allowed == "null" {
		return false, true, "it has no allowedNamespaces, and CAPA then lets no cluster use it"
	}
	if err := json.Unmarshal([]byte(allowed), &a); err != nil {
		return false, false, "its allowedNamespaces can't be read"
	}
	selector, err := metav1.LabelSelectorAsSelector(&a.Selector)
	switch {
	case a.List == nil && reflect.DeepEqual(a.Selector, metav1.LabelSelector{}), slices.Contains(a.List, namespace):
		return true, true, ""
	case err != nil:
		return false, true, "the selector of its allowedNamespaces is none"
	case selector.Empty():
		return false, true, "its allowedNamespaces do not name the namespace"
	case !known && byName(selector):
		of = map[string]string{nameLabel: namespace}
	case !known:
		return false, false, "its allowedNamespaces select by labels, and the Namespace is not in the backup"
	}
	if selector.Matches(labels.Set(of)) {
		return true, true, ""
	}
	return false, true, "its allowedNamespaces neither name the namespace nor select it by its labels"
}

// nameLabel is a label of every Namespace, in which Kubernetes itself keeps the
// name (k8s.io/api core/v1/well_known_labels.go v0.36.3).
const nameLabel = "kubernetes.io/metadata.name"

// byName reports whether a selector asks for nothing but the name of a Namespace.
func byName(s labels.Selector) bool {
	asked, _ := s.Requirements()
	return !slices.ContainsFunc(asked, func(r labels.Requirement) bool { return r.Key() != nameLabel })
}

// kubeconfigs are those of EKS clusters, whose presence is what breaks.
func (e *estate) kubeconfigs(secrets *backup.Secrets) []readiness.Finding {
	var found []readiness.Finding
	for _, id := range e.order() {
		name := id.Name + "-kubeconfig"
		if s := e.sites[id]; s.record != nil && s.kind == planeKind && secrets.Named(id.Backup, id.Namespace, name) != nil {
			found = append(found, ruleKubeconfig.On(id.Backup, fmt.Sprintf("Secret %s/%s", id.Namespace, name),
				"in the backup, and owned by nobody after the restore").Of(id))
		}
	}
	return found
}

// bootstrapAbsent are machines of which no instance is on record and that lack their
// bootstrap data, although the Machine has had an instance.
func (e *estate) bootstrapAbsent(secrets *backup.Secrets) []readiness.Finding {
	var found []readiness.Finding
	for i := range e.members {
		m := &e.members[i]
		if m.index < 0 || m.machine == nil || m.machine.Data.ProviderID != "" || m.machine.Data.InstanceID != "" {
			continue
		}
		machine := &e.snapshot.Machines[m.index]
		if machine.ProviderID == "" || !readiness.LacksBootstrap(machine, secrets) {
			continue // without a provider id it is waited for, and found as such
		}
		found = append(found, ruleBootstrap.On(machine.Backup, fmt.Sprintf("Secret %s/%s", machine.Namespace, machine.BootstrapSecret),
			"not in the backup; bootstrap data of Machine %s, whose %s records no instance", machine.Name, machineKind).
			At("secrets", machine.Namespace).Of(machine.Cluster))
	}
	return found
}
