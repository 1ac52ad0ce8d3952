package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"drift-detector/backup/archive"
)

// movedOf returns what a folder of 'clusterctl move' holds of a cluster with one Machine.
func movedOf(cluster, pausedAt string) map[string]string {
	object := func(version, kind, name, owner, rest string) (string, string) {
		owners := ""
		if owner != "" {
			kind, of, _ := strings.Cut(owner, "/")
			owners = fmt.Sprintf(`,"ownerReferences":[{"kind":%q,"name":%q,"uid":%q}]`, kind, of, kind+of)
		}
		return kind + "_ns_" + name + ".yaml", fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"namespace":"ns","name":%q,"uid":%q%s%s`, version, kind, name, kind+name, owners, rest)
	}
	all := map[string]string{}
	add := func(version, kind, name, owner, rest string) {
		file, text := object(version, kind, name, owner, rest)
		all[file] = text
	}
	const core = "cluster.x-k8s.io/v1beta2"
	add(core, "Cluster", cluster, "", `,"managedFields":[{"manager":"clusterctl","time":"`+pausedAt+`","fieldsV1":{"f:spec":{"f:paused":{}}}}]},"spec":{"paused":true}}`)
	add(core, "MachineSet", cluster+"-s", "Cluster/"+cluster, `},"status":{"replicas":1}}`)
	add(core, "Machine", cluster+"-m", "MachineSet/"+cluster+"-s", `},"spec":{"infrastructureRef":{"kind":"VSphereMachine","name":"`+cluster+`-m"}}}`)
	add("infrastructure.cluster.x-k8s.io/v1beta1", "VSphereMachine", cluster+"-m", "Machine/"+cluster+"-m", `}}`)
	add("v1", "Secret", cluster+"-ca", "", `}}`)
	return all
}

const noon = "2026-11-25T12:00:00Z"

func readMoved(t *testing.T, files map[string]string, change func(dir string)) (items []string, unread map[string]string, info archive.Info, err error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if change != nil {
		change(dir)
	}
	source, err := archive.FileSource(dir)
	if err != nil {
		return nil, nil, info, err
	}
	for range 2 { // it is read again as often as it has to be
		items = nil
		info, err = archive.Walk(context.Background(), source, archive.DefaultBounds, archive.Visitor{Visit: func(i *archive.Item) error {
			items = append(items, i.Path())
			return nil
		}})
		if err != nil {
			return nil, nil, info, err
		}
	}
	if source.Mode != archive.ByClusterctl {
		t.Errorf("mode %q", source.Mode)
	}
	return items, source.Unread(), info, nil
}

// A folder of clusterctl is a backup that was written when clusterctl paused the Clusters.
func TestMoveFolder(t *testing.T) {
	items, unread, info, err := readMoved(t, movedOf("a", noon), nil)
	if err != nil || unread != nil {
		t.Fatal(err, unread)
	}
	want := []string{
		"resources/clusters.cluster.x-k8s.io/namespaces/ns/a.json", "resources/machinesets.cluster.x-k8s.io/namespaces/ns/a-s.json",
		"resources/machines.cluster.x-k8s.io/namespaces/ns/a-m.json", "resources/secrets/namespaces/ns/a-ca.json", "resources/vspheremachines.infrastructure.cluster.x-k8s.io/namespaces/ns/a-m.json",
	}
	for _, path := range want {
		if !strings.Contains(strings.Join(items, "\n"), strings.ToLower(path)) {
			t.Errorf("%s is not in\n%s", path, strings.Join(items, "\n"))
		}
	}
	if got := info.WrittenTo.Format("2006-01-02T15:04:05Z"); got != noon || info.Items != len(want) || info.WrittenFrom != info.WrittenTo {
		t.Errorf("written %s, %d items", got, info.Items)
	}
}

var owners = regexp.MustCompile(`,"ownerReferences":\[[^\]]*\]`)

// ownerless adds an object that nobody owns.
func ownerless(files map[string]string, version, kind, name, rest string) {
	files[kind+"_ns_"+name+".yaml"] = fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"namespace":"ns","name":%q,"uid":%q%s}}`, version, kind, name, kind+name, rest)
}

