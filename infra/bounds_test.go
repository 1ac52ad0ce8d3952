package infra

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// counted is what a guard and a decoder say of one document.
type counted struct{ items, deepest int }

// byGuard counts with a guard, which is read in pieces of one byte or as a whole.
func byGuard(text []byte, isXML, bytewise bool) (c counted, err error) {
	var in io.Reader = bytes.NewReader(text)
	if bytewise {
		in = iotest.OneByteReader(in)
	}
	x, j := &xmlScan{}, &jsonScan{}
	x.bounds.Items, j.bounds.Items = len(text)+1, len(text)+1
	var of *counter
	g := &guarded{ReadCloser: io.NopCloser(in), look: x}
	if of = &x.counter; !isXML {
		of, g.look = &j.counter, j
	}
	one := make([]byte, len(text)+1)
	for err == nil {
		_, err = g.Read(one)
		c.deepest = max(c.deepest, of.depth)
	}
	c.items = of.items
	if err == io.EOF {
		err = nil
	}
	return c, err
}

// xmlTokens counts the elements of a document and how deep they are; false if it is none.
func xmlTokens(text []byte) (c counted, ok bool) {
	dec := xml.NewDecoder(bytes.NewReader(text))
	depth := 0
	for {
		switch t, err := dec.Token(); t.(type) {
		case nil:
			return c, err == io.EOF
		case xml.StartElement:
			c.items++
			depth++
			c.deepest = max(c.deepest, depth)
		case xml.EndElement:
			depth--
		}
	}
}

// jsonTokens returns the same for names and values.
func jsonTokens(text []byte) (c counted, ok bool) {
	if !json.Valid(text) {
		return c, false
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	depth := 0
	for {
		t, err := dec.Token()
		if err != nil {
			return c, err == io.EOF
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			c.items++
			depth++
			c.deepest = max(c.deepest, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
		default:
			c.items++
		}
	}
}

var xmlSeeds = []string{
	`<a/>`, `<?xml version="1.0"?><a b="<" c='/>'><b/></a>`, `<a><!-- <b> -- --><b>]]</b></a>`, `<a><!-- <b/> -- ></a>`, `<a><![CDATA[<b><c/>]]]]><b></b></a>`,
	`<!DOCTYPE a [<!ENTITY x "<b>"> <!-- > " --> <b>]><a><b c="1>2" d='"'/ ></a>`, `<!DOCTYPE a "<" '>' <<!-- <--><x>>><a/>`, `<!">"><a/>`, `<!<><a/>`, `<!-a><b/>`, `<a><?p <b/> ??><b	c = "/" /></a>`,
	`<s:Envelope xmlns:s="u"><s:Body><r xmlns="urn:vim25"><v xsi:type="xsd:string">a&lt;b&#x3c;</v></r></s:Body></s:Envelope>`, "text <a>\r\n</a >", `<a><b></a>`, `<!---><a>-->`, `<a b=c/>`, `<![CDATA[`,
}

var jsonSeeds = []string{
	`{}`, `[1,-2.5e+7,true,null,"a\"[{",{"a\\":"\\","b":[]}]`, ` "\u0022[" `, `{"a":{"b":[[[{"c":0}]]]}}`, `1`, `"a" "b"`, `[1,]`, "{\n\t\"a\" : 1 ,\r\n \"a\":2}",
}

func agree(t *testing.T, text []byte, isXML bool) {
	t.Helper()
	whole, err := byGuard(text, isXML, false)
	pieces, errOfPieces := byGuard(text, isXML, true)
	tokens, ok := jsonTokens(text)
	if isXML {
		tokens, ok = xmlTokens(text)
	}
	if whole.items != pieces.items || (err == nil) != (errOfPieces == nil) {
		t.Fatalf("as a whole %+v, %v, in pieces %+v, %v: %q", whole, err, pieces, errOfPieces, text)
	}
	if err == nil && (tokens.deepest > MaxDepth || pieces.items < tokens.items || ok && pieces.items != tokens.items) {
		t.Fatalf("the guard counts %+v, the decoder %+v (whole document: %v): %q", pieces, tokens, ok, text)
	}
	if err != nil && ok && tokens.deepest <= MaxDepth && len(text) < MaxAttributes {
		t.Fatalf("%v: the decoder counts %+v: %q", err, tokens, text)
	}
}

func TestGuardsCountAsDecodersDo(t *testing.T) {
	for _, s := range xmlSeeds {
		agree(t, []byte(s), true)
	}
	for _, s := range jsonSeeds {
		agree(t, []byte(s), false)
	}
}

// What a decoder of XML finds before it ends, a guard has counted.
func FuzzXMLAnswer(f *testing.F) {
	for _, s := range xmlSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { agree(t, text, true) })
}

// A guard counts the names and values of a document of JSON.
func FuzzJSONAnswer(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { agree(t, text, false) })
}

