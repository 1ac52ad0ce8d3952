package backup_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/all"
	"drift-detector/internal/mutate"
)

// An item, whatever it is called and holds, costs at most itself: all else is loaded, or
// the backup is refused as a whole, in time. What the providers make of it is no panic.
func FuzzLoad(f *testing.F) {
	smallest := map[string][]byte{}
	paths := map[string]string{}
	backuptest.Rewrite(f, lab, func(path string, body []byte) ([]byte, bool) {
		resource := archive.ResourceIn(path)
		if old := smallest[resource]; resource != "" && (old == nil || len(body) < len(old)) {
			smallest[resource], paths[resource] = body, path
		}
		return body, true
	})
	for resource, body := range smallest {
		f.Add(paths[resource], body, []byte{})
	}
	f.Fuzz(func(t *testing.T, path string, body, edits []byte) {
		if !nameable(path) {
			t.Skip()
		}
		b := withCluster().Add(machines, machine("v1beta2", "good", "")).Raw(path, mutate.JSON(body, edits))

		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		registry := all.Registry()
		s, secrets, err := backup.Load(ctx, []backup.Source{backuptest.Source("b", b.Bytes())}, registry.Want())
		if err != nil {
			if refused := new(*backup.InputError); !errors.As(err, refused) {
				t.Fatal(err)
			}
			return
		}
		if !slices.Contains(names(s), "good") && !strings.Contains(path, "good") {
			t.Errorf("another item cost the machine: %+v", s.Problems)
		}
		for _, p := range s.Problems {
			if strings.ContainsFunc(p.Reason, unicode.IsControl) {
				t.Errorf("the reason is %q", p.Reason)
			}
		}
		registry.Expected(s)
		registry.Targets(s, secrets, infra.Access{})
	})
}

// nameable reports whether archive/tar writes an entry of that name.
func nameable(path string) bool {
	return tar.NewWriter(new(bytes.Buffer)).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, ModTime: backuptest.Written, Mode: 0o755}) == nil
}
