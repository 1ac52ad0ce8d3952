package code_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drift-detector/report/code"
)

// Each code has one row, which says all of it in whole sentences of its own.
func TestEveryRowIsWhole(t *testing.T) {
	known, said := map[code.Reason]bool{}, map[string]code.Reason{}
	for _, r := range code.Table {
		if known[r.Code] {
			t.Errorf("%s is there twice", r.Code)
		}
		known[r.Code] = true
		if len(r.Kinds) == 0 || r.Is(code.Answer) != (r.Safe != "") || r.Heals && !r.Is(code.Forecast) || r.Person && !r.Is(code.Warning) {
			t.Errorf("%s: %+v", r.Code, r)
		}
		for what, text := range map[string]string{"happens": r.Happens, "why": r.Why, "do": r.Do} {
			if text == "" || !strings.HasSuffix(text, ".") || strings.ToUpper(text[:1]) != text[:1] {
				t.Errorf("%s has no %s that is a sentence: %q", r.Code, what, text)
			}
			if of := said[text]; of != "" && what == "why" {
				t.Errorf("%s matters for the same reason as %s: %q", r.Code, of, text)
			}
			said[text] = r.Code
		}
	}
}

// The reasons of the answer are in the order of the answers that they leave, the worst first.
func TestDangerIsTheOrder(t *testing.T) {
	answers := []code.Safe{code.No, code.Unclear, code.WithWork}
	last := 0
	for i, r := range code.Table {
		if r.Safe == "" {
			continue
		}
		if at := slices.Index(answers, r.Safe); at < last {
			t.Errorf("%s leaves %s, and stands behind what is less dangerous", r.Code, r.Safe)
		} else {
			last = at
		}
		if code.SafeAfter(r.Code) != r.Safe || code.Rank(r.Code) != i {
			t.Errorf("%s leaves %s at %d", r.Code, code.SafeAfter(r.Code), code.Rank(r.Code))
		}
	}
	if last != len(answers)-1 || code.SafeAfter("OfALaterRelease") != code.No || code.Rank("OfALaterRelease") >= 0 {
		t.Error("a reason that is not known is called less than the worst")
	}
}

func TestRollUpsAreInOrder(t *testing.T) {
	all := code.RollUps()
	for i, a := range all {
		for j, b := range all {
			if want := all[min(i, j)]; code.Worst(a, b) != want {
				t.Errorf("of %s and %s not %s is the worst", a, b, want)
			}
			if code.Worse(a, b) != (i < j) || code.Worse(a, b) && code.Urgency(a) > code.Urgency(b) {
				t.Errorf("%s is worse than %s: %v, urgency %d and %d", a, b, code.Worse(a, b), code.Urgency(a), code.Urgency(b))
			}
		}
	}
}

// Each word that is declared has a row, under its own name.
func TestEveryWordHasARow(t *testing.T) {
	n := 0
	walkSources(t, ".", func(at token.Position, node ast.Node) {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return
		}
		of, _ := spec.Type.(*ast.Ident)
		if of == nil || !slices.Contains([]string{"Reason", "Outcome", "Status"}, of.Name) || spec.Names[0].Name == "Unattributed" {
			return
		}
		n++
		if word := literal(spec.Values[0]); spec.Names[0].Name != word || code.Of(word).Code == "" {
			t.Errorf("%s: %s is %q, which the table does not have", at, spec.Names[0].Name, word)
		}
	})
	if n != len(code.Table) {
		t.Errorf("%d words are declared, and the table has %d", n, len(code.Table))
	}
}

// No other package declares a word of the table: what is written as a reason is one of its constants.
func TestWordsAreDeclaredOnce(t *testing.T) {
	for _, folder := range []string{"../../backup", "../../detector", "../../infra", "../../report", "../../cmd/drift-detector"} {
		walkSources(t, folder, func(at token.Position, node ast.Node) {
			var value ast.Expr
			switch n := node.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && slices.Contains([]string{"Reason", "Warning", "Code", "Outcome", "Status"}, key.Name) {
					value = n.Value
				}
			case *ast.ValueSpec:
				if len(n.Values) == 1 {
					value = n.Values[0]
				}
			}
			if word := literal(value); word != "" && code.Of(word).Code != "" && !strings.Contains(at.Filename, "report/code/") && !strings.Contains(at.Filename, "testdata") && !strings.Contains(at.Filename, "detector/releases/") {
				t.Errorf("%s: %q is code.%s", at, word, word)
			}
		})
	}
}

func literal(n ast.Expr) string {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}

func walkSources(t *testing.T, dir string, visit func(token.Position, ast.Node)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if n != nil {
				visit(set.Position(n.Pos()), n)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
