package vsphere

import (
	"cmp"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// Credential is what a login needs: the Credential of a Target.
type Credential struct {
	capi.Redacted
	User, Password backup.Sensitive
}

// found is a credential and the object that it comes from.
type found struct {
	Credential
	source   string // "Secret tenant-alpha/alpha-prod"
	warnings []string
}

// ofManager is the credential that CAPV was installed with.
var ofManager = capi.Manager{Namespace: managerSpace, Secret: managerSecret, Key: managerKey, Deployment: "capv-controller-manager"}

// credentialOf finds a home's credential in CAPV's own order: the Secret that
// the cluster names, the Secret of the VSphereClusterIdentity that it names,
// else the manager's own (pkg/identity/identity.go v1.16.1).
func (objs *objects) credentialOf(h *homeScope, secrets *backup.Secrets) (found, *infra.Fault) {
	switch h.identity.Kind {
	case secretKind:
		s := secrets.Named(h.backup, h.identity.Namespace, h.identity.Name)
		return objs.fromSecret(h.backup, s, fmt.Sprintf("Secret %s/%s", h.identity.Namespace, h.identity.Name))
	case identityKind:
		if h.identity.Namespace != "" {
			first := h.clusters[0]
			return found{}, noCredential("%s", objs.forbidden(first, objs.vsphereCluster(first)))
		}
		return objs.fromIdentity(h, secrets)
	case managerIdentity:
		return objs.fromManager(h, secrets)
	case unknownIdentity:
		if c := objs.known[h.clusters[0]]; c != nil && capi.LeadsAway(c.Infrastructure, c.Namespace) {
			return found{}, noCredential("Cluster %s/%s refers to %s %s in namespace %s; Cluster API forbids that, and it is not followed",
				c.Namespace, c.Name, clusterKind, c.Infrastructure.Name, c.Infrastructure.Namespace)
		}
		return found{}, noCredential("%s %s/%s %s, so nothing says which credential it uses", clusterKind, h.identity.Namespace, h.identity.Name, objs.snapshot.Lacks(h.backup, clusterKind))
	default:
		return found{}, capi.BadIdentity(hintOwn+"; correct "+referenceField+" before the clusters are unpaused", "%s", mistake(h.identity.Kind))
	}
}

const hintOwn, referenceField = "give user and password for the endpoint with --credentials", "identityRef of the VSphereCluster"

func noCredential(format string, args ...any) *infra.Fault {
	return capi.NoCredential(hintOwn, format, args...)
}

// mistake returns why CAPV has no credential by way of an identityRef of a kind, empty if it
// may have one.
func mistake(kind string) string {
	switch kind {
	case secretKind, identityKind, managerIdentity, unknownIdentity:
		return ""
	}
	return fmt.Sprintf("identityRef of kind %q is unknown", kind)
}

func (objs *objects) fromSecret(n int, s *backup.Secret, name string) (found, *infra.Fault) {
	if s == nil {
		return found{}, noCredential("%s with %s and %s %s", name, userKey, passKey, objs.snapshot.Lacks(n, secretKind))
	}
	f := found{Credential: Credential{User: s.Value(userKey), Password: s.Value(passKey)}, source: capi.SecretName(s)}
	if f.User.IsZero() || f.Password.IsZero() {
		return found{}, noCredential("%s has an empty %s or %s", f.source, userKey, passKey)
	}
	return f, nil
}

// fromIdentity reads the Secret of a VSphereClusterIdentity.
func (objs *objects) fromIdentity(h *homeScope, secrets *backup.Secrets) (found, *infra.Fault) {
	id := capi.Identity{Backup: h.backup, Kind: identityKind, Name: h.identity.Name, Key: passKey}
	if object := objs.identities[capi.Object{Backup: h.backup, Name: id.Name}]; object != nil {
		id.Known, id.Secret = true, object.Data.Secret
	}
	s, what, missing := ofManager.OfIdentity(objs.snapshot, secrets, id)
	if missing != "" {
		return found{}, noCredential("%s", missing)
	}
	return objs.fromSecret(h.backup, s, what)
}

// forbidden returns why CAPV would not let a cluster use the VSphereClusterIdentity
// that it names, or why that is not known; it is empty if CAPV would
// (pkg/identity/identity.go v1.16.1). The server is named by the cluster's
// namespace, so whoever is let through gets the password of all of them.
func (objs *objects) forbidden(id backup.ClusterID, c *backup.Record[vsphereCluster]) string {
	why, decided := identityKind+" "+c.Data.IdentityName+" "+objs.snapshot.Lacks(id.Backup, identityKind)+", so nothing says which namespaces may use it", false
	if object := objs.sharedIdentity(c); object != nil {
		why, decided = objs.excluded(c, object)
	}
	switch {
	case decided || why == "":
		return why
	case objs.hasLoggedIn(id, c):
		return ""
	}
	return fmt.Sprintf("%s; %s %s/%s does not show that CAPV has logged in with the identity (condition VCenterAvailable)", why, clusterKind, c.Namespace, c.Name)
}

// sharedIdentity returns the VSphereClusterIdentity that a VSphereCluster names, nil if it
// names none or the backup lacks one of the two.
func (objs *objects) sharedIdentity(c *backup.Record[vsphereCluster]) *backup.Record[vsphereIdentity] {
	if c == nil || c.Data.IdentityKind != identityKind {
		return nil
	}
	return objs.identities[capi.Object{Backup: c.Backup, Name: c.Data.IdentityName}]
}

// excluded returns why CAPV does not let a cluster use its VSphereClusterIdentity, empty if
// it does. It is not decided where that depends on the labels of a Namespace that the backup
// lacks: why says so.
func (objs *objects) excluded(c *backup.Record[vsphereCluster], object *backup.Record[vsphereIdentity]) (why string, decided bool) {
	what := identityKind + " " + object.Name
	if object.Data.Allowed == "" {
		return what + " has no allowedNamespaces: CAPV lets no cluster use it", true
	}
	selector, err := selectorOf(object.Data.Allowed)
	if err != nil {
		return fmt.Sprintf("allowedNamespaces of %s holds no label selector", what), true
	}
	if selector.Empty() {
		return "", true
	}
	var of *backup.Labels
	if n := namespaces.In(objs.snapshot).Named(c.Backup, "", c.Namespace); n != nil {
		of = (*backup.Labels)(&n.Data.Labels)
	}
	switch selected, decided := infra.SelectsNamespace(selector, c.Namespace, of); {
	case !decided:
		return fmt.Sprintf("%s is for namespaces with certain labels, and Namespace %s %s", what, c.Namespace, objs.snapshot.Lacks(c.Backup, "Namespace")), false
	case !selected:
		return fmt.Sprintf("allowedNamespaces of %s does not select Namespace %s: CAPV does not let its clusters use it", what, c.Namespace), true
	}
	return "", true
}

// hasLoggedIn reports whether CAPV found that a cluster may use its identity, for what its
// VSphereCluster says now; that counts where the identity or the Namespace is not in the
// backup. While a cluster is paused, CAPV takes nothing back, so then the condition must
// say that it knows the latest change.
func (objs *objects) hasLoggedIn(id backup.ClusterID, c *backup.Record[vsphereCluster]) bool {
	cluster := objs.known[id]
	paused := c.Paused || cluster != nil && cluster.Paused
	return c.Data.Available == backup.HoldsNow || c.Data.Available == backup.Holds && !paused
}

func selectorOf(allowedNamespaces string) (labels.Selector, error) {
	var allowed struct {
		Selector metav1.LabelSelector `json:"selector"`
	}
	if err := json.Unmarshal([]byte(allowedNamespaces), &allowed); err != nil {
		return nil, err
	}
	return metav1.LabelSelectorAsSelector(&allowed.Selector)
}

// fromManager reads the credential that CAPV was installed with, one YAML
// document (config/base/credentials.yaml v1.16.1).
func (objs *objects) fromManager(h *homeScope, secrets *backup.Secrets) (found, *infra.Fault) {
	s, missing := ofManager.Own(objs.snapshot, secrets, h.backup, "the cluster names no identity, and ")
	if missing != "" {
		return found{}, noCredential("%s", missing)
	}
	source := capi.SecretName(s)
	text := s.Value(managerKey).Reveal()
	var doc struct {
		Username string `json:"username"`
		Password string `json:"password"`
	}
	const maxDocument = 64 << 10
	// A parser's error quotes what it could not read: it must not get out.
	if len(text) > maxDocument || yaml.Unmarshal([]byte(text), &doc) != nil {
		return found{}, noCredential("%s of %s is no YAML that can be read", managerKey, source)
	}
	if doc.Username == "" || doc.Password == "" {
		return found{}, noCredential("%s of %s has no username or no password", managerKey, source)
	}
	return found{Credential: Credential{User: backup.NewSensitive(doc.Username), Password: backup.NewSensitive(doc.Password)}, source: source}, nil
}

// override returns what the operator gave for the endpoint. A credential without
// user and password only says how to trust the server.
func override(c infra.Credential, ok bool) (found, bool) {
	if !ok || (c.Username == "" && c.Password.IsZero()) {
		return found{}, false
	}
	return found{Credential: Credential{User: backup.NewSensitive(c.Username), Password: c.Password}, source: cmp.Or(c.Source, "--credentials")}, true
}
