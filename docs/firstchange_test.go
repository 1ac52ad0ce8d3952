package docs_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// firstChange is a change that CONTRIBUTING.md shows whole.
type firstChange struct {
	title   string
	command []string // go test and its arguments
	diff    string
}

// firstChanges reads them from the page.
func firstChanges(t *testing.T) []firstChange {
	t.Helper()
	var all []firstChange
	folded := regexp.MustCompile("(?s)<details><summary>([^\n]*)</summary>\n(?:[^`]*?)\n    (go test [^\n]*)\n\n```diff\n(.*?)```\n\n</details>")
	for _, m := range folded.FindAllStringSubmatch(read(t, "CONTRIBUTING.md"), -1) {
		command := strings.Fields(strings.ReplaceAll(m[2], "'", "")) // no argument has a space
		all = append(all, firstChange{m[1], command, m[3]})
	}
	if len(all) != 5 {
		t.Fatalf("CONTRIBUTING.md shows %d first changes, not a check, a row of a walk, a code, a format and a field", len(all))
	}
	return all
}

// touches returns the files that a change touches beside tests, what they read and what is made from
// the code, and whether it has a proof: a test or a scene.
func (c *firstChange) touches() (files []string, proof bool) {
	for _, m := range regexp.MustCompile(`(?m)^\+\+\+ b/(.*)$`).FindAllStringSubmatch(c.diff, -1) {
		if strings.HasSuffix(m[1], "_test.go") || strings.Contains(m[1], "/testdata/") {
			proof = true
		} else {
			files = append(files, m[1])
		}
	}
	return files, proof
}

// A check, a row of a walk, a code, a format and a field each touch three files at most.
func TestFirstChangesTouchThreeFiles(t *testing.T) {
	for _, c := range firstChanges(t) {
		files, proof := c.touches()
		if len(files) == 0 || len(files) > 3 || !proof {
			t.Errorf("%s touches %q; with a proof: %v", c.title, files, proof)
		}
		for _, made := range []string{"docs/architecture.md", "docs/codes.md", "docs/commands.md", "docs/verdicts.md", "docs/walks.md"} {
			if slices.Contains(files, made) {
				t.Errorf("%s touches %s, which make update writes", c.title, made)
			}
		}
	}
}

// The first changes apply to the files as they are, all to one copy, and what CONTRIBUTING.md says
// of each proves it. A page that is made from the code has them then.
func TestFirstChangesWork(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles much of the module once more")
	}
	dir := copyOfTheModule(t)
	all := firstChanges(t)
	for _, c := range all {
		apply := commandIn(dir, "git", "apply", "--whitespace=nowarn", "-")
		apply.Stdin = strings.NewReader(c.diff)
		if out, err := apply.CombinedOutput(); err != nil {
			t.Fatalf("%s does not apply any more: make its diff in CONTRIBUTING.md again: %v\n%s", c.title, err, out)
		}
	}
	for _, c := range all {
		t.Run(c.title, func(t *testing.T) { runTests(t, dir, c.command...) })
	}
	// The other pages are made by tests for which all providers would be compiled once more.
	runTests(t, dir, "go", "test", "./detector", "-run", "VerdictsPage", "-update")
	if text, err := os.ReadFile(filepath.Join(dir, "docs/verdicts.md")); err != nil || !strings.Contains(string(text), "NameUnknown") {
		t.Errorf("docs/verdicts.md does not have the new code: %v", err)
	}
}

// runTests runs go test, which fails or finds no test to run where the change lacks something. Vet
// has seen the module, and would look at all of it again.
func runTests(t *testing.T, dir string, command ...string) {
	t.Helper()
	out, err := commandIn(dir, command[0], slices.Insert(command[1:], 1, "-vet=off")...).CombinedOutput()
	if err != nil || strings.Contains(string(out), "no tests to run") {
		t.Errorf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
}

// commandIn returns a command that runs in a folder, which git takes for no part of a repository.
func commandIn(dir, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(c.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	return c
}

// copyOfTheModule copies the files that git lists, with what is not committed yet.
func copyOfTheModule(t *testing.T) string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("git lists no files: %v", err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if err := copyFile(filepath.Join(root, name), filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) { // one that was deleted is listed, too
			t.Fatal(err)
		}
	}
	return dir
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
