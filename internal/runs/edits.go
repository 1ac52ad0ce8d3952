package runs

import (
	"archive/tar"
	"encoding/base64"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
)

// Names in cluster alpha-prod of the lab.
const (
	ProdMD   = "alpha-prod-md-0"
	ProdSet  = "alpha-prod-md-0-cjzhw"
	ProdOne  = "alpha-prod-md-0-cjzhw-dm6x8"
	ProdKCP  = "alpha-prod"
	PlaneOne = "alpha-prod-kcn2q"
)

// SecretEdited makes a world whose Secret of that name has other data.
func (w *World) SecretEdited(name string, edit func(data map[string]string)) {
	w.Edited("secret-"+name, func(item string, body []byte) ([]byte, bool) {
		if resource, of := ItemOf(item); resource != "secrets" || of != name {
			return body, true
		}
		var o map[string]any
		if err := json.Unmarshal(body, &o); err != nil {
			w.T.Fatal(err)
		}
		data := map[string]string{}
		for key, value := range o["data"].(map[string]any) {
			text, err := base64.StdEncoding.DecodeString(value.(string))
			if err != nil {
				w.T.Fatal(err)
			}
			data[key] = string(text)
		}
		edit(data)
		o["data"] = map[string]any{}
		for key, value := range data {
			o["data"].(map[string]any)[key] = base64.StdEncoding.EncodeToString([]byte(value))
		}
		body, err := json.Marshal(o)
		return body, err == nil
	})
}

// Edited replaces the world's backup by a changed copy of it.
func (w *World) Edited(name string, edit func(item string, body []byte) ([]byte, bool)) {
	w.T.Helper()
	file := filepath.Join(w.Dir, name+".tar.gz")
	if err := os.WriteFile(file, backuptest.Rewrite(w.T, w.Backups[0], edit), 0o600); err != nil {
		w.T.Fatal(err)
	}
	w.Backups = []string{file}
}

// ItemOf returns the resource and the object that a path of a tarball names.
func ItemOf(item string) (resource, name string) {
	parts := strings.Split(item, "/")
	if len(parts) < 3 {
		return "", ""
	}
	return parts[1], strings.TrimSuffix(path.Base(item), ".json")
}

// ErrorLines returns the lines of stderr that are errors, and what belongs to them.
func ErrorLines(stderr string) []string {
	var lines []string
	for _, l := range strings.Split(stderr, "\n") {
		if strings.Contains(l, "error: ") {
			lines = append(lines, l)
		}
	}
	return append(lines, "")
}

// Packed writes a changed copy of the lab's backup, with one time for all
// entries; it is the world's backup beside others or alone.
func (w *World) Packed(name string, at time.Time, keep func(item string) bool) string {
	w.T.Helper()
	b := backuptest.NewFormat("").At(at)
	backuptest.Rewrite(w.T, w.Backups[0], func(item string, body []byte) ([]byte, bool) {
		if keep(item) {
			b.Entry(&tar.Header{Typeflag: tar.TypeReg, Name: item, Size: int64(len(body)), Format: tar.FormatGNU}, body)
		}
		return nil, false
	})
	file := filepath.Join(w.Dir, name+".tar.gz")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		w.T.Fatal(err)
	}
	return file
}

// Velero adds the Deployment of a Velero that is started with these arguments.
func (w *World) Velero(args ...string) {
	w.T.Helper()
	w.Added("velero", func(b *backuptest.Tarball) {
		b.Add("deployments.apps", Object{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": Object{"namespace": "velero", "name": "velero"},
			"spec": Object{"template": Object{"spec": Object{"containers": []Object{{"name": "velero", "args": append([]string{"server"}, args...)}}}}},
		})
	})
}

