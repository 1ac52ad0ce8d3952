package runs

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/infra/store/storetest"
	"drift-detector/report/backups"
)

// Scheduled stores backups of a schedule as Velero names them, the newest at a time, and each stored
// when it was made.
func (b *InBucket) Scheduled(schedule string, from time.Time, every time.Duration, n int, tarball []byte, objects string) {
	for i := range n {
		at := from.Add(-time.Duration(i) * every)
		b.Add(StoredAs{Name: NameAt(schedule, at), Schedule: schedule, Phase: "Completed", Began: at, Tarball: tarball, Objects: objects})
	}
}

// NameAt returns the name that Velero gives a backup of a schedule.
func NameAt(schedule string, at time.Time) string {
	return schedule + "-" + at.UTC().Format("20060102150405")
}

// Descriptions returns how many were read since the last time.
func (b *InBucket) Descriptions() (n int) {
	for _, call := range b.Calls() {
		if strings.HasSuffix(call, "velero-backup.json") {
			n++
		}
	}
	return n
}

// InBucket runs a command on a store that holds the files, with the credential in the
// profile of a file of the operator's.
type InBucket struct {
	*storetest.Store
	T    *testing.T
	Args []string
}

// NewBucket returns an empty store, and the flags with which the program reads it.
func NewBucket(t *testing.T) *InBucket {
	t.Helper()
	b := &InBucket{Store: storetest.Start(t, false), T: t}
	b.Now = Clock // a backup without description began when it was stored: not after a run that takes minutes
	file := filepath.Join(t.TempDir(), "credentials")
	text := fmt.Sprintf("[dr]\naws_access_key_id = %s\naws_secret_access_key = %s\n", storetest.KeyID, storetest.Secret)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	b.Args = []string{"--s3-profile", "dr", "--s3-endpoint", b.URL}
	return b
}

// Run runs the program on the store.
func (b *InBucket) Run(args ...string) Outcome {
	return Run(b.T, append(args, b.Args...)...)
}

// BackUp stores a backup as Velero does, with what it says of it.
func (b *InBucket) BackUp(name, schedule, phase string, began time.Time, tarball []byte) {
	labels := map[string]string{}
	if schedule != "" {
		labels["velero.io/schedule-name"] = schedule
	}
	text, _ := json.Marshal(map[string]any{
		"apiVersion": "velero.io/v1", "kind": "Backup", "metadata": map[string]any{"name": name, "namespace": "velero", "labels": labels},
		"status": map[string]any{"phase": phase, "formatVersion": "1.1.0", "startTimestamp": began.UTC().Format(time.RFC3339), "expiration": began.Add(30 * 24 * time.Hour).UTC().Format(time.RFC3339)},
	})
	b.Put("velero", "mgmt/backups/"+name+"/velero-backup.json", text)
	if tarball != nil {
		b.Put("velero", "mgmt/backups/"+name+"/"+name+".tar.gz", tarball)
	}
}

// Shapes makes twelve backups of the lab's fleet, the newest last: some from before the
// drift and some from after it.
func (b *InBucket) Shapes(before, after []byte) {
	at := backuptest.Written
	without := func(body []byte, drop func(resource, item string) bool) []byte {
		return backuptest.Rewrite(b.T, body, func(item string, body []byte) ([]byte, bool) {
			resource, _ := ItemOf(item)
			return body, !drop(resource, item)
		})
	}
	b.BackUp("weekly-1", "weekly", "Completed", at, before)
	b.BackUp("nightly-1", "nightly", "Completed", at.Add(1*time.Hour), before)
	b.BackUp("nightly-2", "nightly", "PartiallyFailed", at.Add(2*time.Hour), before)
	b.BackUp("nightly-3", "nightly", "Failed", at.Add(3*time.Hour), before)
	b.BackUp("weekly-2", "weekly", "Completed", at.Add(24*time.Hour), after)
	b.BackUp("nightly-4", "nightly", "Completed", at.Add(25*time.Hour), without(after, func(_, item string) bool { return strings.Contains(item, "/tenant-beta/") }))
	b.BackUp("nightly-5", "nightly", "Completed", at.Add(26*time.Hour), without(after, func(resource, _ string) bool { return resource == "secrets" }))
	b.BackUp("nightly-6", "nightly", "InProgress", at.Add(27*time.Hour), nil)
	b.BackUp("nightly-7", "nightly", "Failed", at.Add(28*time.Hour), after)
	b.BackUp("nightly-8", "nightly", "Deleting", at.Add(29*time.Hour), after)
	b.BackUp("nightly-9", "nightly", "WaitingForPluginOperations", at.Add(30*time.Hour), after)
	b.Put("velero", "mgmt/backups/nightly-X/nightly-X.tar.gz", after)
}

