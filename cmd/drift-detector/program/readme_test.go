package program

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// Every command of the README works: those of the clone as they are, once `make demo`
// has written its report; those for one's own backup on a folder of an object store,
// with the lab in place of the servers that are named in it. A target of make exists.
func TestReadmeCommandsWork(t *testing.T) {
	w := runs.Fleet(t)
	w.Detect().Demand(t, cli.ExitOK)
	root, err := filepath.Abs(runs.Testdata)
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)\n```\n(.*?)```").FindAllStringSubmatch(runs.Readme(t), -1)
	_, kubeconfig := runs.Management(t, w.Backups[0])
	bucket := runs.NewBucket(t)
	bucket.PutFolder(t, "velero", "mgmt-cluster-1/", filepath.Join(root, "bucket/mgmt-cluster-1"))
	stored := strings.NewReplacer("s3://BUCKET", "s3://velero", "PREFIX", "mgmt-cluster-1", "NAME", "mgmt-full", "PROFILE", "dr")
	t.Chdir(w.Dir)
	for name, target := range map[string]string{"testdata": root, "mgmt.yaml": kubeconfig[1], "NAME": filepath.Join(root, "bucket/mgmt-cluster-1/backups/mgmt-full")} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	ran := 0
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			words := strings.Fields(line)
			switch {
			case len(words) < 2:
			case words[0] == "make":
				if !strings.Contains(string(makefile), "\n"+words[1]+": ") {
					t.Errorf("the README names a target that make does not have: %s", words[1])
				}
				ran++
			case words[0] == "bin/drift-detector", words[0] == "drift-detector":
				args := words[1:]
				if strings.Contains(line, "s3://BUCKET") {
					args = append(strings.Fields(stored.Replace(line))[1:], "--s3-endpoint", bucket.URL)
				}
				lists := args[0] == "backups" && !slices.Contains(args, "--compare") || slices.Contains([]string{"check", "releases", "permissions"}, args[0]) // of the infrastructure nothing
				if words[0] == "drift-detector" && !slices.Contains(args, "--inventory") && !lists {
					args = append(args, w.Reach()...)
				}
				if o := runs.Run(t, args...); o.Code != cli.ExitOK {
					t.Errorf("%s: exit status %d\n%s", strings.TrimSpace(line), o.Code, o.Stderr)
				}
				ran++
			}
		}
	}
	if ran < 10 {
		t.Errorf("the README has %d commands", ran)
	}
}

// What the README shows below a command is what it prints, cut: on the lab's
// backup, its report, and a report on the fleet before it drifted.
func TestReadmeShowsRealOutputOfItsCommands(t *testing.T) {
	examples := regexp.MustCompile("(?s)```\n\\$ drift-detector ([^\n]*)\n(.*?)```").FindAllStringSubmatch(runs.Readme(t), -1)
	if len(examples) < 3 {
		t.Fatalf("the README shows %d commands with their output", len(examples))
	}
	w := runs.Fleet(t)
	after := w.Detect()
	after.Demand(t, cli.ExitOK)
	runs.Undrift(t, w.VCenter)
	before := w.Detect()
	before.Demand(t, cli.ExitOK)
	data, err := os.ReadFile(runs.Testdata + "fleet-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	shop, err := os.ReadFile(runs.ShopBackup)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"mgmt-data.tar.gz": data, "shop-data.tar.gz": shop, "report.json": after.JSON, "yesterday.json": before.JSON} {
		if err := os.WriteFile(filepath.Join(w.Dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(w.Dir)
	evening := func() time.Time { return time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC) } // of the day of the backup
	for _, e := range examples {
		o := runs.RunAt(t, evening, strings.Fields(e[1])...)
		o.Demand(t, cli.ExitOK)
		rest, shown := o.Stdout, 0
		for line := range strings.Lines(e[2]) {
			if line == "…\n" || line == "\n" {
				continue
			}
			_, after, ok := strings.Cut("\n"+rest, "\n"+line)
			if !ok {
				t.Errorf("drift-detector %s does not print, or not there: %q", e[1], line)
				continue
			}
			rest = after
			shown++
		}
		if shown < 4 {
			t.Errorf("drift-detector %s: %d lines are shown", e[1], shown)
		}
	}
}

// foreignFlags are those of other programs' commands that the docs show.
var foreignFlags = map[string]bool{
	"recursive": true, "title": true, "body-file": true, "context": true, "ignore-daemonsets": true, "delete-emptydir-data": true, "raw": true, "from": true, "manifest": true,
	"key": true, "check": true, "ignore-missing": true, "yes": true, "bundle": true, "certificate-identity": true, "certificate-oidc-issuer": true, "create-namespace": true, "set": true,
	"uninstall": true, "system": true, "home-dir": true, "shell": true, "now": true,
}

// Every flag, command, variable and exit status that the docs name exists.
func TestDocsNameWhatExists(t *testing.T) {
	flags, commands, variables := maps.Clone(foreignFlags), map[string]bool{}, map[string]bool{}
	app := newProgram(&cli.Streams{}).App
	for _, c := range app.Commands {
		commands[c.Name] = true
		for _, f := range append(c.Flags, app.Flags...) {
			flags[f.Names()[0]] = true
			for _, v := range f.(urfave.DocGenerationFlag).GetEnvVars() {
				variables[v] = true
			}
		}
	}
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(pages) < 4 {
		t.Fatalf("pages %v: %v", pages, err)
	}
	pages = slices.DeleteFunc(pages, func(p string) bool { return filepath.Base(p) == "commands.md" || filepath.Base(p) == "codes.md" }) // generated
	copied, err := filepath.Glob(examples + "*")
	units, _ := filepath.Glob(examples + "systemd/*")
	copied = slices.DeleteFunc(append(copied, units...), func(p string) bool { return filepath.Base(p) == "systemd" })
	if err != nil || len(copied) < 8 {
		t.Fatalf("examples %v: %v", copied, err)
	}
	for _, page := range append(slices.Concat(pages, copied), "../../../README.md", "../../../action.yml", "../../../deploy/cronjob.yaml", "../../../deploy/job-indexed.yaml") {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, m := range regexp.MustCompile(`(?:^|[\s`+"`"+`(])--([a-z][a-z-]+)`).FindAllStringSubmatch(text, -1) {
			if !flags[m[1]] {
				t.Errorf("%s names flag --%s, which no command has", page, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`(?m)(?:^|[`+"`"+`/]|- )drift-detector ([a-z]+)`).FindAllStringSubmatch(text, -1) {
			if !commands[m[1]] {
				t.Errorf("%s names command %s, which does not exist", page, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`DRIFT_DETECTOR_[A-Z0-9_]*[A-Z0-9]`).FindAllString(text, -1) {
			if !variables[m] {
				t.Errorf("%s names variable %s, which no flag reads", page, m)
			}
		}
		for _, code := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(text, -1) {
			if !slices.ContainsFunc(app.Commands, func(c *urfave.Command) bool {
				return regexp.MustCompile(`(?m)^   ` + code[1] + ` `).MatchString(c.Description)
			}) {
				t.Errorf("%s: no command's help names exit status %s", page, code[1])
			}
		}
	}
}
