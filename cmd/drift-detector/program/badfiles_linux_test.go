package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// fileFlags are the arguments that name a file to read, each by a good run of its
// command in which FILE is that argument.
var fileFlags = map[string][]string{
	"check --backup":          {"check", "--backup", "FILE"},
	"check --velero-backup":   {"check", "--backup", "BACKUP", "--velero-backup", "FILE"},
	"check --ignore-file":     {"check", "--backup", "BACKUP", "--ignore-file", "FILE"},
	"detect --backup":         {"detect", "--backup", "FILE", "--inventory", "INVENTORY", "-o", "OUT"},
	"detect --inventory":      {"detect", "--backup", "BACKUP", "--inventory", "FILE", "-o", "OUT"},
	"detect --ignore-file":    {"detect", "--backup", "BACKUP", "--inventory", "INVENTORY", "--ignore-file", "FILE", "-o", "OUT"},
	"detect, dry":             {"detect", "--backup", "BACKUP", "--ignore-file", "FILE", "--dry-run"},
	"detect --credentials":    {"detect", "--backup", "BACKUP", "--credentials", "FILE", "-o", "OUT"},
	"inventory --backup":      {"inventory", "--backup", "FILE", "-o", "OUT"},
	"inventory --credentials": {"inventory", "--backup", "BACKUP", "--credentials", "FILE", "-o", "OUT"},
	"releases --backup":       {"releases", "--backup", "FILE"},
	"releases --ignore-file":  {"releases", "--backup", "BACKUP", "--ignore-file", "FILE"},
	"releases --velero":       {"releases", "--backup", "BACKUP", "--velero-backup", "FILE"},
	"plan":                    {"plan", "FILE", "-o", "OUT", "--format", "markdown"},
	"render":                  {"render", "FILE", "-o", "OUT"},
	"diff, the first":         {"diff", "FILE", "REPORT"},
	"diff, the second":        {"diff", "REPORT", "FILE"},
	"ready":                   {"ready", "FILE"},
	"ready --confirmations":   {"ready", "REPORT", "--confirmations", "FILE"},
	"ignore":                  {"ignore", "FILE", "--reason", "why", "--status", "Stale"},
}

// badFiles make files that are no good whatever they are for.
var badFiles = map[string]func(file string) error{
	"missing":  func(string) error { return nil },
	"a folder": func(file string) error { return os.Mkdir(file, 0o700) },
	"a FIFO":   func(file string) error { return syscall.Mkfifo(file, 0o600) },
	"a socket": func(file string) error { return syscall.Mknod(file, syscall.S_IFSOCK|0o600, 0) },
	"unopened": func(file string) error { return os.WriteFile(file, []byte("{}"), 0) },
	"empty":    func(file string) error { return os.WriteFile(file, nil, 0o600) },
	"sparse":   func(file string) error { return errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, 4<<30)) },
	"binary":   func(file string) error { return os.WriteFile(file, noise(), 0o600) },
	"a list":   func(file string) error { return os.WriteFile(file, []byte("[]\n"), 0o600) },
	"a string": func(file string) error { return os.WriteFile(file, []byte("\"text\"\n"), 0o600) },
	"a number": func(file string) error { return os.WriteFile(file, []byte("7\n"), 0o600) },
	"text":     func(file string) error { return os.WriteFile(file, []byte("hello: [\n"), 0o600) },
	"HTML":     func(file string) error { return os.WriteFile(file, []byte("<html>log in</html>\n"), 0o600) },
	"version 9": func(file string) error {
		return os.WriteFile(file, []byte("{\"schemaVersion\":\"9\",\"version\":9}\n"), 0o600)
	},
	"a lone BOM": func(file string) error {
		return os.WriteFile(file, []byte("\xef\xbb\xbf"), 0o600)
	},
	"half a gzip": func(file string) error {
		return os.WriteFile(file, []byte("\x1f\x8b\x08\x00\x00\x00"), 0o600)
	},
}

func noise() []byte {
	all := make([]byte, 1<<16)
	dice := rand.New(rand.NewPCG(1, 2))
	for i := range all {
		all[i] = byte(dice.UintN(256))
	}
	return all
}

// mayBe says which bad files are fine for an argument.
func mayBe(argument, bad string) bool {
	empty := slices.Contains([]string{"empty", "a lone BOM", "a FIFO"}, bad)
	return empty && (strings.HasSuffix(argument, "ignore-file") || strings.HasSuffix(argument, "credentials"))
}

