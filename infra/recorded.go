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

// Agreed returns the id that all places record, as a key of the kind, with the first
// of them that does. Where two differ, or one holds no id (read returns it
// empty), conflict says so: nobody can tell which instance is meant. others are the
// ids that differ from the key.
func Agreed(kind KeyKind, what string, all []Recorded, read func(raw string) string) (key Key, source, conflict string, others []Key) {
	agreed := "" // the last text that says the key: most say it alike
	for _, r := range all {
		raw := strings.TrimSpace(r.Raw)
		if raw == "" || raw == agreed {
			continue
		}
		switch id := read(raw); {
		case id == "":
			conflict = fmt.Sprintf("%s is %q, which is no %s", r.Source, r.Raw, what)
		case key.IsZero():
			key, source, agreed = Key{Kind: kind, Value: id}, r.Source, raw
		case key.Value == id:
			agreed = raw
		default:
			conflict = fmt.Sprintf("%s says %s, %s says %s", source, key.Value, r.Source, id)
			others = append(others, Key{Kind: kind, Value: id})
		}
	}
	return key, source, conflict, others
}