// StoredAs is a backup as Velero stores it: what is not set is left out.
type StoredAs struct {
	Prefix, Name, Schedule, Phase string
	Began                         time.Time
	Errors                        int
	Spec, Status                  map[string]any // status may replace the rest
	Tarball                       []byte
	Results, Objects              string // JSON of the files beside the tarball
}

// Add stores backups as Velero does.
func (b *InBucket) Add(all ...StoredAs) {
	b.T.Helper()
	for _, s := range all {
		if s.Prefix == "" {
			s.Prefix = "mgmt"
		}
		at := s.Prefix + "/backups/" + s.Name + "/"
		labels := map[string]string{}
		if s.Schedule != "" {
			labels["velero.io/schedule-name"] = s.Schedule
		}
		status := map[string]any{"phase": s.Phase, "errors": s.Errors, "formatVersion": "1.1.0", "startTimestamp": s.Began.UTC().Format(time.RFC3339)}
		maps.Copy(status, s.Status)
		text, err := json.Marshal(map[string]any{
			"apiVersion": "velero.io/v1", "kind": "Backup", "metadata": map[string]any{"name": s.Name, "labels": labels}, "spec": s.Spec, "status": status,
		})
		if err != nil {
			b.T.Fatal(err)
		}
		if s.Phase != "" {
			b.Put("velero", at+"velero-backup.json", text)
		}
		for file, text := range map[string]string{"-results.gz": s.Results, "-resource-list.json.gz": s.Objects} {
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			_, _ = w.Write([]byte(text))
			if err := w.Close(); err != nil {
				b.T.Fatal(err)
			}
			if text != "" {
				b.Put("velero", at+s.Name+file, z.Bytes())
			}
		}
		if s.Tarball != nil {
			b.Put("velero", at+s.Name+".tar.gz", s.Tarball)
		}
	}
}

const (
	// ofApplication and ofClusters are lists of objects.
	OfApplication = `{"apps/v1/Deployment":["shop/web"],"v1/Secret":["shop/1","shop/2","shop/3","shop/4","shop/5","shop/6","shop/7","shop/8","shop/9"]}`
	OfClusters    = `{"cluster.x-k8s.io/v1beta2/Cluster":["tenant-alpha/alpha-prod"],"v1/PersistentVolumeClaim":["logging/data"]}`
	// volumeFailed are the results of a backup in which a snapshot of a volume failed.
	VolumeFailed = `{"errors":{"velero":[" name: /data message: /Error backing up item error: /error executing custom action (groupResource=persistentvolumeclaims, namespace=logging, name=data): rpc error: code = Unknown desc = snapshot failed"]},"warnings":{}}`
)

// Compare returns the document of backups --compare.
func (b *InBucket) Compare(args ...string) (*backups.Document, Outcome) {
	b.T.Helper()
	o := b.Run(append([]string{"backups", "s3://velero/mgmt", "--compare", "--format", "json"}, args...)...)
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.Stdout), &doc); err != nil {
		b.T.Fatalf("status %d: %s", o.Code, o.Stderr)
	}
	return &doc, o
}

// WithoutWorkers returns the backup without two of the workers of alpha-prod.
func WithoutWorkers(t *testing.T, body []byte) []byte {
	left := map[string]bool{}
	return backuptest.Rewrite(t, body, func(item string, body []byte) ([]byte, bool) {
		resource, name := ItemOf(item)
		if resource != "machines.cluster.x-k8s.io" || !strings.HasPrefix(name, "alpha-prod-md-0-") {
			return body, true
		}
		if len(left) < 2 {
			left[name] = true
		}
		return body, !left[name]
	})
}

