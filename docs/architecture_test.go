package docs_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated parts of docs")

// The graph and the table of architecture.md are what the packages import.
func TestArchitectureShowsThePackages(t *testing.T) {
	const begin, end = "<!-- generated: make update -->\n", "<!-- end -->\n"
	page := read(t, "docs/architecture.md")
	head, rest, ok := strings.Cut(page, begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("docs/architecture.md has lost the marks of its generated part")
	}
	m := readModule(t)
	want := head + begin + "\n" + m.graph() + "\n" + m.table() + "\n" + end + tail
	if *update {
		if err := os.WriteFile("architecture.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if page != want {
		t.Error("docs/architecture.md does not show the packages as they are: make update")
	}
}

// The walk of one machine leads through files that exist, and through functions that they have.
func TestTheWalkOfAMachineIsThere(t *testing.T) {
	_, walk, _ := strings.Cut(read(t, "docs/architecture.md"), "\n## One machine, from the tarball to the screen\n")
	walk, _, _ = strings.Cut(walk, "\n## ")
	files, functions := map[string]bool{}, 0
	for _, m := range regexp.MustCompile("`([a-z/]+\\.go)`").FindAllStringSubmatch(walk, -1) {
		files[m[1]] = true
	}
	for file := range files {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Errorf("the walk names a file that is not there: %v", err)
		}
	}
	for _, m := range regexp.MustCompile("`([a-z/]+\\.go)`\\s+`(\\w+)`|`(\\w+)`\\s+of\\s+`([a-z/]+\\.go)`").FindAllStringSubmatch(walk, -1) {
		file, name := m[1]+m[4], m[2]+m[3]
		functions++
		if !regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?` + name + `[\[(]`).MatchString(read(t, file)) {
			t.Errorf("the walk names function %s, which %s does not have", name, file)
		}
	}
	if len(files) < 20 || functions < 12 {
		t.Errorf("the walk names %d files and %d functions only", len(files), functions)
	}
}

// graph draws which packages of the program import which, layer by layer.
func (m module) graph() string {
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	for _, l := range layers {
		members := m.names()
		members = slices.DeleteFunc(members, func(pkg string) bool { return m.layerOf(pkg).name != l.name || isTestSupport(pkg, m) })
		if len(members) == 0 {
			continue
		}
		fmt.Fprintf(&b, "  subgraph %s\n", strings.ReplaceAll(l.name, " ", "-")+"-layer[\""+l.name+"\"]")
		for _, pkg := range members {
			fmt.Fprintf(&b, "    %s[\"%s\"]\n", node(pkg), pkg)
		}
		b.WriteString("  end\n")
	}
	for _, from := range m.names() {
		for _, to := range m.ours(from) {
			if isTestSupport(from, m) || isTestSupport(to, m) || m.indirectly(from, to) {
				continue
			}
			fmt.Fprintf(&b, "  %s --> %s\n", node(from), node(to))
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// indirectly reports whether a package imports another through a third.
func (m module) indirectly(from, to string) bool {
	return slices.ContainsFunc(m.ours(from), func(via string) bool { return via != to && m.reaches(via, to) })
}

// node returns the name of a package in the graph: letters and underscores.
func node(pkg string) string { return strings.NewReplacer("/", "_", "-", "_").Replace(pkg) }

// table lists every package with what it is for and all that it imports.
func (m module) table() string {
	var b strings.Builder
	b.WriteString("| package | layer | what it is | imports of the module | of others |\n|---|---|---|---|---|\n")
	for _, pkg := range m.names() {
		var others []string
		for _, i := range m[pkg].imports {
			if !strings.HasPrefix(i, own) {
				others = append(others, foreignModule(i))
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", pkg, m.layerOf(pkg).name, brief(m[pkg].doc),
			strings.Join(m.ours(pkg), ", "), strings.Join(slices.Compact(others), ", "))
	}
	return b.String()
}

// brief returns the first sentence of a package's comment without its beginning, up to
// a colon or semicolon.
func brief(doc string) string {
	words := strings.Fields(doc)
	doc = strings.Join(words[min(2, len(words)):], " ")
	if i := strings.IndexAny(doc, ":;"); i >= 0 {
		doc = doc[:i]
	}
	return strings.NewReplacer("[", "", "]", "", "|", `\|`).Replace(strings.TrimSuffix(doc, "."))
}

// contract are the pages that say where something is.
var contract = []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/architecture.md"}

// A file or folder of the repository that these pages name exists.
func TestPagesNameWhatExists(t *testing.T) {
	top := map[string]bool{}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		top[e.Name()] = true
	}
	named := 0
	for _, page := range contract {
		text := read(t, page)
		for _, m := range regexp.MustCompile("`([a-z.][\\w.-]*/[\\w./-]*)`").FindAllStringSubmatch(text, -1) {
			if first, _, _ := strings.Cut(m[1], "/"); !top[first] {
				continue // another program's path, or one that is made
			}
			named++
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s, which does not exist", page, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links %s, which does not exist", page, m[1])
			}
		}
	}
	if named < 30 {
		t.Errorf("only %d names were found", named)
	}
}

// A target of make that these pages name exists.
func TestPagesNameTargets(t *testing.T) {
	targets := regexp.MustCompile(`(?m)^([a-z-]+):.*## `).FindAllStringSubmatch(read(t, "Makefile"), -1)
	for _, page := range contract {
		for _, m := range regexp.MustCompile("(?m)(?:`|^)make ([a-z-]+)").FindAllStringSubmatch(read(t, page), -1) {
			if !slices.ContainsFunc(targets, func(x []string) bool { return x[1] == m[1] }) {
				t.Errorf("%s names make %s, which does not exist", page, m[1])
			}
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
