package backup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup/scan"
)

// Raw keeps the JSON text of a value of whatever type, as the backup writes it:
// "{}", "[1]", "5", "\"text\"" with its quotes. It is for small values whose
// meaning another package owns (a label selector, an int-or-string); equal texts
// are kept once.
//
//go:noinline
func Raw[T any](into func(*T) *string, paths ...string) Field[T] {
	return Field[T]{paths: paths, read: func(t *T, f scan.Found, m *memory, use *usage) error {
		text, err := m.json(f.Values[0], use)
		*into(t), m.raw = text, text
		return err
	}}
}

// Raws keeps the JSON texts of a member of each element of an array, as Raw
// does. The list has one entry per element, in order; an element without the
// path gives an empty text.
//
//go:noinline
func Raws[T any](into func(*T) *[]string, paths ...string) Field[T] {
	return Field[T]{paths: paths, read: func(t *T, f scan.Found, m *memory, use *usage) error {
		list := m.list(max(f.Elems, 1))
		for _, v := range f.Values {
			text, err := m.json(v, use)
			if err != nil {
				return err
			}
			list[v.Elem] = text
		}
		*into(t) = list
		return nil
	}}
}

// Members keeps the JSON texts of several values as one JSON object, by the last member of
// each path: equal objects are kept once, whatever differs beside them. It is empty where
// none is present.
//
//go:noinline
func Members[T any](into func(*T) *string, paths ...string) Field[T] {
	names := make([][]byte, len(paths))
	for i, path := range paths {
		names[i] = []byte(`"` + path[strings.LastIndexByte(path, '.')+1:] + `":`)
	}
	return Field[T]{paths: paths, together: func(t *T, f []scan.Found, m *memory, use *usage) error {
		all := m.joined[:0]
		for i := range f {
			if len(f[i].Values) == 0 {
				continue
			}
			all = append(append(append(all, ','), names[i]...), m.jsonOf(f[i].Values[0])...)
		}
		switch {
		case len(all) == 0:
			return nil
		case len(all) > maxText:
			return errTooLong
		}
		all[0] = '{'
		m.joined = append(all, '}')
		*into(t) = m.keep(m.joined, use)
		return nil
	}}
}

// json returns the JSON text of a value.
func (m *memory) json(v scan.Value, use *usage) (string, error) {
	raw := m.jsonOf(v)
	if len(raw) > maxText {
		return "", errTooLong
	}
	return m.keep(raw, use), nil
}

// jsonOf returns the JSON text of a value, until the next call.
func (m *memory) jsonOf(v scan.Value) []byte {
	raw := v.Raw
	switch v.Form {
	case scan.True:
		raw = []byte("true")
	case scan.False:
		raw = []byte("false")
	case scan.String, scan.Escaped:
		m.scratch = append(append(append(m.scratch[:0], '"'), raw...), '"')
		raw = m.scratch
	}
	return raw
}

// Labels are the labels of an object, in the JSON text of the backup: the
// machines of one MachineSet share one text. The zero value has no labels.
type Labels string

// Map returns the labels by key. It is the caller's to keep. An entry that is not a
// string, which no API server accepts, is left out.
func (l Labels) Map() map[string]string {
	if l == "" {
		return nil
	}
	out := make(map[string]string, strings.Count(string(l), `":"`))
	if l.plain(func(key, value string) bool { out[key] = value; return true }) {
		return out
	}
	clear(out)
	var all map[string]any
	if json.Unmarshal([]byte(l), &all) != nil {
		return out
	}
	for key, v := range all {
		if s, ok := v.(string); ok {
			out[key] = s
		}
	}
	return out
}

// All yields the labels. It is called by range; one may come twice, where the text is not as
// Kubernetes writes it.
func (l Labels) All(yield func(key, value string) bool) {
	if l == "" || l.plain(yield) {
		return
	}
	for key, value := range l.Map() {
		if !yield(key, value) {
			return
		}
	}
}

// With returns the labels with one of them set.
func (l Labels) With(key, value string) Labels {
	all := map[string]string{key: value}
	for k, v := range l.All {
		if k != key {
			all[k] = v
		}
	}
	return labelsFrom(all)
}

// labelsFrom writes labels.
func labelsFrom(all map[string]string) Labels {
	text, err := json.Marshal(all)
	if err != nil || len(all) == 0 {
		return ""
	}
	return Labels(text)
}

// plain calls found with the labels until it returns false, as long as they are as Kubernetes writes
// them: strings without escapes, and nothing between them. It reports whether all are, of those.
func (l Labels) plain(found func(key, value string) bool) (ok bool) {
	rest := string(l)
	if strings.IndexByte(rest, '\\') >= 0 || !utf8.ValidString(rest) {
		return false
	}
	next := func() (text string) {
		i := -1
		if ok = len(rest) > 1 && rest[1] == '"'; ok { // behind a brace, a colon or a comma
			i = strings.IndexByte(rest[2:], '"')
		}
		if ok = i >= 0; ok {
			text, rest = rest[2:2+i], rest[3+i:]
		}
		return text
	}
	for separator := byte('{'); ; separator = ',' {
		if rest == "" || rest[0] != separator {
			return rest == "}"
		}
		key := next()
		if !ok || rest == "" || rest[0] != ':' {
			return false
		}
		value := next()
		if !ok {
			return false
		}
		if !found(key, value) {
			return true
		}
	}
}

// Get returns the value of a label, empty when there is none.
func (l Labels) Get(key string) string {
	value, _ := l.Lookup(key)
	return value
}

// Lookup returns what Get does, and reports whether there is the label.
func (l Labels) Lookup(key string) (value string, is bool) {
	for k, v := range l.All {
		if k == key {
			return v, true
		}
	}
	return "", false
}