// What shows that files are missing, or are of another move, leaves the Machines unread.
func TestTornMoveFolder(t *testing.T) {
	for name, c := range map[string]struct {
		change func(files map[string]string)
		says   string
	}{
		"the infrastructure of a Machine is not written yet": {func(f map[string]string) { delete(f, "VSphereMachine_ns_a-m.yaml") }, "Machine ns/a-m needs VSphereMachine a-m"},
		"its Machines are not":                               {func(f map[string]string) { delete(f, "Machine_ns_a-m.yaml"); delete(f, "VSphereMachine_ns_a-m.yaml") }, "counted 1 of its Machines when it was written, and it holds 0"},
		"an owner is not in it":                              {func(f map[string]string) { delete(f, "MachineSet_ns_a-s.yaml") }, "Machine ns/a-m needs MachineSet a-s"},
		"an owner has none itself": {func(f map[string]string) {
			f["MachineSet_ns_a-s.yaml"] = owners.ReplaceAllString(f["MachineSet_ns_a-s.yaml"], "")
		}, "MachineSet ns/a-s has no owner in it"},
		"infrastructure without its owner": {func(f map[string]string) {
			f["VSphereMachine_ns_a-m.yaml"] = owners.ReplaceAllString(f["VSphereMachine_ns_a-m.yaml"], "")
		}, "VSphereMachine ns/a-m has no owner in it"},
		"a Secret of no Cluster": {func(f map[string]string) { ownerless(f, "v1", "Secret", "b-ca", "") }, "Secret ns/b-ca has no owner in it"},
		"a Secret that is labelled": {func(f map[string]string) {
			ownerless(f, "v1", "Secret", "password", `,"labels":{"clusterctl.cluster.x-k8s.io/move":""}`)
		}, ""},
		"an identity": {func(f map[string]string) {
			ownerless(f, "infrastructure.cluster.x-k8s.io/v1beta1", "AzureClusterIdentity", "id", "")
		}, ""},
		"an object that nobody knows": {func(f map[string]string) { ownerless(f, "metal3.io/v1alpha1", "BareMetalHost", "host", "") }, ""},
		"a Machine of an older move": {func(f map[string]string) {
			for file, text := range f {
				if strings.Contains(file, "a-m.") {
					f[strings.Replace(file, "a-m", "a-n", 1)] = strings.ReplaceAll(text, "a-m", "a-n")
				}
			}
		}, "counted 1 of its Machines when it was written, and it holds 2"},
		"one that is being deleted may be counted": {func(f map[string]string) {
			for file, text := range f {
				if strings.Contains(file, "a-m.") {
					f[strings.Replace(file, "a-m", "a-n", 1)] = strings.Replace(strings.ReplaceAll(text, "a-m", "a-n"), `"uid"`, `"deletionTimestamp":"2026-11-25T11:00:00Z","uid"`, 1)
				}
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := movedOf("a", noon)
			c.change(files)
			_, unread, _, err := readMoved(t, files, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := unread["machines.cluster.x-k8s.io"]
			if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
				t.Errorf("unread %q, want %q", got, c.says)
			}
		})
	}
}

// What clusterctl did not write as it is, is refused by name.
// The folder above those of several moves, as EKS Anywhere makes them, names the last of them.
func TestFolderOfMoveFolders(t *testing.T) {
	above := t.TempDir()
	for _, day := range []string{"20", "21", "22", "23"} {
		for file, text := range movedOf("prod", "2026-11-"+day+"T12:00:00Z") {
			path := filepath.Join(above, "backup-2026-11-"+day, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Mkdir(filepath.Join(above, "other"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := archive.FileSource(above)
	if err == nil || !strings.Contains(err.Error(), "wrote: backup-2026-11-23, backup-2026-11-22, backup-2026-11-21 and 1 more: give one of them") {
		t.Error(err)
	}
}

func TestRefusedMoveFolders(t *testing.T) {
	put := func(name, text string) func(string) {
		return func(dir string) { os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
	}
	for name, c := range map[string]struct {
		change func(dir string)
		says   string
	}{
		"a file that is cut":       {put("Machine_ns_a-m.yaml", `{"apiVersion":"cluster.x`), "Machine_ns_a-m.yaml is cut short"},
		"an empty file":            {put("Machine_ns_a-m.yaml", ""), "Machine_ns_a-m.yaml is cut short"},
		"another file":             {put("notes.txt", "x"), "holds something else, notes.txt"},
		"a folder":                 {func(dir string) { os.Mkdir(filepath.Join(dir, "Machine_ns_b.yaml"), 0o700) }, "holds something else, Machine_ns_b.yaml"},
		"a link":                   {func(dir string) { os.Symlink("/etc/hostname", filepath.Join(dir, "Machine_ns_b.yaml")) }, "holds something else, Machine_ns_b.yaml"},
		"a name of another object": {put("Machine_ns_b.yaml", movedOf("a", noon)["Machine_ns_a-m.yaml"]), "Machine_ns_b.yaml holds another object"},
		"a Cluster that runs":      {put("Cluster_ns_a.yaml", `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster","metadata":{"namespace":"ns","name":"a","uid":"u"},"spec":{}}`), "Cluster ns/a is not paused in it"},
		"too large":                {func(dir string) { os.Truncate(filepath.Join(dir, "Machine_ns_a-m.yaml"), 17<<20) }, "Machine_ns_a-m.yaml is no file of at most"},
		"Clusters of two moves": {func(dir string) {
			for file, text := range movedOf("b", "2026-11-24T12:00:00Z") {
				put(file, text)(dir)
			}
		}, "Clusters of two moves: clusterctl paused Cluster ns/b on 2026-11-24 12:00:00, and Cluster ns/"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := readMoved(t, movedOf("a", noon), c.change)
			var refused *archive.InputError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}

// A backup of Rancher's is refused by name, and its restore is warned of.
func TestRancherBackup(t *testing.T) {
	for name, entries := range map[string][]string{
		"objects first": {"clusters.cluster.x-k8s.io#v1beta2/", "clusters.cluster.x-k8s.io#v1beta2/tenant/", "clusters.cluster.x-k8s.io#v1beta2/tenant/a.json", "filters/filters.json"},
		"secrets":       {"secrets.#v1/fleet-default/a.json"},
		"filters alone": {"filters/filters.json"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			w := tar.NewWriter(z)
			for _, e := range entries {
				h := tar.Header{Name: e, Mode: 0o644, Typeflag: tar.TypeReg, Size: 2}
				if strings.HasSuffix(e, "/") {
					h.Typeflag, h.Size = tar.TypeDir, 0
				}
				if err := w.WriteHeader(&h); err != nil {
					t.Fatal(err)
				}
				if h.Size > 0 {
					w.Write([]byte("{}"))
				}
			}
			w.Close()
			z.Close()
			source := archive.Source{Name: "rancher.tar.gz", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }}
			_, err := archive.Walk(context.Background(), source, archive.DefaultBounds, archive.Visitor{})
			if err == nil || !strings.Contains(err.Error(), "backup-restore-operator") || !strings.Contains(err.Error(), "prune") {
				t.Errorf("error %v", err)
			}
		})
	}
}
