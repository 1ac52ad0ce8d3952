package docs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra/all"
)

// A paragraph that names two providers, or what they list, names all of them: a list
// that was written by hand forgets the next.
func TestDocsForgetNoProvider(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, paragraph := range strings.Split(string(text), "\n\n") {
			words := strings.Join(strings.Fields(paragraph), " ")
			var named, forgotten []string
			for _, s := range all.Registry().Specs() {
				switch of := []string{s.Title, s.Scope}; {
				case s.NodesOnly:
				case slices.ContainsFunc(of, func(name string) bool { return strings.Contains(words, name) }):
					named = append(named, s.Title)
				default:
					forgotten = append(forgotten, s.Title)
				}
			}
			if len(named) > 1 && len(forgotten) > 0 {
				t.Errorf("%s names %s, not %s: %.300s", page, strings.Join(named, ", "), strings.Join(forgotten, ", "), words)
			}
		}
	}
}
