package report

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// A report that is sealed while it is written is what JSON writes, but for the digests, and a
// change of the document is found in its member; writing it again changes nothing.
func TestSealedIsTheSameDocument(t *testing.T) {
	write := func(r *Report, as func(io.Writer, *Report) error) string {
		var b bytes.Buffer
		if err := as(&b, r); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	r := &Report{SchemaVersion: SchemaVersion, Clusters: []Cluster{{Name: "a<b>", Namespace: "n\x1b"}}, Backups: []Backup{{Path: "p"}}}
	r.FillLists()
	plain, sealed := write(r, JSON), write(r, Sealed)
	head, _, found := strings.Cut(sealed, ",\n  \"digests\": {")
	if !found || head+"\n}\n" != plain {
		t.Errorf("sealed\n%s\nplain\n%s", sealed, plain)
	}
	back, err := Read(strings.NewReader(sealed))
	if err != nil {
		t.Fatal(err)
	}
	if changed, has := back.Changed(); !has || len(changed) > 0 {
		t.Errorf("changed %v, sealed %t", changed, has)
	}
	if again := write(back, JSON); again != sealed {
		t.Errorf("written again:\n%s\nbefore:\n%s", again, sealed)
	}
	edited, err := Read(strings.NewReader(strings.Replace(sealed, `"path": "p"`, `"path": "q"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if changed, _ := edited.Changed(); len(changed) != 1 || changed[0] != "backups" {
		t.Errorf("of an edit: %v", changed)
	}
}
