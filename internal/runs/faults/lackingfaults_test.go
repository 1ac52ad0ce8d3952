package faults_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"

	"drift-detector/internal/runs"
)

// part is an element of an answer in XML, or a member of one in JSON.
type part struct {
	name, attrs string
	kind        byte   // e: element of XML; o, a, v: object, array and scalar of JSON
	text        string // of a leaf, escaped as the document has it
	parts       []*part
}

// parsed returns a document of XML or JSON, nil when it is neither.
func parsed(document []byte) *part {
	if bytes.HasPrefix(bytes.TrimSpace(document), []byte("<")) {
		return parsedXML(document)
	}
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return ofJSON("", v)
}

func parsedXML(document []byte) *part {
	root := &part{kind: 'e'}
	stack := []*part{root}
	for d := xml.NewDecoder(bytes.NewReader(document)); ; {
		top := stack[len(stack)-1]
		token, err := d.RawToken()
		if err == io.EOF {
			return root
		}
		switch t := token.(type) {
		case xml.StartElement:
			p := &part{name: qualified(t.Name), kind: 'e'}
			for _, a := range t.Attr {
				p.attrs += fmt.Sprintf(` %s="%s"`, qualified(a.Name), escapedXML(a.Value))
			}
			top.parts = append(top.parts, p)
			stack = append(stack, p)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += escapedXML(string(t))
		}
		if err != nil {
			return nil
		}
	}
}

func qualified(n xml.Name) string { return strings.TrimPrefix(n.Space+":"+n.Local, ":") }

func escapedXML(s string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(s))
	return out.String()
}

func ofJSON(name string, v any) *part {
	switch v := v.(type) {
	case map[string]any:
		p := &part{name: name, kind: 'o'}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			p.parts = append(p.parts, ofJSON(k, v[k]))
		}
		return p
	case []any:
		p := &part{name: name, kind: 'a'}
		for _, one := range v {
			p.parts = append(p.parts, ofJSON(name, one))
		}
		return p
	}
	text, _ := json.Marshal(v)
	return &part{name: name, kind: 'v', text: string(text)}
}

func (p *part) leaf() bool { return p.kind == 'v' || p.kind == 'e' && len(p.parts) == 0 }

// document returns the part as text; with more, each that has parts has an unknown one, too.
func (p *part) document(more bool) string {
	var inner []string
	for _, k := range p.parts {
		text := k.document(more)
		if p.kind == 'o' {
			name, _ := json.Marshal(k.name)
			text = string(name) + ":" + text
		}
		inner = append(inner, text)
	}
	unknown := more && len(p.parts) > 0
	switch p.kind {
	case 'o':
		if unknown {
			inner = append(inner, `"fromTheFuture":{"id":["x"]}`)
		}
		return "{" + strings.Join(inner, ",") + "}"
	case 'a':
		return "[" + strings.Join(inner, ",") + "]"
	case 'v':
		return p.text
	}
	if p.name == "" {
		return strings.Join(inner, "")
	}
	if unknown {
		inner = append(inner, "<fromTheFuture>x</fromTheFuture>")
	}
	text := p.text
	if len(p.parts) > 0 {
		text = ""
	}
	return "<" + p.name + p.attrs + ">" + text + strings.Join(inner, "") + "</" + p.name + ">"
}

// label names a kind of part. Some say in a part of their own what they are: of names
// of parts to such names, names gives which.
func (p *part) label(names map[string]string) string {
	for _, k := range p.parts {
		if k.leaf() && names[p.name] == k.name {
			return p.name + "[" + k.text + "]"
		}
	}
	return p.name
}

// each calls visit for all parts below with their labels, the parent's before.
func (p *part) each(names map[string]string, visit func(parent, p *part, label string)) {
	own := p.label(names)
	for _, k := range slices.Clone(p.parts) {
		visit(p, k, own+"/"+k.label(names))
		k.each(names, visit)
	}
}

var digits = regexp.MustCompile(`^"?\d+"?$`)

