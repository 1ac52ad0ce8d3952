package docs_test

import (
	"errors"
	"go/build"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	root = ".." // of the repository
	own  = "drift-detector/"
)

// module is the packages of this module by their folder, without tests and
// without what is in testdata and in folders with a dot.
type module map[string]*pkg

// pkg is a package: the first sentence of its comment, what it imports from outside the
// standard library, sorted, and what from there that contacts servers.
type pkg struct {
	doc     string
	imports []string
	network []string
}

// everywhere reads the files of all systems and with all tags.
var everywhere = func() build.Context { c := build.Default; c.UseAllFiles = true; return c }()

func readModule(t *testing.T) module {
	t.Helper()
	m := module{}
	err := filepath.WalkDir(root, func(folder string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if folder != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		p, err := everywhere.ImportDir(folder, 0)
		if none := (*build.NoGoError)(nil); errors.As(err, &none) {
			return nil
		}
		if err != nil || len(p.GoFiles) == 0 {
			return err
		}
		name, err := filepath.Rel(root, folder)
		if err != nil {
			return err
		}
		m.add(filepath.ToSlash(name), p.Imports...)
		m[filepath.ToSlash(name)].doc = p.Doc
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(m) < 20 {
		t.Fatalf("only %d packages were found", len(m))
	}
	return m
}

func (m module) clone() module {
	c := module{}
	for name, p := range m {
		c[name] = &pkg{doc: p.doc, imports: slices.Clone(p.imports), network: slices.Clone(p.network)}
	}
	return c
}

// add adds imports to a package, which is made when there is none.
func (m module) add(name string, imports ...string) {
	if m[name] == nil {
		m[name] = &pkg{}
	}
	p := m[name]
	for _, i := range imports {
		switch {
		case contacts(i):
			p.network = append(p.network, i)
		case !inStandardLibrary(i):
			p.imports = append(p.imports, i)
		}
	}
	slices.Sort(p.imports)
}

func (m module) names() []string { return slices.Sorted(maps.Keys(m)) }

// ours returns the packages of the module that a package imports.
func (m module) ours(name string) []string {
	var ours []string
	for _, i := range m[name].imports {
		if to, ok := strings.CutPrefix(i, own); ok {
			ours = append(ours, to)
		}
	}
	return ours
}

// reaches reports whether one package imports another, itself or through others.
func (m module) reaches(from, to string) bool {
	return slices.ContainsFunc(m.ours(from), func(next string) bool { return next == to || m.reaches(next, to) })
}

func inStandardLibrary(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".") && !strings.HasPrefix(imported, own)
}

// contacts reports whether a package is one of the standard library that reaches servers.
func contacts(imported string) bool {
	return imported == "net" || imported == "net/http" || imported == "crypto/tls" || strings.HasPrefix(imported, "net/http/")
}

// foreignModule returns the repository of an import path of others.
func foreignModule(imported string) string {
	parts := strings.Split(imported, "/")
	n := 2 // sigs.k8s.io/yaml
	if parts[0] == "github.com" || parts[0] == "golang.org" {
		n = 3
	}
	return strings.Join(parts[:min(n, len(parts))], "/")
}
