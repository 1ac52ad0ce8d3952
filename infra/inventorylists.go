package infra

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// This file is how the long lists of an inventory are read: into room for exactly what they
// hold, and their texts once. They are most of the memory of a run.

func unmarshalers() *json.Unmarshalers {
	keys := keyReader{kinds: map[string]KeyKind{}}
	return json.JoinUnmarshalers(
		json.UnmarshalFromFunc(keys.read),
		json.UnmarshalFromFunc(factReader{}.read),
		json.UnmarshalFromFunc(readText),
		inParts(func(dec *jsontext.Decoder, l *Listing) error { return json.UnmarshalDecode(dec, l) }),
		inParts(keys.readInstance),
		inParts(keys.readNode),
	)
}

// inParts reads lists that are so long that room for one more of them, and what it grew
// from, is worth to be avoided. read reads one of what they hold.
func inParts[T any](read func(*jsontext.Decoder, *T) error) *json.Unmarshalers {
	var room [256]T // for one list at a time: none is in another of its kind
	return json.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *[]T) error {
		if dec.PeekKind() != '[' {
			return errors.ErrUnsupported // the usual way
		}
		_, _ = dec.ReadToken() // as was just seen
		var parts [][]T
		n := 0
		for ; dec.PeekKind() != ']'; n++ {
			if n == len(room) {
				parts, n = append(parts, slices.Clone(room[:])), 0
			}
			room[n] = *new(T)
			if err := read(dec, &room[n]); err != nil {
				return err
			}
		}
		_, err := dec.ReadToken()
		*into = slices.Concat(append(parts, room[:n])...)
		return err
	})
}

// factReader reads lists of facts, of which machines mostly have the same. It has those that
// it has read by their JSON, up to a bound: one inventory may have a list for each instance. They
// are shared, and nobody changes facts that were read.
type factReader map[string]Facts

const mostFacts = 1024

func (r factReader) read(dec *jsontext.Decoder, into *Facts) error {
	all, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if known, is := r[string(all)]; is {
		*into = known
		return nil
	}
	var list []Fact
	if err := json.Unmarshal(all, &list); err != nil {
		if s := (*json.SemanticError)(nil); errors.As(err, &s) {
			s.JSONPointer = dec.StackPointer() + s.JSONPointer
		}
		return err
	}
	*into = slices.Clip(slices.Clone(list))
	if len(r) < mostFacts {
		r[string(all)] = *into
	}
	return nil
}

// keyReader reads lists of keys, which are nearly all of an inventory. The values of a list
// are parts of one text: most are parts of others, as the name of an instance is of its path.
type keyReader struct {
	kinds  map[string]KeyKind // they are few
	before [32]beforeValue    // of the last lists, by the places in them
	list   []Key
	values [][]byte
	at     []int // where the values are in the text
	text   []byte
	last   string // text of the last list
	room   []Key  // for the next lists, which are many and short
	one    instanceText
}

// beforeValue is how all before the value of a key is written, from the value before it on.
type beforeValue struct {
	text []byte
	kind KeyKind
}

// reach is how far back in the text a value is looked for: all of the text of one instance.
const reach = 1024

func (r *keyReader) read(dec *jsontext.Decoder, into *[]Key) error {
	all, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if !r.plain(all) {
		err := json.Unmarshal(all, into)
		if s := (*json.SemanticError)(nil); errors.As(err, &s) {
			s.JSONPointer = dec.StackPointer() + s.JSONPointer
		}
		return err
	}
	r.text, r.at = r.text[:0], r.at[:0]
	if len(r.values) > 0 {
		r.text = append(r.text, slices.MaxFunc(r.values, func(a, b []byte) int { return cmp.Compare(len(a), len(b)) })...)
	}
	for _, v := range r.values {
		from := max(0, len(r.text)-reach)
		at := bytes.Index(r.text[from:], v)
		if at < 0 {
			at, r.text = len(r.text)-from, append(r.text, v...)
		}
		r.at = append(r.at, from+at)
	}
	r.last = string(r.text)
	if r.room == nil || len(r.room) < len(r.list) {
		r.room = make([]Key, max(len(r.list), 1024))
	}
	*into, r.room = r.room[:len(r.list):len(r.list)], r.room[len(r.list):]
	copy(*into, r.list)
	for n, v := range r.values {
		(*into)[n].Value = r.last[r.at[n] : r.at[n]+len(v)]
	}
	return nil
}

