package all

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"drift-detector/infra/infratest"
)

// A new provider is one folder and its line in this package: the tests of the package
// name in one run all that it lacks. Completing it inside its folder, and make update,
// make them pass.
func TestASkeletonHearsAllThatItLacks(t *testing.T) {
	if *update {
		t.Skip("the README is about to be written")
	}
	t.Parallel()
	for _, c := range []struct {
		form string
		want []string // complaints
	}{
		{"bare", []string{
			"no Check", "no Reach", "no Title", "no Supports", "no Scope", "no Keys", "no Want.Kinds", "no MachineKinds", "no ClusterKind",
			"no Controller.Name", "no Controller.Makes", "no Controller.ID", "no Tool", "no OnDelete", "no Permissions", "no test runs infratest.Run",
			"no doc.go", `no table "Keys of instances"`, "no row in README.md",
		}},
		{"complete", nil},
	} {
		t.Run(c.form, func(t *testing.T) {
			t.Parallel()
			o := overlay(t, c.form)
			program := o.build(t, "infra/all")
			if c.want == nil {
				run(t, program, "-test.run", "TestReadmeListsTheProviders", "-update")
				run(t, o.build(t, "infra/skeleton"))
			}
			output, err := exec.Command(program, "-test.run", "TestProvidersLackNothing|TestReadmeListsTheProviders").CombinedOutput()
			out := string(output)
			if passed := err == nil; passed != (c.want == nil) {
				t.Errorf("it passed: %t\n%s", passed, out)
			}
			for _, want := range c.want {
				if !strings.Contains(out, "infra/skeleton: ") || !strings.Contains(out, want) {
					t.Errorf("nothing says %q", want)
				}
			}
			if n := strings.Count(out, "infra/skeleton: "); n != len(c.want) {
				t.Errorf("%d complaints, want %d:\n%s", n, len(c.want), out)
			}
		})
	}
}

// overlaid is this module with a folder infra/skeleton that only the go command sees,
// and a root folder of its own for the tests.
type overlaid struct{ file string }

func overlay(t *testing.T, form string) *overlaid {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	module, own := filepath.Join(here, root), t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(own, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	read := func(path string) string {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}

	list := strings.NewReplacer("import (", "import (\n\t\"drift-detector/infra/skeleton\"", "aws.New(),", "aws.New(), skeleton.New(),").Replace(read("all.go"))
	replace := map[string]string{
		filepath.Join(here, "all.go"):       write("all.go", list),
		filepath.Join(here, "root_test.go"): write("root_test.go", "package all\n\nconst root = `"+own+"`\n"),
	}
	files, err := os.ReadDir(filepath.Join("testdata/skeleton", form))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text := read(filepath.Join("testdata/skeleton", form, f.Name()))
		replace[filepath.Join(module, "infra/skeleton", f.Name())] = write("infra/skeleton/"+f.Name(), text)
	}
	write("README.md", read(filepath.Join(module, "README.md")))
	for _, p := range Registry().Providers() {
		folder := filepath.Join("infra", filepath.Base(infratest.Folder(p)))
		if err := os.Symlink(filepath.Join(module, folder), filepath.Join(own, folder)); err != nil {
			t.Fatal(err)
		}
	}
	plan, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	return &overlaid{write("overlay.json", string(plan))}
}

// build builds the tests of a package.
func (o *overlaid) build(t *testing.T, pkg string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "tests")
	// No vet: it would look at all packages again.
	run(t, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", o.file, "-o", program, "drift-detector/"+pkg)
	return program
}

func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
}
