package backup

import (
	"errors"
	"slices"
	"strconv"

	"drift-detector/backup/scan"
)

// Field reads one thing of an object into a record of type T.
//
// A path names JSON members from the object's root, joined by dots:
// "spec.infrastructureRef.kind". "label:<key>" and "annotation:<key>" name an
// entry of metadata.labels and metadata.annotations, whose keys hold dots
// themselves. A member that ends in "[]" is an array, of which each element is
// meant: "spec.clusterModules[].moduleUUID". Of several paths the first that is
// present wins, because API versions keep one thing in different places. A
// member that is null counts as absent.
//
// A member of another JSON type than the field wants is an error, and so is a
// text longer than 64 KiB and an array of more than 10,000 elements: the object
// becomes a Problem and is left out.
type Field[T any] struct {
	paths []string
	// read is given what a path met, which is at least one value.
	read func(into *T, found scan.Found, m *memory, use *usage) error
	// together, where set, reads all paths at once, instead of the first that
	// is present.
	together func(into *T, found []scan.Found, m *memory, use *usage) error
}

var (
	errNotString  = errors.New("not a string")
	errNotBoolean = errors.New("not a boolean")
	errNotInteger = errors.New("not an integer")
)

// Text reads a JSON string.
//
//go:noinline
func Text[T any](into func(*T) *string, paths ...string) Field[T] {
	return Field[T]{paths: paths, read: func(t *T, f scan.Found, m *memory, use *usage) error {
		v := f.Values[0]
		if !v.IsString() {
			return errNotString
		}
		text, err := m.text(v, use)
		*into(t) = text
		return err
	}}
}

// Texts reads the strings of an array. The list has one entry per element, in
// order, so that lists of one array run side by side; an element without the
// path gives an empty string.
//
//go:noinline
func Texts[T any](into func(*T) *[]string, paths ...string) Field[T] {
	return Field[T]{paths: paths, read: func(t *T, f scan.Found, m *memory, use *usage) error {
		list := slices.Grow(m.texts[:0], max(f.Elems, 1))[:max(f.Elems, 1)]
		clear(list)
		m.texts = list
		for _, v := range f.Values {
			if !v.IsString() {
				return errNotString
			}
			text, err := m.text(v, use)
			if err != nil {
				return err
			}
			list[v.Elem] = text
		}
		if !slices.Equal(use.list, list) { // else that of the object before
			use.list = m.list(len(list))
			copy(use.list, list)
		}
		*into(t) = use.list
		return nil
	}}
}

// Flag reads a JSON boolean.
//
//go:noinline
func Flag[T any](into func(*T) *bool, paths ...string) Field[T] {
	return Field[T]{paths: paths, read: func(t *T, f scan.Found, _ *memory, _ *usage) error {
		switch f.Values[0].Form {
		case scan.True:
			*into(t) = true
		case scan.False:
			*into(t) = false
		default:
			return errNotBoolean
		}
		return nil
	}}
}

// Present says whether a member exists, whatever its value but null.
//
//go:noinline
func Present[T any](into func(*T) *bool, paths ...string) Field[T] {
	return Field[T]{paths: paths, read: func(t *T, _ scan.Found, _ *memory, _ *usage) error {
		*into(t) = true
		return nil
	}}
}

// Count reads a JSON integer that fits 64 bits.
//
//go:noinline
func Count[T any](into func(*T) *Number, paths ...string) Field[T] {
	return Field[T]{paths: paths, read: func(t *T, f scan.Found, _ *memory, _ *usage) error {
		v := f.Values[0]
		if v.Form != scan.Number {
			return errNotInteger
		}
		n, err := strconv.ParseInt(string(v.Raw), 10, 64)
		if err != nil {
			return errNotInteger // without the text: it may be a secret
		}
		*into(t) = Number{N: n, Known: true}
		return nil
	}}
}
