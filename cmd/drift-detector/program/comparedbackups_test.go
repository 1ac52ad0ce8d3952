package program

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report/backups"
	"drift-detector/report/code"
)

// putAt stores a backup below a prefix.
func (b *inBucket) putAt(prefix, name string, began time.Time, tarball []byte) {
	text, _ := json.Marshal(map[string]any{
		"apiVersion": "velero.io/v1", "kind": "Backup", "metadata": map[string]any{"name": name},
		"status": map[string]any{"phase": "Completed", "startTimestamp": began.UTC().Format(time.RFC3339)},
	})
	b.Put("velero", prefix+"backups/"+name+"/velero-backup.json", text)
	b.Put("velero", prefix+"backups/"+name+"/"+name+".tar.gz", tarball)
}

// TestStoresOfSeveralClustersAreNotCompared: what another cluster has, a backup does not
// lack, and a name that two of them share names none.
func TestStoresOfSeveralClustersAreNotCompared(t *testing.T) {
	b := newBucket(t)
	body := backuptest.NewFormat("").Bytes()
	for i, prefix := range []string{"mgmt-a/", "mgmt-b/"} {
		b.putAt(prefix, "nightly-1", backuptest.Written.Add(time.Duration(i)*time.Hour), body)
	}
	o := b.run("backups", "s3://velero", "--compare", "--report", "nightly-1", "-o", filepath.Join(t.TempDir(), "r.json"))
	if o.code != cli.ExitUsage || !strings.Contains(o.stderr, "backups s3://velero/mgmt-a --compare") || !strings.Contains(o.stderr, "backups s3://velero/mgmt-b --compare") {
		t.Errorf("%d: %s", o.code, o.stderr)
	}
	o = b.run("backups", "s3://velero")
	for _, prefix := range []string{"mgmt-a", "mgmt-b"} {
		if !strings.Contains(o.stdout, "\ns3://velero/"+prefix+":\nNAME ") {
			t.Errorf("which is whose? %s", o.stdout)
		}
	}
	// Each is the newest of its store.
	o = b.run("backups", "s3://velero/mgmt-a", "--compare")
	if strings.Contains(o.stdout+o.stderr, "mgmt-b") {
		t.Error(o.stdout, o.stderr)
	}
}

// TestEmptyTarballIsNoBackup: a copy that was cut off has one.
func TestEmptyTarballIsNoBackup(t *testing.T) {
	b := newBucket(t)
	b.put("nightly-1", "", "Completed", backuptest.Written, []byte{})
	o := b.run("backups", "s3://velero/mgmt", "--format", "json")
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		t.Fatal(o.stderr)
	}
	if s := doc.Backups[0]; s.Restorable || !strings.Contains(strings.Join(s.Why, " "), "is empty") {
		t.Errorf("%+v", s)
	}
}

// TestDeadlineWithinADescription: what was cut off by --deadline is no fault of the backup.
func TestDeadlineWithinADescription(t *testing.T) {
	b := newBucket(t)
	b.put("nightly-1", "", "Completed", backuptest.Written, []byte("x"))
	b.Spoil = func(_ http.ResponseWriter, r *http.Request) bool {
		hangs := strings.HasSuffix(r.URL.Path, "/velero-backup.json")
		if hangs {
			<-r.Context().Done()
		}
		return hangs
	}
	o := b.run("detect", "--backup", "s3://velero/mgmt/backups/nightly-1", "--deadline", "500ms", "--quiet")
	if o.code != cli.ExitUsage || !strings.Contains(o.stderr, "the 500ms of --deadline are over before the backup was read") || strings.Contains(o.stderr, "it is not used") {
		t.Errorf("exit status %d: %s", o.code, o.stderr)
	}
}

