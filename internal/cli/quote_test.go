package cli

import (
	"testing"
)

// A line is pasted into the shells of its system. Those of Windows have no quotes in common but double
// ones, and a backslash in a path is one to a POSIX shell alone.
func TestPasteable(t *testing.T) {
	for _, c := range [][3]string{
		{"linux", "a b.json", "'a b.json'"},
		{"linux", `a\b`, `'a\b'`},
		{"linux", "a/b", "a/b"},
		{"windows", `C:\out\report.json`, "C:/out/report.json"},
		{"windows", `a b\r.json`, `"a b/r.json"`},
		{"windows", `a %x%\r.json`, "'a %x%/r.json'"},
		{"windows", "$x", "'$x'"},
	} {
		if got, ok := pasteableOn(c[0], c[1]); !ok || got != c[2] {
			t.Errorf("%s: %s: %s", c[0], c[1], got)
		}
	}
	for _, c := range [][3]string{
		{"linux", "./drift-detector", "./drift-detector"},
		{"windows", `C:\Program Files\drift-detector.exe`, "drift-detector"},
		{"windows", `.\drift-detector`, "drift-detector"},
		{"windows", "drift-detector.exe", "drift-detector"},
	} {
		if got := calledAs(c[0], c[1]); got != c[2] {
			t.Errorf("%s: %s: %s", c[0], c[1], got)
		}
	}
}
