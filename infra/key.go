package infra

import (
	"hash/maphash"
	"strings"
	"sync"
)

// Key is one normalised identity: on instances and on expected machines
// alike, joined by equality. "A and B together" is one composed key that the provider makes on
// both sides.
type Key struct {
	Kind  KeyKind `json:"kind"`
	Value string  `json:"value"`
}

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return k == Key{} }

// Hash returns one of the kind and the value. It costs half of what [maphash.Comparable] does.
func (k Key) Hash(seed maphash.Seed) uint64 {
	return maphash.String(seed, k.Value) + uint64(k.Kind.number)*0x9e3779b97f4a7c15 // 2^64 by the golden ratio: the kinds of one value are far apart in all bits
}

func (k Key) String() string { return k.Kind.String() + " " + k.Value }

// Join returns one value that is made of several. They are foreign: what separates
// them is escaped in them.
func Join(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = strings.ReplaceAll(strings.ReplaceAll(strings.ToValidUTF8(p, "?"), "%", "%25"), "/", "%2f")
	}
	return strings.Join(escaped, "/")
}

// OwnerTag is the kind of the Key that an instance has for the one cluster that
// its own tags name as its owner, whether or not the backup knows that cluster.
var OwnerTag = KeyKindOf("ownerTag")

// KeyKind stands for the name of a kind of keys: "biosUUID". Kinds are few and keys are
// many, so it is a number, which means nothing outside of the process.
type KeyKind struct{ number uint32 }

var kinds = struct {
	sync.RWMutex
	names   []string
	numbers map[string]uint32
}{names: []string{""}, numbers: map[string]uint32{"": 0}}

// KeyKindOf returns the kind that has the name; the zero KeyKind has none.
func KeyKindOf(name string) KeyKind {
	kinds.Lock()
	defer kinds.Unlock()
	n, known := kinds.numbers[name]
	if !known {
		n = uint32(len(kinds.names))
		kinds.names, kinds.numbers[name] = append(kinds.names, name), n
	}
	return KeyKind{n}
}

// IsZero reports whether there is no kind.
func (k KeyKind) IsZero() bool { return k.number == 0 }

// String returns the name.
func (k KeyKind) String() string {
	kinds.RLock()
	defer kinds.RUnlock()
	return kinds.names[k.number]
}

// Compare orders kinds by their names.
func (k KeyKind) Compare(other KeyKind) int {
	if k == other {
		return 0
	}
	return strings.Compare(k.String(), other.String())
}

// MarshalText returns the name.
func (k KeyKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText sets the kind to that of the name.
func (k *KeyKind) UnmarshalText(name []byte) error {
	*k = KeyKindOf(string(name))
	return nil
}
