package report

import (
	"encoding"
	"encoding/binary"
	"encoding/json"
	"io"
	"math/bits"
	"reflect"
	"strconv"
	"strings"

	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"drift-detector/internal/terminal"
)

// asBefore is the JSON of encoding/json.
var asBefore = json2.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))

// encoder writes what the library writes with asBefore, and terminal.JSON makes of that, in less
// than half of the time, which for a large fleet is a twentieth of a run: the library makes a token
// of each text. Structs, lists, texts and numbers are all but a few lines of a document; the
// library writes the others.
type encoder struct {
	to     io.Writer
	buf    []byte
	line   []byte // what begins a line: the newline, and the indentation
	shapes map[reflect.Type]*shape
	err    error
}

// fullBuffer is how many bytes are written at once.
const fullBuffer = 1 << 14

func newEncoder() *encoder {
	return &encoder{buf: make([]byte, 0, 2*fullBuffer), line: []byte("\n"), shapes: map[reflect.Type]*shape{}}
}

// write writes a value, whose lines but for the first begin with an indentation.
func (e *encoder) write(to io.Writer, v reflect.Value, indent string) error {
	e.to, e.line = to, append(e.line[:1], indent...)
	e.value(v, e.shape(v.Type()))
	e.flush()
	return e.err
}

func (e *encoder) flush() {
	if e.err == nil {
		_, e.err = e.to.Write(e.buf)
	}
	e.buf = e.buf[:0]
}

// shape is how values of a type are written.
type shape struct {
	kind   reflect.Kind // Invalid: by the library
	of     *shape       // what a list holds, or a pointer leads to
	fields []field      // of a struct
}

type field struct {
	name                string // with the quotes, and the colon
	at                  int
	omitEmpty, omitZero bool
	shape               *shape
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	zeroer        = reflect.TypeFor[interface{ IsZero() bool }]()
)

// shape returns that of a type, which is found once.
func (e *encoder) shape(t reflect.Type) *shape {
	if s := e.shapes[t]; s != nil {
		return s
	}
	s := &shape{}
	e.shapes[t] = s
	own, kind := reflect.PointerTo(t), t.Kind()
	switch {
	case kind == reflect.Pointer:
		s.kind, s.of = kind, e.shape(t.Elem())
	case own.Implements(marshaler), own.Implements(textMarshaler):
	case kind == reflect.String, kind == reflect.Bool, kind == reflect.Int, kind == reflect.Int64:
		s.kind = kind
	case kind == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		s.kind, s.of = kind, e.shape(t.Elem())
	case kind == reflect.Struct:
		if fields, known := e.fields(t); known {
			s.kind, s.fields = kind, fields
		}
	}
	return s
}

// fields returns those of a struct. They are not known where one is embedded, has no name or other
// options than to be left out, or says itself whether it is zero.
func (e *encoder) fields(t reflect.Type) (out []field, known bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		own := field{name: `"` + name + `": `, at: i, omitEmpty: options == "omitempty", omitZero: options == "omitzero"}
		switch {
		case f.Anonymous:
			return nil, false
		case !f.IsExported(), tag == "-":
			continue
		case name == "", plain(name) < len(name), options != "" && !own.omitEmpty && !own.omitZero, own.omitZero && reflect.PointerTo(f.Type).Implements(zeroer):
			return nil, false
		}
		own.shape = e.shape(f.Type)
		out = append(out, own)
	}
	return out, true
}

func (e *encoder) value(v reflect.Value, s *shape) {
	switch s.kind {
	case reflect.String:
		e.text(v.String())
	case reflect.Bool:
		e.buf = strconv.AppendBool(e.buf, v.Bool())
	case reflect.Int, reflect.Int64:
		e.buf = strconv.AppendInt(e.buf, v.Int(), 10)
	case reflect.Pointer, reflect.Slice:
		switch {
		case v.IsNil():
			e.buf = append(e.buf, "null"...)
		case s.kind == reflect.Pointer:
			e.value(v.Elem(), s.of)
		default:
			e.list(v, s.of)
		}
	case reflect.Struct:
		e.object(v, s.fields)
	default:
		e.byLibrary(v)
	}
}

func (e *encoder) list(v reflect.Value, of *shape) {
	e.begin('[')
	n := v.Len()
	for i := range n {
		e.next(i > 0)
		e.value(v.Index(i), of)
	}
	e.end(']', n > 0)
}

func (e *encoder) object(v reflect.Value, fields []field) {
	e.begin('{')
	some := false
	for i := range fields {
		f := &fields[i]
		of := v.Field(f.at)
		if f.omitEmpty && isEmpty(of) || f.omitZero && of.IsZero() {
			continue
		}
		e.next(some)
		some = true
		e.buf = append(e.buf, f.name...)
		e.value(of, f.shape)
	}
	e.end('}', some)
}

// isEmpty reports whether omitempty leaves a value out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Map, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

func (e *encoder) begin(with byte) { e.buf, e.line = append(e.buf, with), append(e.line, "  "...) }

// next begins the line of a field, or of an element.
func (e *encoder) next(more bool) {
	if more {
		e.buf = append(e.buf, ',')
	}
	e.buf = append(e.buf, e.line...)
	if len(e.buf) >= fullBuffer {
		e.flush()
	}
}

func (e *encoder) end(with byte, some bool) {
	e.line = e.line[:len(e.line)-2]
	if some {
		e.buf = append(e.buf, e.line...)
	}
	e.buf = append(e.buf, with)
}

func (e *encoder) text(s string) {
	start, rest := len(e.buf), s
	e.buf = append(e.buf, '"')
	for {
		n := plain(rest)
		e.buf = append(e.buf, rest[:n]...)
		if n == len(rest) {
			break
		}
		c := rest[n]
		if c != '"' && c != '\\' {
			e.buf, _ = jsontext.AppendQuote(e.buf[:start], s) // with U+FFFD for each invalid byte
			e.buf = append(e.buf[:start], terminal.JSON(e.buf[start:])...)
			return
		}
		e.buf = append(e.buf, '\\', c)
		rest = rest[n+1:]
	}
	e.buf = append(e.buf, '"')
}

// plain returns how many bytes a text begins with that stand for themselves in JSON: ASCII, but for
// control characters, quotes and backslashes. It looks at eight bytes at once: what is less than a
// space, or is a quote, leaves the highest bit of its byte set when a space, or one, is
// subtracted. Only bytes behind such a one are wrong then, which takes from them.
func plain(s string) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := binary.LittleEndian.Uint64([]byte(s[i : i+8]))
		quote, escape, del := x^each*'"', x^each*'\\', x^each*0x7f
		if found := (x | (x - each*' ') | (quote - each) | (escape - each) | (del - each)) & high; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// byLibrary writes a value of any other type.
func (e *encoder) byLibrary(v reflect.Value) {
	if v.CanAddr() {
		v = v.Addr()
	}
	text, err := json2.Marshal(v.Interface(), asBefore, jsontext.WithIndentPrefix(string(e.line[1:])))
	if e.err == nil {
		e.err = err
	}
	e.buf = append(e.buf, terminal.JSON(text)...)
}
