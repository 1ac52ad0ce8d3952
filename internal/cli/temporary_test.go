//go:build unix && !solaris && !aix

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A killed run leaves a temporary file. The next one that writes the same file removes it,
// and nothing else: not what is in use, young, of another file or program, or no file.
func TestKilledRunsAreSweptAfter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := time.Now().Add(-time.Hour)
	make := func(name string, at time.Time) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte("half"), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	make(".report.json.drift-detector-1.tmp", long)
	make(".report.json.drift-detector-22.tmp.shared", long)
	kept := []string{
		make(".report.json.drift-detector-3.tmp", time.Now()),
		make(".reportXjson.drift-detector-4.tmp", long),
		make(".report.json.drift-detector-x.tmp", long),
		make(".report.json.drift-detector-5.tmp.bak", long),
		make(".report.json.6.tmp", long),
		make("other.json", long),
	}
	folder := filepath.Join(dir, ".report.json.drift-detector-7.tmp")
	link := filepath.Join(dir, ".report.json.drift-detector-8.tmp")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Symlink(kept[5], link), os.Chtimes(folder, long, long)); err != nil {
		t.Fatal(err)
	}
	inUse, err := os.Open(make(".report.json.drift-detector-9.tmp", long))
	if err != nil {
		t.Fatal(err)
	}
	defer inUse.Close()
	hold(inUse)
	report := filepath.Join(dir, "report.json")
	kept = append(kept, folder, link, inUse.Name(), report)
	err = WriteOutputs([]Target{{report, "json"}}, &Streams{}, nil, func(w io.Writer, _ *Output) error { _, err := io.WriteString(w, "x"); return err })
	if err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, ".*"))
	left = append(left, hidden...)
	slices.Sort(left)
	slices.Sort(kept)
	if err != nil || !slices.Equal(slices.Compact(left), kept) {
		t.Errorf("left: %q\nwant: %q", left, kept)
	}
}

// Ctrl-C ends a command within a second also while it computes and looks at nothing; no
// file is left, and none appears later.
func TestInterruptedWhileItComputes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	s := &Streams{Stdout: io.Discard}
	goOn, written := make(chan struct{}), make(chan error, 1)
	begun := time.Now()
	err := withinASecond(ctx, s, func() error {
		err := WriteOutputs([]Target{{filepath.Join(dir, "report.json"), "json"}}, s, nil, func(io.Writer, *Output) error {
			cancel()
			<-goOn
			return nil
		})
		written <- err
		return err
	})
	if took := time.Since(begun); !errors.Is(err, context.Canceled) || took > 2*time.Second {
		t.Errorf("%v after %s", err, took)
	}
	close(goOn)
	if err := <-written; err == nil {
		t.Error("a command that was left behind wrote its output")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A command that was left behind may still make a file before the process ends.
func TestNoTemporaryFileIsMadeAfterTheEnd(t *testing.T) {
	t.Parallel()
	dir, made := t.TempDir(), temporaries{}
	made.end()
	if f, err := made.create(filepath.Join(dir, "report.json")); err == nil {
		f.Close()
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
