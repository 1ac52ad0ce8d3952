package infra

import (
	"fmt"
	"strings"
)

// Recorded is one place of a backup where the id of an instance is recorded.
type Recorded struct {
	Source string // "VSphereVM.spec.biosUUID"
	Raw    string // as it is written there; empty when nothing does
}

// Agreed is the id that all places record, as a key of the kind, with the first
// of them that does. Where two differ, or one holds no id (read returns it
// empty), conflict says so: nobody can tell which instance is meant. others are the
// ids that differ from the key.
func Agreed(kind, what string, all []Recorded, read func(raw string) string) (key Key, source, conflict string, others []Key) {
	for _, r := range all {
		raw := strings.TrimSpace(r.Raw)
		if raw == "" {
			continue
		}
		switch id := read(raw); {
		case id == "":
			conflict = fmt.Sprintf("%s is %q, which is no %s", r.Source, r.Raw, what)
		case key.IsZero():
			key, source = Key{Kind: kind, Value: id}, r.Source
		case key.Value != id:
			conflict = fmt.Sprintf("%s says %s, %s says %s", source, key.Value, r.Source, id)
			others = append(others, Key{Kind: kind, Value: id})
		}
	}
	return key, source, conflict, others
}