// Has reports whether there is a label, as k8s.io/apimachinery/pkg/labels asks it.
func (l Labels) Has(key string) bool {
	_, is := l.Lookup(key)
	return is
}

var errNotObject = errors.New("not an object")

// matchLabels is how nearly all selectors begin, and what follows are labels.
const matchLabels = `{"matchLabels":`

// labelsOf keeps all labels of an object. Those of a selector that was kept before are the same text:
// a group and what it makes have the labels that it selects.
//
//go:noinline
func labelsOf[T any](into func(*T) *Labels, paths ...string) Field[T] {
	return Field[T]{paths: paths, read: func(t *T, f scan.Found, m *memory, use *usage) error {
		if f.Values[0].Form != scan.Object {
			return errNotObject
		}
		raw := f.Values[0].Raw
		if s, ok := strings.CutPrefix(m.raw, matchLabels); ok && len(s) > len(raw) && s[:len(raw)] == string(raw) {
			*into(t) = Labels(s[:len(raw)])
			return nil
		}
		text, err := m.json(f.Values[0], use)
		*into(t) = Labels(text)
		return err
	}}
}

// hooksOf keeps the annotations for which the deletion of a Machine waits: their keys, in
// order. That which KubeadmControlPlane sets on its Machines it takes away itself (Cluster
// API reconcilePreTerminateHook in controlplane/kubeadm/internal/controllers v1.8.0 to v1.13.1).
//
//go:noinline
func hooksOf[T any](into func(*T) *string) Field[T] {
	return Field[T]{paths: []string{"metadata.annotations"}, read: func(t *T, f scan.Found, m *memory, use *usage) error {
		raw := f.Values[0].Raw
		const own = clusterv1.PreTerminateDeleteHookAnnotationPrefix + "/kcp-cleanup"
		if bytes.Count(raw, []byte(".delete.hook.machine."+coreGroup)) == bytes.Count(raw, []byte(own+`"`)) {
			return nil
		}
		all := Labels(raw).Map()
		delete(all, own)
		maps.DeleteFunc(all, func(key, _ string) bool {
			return !strings.HasPrefix(key, clusterv1.PreDrainDeleteHookAnnotationPrefix) && !strings.HasPrefix(key, clusterv1.PreTerminateDeleteHookAnnotationPrefix)
		})
		*into(t) = m.keep([]byte(strings.Join(slices.Sorted(maps.Keys(all)), ", ")), use)
		return nil
	}}
}

// Condition is one condition of an object's status that does not hold.
type Condition struct {
	Status          string // "False" or "Unknown"; empty when the condition holds or is absent
	Reason, Message string
}

// complaint returns what a condition says that is False; empty when it is not.
func (c *Condition) complaint() string {
	if c == nil || c.Status != "False" {
		return ""
	}
	return cmp.Or(c.Message, c.Reason, "not up to date")
}

// Failing reads the condition of one type from a list of conditions
// ("status.conditions"), unless it is True: nearly all are, and records need no
// room for texts about that.
//
//go:noinline
func Failing[T any](into func(*T) *Condition, list, kind string) Field[T] {
	member := func(name string) string { return list + "[]." + name }
	return Field[T]{
		paths: []string{member("type"), member("status"), member("reason"), member("message")},
		together: func(t *T, f []scan.Found, m *memory, use *usage) error {
			for _, v := range f[0].Values {
				if !v.IsString() {
					return errNotString
				}
				if string(v.Raw) != kind {
					continue
				}
				c := Condition{}
				for i, to := range []*string{&c.Status, &c.Reason, &c.Message} {
					for _, part := range f[i+1].Values {
						if part.Elem != v.Elem || !part.IsString() {
							continue
						}
						text, err := m.text(part, use)
						if err != nil {
							return fieldError{member([]string{"status", "reason", "message"}[i]), err}
						}
						*to = text
					}
					if c.Status == "" || c.Status == "True" {
						return nil
					}
				}
				*into(t) = c
				return nil
			}
			return nil
		},
	}
}

// ConditionState says whether a condition of an object's status holds.
type ConditionState uint8

// States of a condition.
const (
	// Unsaid is a condition that is absent or not True, or that is about an
	// earlier generation of the object.
	Unsaid ConditionState = iota
	// Holds is a condition that is True and does not say of which generation.
	Holds
	// HoldsNow is a condition that is True of the object's own generation.
	HoldsNow
)

// HasCondition reads whether the condition of a type holds. Of several lists of
// conditions ("status.conditions") the first that has it counts.
//
//go:noinline
func HasCondition[T any](into func(*T) *ConditionState, kind string, lists ...string) Field[T] {
	var paths []string
	for _, list := range lists {
		paths = append(paths, list+"[].type", list+"[].status", list+"[].observedGeneration")
	}
	return Field[T]{
		paths: append(paths, "metadata.generation"),
		together: func(t *T, f []scan.Found, _ *memory, _ *usage) error {
			generation := textOf(f[len(paths)], 0)
			for list := range slices.Chunk(f[:len(paths)], 3) {
				for _, v := range list[0].Values {
					if !v.IsString() {
						return errNotString
					}
					if string(v.Raw) != kind {
						continue
					}
					switch status, observed := textOf(list[1], v.Elem), textOf(list[2], v.Elem); {
					case status != "True":
					case observed == "":
						*into(t) = Holds
					case observed == generation:
						*into(t) = HoldsNow
					}
					return nil
				}
			}
			return nil
		},
	}
}

// textOf returns what an element holds as it is written, empty when it holds nothing.
func textOf(f scan.Found, elem int) string {
	for _, v := range f.Values {
		if v.Elem == elem {
			return string(v.Raw)
		}
	}
	return ""
}