// TestDeadlineOfAPlace: a store whose listing, description or tarball goes on and on is cut
// off, and what has no --deadline of its own is cut off by a bound.
func TestDeadlineOfAPlace(t *testing.T) {
	b := newBucket(t)
	b.put("nightly-1", "", "Completed", backuptest.Written, []byte("x"))
	n := 0
	fresh, drips := false, ""
	b.Spoil = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case drips != "" && strings.HasSuffix(r.URL.Path, drips):
			w.Header().Set("ETag", `"e"`)
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(20 * time.Millisecond)
			}
			return true
		case drips != "" || r.URL.Query().Get("list-type") == "" || r.URL.Query().Get("delimiter") != "":
			return false
		}
		n++
		key := ""
		if fresh {
			key = fmt.Sprintf("<Contents><Key>mgmt/backups/n/%d</Key></Contents>", n)
			time.Sleep(time.Millisecond)
		}
		fmt.Fprintf(w, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>%s</ListBucketResult>", n, key)
		return true
	}
	o := b.run("backups", "s3://velero/mgmt")
	if o.code != cli.ExitUsage || !strings.Contains(o.stderr, "does not end: 100 pages in a row hold nothing new") || n != 101 {
		t.Errorf("%d pages: exit status %d: %s", n, o.code, o.stderr)
	}
	fresh = true
	over := func(args ...string) {
		t.Helper()
		began := time.Now()
		o := b.run(append(args, "--deadline", "700ms")...)
		if o.code != cli.ExitUsage || !strings.Contains(o.stderr, "the 700ms of --deadline are over") || time.Since(began) > 20*time.Second {
			t.Errorf("%s %s: exit status %d after %s: %s", args, drips, o.code, time.Since(began), o.stderr)
		}
	}
	over("backups", "s3://velero/mgmt")
	over("backups", "s3://velero/mgmt", "--compare")
	const at = "s3://velero/mgmt/backups/nightly-1"
	for _, drips = range []string{"/velero-backup.json", ".tar.gz"} {
		over("detect", "--backup", at)
		over("check", "--backup", at)
		over("releases", "--backup", at)
		over("inventory", "--backup", at, "--output", filepath.Join(t.TempDir(), "i.json"))
	}
}