// Halfway makes a backup in the middle of an upgrade of alpha-prod-md-0: one of its four machines is
// of a new MachineSet.
func (w *World) Halfway() {
	w.T.Helper()
	const fresh, moved = ProdMD + "-zzzzz", "alpha-prod-md-0-cjzhw-zk8zm"
	var set Object
	w.Change("halfway", func(resource, name string, o Object) bool {
		switch {
		case resource == "machinedeployments" && name == ProdMD:
			In(o, "spec", "template", "spec")["version"] = "v1.35.0"
		case resource == "machinesets" && name == ProdSet:
			In(o, "spec")["replicas"], In(o, "status")["replicas"] = 3, 3
			set = o
		case resource == "machines" && name == moved:
			In(o, "metadata", "labels")["cluster.x-k8s.io/set-name"] = fresh
			In(o, "metadata", "labels")["machine-template-hash"] = "fresh"
			In(o, "spec")["version"] = "v1.35.0"
			for _, owner := range In(o, "metadata")["ownerReferences"].([]any) {
				owner.(Object)["name"], owner.(Object)["uid"] = fresh, "fresh"
			}
		}
		return true
	})
	w.Added("new-set", func(b *backuptest.Tarball) {
		spec := In(set, "spec")
		In(set, "metadata", "labels")["machine-template-hash"] = "fresh"
		In(spec, "selector", "matchLabels")["machine-template-hash"] = "fresh"
		b.Add("machinesets.cluster.x-k8s.io", Object{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineSet", "status": Object{"replicas": 1},
			"metadata": Object{"namespace": "tenant-alpha", "name": fresh, "uid": "fresh", "labels": In(set, "metadata")["labels"], "ownerReferences": In(set, "metadata")["ownerReferences"]},
			"spec": Object{"clusterName": "alpha-prod", "replicas": 1, "selector": spec["selector"], "template": Object{"spec": Object{
				"clusterName": "alpha-prod", "version": "v1.35.0",
				"bootstrap": In(spec, "template", "spec")["bootstrap"], "infrastructureRef": In(spec, "template", "spec")["infrastructureRef"],
			}}},
		})
	})
}

// OwnedByTopology gives the clusters of a namespace the label with which a topology knows what is
// its own: infrastructure cluster, control plane and all templates.
func (w *World) OwnedByTopology(namespace string) {
	w.T.Helper()
	w.Change("labels", func(r, _ string, o Object) bool {
		made := strings.HasSuffix(r, "clusters") && r != "clusters" || strings.HasSuffix(r, "templates") || r == "kubeadmcontrolplanes" || r == "awsmachinepools"
		if made && In(o, "metadata")["namespace"] == namespace {
			In(o, "metadata", "labels")["topology.cluster.x-k8s.io/owned"] = ""
		}
		return true
	})
}

// Object is one object of a backup, as JSON holds it.
type Object = map[string]any

// Change replaces the world's backup by a copy whose objects edit has changed; it drops
// those for which edit is false.
func (w *World) Change(name string, edit func(resource, name string, o Object) bool) {
	w.T.Helper()
	w.Edited(name, func(item string, body []byte) ([]byte, bool) {
		resource, name := ItemOf(item)
		resource, _, _ = strings.Cut(resource, ".")
		var o Object
		if json.Unmarshal(body, &o) != nil || o["kind"] == nil {
			return body, true
		}
		if !edit(resource, name, o) {
			return nil, false
		}
		out, err := json.Marshal(o)
		w.Ensure(err)
		return out, true
	})
}

// Set changes objects of a resource whose names begin so: the value at a path.
func (w *World) Set(resource, prefix string, value any, path ...string) {
	w.T.Helper()
	changed := 0
	w.Change("set", func(r, name string, o Object) bool {
		if r == resource && strings.HasPrefix(name, prefix) {
			changed++
			In(o, path[:len(path)-1]...)[path[len(path)-1]] = value
		}
		return true
	})
	if changed == 0 {
		w.T.Fatalf("the backup holds no %s %s", resource, prefix)
	}
}

// In returns the member of an object at a path, made where it is absent.
func In(o Object, path ...string) Object {
	for _, p := range path {
		next, ok := o[p].(Object)
		if !ok {
			next = Object{}
			o[p] = next
		}
		o = next
	}
	return o
}

// Drop leaves the object out of the backup.
func (w *World) Drop(resource, name string) {
	w.T.Helper()
	dropped := false
	w.Change("drop", func(r, n string, _ Object) bool {
		gone := r == resource && n == name
		dropped = dropped || gone
		return !gone
	})
	if !dropped {
		w.T.Fatalf("the backup holds no %s %s", resource, name)
	}
}

// healthChecks adds a MachineHealthCheck that covers all machines of a cluster.
func (w *World) HealthCheck(namespace, cluster string, checks Object) {
	w.T.Helper()
	w.Added("health-check", func(b *backuptest.Tarball) {
		b.Add("machinehealthchecks.cluster.x-k8s.io", Object{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineHealthCheck", "metadata": Object{"namespace": namespace, "name": "all"},
			"spec": Object{"clusterName": cluster, "selector": Object{}, "checks": checks},
		})
	})
}

// Added replaces the world's backup by a copy with more objects in it.
func (w *World) Added(name string, add func(*backuptest.Tarball)) {
	w.T.Helper()
	out := backuptest.NewFormat("")
	backuptest.Rewrite(w.T, MustRead(w.T, w.Backups[0]), func(item string, body []byte) ([]byte, bool) {
		out.Raw(item, body)
		return body, true
	})
	add(out)
	file := filepath.Join(w.Dir, name+".tar.gz")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		w.T.Fatal(err)
	}
	w.Backups = []string{file}
}

// MustRead returns the bytes of a file.
func MustRead(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
