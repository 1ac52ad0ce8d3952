package docs_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// manyFiles is how many files a package has whose order a reader has to know.
const manyFiles = 15

// arrowsUp are, for each package of many files, how many of its files use another one that is above
// them in the order in which fewest do: what it takes to read the package from top to bottom, and has
// to go up again. The numbers only go down.
var arrowsUp = map[string]int{
	"backup":                     23,
	"backup/check":               22,
	"cmd/drift-detector/program": 22,
	"detector/rehearsal":         73,
	"detector/releases":          37,
	"infra":                      7,
	"infra/aws":                  39,
	"infra/aws/list":             18,
	"infra/azure":                17,
	"infra/openstack":            52,
	"infra/vsphere":              25,
	"infra/vsphere/list":         12,
	"internal/cli":               7,
	"internal/lab":               22,
	"report":                     11,
	"report/plan":                25,
	"report/verify":              17,
}

// A package of many files can be read in one direction, but for a number of files that is written down.
func TestArrowsUp(t *testing.T) {
	for _, dir := range foldersOfCode(t) {
		files := uses(t, dir)
		if len(files) <= manyFiles {
			continue
		}
		order := inOrder(files)
		var up []string
		for i, from := range order {
			for _, to := range order[:i] {
				if files[from][to] {
					up = append(up, from+" uses "+to)
				}
			}
		}
		switch limit := arrowsUp[dir]; {
		case len(up) > limit:
			t.Errorf("%s: %d files use one above them, and %d is the limit: move what two files use of each other into one of them, or into a third. From top to bottom: %s. Those that go up: %s",
				dir, len(up), limit, strings.Join(order, " "), strings.Join(up, ", "))
		case len(up) < limit:
			t.Errorf("%s: %d files use one above them: write that into arrowsUp, in place of %d", dir, len(up), limit)
		}
	}
}

// foldersOfCode returns the folders of packages, without test data.
func foldersOfCode(t *testing.T) []string {
	t.Helper()
	folders := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			folders[path.Dir(name)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(folders))
}

// uses returns the files of a package, with those whose functions, types, constants and variables each of
// them uses. Other packages are not read: what is theirs is no arrow.
func uses(t *testing.T, dir string) map[string]map[string]bool {
	t.Helper()
	set := token.NewFileSet()
	var parsed []*ast.File
	names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	lenient := types.Config{Importer: unread{}, Error: func(error) {}}
	pkg, _ := lenient.Check(dir, set, parsed, &info)
	fileAt := func(at token.Pos) string { return filepath.Base(set.Position(at).Filename) }
	files := map[string]map[string]bool{}
	for _, f := range parsed {
		files[fileAt(f.Pos())] = map[string]bool{}
	}
	for ident, of := range info.Uses {
		v, isVar := of.(*types.Var)
		if of.Pkg() != pkg || isVar && (v.IsField() || v.Parent() != pkg.Scope()) {
			continue
		}
		switch of.(type) {
		case *types.Func, *types.TypeName, *types.Const, *types.Var:
			if from, to := fileAt(ident.Pos()), fileAt(of.Pos()); from != to && files[to] != nil {
				files[from][to] = true
			}
		}
	}
	return files
}

// unread imports every package as one without anything in it.
type unread struct{}

func (unread) Import(of string) (*types.Package, error) {
	p := types.NewPackage(of, path.Base(of))
	p.MarkComplete()
	return p, nil
}

// inOrder returns the files from top to bottom, so that few use one above them: what no other one uses is
// at the top, what uses no other one at the bottom, and of circles the one that uses most and is used
// least comes first (P. Eades, X. Lin and W. F. Smyth, A fast and effective heuristic for the
// feedback arc set problem, 1993).
func inOrder(files map[string]map[string]bool) []string {
	left := slices.Sorted(maps.Keys(files))
	var top, bottom []string
	for len(left) > 0 {
		degree := func(name string) (out, in int) {
			for _, other := range left {
				if files[name][other] {
					out++
				}
				if files[other][name] {
					in++
				}
			}
			return out, in
		}
		best := slices.MaxFunc(left, func(a, b string) int {
			rank := func(name string) int {
				switch out, in := degree(name); {
				case out == 0:
					return 1 << 20
				case in == 0:
					return 1 << 19
				default:
					return out - in
				}
			}
			return cmp.Or(rank(a)-rank(b), strings.Compare(b, a))
		})
		if out, _ := degree(best); out == 0 {
			bottom = append(bottom, best)
		} else {
			top = append(top, best)
		}
		left = slices.DeleteFunc(left, func(name string) bool { return name == best })
	}
	slices.Reverse(bottom)
	return append(top, bottom...)
}

// The order is one in which nothing goes up where that can be, and one arrow of a circle does.
func TestOrderOfFiles(t *testing.T) {
	of := func(arrows ...string) map[string]map[string]bool {
		files := map[string]map[string]bool{}
		for _, a := range arrows {
			for _, name := range []string{a[:1], a[1:]} {
				if files[name] == nil {
					files[name] = map[string]bool{}
				}
			}
			files[a[:1]][a[1:]] = true
		}
		return files
	}
	for _, c := range []struct {
		arrows []string
		want   string
	}{
		{[]string{"ab", "bc", "ac"}, "[a b c]"},
		{[]string{"cb", "ba", "ca"}, "[c b a]"},
		{[]string{"xa", "ab", "ba", "by"}, "[x a b y]"},
	} {
		if is := fmt.Sprint(inOrder(of(c.arrows...))); is != c.want {
			t.Errorf("%v: %s, want %s", c.arrows, is, c.want)
		}
	}
}
