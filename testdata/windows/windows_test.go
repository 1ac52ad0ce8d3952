package windows

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(here.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(here.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// report returns a report without what says when, with which program and from which file it was made.
func report(t *testing.T, text string) map[string]any {
	t.Helper()
	var r map[string]any
	here := strings.NewReplacer(strings.ReplaceAll(fleet, `\`, `\\`), "BACKUP", testdata+"fleet-data.tar.gz", "BACKUP", "standard input", "BACKUP")
	if err := json.Unmarshal([]byte(here.Replace(text)), &r); err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"generatedAt", "tool", "digests"} {
		delete(r, of)
	}
	return r
}

// What Windows' program says of a fleet is what Linux' says: in paths with drives, backslashes and
// spaces, and from stdin. Its files have the ends of lines and no colours that those have.
func TestReports(t *testing.T) {
	write(t, "a b/empty", "")
	o := run(nil, "detect", "--backup", fleet, "--inventory", "inventory.json", "--summary", "-o", `a b\report 1.json`, "-o", `.\page.html`, "-o", `C:\out.prom`, "-o", "t.txt", "-o", "m.md", "-o", on(here.folder)+`\j.xml`)
	o.demand(t, 3, "NoCredential", "hint: ")
	if want := `drift-detector plan "a b/report 1.json"`; !strings.Contains(o.stdout, want) || strings.Contains(o.stdout, "\x1b") {
		t.Errorf("no %s, or colours:\n%s", want, o.stdout)
	}
	for _, name := range []string{"a b/report 1.json", "page.html", "prefix/drive_c/out.prom", "t.txt", "m.md", "j.xml"} {
		if text := read(t, name); len(text) < 1000 || strings.ContainsAny(text, "\r\x1b") {
			t.Errorf("%s: %d bytes, or with what files don't have", name, len(text))
		}
	}
	demandNothingLeft(t)

	data, err := os.ReadFile(testdata + "fleet-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	run(bytes.NewReader(data), "detect", "--backup", "-", "--inventory", `a b\..\inventory.json`, "--quiet", "-o", "stdin.json").demand(t, 3)
	linux := exec.Command(filepath.Join(*programs, "drift-detector"), "detect", "--backup", testdata+"fleet-data.tar.gz", "--inventory", here.inventory, "--quiet", "-o", "-")
	text, _ := linux.Output() // its status is 3, too
	want := report(t, string(text))
	for _, name := range []string{"a b/report 1.json", "stdin.json"} {
		if got := report(t, read(t, name)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is not what Linux makes of it", name)
		}
	}

	run(nil, "plan", `a b\report 1.json`, "--format", "shell", "-o", "plan.sh").demand(t, 3)
	if plan := read(t, "plan.sh"); strings.Contains(plan, "\r") || strings.Contains(plan, `.exe`) {
		t.Error("plan.sh has carriage returns, or names the program's file")
	}
	run(nil, "explain", "IdentityAbsent", `a b\report 1.json`).demand(t, 0)
	if o := run(nil, "completion", "powershell"); o.code != 0 || !strings.Contains(o.stdout, "Register-ArgumentCompleter") {
		t.Errorf("%d: %s", o.code, o.stdout)
	}
}

func TestStatus(t *testing.T) {
	run(nil, "version").demand(t, 0)
	run(nil, "check", "--backup", on(testdata+"bucket/mgmt-cluster-1/backups/mgmt-full")+`\`).demand(t, 0)
	data, err := os.ReadFile(testdata + "fleet-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	write(t, "a b/fleet.tar.gz", string(data))
	run(nil, "check", "--backup", `a b\..\.\a b\fleet.tar.gz`).demand(t, 0)
	decide("-o", "NUL", "--fail-on", "no").demand(t, 1, "the answer is NO")
	run(nil, "detect", "--backup", `Z:\none\*.tar.gz`).demand(t, 2, "check the path")
	run(nil, "detect", "--nonsense").demand(t, 2, "see 'drift-detector detect --help'")
	zoned := command("detect", "--backup", fleet, "--inventory", "inventory.json", "--quiet", "-o", "zone.json")
	zoned.Env = append(zoned.Env, "TZ=America/New_York")
	_ = zoned.Run()
	var r struct{ GeneratedAt time.Time }
	if text := read(t, "zone.json"); json.Unmarshal([]byte(text), &r) != nil || r.GeneratedAt.Location() != time.UTC {
		t.Errorf("generated at %v", r.GeneratedAt)
	}
	demandNothingLeft(t)
}

func TestOutputs(t *testing.T) {
	deep := strings.Repeat(strings.Repeat("d", 100)+"/", 3)
	write(t, deep+"empty", "")
	write(t, "there.json", "before")
	held := hold(t, "held.json")
	for path, want := range map[string]struct {
		code int
		says string
	}{
		`there.json`:     {3, ""},
		`NUL`:            {3, ""},
		`a b\nul`:        {3, ""},
		`CON`:            {2, "CON"},
		`nowhere\r.json`: {2, `there is no folder nowhere; create it`},
		`Q:\r.json`:      {2, `there is no folder Q:\; create it`},
		`a b\`:           {2, `is a folder; name a file in it`},
		`x?.json`:        {2, `writing the output`},
		`held.json`:      {2, `another program may have it open`},
		`INVENTORY.JSON`: {2, `is an input of this run`},
		strings.ReplaceAll(deep, "/", `\`) + "r.json": {3, ""},
		strings.Repeat("n", 250) + ".json":            {2, "writing the output"},
	} {
		t.Run(path, func(t *testing.T) {
			write(t, "a b/empty", "")
			decide("-o", path).demand(t, want.code, want.says)
			demandNothingLeft(t)
		})
	}
	decide("-o", "case.json", "-o", "CASE.JSON").demand(t, 2, "are the same file")
	run(nil, "extract", "kubeconfigs", "--backup", fleet, "-o", "a b\\kubeconfigs").demand(t, 0, `a b\kubeconfigs\tenant-aws.aws-prod.kubeconfig`, `a b/kubeconfigs"/*.kubeconfig).FullName`)
	report(t, read(t, "there.json"))
	report(t, read(t, deep+"r.json"))
	held()
	decide("-o", "held.json").demand(t, 3)
}

// hold has cmd write into a file until the test ends it.
func hold(t *testing.T, name string) (end func()) {
	t.Helper()
	cmd := exec.Command(here.wine, "cmd", "/c", "more > "+name)
	cmd.Env, cmd.Dir = here.environment, here.folder
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if _, err := os.Stat(filepath.Join(here.folder, name)); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return func() { _ = stdin.Close(); _ = cmd.Wait() }
}

// utf16LE returns a text as > of Windows PowerShell writes it.
func utf16LE(text string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		b.Write([]byte{byte(u), byte(u >> 8)})
	}
	return b.String()
}

// Files that people write there have carriage returns, marks and UTF-16.
func TestWrittenOnWindows(t *testing.T) {
	credentials := "endpoints:\n- endpoint: vc.corp\n  username: u\n  passwordFile: 'secret files\\pw.txt'\n"
	rules := "rules:\n- match: {cluster: alpha-prod}\n  reason: x\n"
	words := "confirmations:\n- cluster: tenant-alpha/alpha-dev\n  as: givenUp\n  by: OPS-2\n  on: 2026-11-25\n"
	lines := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	for name, form := range map[string]func(string) string{"lines": lines, "mark": func(text string) string { return "\ufeff" + lines(text) }} {
		write(t, "secret files/pw.txt", form("secret\n"))
		write(t, "credentials.yaml", form(credentials))
		write(t, "rules.yaml", form(rules))
		write(t, "words.yaml", form(words))
		t.Log(name)
		decide("-o", "written.json", "--ignore-file", "rules.yaml", "--confirmations", "words.yaml").demand(t, 3)
		if text := read(t, "written.json"); !strings.Contains(text, "OPS-2") || !strings.Contains(text, "rules.yaml") {
			t.Error("neither rule nor word was taken")
		}
		run(nil, "detect", "--backup", fleet, "--dry-run", "--credentials", "credentials.yaml").demand(t, 0, "vc.corp:443 matches nothing")
	}
	write(t, "secret files/pw.txt", utf16LE("secret\r\n"))
	run(nil, "detect", "--backup", fleet, "--dry-run", "--credentials", "credentials.yaml").demand(t, 2, "UTF-16")
	write(t, "rules.yaml", utf16LE(rules))
	decide("-o", "written.json", "--ignore-file", "rules.yaml").demand(t, 2, "UTF-8")
}
