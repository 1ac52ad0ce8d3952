package all

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drift-detector/infra/infratest"
)

var update = flag.Bool("update", false, "write the README's table of providers")

// Each provider has all that the program needs of one. What is missing is named in
// one run.
func TestProvidersLackNothing(t *testing.T) {
	if *update {
		t.Skip("the README is about to be written")
	}
	for _, p := range Registry().Providers() {
		for _, missing := range infratest.Lacks(p, os.DirFS(root), infratest.Folder(p)) {
			t.Error(missing)
		}
	}
}

// The README's table of providers is what their Specs say.
func TestReadmeListsTheProviders(t *testing.T) {
	const begin, end = "<!-- providers: make update -->\n", "<!-- end -->\n"
	name := filepath.Join(root, "README.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("README.md has lost the marks of its table of providers")
	}
	want := head + begin + "\n| provider | what is read | one place is | what an account must be allowed |\n|---|---|---|---|\n"
	for _, p := range Registry().Providers() {
		if s := p.Spec(); !s.NodesOnly {
			want += infratest.Row(&s, infratest.Folder(p))
		}
	}
	want += "\n" + end + tail
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(page) != want {
		t.Error("README.md does not list the providers as they are: make update")
	}
}
