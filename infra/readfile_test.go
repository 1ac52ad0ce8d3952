//go:build unix

package infra

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A FIFO that nobody writes into does not hold a run, one that somebody writes into is read, and
// what does not end is refused.
func TestReadFile(t *testing.T) {
	was := readFileTime
	readFileTime = 200 * time.Millisecond
	defer func() { readFileTime = was }()
	fifo, file := filepath.Join(t.TempDir(), "fifo"), filepath.Join(t.TempDir(), "file")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(fifo, 10); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a FIFO without a writer: %v", err)
	}
	fed := filepath.Join(t.TempDir(), "fed")
	if err := syscall.Mkfifo(fed, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { _ = os.WriteFile(fed, []byte("12345"), 0) }() // which waits for a reader
	if err := os.WriteFile(file, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{file: "12345", fed: "12345", "/dev/zero": "larger than", filepath.Dir(file): "directory", file + "x": "no such file"} {
		content, err := ReadFile(path, 10)
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && string(content) != want {
			t.Errorf("%s: %q %v", path, content, err)
		}
	}
}