func TestBoundsOfAnswers(t *testing.T) {
	b := Bounds{Items: 1000, Upper: []Level{{2, 10}}, Part: Part{Levels: 3, Items: 700, Bytes: 5 << 20}}
	nested := func(open, close string, n int) string { return strings.Repeat(open, n) + strings.Repeat(close, n) }
	text := strings.Repeat(" ", MaxText)
	for _, c := range []struct {
		text  string
		isXML bool
		says  string
	}{
		{nested("<a>", "</a>", MaxDepth), true, ""},
		{nested("<a>", "</a>", MaxDepth+1), true, "in more than 100 levels"},
		{nested("[", "]", MaxDepth), false, ""},
		{nested("[", "]", MaxDepth+1), false, "in more than 100 levels"},
		{nested(`{"a":`, "}", MaxDepth+1), false, "in more than 100 levels"},
		{"<a>" + strings.Repeat("<b/>", 9) + "</a>", true, ""},
		{"<a>" + strings.Repeat("<b/>", 10) + "</a>", true, "more than 10 elements or values in its first 2 levels"},
		{"[" + strings.Repeat("1,", 9) + "1]", false, "more than 10 elements or values in its first 2 levels"},
		{"<a><b>" + strings.Repeat("<c></c>", 998) + "</b></a>", true, ""},
		{"<a><b>" + strings.Repeat("<c></c>", 999) + "</b></a>", true, "more than 1000 elements or values"},
		{"[[" + strings.Repeat(`"",`, 998) + "1]]", false, "more than 1000 elements or values"},
		{"[[[" + strings.Repeat(`"",`, 600) + "1],[" + strings.Repeat(`"",`, 300) + "1]]]", false, ""},
		{"[[[" + strings.Repeat(`"",`, 800) + "1]]]", false, "more than 700 elements or values in one part"},
		{`[[["` + text[:3<<20] + `"],["` + text[:3<<20] + `"]]]`, false, ""},
		{`[[["` + text[:3<<20] + `","` + text[:3<<20] + `"]]]`, false, "a part of more than 5 MiB"},
		{"<a><b><c>" + text[:3<<20] + "<d/>" + text[:3<<20] + "</c></b></a>", true, "a part of more than 5 MiB"},
		{"<a" + strings.Repeat(` a="1"`, MaxAttributes) + "/>", true, ""},
		{"<a" + strings.Repeat(` a="1"`, MaxAttributes+1) + "/>", true, "more than 1000 attributes"},
		{"<a>" + text + "</a>", true, "a text of more than 4 MiB"},
		{"<a>" + text[1<<10:] + "</a>", true, ""},
		{"<a><!--" + text + "--></a>", true, "a text of more than 4 MiB"},
		{`<a b="` + text + `"/>`, true, "a text of more than 4 MiB"},
		{`["` + text + `"]`, false, "a text of more than 4 MiB"},
		{`["` + text[1<<10:] + `"]`, false, ""},
	} {
		body := b.JSON(io.NopCloser(strings.NewReader(c.text)))
		if c.isXML {
			body = b.XML(io.NopCloser(strings.NewReader(c.text)))
		}
		_, err := io.ReadAll(body)
		var beyond *BoundError
		if c.says == "" && err != nil || c.says != "" && (!errors.As(err, &beyond) || !strings.Contains(err.Error(), c.says) || Passing(err)) {
			t.Errorf("%.40q: %v; want %q", c.text, err, c.says)
		}
		if _, again := body.Read(make([]byte, 1)); c.says != "" && again != err {
			t.Errorf("reading on: %v after %v", again, err)
		}
	}
}
