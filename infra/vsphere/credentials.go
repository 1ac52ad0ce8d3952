package vsphere

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"drift-detector/backup"
	"drift-detector/infra"
)

// credential is what a login needs. It prints as redacted, whatever holds it.
type credential struct{ user, password backup.Sensitive }

func (credential) String() string                 { return backup.Sensitive{}.String() }
func (credential) GoString() string               { return backup.Sensitive{}.String() }
func (credential) Format(f fmt.State, _ rune)     { _, _ = f.Write([]byte(backup.Sensitive{}.String())) }
func (c credential) MarshalJSON() ([]byte, error) { return json.Marshal(c.String()) }
func (c credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// found is a credential and the object that it comes from.
type found struct {
	credential
	source   string // "Secret tenant-alpha/alpha-prod"
	warnings []string
}

// credentialOf finds a home's credential in CAPV's own order: the Secret that
// the cluster names, the Secret of the VSphereClusterIdentity that it names,
// else the manager's own (pkg/identity/identity.go v1.16.1).
func (e *estate) credentialOf(h *home, secrets *backup.Secrets) (found, *infra.Fault) {
	switch h.identity.Kind {
	case secretKind:
		s := secrets.Named(h.backup, h.identity.Namespace, h.identity.Name)
		return fromSecret(s, fmt.Sprintf("Secret %s/%s", h.identity.Namespace, h.identity.Name))
	case identityKind:
		if h.identity.Namespace != "" {
			first := h.clusters[0]
			return found{}, noCredential("%s", e.forbidden(first, e.vsphereCluster(first)))
		}
		return e.fromIdentity(h, secrets)
	case managerIdentity:
		return fromManager(h, secrets)
	case unknownIdentity:
		if c := e.known[h.clusters[0]]; c != nil && leadsAway(c.Infrastructure, c.Namespace) {
			return found{}, noCredential("Cluster %s/%s refers to %s %s in namespace %s; Cluster API forbids that, and it is not followed",
				c.Namespace, c.Name, clusterKind, c.Infrastructure.Name, c.Infrastructure.Namespace)
		}
		return found{}, noCredential("VSphereCluster %s/%s is not in the backup, so nothing says which credential it uses", h.identity.Namespace, h.identity.Name)
	default:
		return found{}, noCredential("identityRef of kind %q is unknown", h.identity.Kind)
	}
}

func noCredential(format string, args ...any) *infra.Fault {
	return &infra.Fault{
		Reason: "NoCredential", Message: fmt.Sprintf(format, args...),
		Hint: "give user and password for the endpoint with --credentials",
	}
}

func fromSecret(s *backup.Secret, name string) (found, *infra.Fault) {
	if s == nil {
		return found{}, noCredential("%s with %s and %s is not in the backup", name, userKey, passKey)
	}
	f := found{credential: credential{s.Data[userKey], s.Data[passKey]}, source: fmt.Sprintf("Secret %s/%s", s.Namespace, s.Name)}
	if f.user.IsZero() || f.password.IsZero() {
		return found{}, noCredential("%s has an empty %s or %s", f.source, userKey, passKey)
	}
	return f, nil
}

// fromIdentity looks for the identity's Secret. No object records the manager's
// namespace, and a default backup does not hold the identity at all, so the
// Secret is told by its name and by the owner that CAPV gives it.
func (e *estate) fromIdentity(h *home, secrets *backup.Secrets) (found, *infra.Fault) {
	name := h.identity.Name
	object := e.identities[object{backup: h.backup, name: name}]
	var owned, named []*backup.Secret
	for s := range secrets.All() {
		if s.Backup != h.backup || s.Data[passKey].IsZero() {
			continue
		}
		if owner, ok := ownerOf(&s.Meta, identityKind); ok && owner == name {
			owned = append(owned, s)
		}
		if object != nil && s.Name == object.Data.Secret {
			named = append(named, s)
		}
	}
	what := fmt.Sprintf("the Secret of %s %s", identityKind, name)
	candidates := owned
	if object != nil {
		what = fmt.Sprintf("Secret %s of %s %s", object.Data.Secret, identityKind, name)
		candidates = named
		if both := intersect(named, owned); len(both) > 0 {
			candidates = both
		}
	}
	s, fault := preferManager(candidates, what)
	if fault != nil {
		return found{}, fault
	}
	return fromSecret(s, what)
}

// forbidden says why CAPV would not let a cluster use the VSphereClusterIdentity
// that it names, or why the backup does not tell; it is empty when CAPV would
// (pkg/identity/identity.go v1.16.1). The server is named by the cluster's
// namespace, so whoever is let through gets the password of all of them.
func (e *estate) forbidden(id backup.ClusterID, c *backup.Record[vsphereCluster]) string {
	what := identityKind + " " + c.Data.IdentityName
	object := e.identities[object{backup: c.Backup, name: c.Data.IdentityName}]
	switch {
	case object == nil && e.hasLoggedIn(id, c):
		return ""
	case object == nil:
		return fmt.Sprintf("%s is not in the backup, so nothing says which namespaces may use it, and %s %s/%s does not show that CAPV has logged in with it (condition VCenterAvailable)",
			what, clusterKind, c.Namespace, c.Name)
	case object.Data.Allowed == "":
		return what + " has no allowedNamespaces: CAPV lets no cluster use it"
	}
	selector, err := selectorOf(object.Data.Allowed)
	if err != nil {
		return fmt.Sprintf("allowedNamespaces of %s holds no label selector", what)
	}
	if selector.Empty() {
		return ""
	}
	var of *backup.Labels
	if n := e.namespaces[namespaceOf(&c.Meta)]; n != nil {
		of = (*backup.Labels)(&n.Data.Labels)
	}
	selected, decided := infra.SelectsNamespace(selector, c.Namespace, of)
	switch {
	case !decided && e.hasLoggedIn(id, c):
		return ""
	case !decided:
		return fmt.Sprintf("%s is for namespaces with certain labels, Namespace %s is not in the backup, and %s %s/%s does not show that CAPV has logged in with the identity (condition VCenterAvailable)",
			what, c.Namespace, clusterKind, c.Namespace, c.Name)
	case !selected:
		return fmt.Sprintf("allowedNamespaces of %s does not select Namespace %s: CAPV does not let its clusters use it", what, c.Namespace)
	}
	return ""
}

// hasLoggedIn stands in for an identity or a Namespace that is not in the
// backup; no default one holds the identity. CAPV itself found that the cluster
// may use it, for what its VSphereCluster says now. While a cluster is paused,
// CAPV takes nothing back, so then the condition must say that it knows the
// latest change.
func (e *estate) hasLoggedIn(id backup.ClusterID, c *backup.Record[vsphereCluster]) bool {
	cluster := e.known[id]
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

func namespaceOf(m *backup.Meta) object { return object{backup: m.Backup, name: m.Namespace} }

func intersect(a, b []*backup.Secret) []*backup.Secret {
	return slices.DeleteFunc(slices.Clone(a), func(s *backup.Secret) bool { return !slices.Contains(b, s) })
}

// preferManager takes the one in CAPV's default namespace, or the only one.
func preferManager(candidates []*backup.Secret, what string) (*backup.Secret, *infra.Fault) {
	for _, s := range candidates {
		if s.Namespace == managerSpace {
			return s, nil
		}
	}
	switch len(candidates) {
	case 0:
		return nil, noCredential("%s is not in the backup", what)
	case 1:
		return candidates[0], nil
	default:
		return nil, noCredential("%s is there in %d namespaces, and none of them is %s", what, len(candidates), managerSpace)
	}
}

// fromManager reads the credential that CAPV was installed with, one YAML
// document (config/base/credentials.yaml v1.16.1).
func fromManager(h *home, secrets *backup.Secrets) (found, *infra.Fault) {
	var candidates []*backup.Secret
	for s := range secrets.All() {
		if s.Backup == h.backup && s.Name == managerSecret && !s.Data[managerKey].IsZero() {
			candidates = append(candidates, s)
		}
	}
	s, fault := preferManager(candidates, "the cluster names no identity, and Secret "+managerSecret)
	if fault != nil {
		return found{}, fault
	}
	source := fmt.Sprintf("Secret %s/%s", s.Namespace, s.Name)
	text := s.Data[managerKey].Reveal()
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
	return found{credential: credential{backup.NewSensitive(doc.Username), backup.NewSensitive(doc.Password)}, source: source}, nil
}

// override is what the operator gave for the endpoint. A credential without
// user and password only says how to trust the server.
func override(c infra.Credential, ok bool) (found, bool) {
	if !ok || (c.Username == "" && c.Password.IsZero()) {
		return found{}, false
	}
	return found{credential: credential{backup.NewSensitive(c.Username), c.Password}, source: cmp.Or(c.Source, "--credentials")}, true
}
