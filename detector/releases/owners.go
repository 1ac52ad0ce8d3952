package releases

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wI2L/jsondiff"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Owner is who wrote a field last, by the object's managedFields.
type Owner struct {
	Manager     string     `json:"manager"`
	Operation   string     `json:"operation"` // Apply or Update
	Subresource string     `json:"subresource,omitempty"`
	Time        *time.Time `json:"time,omitempty"` // absent for scale

	own bool // who ran Helm
}

// ownership is one entry of managedFields.
type ownership struct {
	Owner
	set *fieldpath.Set
}

// ownersOf reads managedFields, if somebody but Helm wrote to the object's content or Helm
// applies it: else they, which are large, say no more than the object. Entries that can't be
// read are left out. The release's own manager is who wrote Helm's annotation; kubectl
// annotate, with which people have Helm adopt an object, is not. All asks for Helm's entries
// in any case.
func ownersOf(managed []byte, all bool) []ownership {
	var entries []struct {
		Manager, Operation, Subresource, Time string

		FieldsV1 json.RawMessage
	}
	if len(managed) == 0 || json.Unmarshal(managed, &entries) != nil && len(entries) == 0 {
		return nil
	}
	var out []ownership
	foreign := all
	mark := fieldpath.MakePathOrDie("metadata", "annotations", releaseAnnotation)
	for _, e := range entries {
		foreign = foreign || e.Operation == "Apply" || e.Manager != "helm" && e.Subresource != "status"
	}
	for _, e := range entries {
		if !foreign {
			return nil
		}
		entry := ownership{set: &fieldpath.Set{}, Owner: Owner{Manager: e.Manager, Operation: e.Operation, Subresource: e.Subresource}}
		if entry.set.FromJSON(bytes.NewReader(e.FieldsV1)) != nil {
			continue
		}
		if t, err := time.Parse(time.RFC3339, e.Time); err == nil {
			t = t.UTC()
			entry.Time = &t
		}
		entry.own = entry.Manager == "helm" || entry.set.Has(mark) && !strings.HasPrefix(entry.Manager, "kubectl")
		out = append(out, entry)
	}
	return out
}

// who lists the owners of the field at a JSON pointer of the live object: those
// that own it by name, else those of the nearest list or map around it that is
// owned as a whole.
func who(entries []ownership, live any, pointer string) []Owner {
	var found []Owner
	best := 0
	segments := segmentsOf(pointer)
	for _, e := range entries {
		depth := depthOf(e.set, live, segments)
		if depth == 0 || depth < best {
			continue
		}
		if depth > best {
			best, found = depth, nil
		}
		found = append(found, e.Owner)
	}
	return found
}

// authors lists who wrote what an operation changes: of a map, the keys that differ.
func authors(entries []ownership, live any, o jsondiff.Operation) []Owner {
	if o.Type == jsondiff.OperationAdd {
		return wholly(entries, live, o.Path)
	}
	is, ok := o.OldValue.(map[string]any)
	to, too := o.Value.(map[string]any)
	if !ok || !too {
		return who(entries, live, o.Path)
	}
	var found []Owner
	key := func(k string, v any) {
		below := jsondiff.Operation{Type: jsondiff.OperationReplace, Path: o.Path + "/" + escaped.Replace(k), OldValue: is[k], Value: v}
		if _, has := is[k]; !has {
			below.Type = jsondiff.OperationAdd
		}
		for _, by := range authors(entries, live, below) {
			if !slices.Contains(found, by) {
				found = append(found, by)
			}
		}
	}
	for _, k := range sortedKeys(is) {
		if v, has := to[k]; !has || !equal(v, is[k]) {
			key(k, v)
		}
	}
	for _, k := range sortedKeys(to) {
		if _, has := is[k]; !has {
			key(k, to[k])
		}
	}
	return found
}

// wholly lists the owners of the lists and maps around a field that is to come that own these
// as a whole: they own it, too.
func wholly(entries []ownership, live any, pointer string) []Owner {
	var found []Owner
	segments := segmentsOf(pointer)
	for _, e := range entries {
		set, at := e.set, live
		for _, s := range segments[:len(segments)-1] {
			element, next, ok := step(set, at, s)
			if !ok {
				break
			}
			child, deeper := set.Children.Get(element)
			if !deeper {
				if isContainer(next) {
					found = append(found, e.Owner)
				}
				break
			}
			set, at = child, next
		}
	}
	return found
}

func segmentsOf(pointer string) []string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
	}
	return parts
}

