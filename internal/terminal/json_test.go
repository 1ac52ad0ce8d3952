package terminal

import (
	"bytes"
	"testing"
)

// However a document is cut into writes, it is escaped as a whole.
func TestJSONWriter(t *testing.T) {
	doc := []byte("{\n \"name\": \"a\u202eb\ufffd\",\n \"plain\": \"é\"\n}\n")
	var out bytes.Buffer
	w := JSONWriter{To: &out}
	for i := range doc {
		if _, err := w.Write(doc[i : i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if want := JSON(doc); !bytes.Equal(out.Bytes(), want) || bytes.Equal(want, doc) {
		t.Errorf("it writes %s, want %s", out.Bytes(), want)
	}
}

// What a document holds at whatever place is escaped, although most of it is looked at eight
// bytes at once.
func TestJSONAtAnyPlace(t *testing.T) {
	for _, c := range []string{"\x7f", "\u0085", "\u202e", "\ufffd"} {
		for n := range 20 {
			doc := append(bytes.Repeat([]byte("a"), n), c...)
			for range 10 {
				if got := JSON(doc); bytes.Contains(got, []byte(c)) {
					t.Fatalf("%q holds %q", got, c)
				}
				doc = append(doc, 'z')
			}
		}
	}
}
