package mutate

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
)

const sample = `{"a":[1,{"b":"text"},null],"c":{"d":true,"e":"2026-11-21T04:06:00Z"}}`

// Edits change a document and leave it JSON, the same each time.
func TestJSON(t *testing.T) {
	r, changed := rand.New(rand.NewPCG(1, 2)), 0
	for range 2000 {
		edits := make([]byte, r.IntN(6*editLen))
		for i := range edits {
			edits[i] = byte(r.IntN(256))
		}
		got := JSON([]byte(sample), edits)
		if !json.Valid(got) || !bytes.Equal(got, JSON([]byte(sample), edits)) {
			t.Fatalf("%x: %s", edits, got)
		}
		if string(got) != sample {
			changed++
		}
	}
	if changed < 1000 {
		t.Errorf("only %d of 2000 documents were changed", changed)
	}
}