// depthOf returns how many segments of a pointer a set owns: one more when it names the
// whole, or something inside of it.
func depthOf(set *fieldpath.Set, live any, segments []string) int {
	best := 0
	for i, s := range segments {
		element, next, ok := step(set, live, s)
		if !ok {
			return best
		}
		member := set.Members.Has(element)
		child, deeper := set.Children.Get(element)
		if member && !deeper || i == len(segments)-1 {
			best = i + 1
		}
		if !deeper {
			return best
		}
		set, live = child, next
	}
	return best + 1
}

// step finds the element of a set that one segment of a pointer names.
func step(set *fieldpath.Set, live any, segment string) (fieldpath.PathElement, any, bool) {
	if items, ok := live.([]any); ok {
		i, err := strconv.Atoi(segment)
		if err != nil || i >= len(items) || i < 0 {
			return fieldpath.PathElement{}, nil, false
		}
		for pe := range set.Members.All() {
			if selects(pe, items[i]) {
				return pe, items[i], true
			}
		}
		for pe := range set.Children.All() {
			if selects(pe, items[i]) {
				return pe, items[i], true
			}
		}
		return fieldpath.PathElement{}, nil, false
	}
	pe := fieldpath.FieldNameElement(segment)
	_, deeper := set.Children.Get(pe)
	return pe, at(live, segment), deeper || set.Members.Has(pe)
}

// selects reports whether an element of a path means an item of a list.
func selects(pe fieldpath.PathElement, item any) bool {
	switch {
	case pe.Key != nil:
		for _, f := range *pe.Key {
			if v := at(item, f.Name); v == nil || !value.Equals(value.NewValueInterface(v), f.Value) {
				return false
			}
		}
		return true
	case pe.Value != nil:
		return value.Equals(value.NewValueInterface(item), *pe.Value)
	}
	return false
}

// find returns the value at a path of an object.
func find(v any, path fieldpath.Path) (any, bool) {
	for _, pe := range path {
		switch {
		case pe.FieldName != nil:
			m, ok := v.(map[string]any)
			if !ok {
				return nil, false
			}
			if v, ok = m[*pe.FieldName]; !ok {
				return nil, false
			}
		default:
			items, _ := v.([]any)
			i := indexOf(items, pe)
			if i < 0 {
				return nil, false
			}
			v = items[i]
		}
	}
	return v, true
}

func indexOf(items []any, pe fieldpath.PathElement) int {
	for i, item := range items {
		if selects(pe, item) {
			return i
		}
	}
	return -1
}

// readable returns a JSON pointer as people read it: items of lists by their name.
func readable(pointer string, docs ...any) string {
	var b strings.Builder
	for _, s := range segmentsOf(pointer) {
		isList := false
		for i, d := range docs {
			items, ok := d.([]any)
			if !ok {
				docs[i] = at(d, s)
				continue
			}
			name := s
			docs[i] = nil
			if n, err := strconv.Atoi(s); err == nil && n >= 0 && n < len(items) {
				docs[i] = items[n]
				name = itemName(items[n], s)
			}
			if !isList {
				b.WriteString("[" + name + "]")
				isList = true
			}
		}
		if !isList {
			writeName(&b, s)
		}
	}
	return b.String()
}

func writeName(b *strings.Builder, s string) {
	switch {
	case strings.ContainsAny(s, "./[]"):
		b.WriteString("[" + s + "]")
	case b.Len() > 0:
		b.WriteString("." + s)
	default:
		b.WriteString(s)
	}
}

// itemName returns what an item of a list is called: its name, or its place.
func itemName(item any, index string) string {
	for _, k := range []string{"name", "key", "mountPath", "type", "containerPort", "port", "ip"} {
		switch v := at(item, k).(type) {
		case string:
			if v != "" {
				return v
			}
		case int64, float64:
			return numeral(v)
		}
	}
	return index
}

func numeral(v any) string {
	body, _ := json.Marshal(v)
	return string(body)
}

// readablePath returns a path of managedFields in the same words.
func readablePath(path fieldpath.Path) string {
	var b strings.Builder
	for _, pe := range path {
		switch {
		case pe.FieldName != nil:
			writeName(&b, *pe.FieldName)
		case pe.Key != nil:
			item := Object{}
			for _, f := range *pe.Key {
				item[f.Name] = f.Value.Unstructured()
			}
			b.WriteString("[" + itemName(item, numeral(item)) + "]")
		case pe.Value != nil:
			b.WriteString("[" + value.ToString(*pe.Value) + "]")
		}
	}
	return b.String()
}

// equal compares values as JSON decodes them, as reflect.DeepEqual does, without its garbage.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, e := range a {
			if f, has := b[k]; !has || !equal(e, f) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}
