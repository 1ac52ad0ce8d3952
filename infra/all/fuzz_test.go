package all_test

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
	backuptest.Rewrite(f, "../../testdata/fleet-data.tar.gz", func(path string, body []byte) ([]byte, bool) {
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
		b := backuptest.New().Add("clusters.cluster.x-k8s.io", object("Cluster", "c")).Add("machines.cluster.x-k8s.io", object("Machine", "good")).Raw(path, mutate.JSON(body, edits))

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
		isGood := func(m backup.Machine) bool { return m.Name == "good" && m.Namespace == "ns" }
		if !slices.ContainsFunc(s.Machines, isGood) && !strings.Contains(path, "good") {
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

// object returns the Cluster, or a Machine of it.
func object(kind, name string) map[string]any {
	return map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": kind, "metadata": map[string]any{"namespace": "ns", "name": name},
		"spec": map[string]any{"clusterName": "c", "infrastructureRef": map[string]any{"kind": "K", "name": name}},
	}
}

// nameable reports whether archive/tar writes an entry of that name.
func nameable(path string) bool {
	return tar.NewWriter(new(bytes.Buffer)).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, ModTime: backuptest.Written, Mode: 0o755}) == nil
}
