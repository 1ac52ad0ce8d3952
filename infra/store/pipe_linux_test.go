package store_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"drift-detector/infra/store"
)

// TestAPipeIsNoDescription: nobody may ever write to it.
func TestAPipeIsNoDescription(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "backups", "b")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "b.tar.gz"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(at, "velero-backup.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := store.Folder(at)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := p.Only(t.Context()); err != nil || b.Description != nil || b.Problem != nil {
		t.Errorf("%+v, %v", b, err)
	}
}
