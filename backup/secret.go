package backup

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync"
	"time"
)

// SecretRule recognises a Secret by its shape while streaming, because the
// objects that name it come later in the tarball. A Secret that fits is kept
// with the values of Keys and Optional, and with nothing else.
type SecretRule struct {
	Name     string   // exact name, or a suffix after "*" as in "*-kubeconfig"; empty fits all
	Type     string   // exact type; empty fits all
	Keys     []string // data keys that must all be there
	Optional []string // data keys that are kept when there
	// Digest, where set, returns what is kept of a value instead of it. It gets none that is
	// empty, and must not keep it.
	Digest func(Sensitive) Digest
	// Login says that the value is kept beside its Digest, for logging in somewhere, unless
	// nobody will, see Want.Offline.
	Login bool
	// Mark, where set, is a key of every Secret that fits, with nothing behind it: Secrets
	// are kept without their type.
	Mark string
}

// Digest is what checks need to know of a value. It holds nothing that is secret.
type Digest struct {
	Ends    time.Time // when the certificate in it expires; zero where it has none
	Problem error     // why it is of no use; nil where nothing is wrong with it
	Pair    string    // digest of the public key of the certificate or private key in it; empty where it has none
	// Kubeconfig is what decides who gets in with a kubeconfig, and how it is renewed; nil for
	// what is none, and for one that was not read.
	Kubeconfig *KubeconfigDigest
}

// KubeconfigDigest is of all that a kubeconfig holds, as Cluster API reads it.
type KubeconfigDigest struct {
	Refused  string    // why client-go makes no client of it; empty where it makes one
	Unread   bool      // it is not even a kubeconfig
	Other    bool      // it names a proxy or another name of the server, which the next one will not
	Certless bool      // one of its users has no client certificate
	First    time.Time // when the first of the client certificates of all users expires
	// Here and Elsewhere are the names of the clusters in it: those at the server of the current
	// context, and all others.
	Here, Elsewhere []string
}

// Secret is one Secret of the backup, cut down to the keys that a SecretRule names.
type Secret struct {
	Meta
	Values []SecretValue // a key once
}

// SecretValue is what one data key holds.
type SecretValue struct {
	Key string
	Sensitive
	digest *Digest
}

// Value returns what a data key holds. It is zero where the Secret has no such key, and
// where no rule names it.
func (s *Secret) Value(key string) Sensitive {
	for _, v := range s.Values {
		if v.Key == key {
			return v.Sensitive
		}
	}
	return Sensitive{}
}

// Digest returns what is known of what a data key holds. It is nil where the Secret has
// no such key or nothing in it, and where no rule makes one of it.
func (s *Secret) Digest(key string) *Digest {
	for _, v := range s.Values {
		if v.Key == key {
			return v.digest
		}
	}
	return nil
}

// Sensitive is a value that must not be shown: it prints as [redacted] under
// every verb and marshals as such. Reveal is the only way to the content.
type Sensitive struct{ value string }

const redacted = "[redacted]"

// NewSensitive wraps a secret value.
func NewSensitive(s string) Sensitive { return Sensitive{s} }

// Reveal returns the content, for the one place that sends it where it belongs.
func (s Sensitive) Reveal() string { return s.value }

// IsZero reports whether there is no content.
func (s Sensitive) IsZero() bool { return s.value == "" }

func (s Sensitive) String() string               { return redacted }
func (s Sensitive) GoString() string             { return redacted }
func (s Sensitive) Format(f fmt.State, _ rune)   { _, _ = f.Write([]byte(redacted)) }
func (s Sensitive) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }
func (s Sensitive) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Holds reports whether the Secret has a data key that a rule names, or a rule's mark.
func (s *Secret) Holds(key string) bool {
	return slices.ContainsFunc(s.Values, func(v SecretValue) bool { return v.Key == key })
}

// Secrets are the credentials that were found, beside the Snapshot and never
// part of it. They are to be dropped when listing is done.
type Secrets struct {
	list   []*keptSecret       // sorted by backup, namespace, name
	listed sync.Once           // by NamedOrOwned
	byName map[string][]uint32 // places in list, by the names of a Secret and of its owners
}

// Named returns the Secret of that name, or nil.
func (s *Secrets) Named(backup int, namespace, name string) *Secret {
	if s == nil {
		return nil
	}
	want := Meta{Backup: backup, Namespace: namespace, Name: name}
	i, ok := sort.Find(len(s.list), func(i int) int { return compareNames(&want, &s.list[i].Meta) })
	if !ok {
		return nil
	}
	return &s.list[i].Secret
}

// All walks the Secrets in the order of backup, namespace and name.
func (s *Secrets) All() iter.Seq[*Secret] {
	return func(yield func(*Secret) bool) {
		if s == nil {
			return
		}
		for i := range s.list {
			if !yield(&s.list[i].Secret) {
				return
			}
		}
	}
}

// NamedOrOwned walks the Secrets that have a name or an owner of that name, in the order of All.
func (s *Secrets) NamedOrOwned(name string) iter.Seq[*Secret] {
	return func(yield func(*Secret) bool) {
		if s == nil {
			return
		}
		s.listed.Do(s.listNames)
		for _, i := range s.byName[name] {
			if !yield(&s.list[i].Secret) {
				return
			}
		}
	}
}

func (s *Secrets) listNames() {
	s.byName = make(map[string][]uint32, len(s.list))
	add := func(name string, i int) {
		if at := s.byName[name]; len(at) == 0 || at[len(at)-1] != uint32(i) {
			s.byName[name] = append(at, uint32(i))
		}
	}
	for i, secret := range s.list {
		add(secret.Name, i)
		for _, o := range secret.Owners {
			add(o.Name, i)
		}
	}
}

// Drop forgets all Secrets. What they were copied to is the copier's to forget.
func (s *Secrets) Drop() {
	if s != nil {
		for _, secret := range s.list {
			*secret = keptSecret{}
		}
		s.list, s.byName = nil, nil
	}
}
