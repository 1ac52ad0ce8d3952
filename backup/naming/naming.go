// Package naming holds the rules by which Cluster API names what it makes, for
// code that reads an owner off a name or off a label.
package naming

import (
	"encoding/base64"
	"hash/fnv"
	"strings"
)

// Alphabet is what random suffixes are made of: no vowels, and nothing that looks
// alike (k8s.io/apimachinery pkg/util/rand v0.36.3).
const Alphabet = "bcdfghjklmnpqrstvwxz2456789"

// Lengths of names, in bytes.
const (
	// SuffixLen is the length of a random suffix, and MaxName that of the longest name
	// of a machine (Cluster API internal/topology/names v1.14.0).
	SuffixLen = 5
	MaxName   = 63
	// MaxSetSuffix is the length of the longest suffix of a MachineSet: a random one
	// since Cluster API 1.6, before that an encoded hash of up to ten characters, in 1.4
	// and 1.5 encoded together with five random ones (machinedeployment_sync.go v1.2.0,
	// v1.4.0, v1.6.0).
	MaxSetSuffix = 16
)

// Random reports whether all characters of s may be those of a random suffix.
func Random(s string) bool { return strings.Trim(s, Alphabet) == "" }

// Stem returns what precedes the random suffix in the names that Cluster API
// generates from the name of an owner: the owner's name and a "-", cut to leave room.
func Stem(owner string) string {
	base := owner + "-"
	return base[:min(len(base), MaxName-SuffixLen)]
}

// Stems returns the name of a machine without its random suffix, as [Stem] does for
// its owner, and the name of the MachineDeployment if its owner is a MachineSet of
// one. Each is empty where the name does not have that form.
func Stems(machine string) (set, deployment string) {
	n := len(machine) - SuffixLen
	if n <= 0 || !Random(machine[n:]) || (machine[n-1] != '-' && len(machine) != MaxName) {
		return "", ""
	}
	least := SuffixLen
	if len(machine) == MaxName {
		least = 1 // the MachineSet's own suffix is cut, too
	}
	return machine[:n], deploymentOf(strings.TrimSuffix(machine[:n], "-"), least)
}

// Deployment returns the name of the MachineDeployment that a MachineSet is named
// after, or "" where its name does not have that form.
func Deployment(set string) string { return deploymentOf(set, SuffixLen) }

func deploymentOf(set string, least int) string {
	dash := strings.LastIndexByte(set, '-')
	if dash <= 0 {
		return ""
	}
	if suffix := set[dash+1:]; len(suffix) < least || len(suffix) > MaxSetSuffix || !Random(suffix) {
		return ""
	}
	return set[:dash]
}

// hashPrefix begins the value of a label that holds a hash instead of a name.
const hashPrefix = "hash_"

// Hashed reports whether the value of a label is the hash of a name. No name of an
// object has an underscore.
func Hashed(label string) bool { return strings.HasPrefix(label, hashPrefix) }

// Means reports whether the value of a label stands for an object of that name.
// Cluster API writes the name, or where that is too long for a label its hash
// (MustFormatValue in util/labels/format/helpers.go v1.14.2).
func Means(label, name string) bool {
	if !Hashed(label) {
		return label == name
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return label == hashPrefix+base64.RawURLEncoding.EncodeToString(h.Sum(nil))+"_z"
}
