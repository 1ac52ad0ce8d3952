package report

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"drift-detector/internal/english"
)

// Format writes a document in one form, the same bytes for the same document. It
// returns the first error of the writer.
type Format[T any] func(io.Writer, T) error

// Formats are the forms of a document by their names.
type Formats[T any] map[string]Format[T]

// Names returns the names of all formats, sorted.
func (f Formats[T]) Names() []string { return slices.Sorted(maps.Keys(f)) }

// String returns the names as a sentence has them: "json, text or html".
func (f Formats[T]) String() string { return english.Choice(f.Names()) }

// Named returns the format of that name. The error names those that there are.
func (f Formats[T]) Named(name string) (Format[T], error) {
	if format, ok := f[name]; ok {
		return format, nil
	}
	return nil, fmt.Errorf("format %s is not known; it is %s", name, f)
}