// ways are what can be wrong with a part of an answer that keeps its form.
var ways = map[string]func(parent, p *part) bool{
	"lacks": func(parent, p *part) bool {
		parent.parts = slices.DeleteFunc(slices.Clone(parent.parts), func(k *part) bool { return k == p })
		return true
	},
	"empty": func(_, p *part) bool {
		if p.kind == 'e' || p.kind == 'a' {
			p.text, p.parts = "", nil
			return true
		}
		p.kind, p.text, p.parts = 'v', "null", nil
		return true
	},
	"of another type": func(_, p *part) bool {
		switch {
		case p.kind == 'v' && strings.HasPrefix(p.text, `"`):
			p.text = "7"
		case p.kind == 'e':
			p.text, p.parts = "?", nil
		default:
			p.kind, p.text, p.parts = 'v', `"?"`, nil
		}
		return true
	},
	"huge": func(_, p *part) bool {
		number := p.leaf() && digits.MatchString(p.text)
		if number {
			p.text = strings.ReplaceAll(p.text, strings.Trim(p.text, `"`), strings.Repeat("9", 40))
		}
		return number
	},
	"twice": func(parent, p *part) bool {
		i := slices.Index(parent.parts, p)
		parent.parts = slices.Insert(slices.Clone(parent.parts), i, p)
		return parent.kind == 'e' || parent.kind == 'a'
	},
}

// bent returns the document with one kind of part spoilt: the first of them, or each.
// nil where that changes nothing.
func bent(document []byte, names map[string]string, label, way string, first bool) []byte {
	root := parsed(document)
	if root == nil {
		return nil
	}
	done := false
	root.each(names, func(parent, p *part, l string) {
		if l == label && !(first && done) && ways[way](parent, p) {
			done = true
		}
	})
	if !done {
		return nil
	}
	return []byte(root.document(false))
}

// bending returns a fault that changes a good answer; nil from change leaves it.
func bending(name string, change func([]byte) []byte) runs.WireFault {
	return runs.WireFault{Name: name, Do: func(w http.ResponseWriter, _ *http.Request, real func() *httptest.ResponseRecorder) {
		answer := real()
		if whole := answer.Body.Bytes(); answer.Code == http.StatusOK {
			if text := change(whole); text != nil {
				answer.Body = bytes.NewBuffer(text)
			}
		}
		answer.Header().Del("Content-Length")
		runs.CopyHeader(w, answer)
		_, _ = w.Write(answer.Body.Bytes())
	}}
}

// lackingFaults returns the well-formed answers to a call that lack something or hold too
// much, by the good answers to it.
func lackingFaults(answers [][]byte, f *faultFamily) []runs.WireFault {
	labels, long := map[string]bool{}, map[string]bool{}
	for _, a := range answers {
		if root := parsed(a); root != nil {
			root.each(f.labels, func(_, p *part, l string) { labels[l], long[l] = true, long[l] || !p.leaf() })
		}
	}
	var all []runs.WireFault
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		for _, way := range slices.Sorted(maps.Keys(ways)) {
			if way == "twice" && !long[label] {
				continue
			}
			for _, first := range []bool{true, false} {
				changes := func(a []byte) bool { return bent(a, f.labels, label, way, first) != nil }
				if way == "twice" && !first || first && way != "lacks" && way != "empty" && way != "twice" || !slices.ContainsFunc(answers, changes) {
					continue
				}
				name := fmt.Sprintf("%s %s", label, way)
				if first {
					name = "the first " + name
				}
				all = append(all, bending(name, func(a []byte) []byte { return bent(a, f.labels, label, way, first) }))
			}
		}
	}
	all = append(all, bending("unknown parts in it", func(a []byte) []byte {
		if root := parsed(a); root != nil {
			return []byte(root.document(true))
		}
		return nil
	}))
	for _, o := range f.others {
		if slices.ContainsFunc(answers, func(a []byte) bool { return bytes.Contains(a, []byte(o[1])) }) {
			all = append(all, bending("another "+o[0], func(a []byte) []byte { return bytes.ReplaceAll(a, []byte(o[1]), []byte(o[2])) }))
		}
	}
	return all
}

// again answers a call with what it was answered the time before.
func again() runs.WireFault {
	var before []byte
	return bending("the answer before, again", func(a []byte) []byte {
		text := before
		before = slices.Clone(a)
		return text
	})
}
