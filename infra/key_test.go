package infra

import (
	"encoding/json"
	"strings"
	"testing"
)

// A saved key has the name of its kind, also of one that nobody has declared.
func TestKeyKindIsItsName(t *testing.T) {
	for _, text := range []string{`{"kind":"ownerTag","value":"a"}`, `{"kind":"nobody's","value":"a"}`, `{"kind":"","value":""}`} {
		var k Key
		if err := json.Unmarshal([]byte(text), &k); err != nil {
			t.Fatal(err)
		}
		if again, err := json.Marshal(k); err != nil || string(again) != text {
			t.Errorf("%s is written as %s, %v", text, again, err)
		}
		if empty := strings.Contains(text, `""`); k.IsZero() != empty || k.Kind.IsZero() != empty {
			t.Errorf("%s: is it zero? %t, %t", text, k.IsZero(), k.Kind.IsZero())
		}
	}
	if z, a := KeyKindOf("z"), KeyKindOf("a"); z.Compare(a) <= 0 || a.Compare(z) >= 0 || a.Compare(KeyKindOf("a")) != 0 {
		t.Error("kinds are not in the order of their names")
	}
}
