package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drift-detector/report"
)

// Every rule of the packages that check is one that explain knows.
func TestEveryCheckIsExplained(t *testing.T) {
	known := map[string]bool{}
	for _, c := range allCodes() {
		known[c.Code] = true
		if c.Why == "" || c.Do == "" && strings.HasPrefix(c.Meaning, "Check, error") {
			t.Errorf("%s is not explained: %+v", c.Code, c)
		}
	}
	n := 0
	for _, dir := range []string{"../../backup/check", "../../infra"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "testdata" {
				return skipDir(err)
			}
			if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if code := ruleCode(node); code != "" {
					n++
					if !known[code] {
						t.Errorf("%s: explain does not know check %s", path, code)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 50 {
		t.Errorf("%d rules are found", n)
	}
}

func skipDir(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

// ruleCode is the code of a literal Rule{"Code", …} or check.Rule{Code: "Code", …}.
func ruleCode(node ast.Node) string {
	l, ok := node.(*ast.CompositeLit)
	if !ok || len(l.Elts) == 0 {
		return ""
	}
	name, _ := l.Type.(*ast.Ident)
	if s, ok := l.Type.(*ast.SelectorExpr); ok {
		name = s.Sel
	}
	if name == nil || name.Name != "Rule" {
		return ""
	}
	first := l.Elts[0]
	if kv, ok := first.(*ast.KeyValueExpr); ok {
		first = kv.Value
	}
	switch c := first.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(c.Value)
		return text
	case *ast.SelectorExpr:
		return c.Sel.Name
	}
	return ""
}

func TestExplain(t *testing.T) {
	o := runProgram(t, "explain", "identityabsent")
	o.demand(t, exitOK)
	for _, want := range []string{"IdentityAbsent\n\nWhat it is      Note: ", "What it is      Check, error.\n", "\nWhy it matters  ", "\nWhat to do      "} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("%q is not in\n%s", want, o.stdout)
		}
	}
	all := runProgram(t, "explain")
	all.demand(t, exitOK)
	for line := range strings.Lines(all.stdout) {
		if len([]rune(line)) > 81 {
			t.Errorf("%d columns: %s", len([]rune(line))-1, line)
		}
	}
	var codes []report.Code
	if err := json.Unmarshal([]byte(runProgram(t, "explain", "--format", "json").stdout), &codes); err != nil || len(codes) < 150 {
		t.Fatalf("%d codes: %v", len(codes), err)
	}
	for _, c := range codes {
		if !strings.Contains(all.stdout, "\n   "+c.Code+" ") {
			t.Errorf("%s is not listed", c.Code)
		}
	}
	wrong := runProgram(t, "explain", "IdentiyAbsent")
	if wrong.code != exitUsage || wrong.stdout != "" || !strings.Contains(wrong.stderr, `unknown code "IdentiyAbsent"; did you mean IdentityAbsent?`) {
		t.Errorf("status %d: %s", wrong.code, wrong.stderr)
	}
	runProgram(t, "explain", "--format", "pdf").demand(t, exitUsage)
	hostile := runProgram(t, "explain", "x\x1b[31m\ny")
	if hostile.code != exitUsage || strings.Contains(hostile.stderr, "\x1b") {
		t.Errorf("%q", hostile.stderr)
	}
}

// What a real report holds is explained: the codes of the lab's.
func TestCodesOfAReportAreExplained(t *testing.T) {
	o := fleet(t).detect()
	var known []string
	for _, c := range allCodes() {
		known = append(known, c.Code)
	}
	var used []string
	for _, c := range o.report.Checks {
		used = append(used, string(c.Code))
	}
	for i := range o.report.Clusters {
		for _, set := range o.report.Clusters[i].Sets() {
			for _, m := range set.Machines {
				used = append(used, string(m.Reason), string(m.Status))
				if m.Forecast != nil {
					used = append(used, string(m.Forecast.Outcome))
				}
			}
		}
	}
	for _, code := range used {
		if code != "" && !slices.Contains(known, code) {
			t.Errorf("explain does not know %s", code)
		}
	}
}
