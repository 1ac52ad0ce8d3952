package capi

import (
	"encoding/json"
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// Redacted makes a credential that embeds it print as redacted, whatever prints,
// saves or holds the credential.
type Redacted struct{}

var redacted = backup.Sensitive{}.String()

func (Redacted) String() string               { return redacted }
func (Redacted) GoString() string             { return redacted }
func (Redacted) Format(f fmt.State, _ rune)   { _, _ = f.Write([]byte(redacted)) }
func (Redacted) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }
func (Redacted) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// NoCredential returns the fault of a target without a credential. hint says how to give one.
func NoCredential(hint, format string, args ...any) *infra.Fault {
	return &infra.Fault{Reason: code.NoCredential, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// BadIdentity returns the fault of a target whose identity its controller cannot log in with,
// whatever Secrets there are. hint says what to correct, and what to give instead.
func BadIdentity(hint, format string, args ...any) *infra.Fault {
	return &infra.Fault{Reason: code.BadIdentity, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// SecretName returns what people call a Secret: "Secret capa-system/name".
func SecretName(s *backup.Secret) string { return fmt.Sprintf("Secret %s/%s", s.Namespace, s.Name) }

const secretKind = "Secret"

// Manager is where the manifests of a controller put its own credential, and the name of its Deployment.
type Manager struct{ Namespace, Secret, Key, Deployment string }

// Deployments say in which namespaces controllers run.
var Deployments = backup.NewKind[struct{}]("deployments.apps").Ownerless()

// runsIn reports whether a Secret is in the controller's namespace: that of its manifests, or one with its
// Deployment.
func (m Manager) runsIn(of *backup.Snapshot, s *backup.Secret) bool {
	return s.Namespace == m.Namespace || Deployments.In(of).Named(s.Backup, s.Namespace, m.Deployment) != nil
}

// Own finds the controller's own Secret in a backup. why precedes "Secret name" in
// missing, which says what is not there and is empty otherwise.
func (m Manager) Own(of *backup.Snapshot, secrets *backup.Secrets, n int, why string) (s *backup.Secret, missing string) {
	var all []*backup.Secret
	for s := range secrets.NamedOrOwned(m.Secret) {
		if s.Backup == n && s.Name == m.Secret && !s.Value(m.Key).IsZero() && m.runsIn(of, s) {
			all = append(all, s)
		}
	}
	return m.prefer(all, why+"Secret "+m.Secret, of.Lacks(n, secretKind))
}

// Identity is a cluster-scoped identity whose keys are in a Secret.
type Identity struct {
	Backup     int
	Kind, Name string
	// Known reports whether the backup holds the identity, and Secret is the name that
	// it gives. A default backup has no cluster-scoped objects.
	Known  bool
	Secret string
	// Key is the member that a Secret must have to be the one.
	Key string
}

// OfIdentity finds the Secret of an identity: by the name that the identity gives, and
// by the owner that the controller gives the Secret, which it looks for in its own namespace. Without
// the owner a Secret of the name in another one is anybody's. what is how to call the Secret, found or
// not; missing is empty if it is found.
func (m Manager) OfIdentity(of *backup.Snapshot, secrets *backup.Secrets, id Identity) (s *backup.Secret, what, missing string) {
	var owned, named []*backup.Secret
	fits := func(s *backup.Secret) bool { return s.Backup == id.Backup && !s.Value(id.Key).IsZero() }
	for s := range secrets.NamedOrOwned(id.Name) {
		if owner, ok := OwnerOf(&s.Meta, id.Kind); ok && owner == id.Name && fits(s) {
			owned = append(owned, s)
		}
	}
	for s := range secrets.NamedOrOwned(id.Secret) {
		if id.Known && s.Name == id.Secret && fits(s) {
			named = append(named, s)
		}
	}
	what = fmt.Sprintf("the Secret of %s %s", id.Kind, id.Name)
	candidates, kinds := owned, []string{secretKind, id.Kind}
	if id.Known {
		what = fmt.Sprintf("Secret %s of %s %s", id.Secret, id.Kind, id.Name)
		kinds = kinds[:1]
		only := func(mine func(*backup.Secret) bool) (some []*backup.Secret) {
			return slices.DeleteFunc(slices.Clone(named), func(s *backup.Secret) bool { return !mine(s) })
		}
		candidates = only(func(s *backup.Secret) bool { return slices.Contains(owned, s) })
		if len(candidates) == 0 {
			candidates = only(func(s *backup.Secret) bool { return m.runsIn(of, s) })
		}
		if len(candidates) == 0 && len(named) > 0 {
			return nil, what, fmt.Sprintf("%s is not in %s, and the one in %s does not have the identity as its owner", what, m.Namespace, named[0].Namespace)
		}
	}
	s, missing = m.prefer(candidates, what, of.Lacks(id.Backup, kinds...))
	return s, what, missing
}

// prefer takes the Secret in the controller's default namespace, or the only one. lacks is said
// of what, where there is none.
func (m Manager) prefer(candidates []*backup.Secret, what, lacks string) (s *backup.Secret, missing string) {
	for _, s := range candidates {
		if s.Namespace == m.Namespace {
			return s, ""
		}
	}
	switch len(candidates) {
	case 0:
		return nil, what + " " + lacks
	case 1:
		return candidates[0], ""
	default:
		return nil, fmt.Sprintf("%s is there in %d namespaces, and none of them is %s", what, len(candidates), m.Namespace)
	}
}
