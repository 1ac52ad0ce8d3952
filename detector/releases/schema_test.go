package releases

import (
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// Each built-in kind comes with all the types that it consists of.
func TestBuiltinTypesAreWhole(t *testing.T) {
	var walk func(s *schema.Schema, name string, met map[string]bool)
	walk = func(s *schema.Schema, name string, met map[string]bool) {
		if met[name] {
			return
		}
		met[name] = true
		if got, ok := s.FindNamedType(name); !ok || got.Atom == (schema.Atom{}) {
			t.Errorf("type %s is not there", name)
		}
		for _, part := range namedType.FindAllStringSubmatch(typeTexts()[name], -1) {
			walk(s, part[1], met)
		}
	}
	for id := range builtin {
		version, kind, _ := strings.Cut(id, " ")
		name := typeName(version, kind)
		met := map[string]bool{}
		walk(builtinType(name).Schema, name, met)
		if kind == "Deployment" && len(met) < 50 {
			t.Errorf("a Deployment consists of %d types", len(met))
		}
	}
}