// WellBody returns clusters that can be restored, and the bytes of their backup.
func WellBody(t *testing.T) (*World, []byte) {
	t.Helper()
	w := Well(t)
	body, err := os.ReadFile(w.Backups[0])
	if err != nil {
		t.Fatal(err)
	}
	return w, body
}

// List runs the command backups, and returns what it says of the store.
func (b *InBucket) List(args ...string) (*backups.Document, Outcome) {
	b.T.Helper()
	o := b.Run(append([]string{"backups", "s3://velero", "--format", "json"}, args...)...)
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.Stdout), &doc); err != nil {
		b.T.Fatalf("status %d: %s", o.Code, o.Stderr)
	}
	return &doc, o
}

// HoursBefore returns the time so many hours before backuptest.Written.
func HoursBefore(n int) time.Time { return backuptest.Written.Add(-time.Duration(n) * time.Hour) }

// PutAt stores a backup below a prefix.
func (b *InBucket) PutAt(prefix, name string, began time.Time, tarball []byte) {
	text, _ := json.Marshal(map[string]any{
		"apiVersion": "velero.io/v1", "kind": "Backup", "metadata": map[string]any{"name": name},
		"status": map[string]any{"phase": "Completed", "startTimestamp": began.UTC().Format(time.RFC3339)},
	})
	b.Put("velero", prefix+"backups/"+name+"/velero-backup.json", text)
	b.Put("velero", prefix+"backups/"+name+"/"+name+".tar.gz", tarball)
}

// Detected returns the report of a backup of the bucket, as text, and what the run printed.
func (b *InBucket) Detected(w *World, name string) (string, Outcome) {
	b.T.Helper()
	out := filepath.Join(b.T.TempDir(), "r.json")
	o := b.Run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/" + name, "-o", out}, w.Reach()...)...)
	text, err := os.ReadFile(out)
	if err != nil {
		b.T.Fatal(err, o.Stderr)
	}
	return string(text), o
}

// Sentence returns what a comparison says first, without its line breaks.
func (b *InBucket) Sentence(args ...string) string {
	b.T.Helper()
	o := b.Run(append([]string{"backups", "s3://velero/mgmt", "--compare", "-q"}, args...)...)
	said, _, _ := strings.Cut(o.Stdout, "\n  drift-detector ")
	return strings.Join(strings.Fields(said), " ")
}

// OfAnother returns a backup as another management cluster has it: with uids of its own, clusters at
// another endpoint, and Namespace kube-system only where that is asked for.
func OfAnother(t *testing.T, body []byte, who string, kubeSystem bool) []byte {
	return backuptest.Rewrite(t, body, func(item string, body []byte) ([]byte, bool) {
		resource, _ := ItemOf(item)
		var o map[string]any
		if json.Unmarshal(body, &o) != nil || o["metadata"] == nil {
			return body, true
		}
		meta := o["metadata"].(map[string]any)
		meta["uid"] = fmt.Sprint(who, "-", meta["uid"])
		if resource == "clusters.cluster.x-k8s.io" {
			o["spec"].(map[string]any)["controlPlaneEndpoint"] = map[string]any{"host": who + ".corp", "port": 6443}
		}
		body, _ = json.Marshal(o)
		return body, kubeSystem || !strings.HasSuffix(item, "/cluster/kube-system.json")
	})
}

// EmptyInventory decides from nothing.
func EmptyInventory(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "inventory.json")
	if err := os.WriteFile(file, []byte(`{"inventoryVersion": "1", "listings": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const (
	OfEast = `{"cluster.x-k8s.io/v1beta2/Cluster":["tenant-alpha/alpha-prod"],"v1/Secret":["a/b"]}`
	OfWest = `{"cluster.x-k8s.io/v1beta2/Cluster":["tenant-west/west-prod"],"v1/Secret":["a/b"]}`
)
