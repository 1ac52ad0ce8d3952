package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each promise and each bound of SECURITY.md names a test, with its folder, that exists.
func TestEveryPromiseHasATest(t *testing.T) {
	var promises []string
	for _, head := range []string{"| promise | held by |\n|---|---|\n", "| what | bound | what is said beyond it | held by |\n|---|---|---|---|\n"} {
		_, table, ok := strings.Cut(read(t, "SECURITY.md"), head)
		if !ok {
			t.Fatalf("SECURITY.md has no table %s", head)
		}
		table, _, _ = strings.Cut(table, "\n\n")
		rows := strings.Split(strings.TrimSpace(table), "\n")
		if len(rows) < 15 {
			t.Fatalf("%d rows of %s", len(rows), head)
		}
		promises = append(promises, rows...)
	}
	named := regexp.MustCompile("`([a-z/-]+): (Test\\w+)`")
	for _, p := range promises {
		tests := named.FindAllStringSubmatch(p, -1)
		if len(tests) == 0 {
			t.Errorf("no test is named: %s", p)
		}
		for _, m := range tests {
			if !defines(t, filepath.Join(root, m[1]), m[2]) {
				t.Errorf("%s has no test %s, which SECURITY.md names", m[1], m[2])
			}
		}
	}
}

// defines reports whether a test of a folder has that name.
func defines(t *testing.T, folder, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+test+"(t *testing.T) {") {
			return true
		}
	}
	return false
}
