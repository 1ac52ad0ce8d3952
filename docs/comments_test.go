package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A function does something, so that its comment says what, with a verb: "returns",
// "reports whether", "adds", and not what the function "is".
func TestFunctionsAreDescribedByWhatTheyDo(t *testing.T) {
	comments := 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.IsDir() && (d.Name() == "bin" || d.Name() == "dist" || d.Name() == ".git") {
				return filepath.SkipDir
			}
			return err
		}
		if strings.HasSuffix(file, ".go") {
			comments += described(t, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if comments < 4000 {
		t.Errorf("only %d comments of functions were found", comments)
	}
}

var being = regexp.MustCompile(`^(\w+) (?:is|are|was|were) `)

// described demands a verb of each function in a file, and counts the comments.
func described(t *testing.T, file string) (comments int) {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, file, nil, parser.ParseComments)
	if err != nil {
		return 0 // of testdata
	}
	for _, decl := range f.Decls {
		fn, is := decl.(*ast.FuncDecl)
		if !is || fn.Doc == nil {
			continue
		}
		comments++
		text := strings.Join(strings.Fields(fn.Doc.Text()), " ")
		if m := being.FindStringSubmatch(text); m != nil && m[1] == fn.Name.Name {
			t.Errorf("%s: say what the function does, with a verb: %.100s", files.Position(fn.Doc.Pos()), text)
		}
	}
	return comments
}