// TestNoYesBesideAYoungerBackup: Velero has stored the tarball again after the younger
// one, or it is a copy in a folder.
func TestNoYesBesideAYoungerBackup(t *testing.T) {
	w := well(t)
	body, err := os.ReadFile(w.backups[0])
	if err != nil {
		t.Fatal(err)
	}
	b := newBucket(t)
	began := backuptest.Written
	b.put("n2", "", "Completed", began.Add(time.Hour), body)
	time.Sleep(1100 * time.Millisecond) // times of S3 are whole seconds
	b.put("n1", "", "Completed", began, body)
	dir := t.TempDir()
	for _, name := range []string{"n1", "n2"} {
		at := filepath.Join(dir, "backups", name)
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		velero := bytes.ReplaceAll([]byte(`{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"NAME"},"status":{"phase":"Completed","startTimestamp":"TIME"}}`), []byte("NAME"), []byte(name))
		at1 := began
		if name == "n2" {
			at1 = began.Add(time.Hour)
		}
		velero = bytes.ReplaceAll(velero, []byte("TIME"), []byte(at1.UTC().Format(time.RFC3339)))
		for file, text := range map[string][]byte{"velero-backup.json": velero, name + ".tar.gz": body} {
			if err := os.WriteFile(filepath.Join(at, file), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, place := range []string{"s3://velero/mgmt/backups/n1", filepath.Join(dir, "backups", "n1")} {
		out := filepath.Join(t.TempDir(), "r.json")
		o := b.run("check", "--backup", place, "-o", out)
		text, _ := os.ReadFile(out)
		if !strings.Contains(string(text), `"NewerBackup"`) || strings.Contains(string(text), unknownCluster) {
			t.Errorf("%s: %s %s", place, text[:min(len(text), 500)], o.stderr)
		}
	}
}

// unknownCluster is said of a newer backup that was not read.
const unknownCluster = "of the same management cluster or of another"

// ofCluster is used instead of the provider's own Detail.
type ofCluster string

func (c ofCluster) Same(o any) bool { return o == any(c) }

// TestNodesOfAnotherClusterAreNotShared: one that was made under the name of one that was
// deleted has other Nodes, and another credential is used only after it was said.
func TestNodesOfAnotherClusterAreNotShared(t *testing.T) {
	target := func(uid string) infra.Target {
		return infra.Target{
			IDs: []string{"nodes/0/ns/a"}, Provider: "nodes", Endpoint: "a:6443", Clusters: []backup.ClusterID{{Namespace: "ns", Name: "a"}},
			NodeState: "unreachable", Detail: ofCluster(uid), Credential: uid,
		}
	}
	l := newSharedListing()
	for i, c := range []struct {
		uid          string
		known, asked bool
	}{{"new", false, true}, {"old", false, true}, {"new", true, false}} {
		targets := []infra.Target{target(c.uid)}
		l.adopt(targets)
		known := l.knows(&targets[0])
		_, held := l.listings["nodes/0/ns/a"]
		asks := !(held && l.same["nodes/0/ns/a"])
		if known != c.known || asks != c.asked || targets[0].Credential != c.uid {
			t.Errorf("%d: known %v, asks %v, credential %v", i, known, asks, targets[0].Credential)
		}
		l.collect(t.Context(), infra.NewRegistry(), targets, &infra.Watch{Found: func(int, int) {}, Done: func(int, infra.Listing) {}})
		if i == 0 {
			l.listings["nodes/0/ns/a"] = infra.Listing{Account: "new"}
		}
		if got := l.listings["nodes/0/ns/a"].Account; got != "new" {
			t.Errorf("%d: the Nodes are of %q", i, got)
		}
	}
}

// TestOpenStackIsListedOnce: a token is a credential that differs at each login.
func TestOpenStackIsListedOnce(t *testing.T) {
	w, cloud := openstackFleet(t, openstacklab.Options{})
	body, err := os.ReadFile(w.backups[0])
	if err != nil {
		t.Fatal(err)
	}
	b := newBucket(t)
	for i, name := range []string{"n1", "n2", "n3"} {
		b.put(name, "", "Completed", backuptest.Written.Add(time.Duration(i)*time.Hour), body)
	}
	o := b.run(append([]string{"backups", "s3://velero/mgmt", "--compare", "--format", "json"}, w.withOpenStackNodes()...)...)
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		t.Fatal(o.stderr)
	}
	for _, row := range doc.Comparison.Compared {
		if first := doc.Comparison.Compared[0]; row.Machines != first.Machines || row.Machines.Healthy == 0 {
			t.Errorf("%s: %+v, %+v", row.Name, row.Machines, first.Machines)
		}
	}
	if given, refused := cloud.Logins(); given != 1 || refused != 0 {
		t.Errorf("%d logins, %d refused", given, refused)
	}
	revoked := 0
	for call, n := range cloud.Calls() {
		if strings.Contains(call, "DELETE") {
			revoked += n
		}
	}
	if revoked != 1 {
		t.Errorf("%d tokens revoked of %v", revoked, cloud.Calls())
	}
}

// letsIn is a place that takes one password.
type letsIn struct{ password string }

func (p letsIn) Spec() infra.Spec { return infra.Spec{Name: "letsin"} }

func (p letsIn) Targets(*backup.Snapshot, *backup.Secrets, infra.Access) []infra.Target { return nil }

func (p letsIn) Expected(*backup.Snapshot) infra.Expected { return infra.Expected{} }

func (p letsIn) List(_ context.Context, t infra.Target) infra.Listing {
	l := infra.Listing{IDs: t.IDs, Provider: t.Provider, Endpoint: t.Endpoint, Account: t.Account, Clusters: t.Clusters, State: code.ScopeComplete}
	if t.Credential != p.password {
		l.State, l.Fault = code.ScopeFailed, &infra.Fault{Reason: "AuthenticationFailed"}
	}
	return l
}

// TestRefusedCredentialIsNotShared: the newest backup may have the wrong password, and an
// older one the right one.
func TestRefusedCredentialIsNotShared(t *testing.T) {
	l, r := newSharedListing(), infra.NewRegistry(letsIn{"right"})
	var got []string
	for _, password := range []string{"wrong", "right", "older"} {
		targets := []infra.Target{{IDs: []string{"x"}, Provider: "letsin", Endpoint: "x:443", Clusters: []backup.ClusterID{{Name: "a"}}, Credential: password}}
		l.adopt(targets)
		inv := l.collect(t.Context(), r, targets, &infra.Watch{Found: func(int, int) {}, Done: func(int, infra.Listing) {}})
		got = append(got, string(inv.Listings[0].State))
	}
	if want := "failed complete complete"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
}