// A file that is no good is wrong input for every argument that names one: exit status 2,
// one line that names it, within seconds, and what was in --output is there still.
func TestBadFiles(t *testing.T) {
	w := runs.Fleet(t)
	inventory, report := filepath.Join(w.Dir, "inventory.json"), filepath.Join(w.Dir, "good.json")
	runs.Run(t, slices.Concat([]string{"inventory", "-o", inventory}, w.Sources(), w.Reach())...).Demand(t, cli.ExitOK)
	runs.Run(t, slices.Concat([]string{"detect", "-o", report, "--inventory", inventory}, w.Sources())...).Demand(t, cli.ExitOK)
	times := 0
	for argument, line := range fileFlags {
		for name, make := range badFiles {
			if name == "unopened" && os.Getuid() == 0 || mayBe(argument, name) {
				continue
			}
			times++
			dir := t.TempDir()
			file, out := filepath.Join(dir, "bad-file"), filepath.Join(dir, "out.json")
			if err := errors.Join(make(file), os.WriteFile(out, []byte("before"), 0o600)); err != nil {
				t.Fatal(err)
			}
			stop := func() {}
			if name == "a FIFO" {
				stop = feeding(file)
			}
			args := slices.Clone(line)
			for i := range args {
				args[i] = strings.NewReplacer("FILE", file, "BACKUP", w.Backups[0], "INVENTORY", inventory, "REPORT", report, "OUT", out).Replace(args[i])
			}
			began := time.Now()
			o := runs.Run(t, args...)
			stop()
			if wrong := refused(o, file, out); wrong != "" || time.Since(began) > 20*time.Second {
				t.Errorf("%s is %s: %s, exit status %d in %s\n%.600s", argument, name, wrong, o.Code, time.Since(began), o.Stderr)
			}
		}
	}
	t.Logf("%d times", times)
}

// feeding lets whoever opens a FIFO read nothing, until it is stopped.
func feeding(file string) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
			if f, err := os.OpenFile(file, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				f.Close()
			}
		}
	}()
	return func() { close(done) }
}

// refused says what is wrong with how a bad file was refused.
func refused(o runs.Outcome, file, out string) string {
	text, err := os.ReadFile(out)
	switch lines := strings.Count(o.Stderr, "\n"); {
	case o.Code != cli.ExitUsage:
		return "it is not refused"
	case lines != 1 || !strings.HasPrefix(o.Stderr, "drift-detector: error: "):
		return fmt.Sprintf("it is not refused in one line, but in %d", lines)
	case !strings.Contains(o.Stderr, filepath.Base(file)):
		return "the line does not name it"
	case len(o.Stderr) > 600:
		return "the line is too long"
	case err != nil || !bytes.Equal(text, []byte("before")):
		return "what was in the output is lost"
	}
	return ""
}

// What Windows adds to a text changes nothing.
func TestFilesFromWindows(t *testing.T) {
	w := runs.Fleet(t)
	inventory, report := filepath.Join(w.Dir, "inventory.json"), filepath.Join(w.Dir, "good.json")
	runs.Run(t, slices.Concat([]string{"inventory", "-o", inventory}, w.Sources(), w.Reach())...).Demand(t, cli.ExitOK)
	runs.Run(t, slices.Concat([]string{"detect", "-o", report, "--inventory", inventory}, w.Sources())...).Demand(t, cli.ExitOK)
	rules := filepath.Join(w.Dir, "rules.yaml")
	w.Ensure(os.WriteFile(rules, []byte("[]\n"), 0o600))
	for _, bad := range []struct{ name, before, newline string }{{"CRLF", "", "\r\n"}, {"BOM", "\xef\xbb\xbf", "\n"}} {
		for from, args := range map[string][]string{
			report: {"render", "FILE"}, inventory: {"detect", "--backup", w.Backups[0], "--inventory", "FILE", "-o", filepath.Join(w.Dir, "o.json")},
			w.Creds: {"detect", "--backup", w.Backups[0], "--credentials", "FILE", "--dry-run"},
		} {
			text, err := os.ReadFile(from)
			w.Ensure(err)
			file := filepath.Join(w.Dir, "windows")
			w.Ensure(os.WriteFile(file, []byte(bad.before+strings.ReplaceAll(string(text), "\n", bad.newline)), 0o600))
			args = slices.Clone(args)
			args[slices.Index(args, "FILE")] = file
			if o := runs.Run(t, args...); o.Code != cli.ExitOK {
				t.Errorf("%s with %s: exit status %d: %s", args, bad.name, o.Code, o.Stderr)
			}
		}
	}
}

// What is no regular file is written in place: nobody knows what is there now.
func TestADeviceIsFull(t *testing.T) {
	err := cli.WriteOutputs([]cli.Target{{Path: "/dev/full", Format: "text"}}, &cli.Streams{}, nil, func(w io.Writer, _ *cli.Output) error { _, err := io.WriteString(w, "x"); return err })
	if err == nil || strings.Contains(err.Error(), "untouched") {
		t.Error(err)
	}
}

// A FIFO that nobody writes, and one that somebody has open and writes no more: --deadline
// ends the run that reads a backup from it.
func TestDeadlineWhileAFIFOIsSilent(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"check", "detect"} {
		for _, opened := range []bool{false, true} {
			file := filepath.Join(t.TempDir(), "backup")
			if err := syscall.Mkfifo(file, 0o600); err != nil {
				t.Fatal(err)
			}
			if opened {
				f, err := os.OpenFile(file, os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
			}
			var stdout, stderr bytes.Buffer
			s := &cli.Streams{Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: runs.Clock}
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			defer stop()
			code := runs.Program(ctx, []string{"drift-detector", command, "--backup", file, "--deadline", "300ms"}, s)
			if code != cli.ExitUsage || !strings.Contains(stderr.String(), "the 300ms of --deadline are over") {
				t.Errorf("%s, opened %v: exit status %d: %s", command, opened, code, &stderr)
			}
		}
	}
}