// plain takes a list of keys apart, and reports whether it is written as all are: it has
// kind and value alone, and nothing is escaped. That it is JSON is known.
func (r *keyReader) plain(list []byte) bool {
	r.list, r.values = r.list[:0], r.values[:0]
	in := plainJSON{list, bytes.IndexByte(list, '\\') < 0}
	if in.expect("["); in.next("]") {
		return in.ok
	}
	for in.ok {
		kind, end := r.kind(&in)
		if end {
			return in.ok
		}
		r.list, r.values = append(r.list, Key{Kind: kind}), append(r.values, in.text())
	}
	return false
}

// kind passes all before the next value of a list, and returns the kind of its key. Most lists
// are written as the one before, so that is compared first.
func (r *keyReader) kind(in *plainJSON) (kind KeyKind, end bool) {
	n, from := len(r.list), in.rest
	if n < len(r.before) && len(r.before[n].text) > 0 && bytes.HasPrefix(from, r.before[n].text) {
		in.rest = from[len(r.before[n].text):]
		return r.before[n].kind, false
	}
	if n > 0 {
		if in.expect("}"); in.next("]") {
			return kind, true
		}
		in.expect(",")
	}
	in.expect("{", `"kind":`, `"`)
	name := in.text()
	in.expect(",", `"value":`, `"`)
	if !in.ok {
		return kind, false
	}
	kind, known := r.kinds[string(name)]
	if !known {
		kind = KeyKindOf(string(name))
		r.kinds[string(name)] = kind
	}
	if n < len(r.before) {
		at := &r.before[n]
		at.text, at.kind = append(at.text[:0], from[:len(from)-len(in.rest)]...), kind
	}
	return kind, false
}

// plainJSON takes JSON without escapes apart, until it is not as expected.
type plainJSON struct {
	rest []byte
	ok   bool
}

// next reports whether a text comes next, and passes it then.
func (p *plainJSON) next(text string) bool {
	at := 0
	for at < len(p.rest) && (p.rest[at] == ' ' || p.rest[at] == '\n' || p.rest[at] == '\r' || p.rest[at] == '\t') {
		at++
	}
	p.rest = p.rest[at:]
	is := len(p.rest) >= len(text) && string(p.rest[:len(text)]) == text
	if is {
		p.rest = p.rest[len(text):]
	}
	return is
}

func (p *plainJSON) expect(texts ...string) {
	for _, text := range texts {
		p.ok = p.next(text) && p.ok
	}
}

// text reads a string behind its first quote.
func (p *plainJSON) text() []byte {
	end := bytes.IndexByte(p.rest, '"')
	if end < 0 {
		p.ok = false
		return nil
	}
	text := p.rest[:end]
	p.rest = p.rest[end+1:]
	return text
}

// instanceText is an Instance while it is read. What its keys hold as well is not made into
// strings of its own.
type instanceText struct {
	*Instance
	ID   plainText `json:"id"`
	Ref  plainText `json:"ref"`
	Name plainText `json:"name"`
	Path plainText `json:"path"`
}

func (r *keyReader) readInstance(dec *jsontext.Decoder, i *Instance) error {
	t := &r.one
	t.Instance, t.ID, t.Ref, t.Name, t.Path = i, t.ID[:0], t.Ref[:0], t.Name[:0], t.Path[:0]
	if err := json.UnmarshalDecode(dec, t); err != nil {
		return err
	}
	i.ID, i.Ref, i.Name, i.Path = r.string(t.ID), r.string(t.Ref), r.string(t.Name), r.string(t.Path)
	share(r.last, &i.Host.Value)
	return nil
}

// string returns a text, a part of that of the last list if it is one.
func (r *keyReader) string(text []byte) string {
	if at := bytes.Index(r.text, text); at >= 0 {
		return r.last[at : at+len(text)]
	}
	return string(text)
}

func (r *keyReader) readNode(dec *jsontext.Decoder, n *Node) error {
	if err := json.UnmarshalDecode(dec, n); err != nil {
		return err
	}
	for i := range n.Keys {
		share(n.ProviderID, &n.Keys[i].Value)
	}
	return nil
}

// plainText is a string of JSON, in a place that is used again.
type plainText []byte

func readText(dec *jsontext.Decoder, into *plainText) error {
	if dec.PeekKind() != '"' {
		var s string
		err := json.UnmarshalDecode(dec, &s)
		*into = append((*into)[:0], s...)
		return err
	}
	quoted, err := dec.ReadValue()
	if err == nil {
		*into, err = jsontext.AppendUnquote((*into)[:0], quoted)
	}
	return err
}

// share makes texts parts of another, if they are.
func share(whole string, texts ...*string) {
	for _, t := range texts {
		if at := strings.Index(whole, *t); at >= 0 {
			*t = whole[at : at+len(*t)]
		}
	}
}
