package backup_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/backuptest"
)

const lab = "../testdata/fleet-data.tar.gz"

// loadPath loads a tarball or folder.
func loadPath(t testing.TB, path string, w backup.Want) (*backup.Snapshot, *backup.Secrets) {
	t.Helper()
	source, err := archive.FileSource(path)
	if err != nil {
		t.Fatal(err)
	}
	return loadAll(t, w, source)
}

func loadAll(t testing.TB, w backup.Want, sources ...backup.Source) (*backup.Snapshot, *backup.Secrets) {
	t.Helper()
	s, secrets, err := backup.Load(context.Background(), sources, w)
	if err != nil {
		t.Fatal(err)
	}
	return s, secrets
}

// object is an API object as JSON.
type object = map[string]any

// find walks a decoded object along members.
func find(o any, members ...string) any {
	for _, m := range members {
		next, ok := o.(object)
		if !ok {
			return nil
		}
		o = next[m]
	}
	return o
}

func textAt(o any, members ...string) string {
	s, _ := find(o, members...).(string)
	return s
}

// labObjects returns the classic copies of a resource in the lab's backup, by
// namespace/name, as encoding/json reads them.
func labObjects(t testing.TB, resource string) map[string]object {
	t.Helper()
	all := map[string]object{}
	backuptest.Rewrite(t, lab, func(path string, body []byte) ([]byte, bool) {
		rest, ok := strings.CutPrefix(path, "resources/"+resource+"/namespaces/")
		if ok {
			var o object
			if err := json.Unmarshal(body, &o); err != nil {
				t.Fatal(err)
			}
			all[strings.TrimSuffix(rest, ".json")] = o
		}
		return nil, false
	})
	return all
}

func TestLabMachines(t *testing.T) {
	s, _ := loadPath(t, lab, backup.Want{})
	want := labObjects(t, "machines.cluster.x-k8s.io")
	if len(s.Machines) != 42 || len(want) != 42 {
		t.Fatalf("%d machines, encoding/json finds %d; the lab has 42", len(s.Machines), len(want))
	}
	const label = "cluster.x-k8s.io/"
	for _, m := range s.Machines {
		o := want[m.Namespace+"/"+m.Name]
		if o == nil {
			t.Fatalf("machine %s/%s is not in the lab", m.Namespace, m.Name)
		}
		_, controlPlane := find(o, "metadata", "labels").(object)[label+"control-plane"]
		owner := find(o, "metadata", "ownerReferences").([]any)[0]
		got := []any{
			m.UID, m.Created.Format(time.RFC3339), m.Cluster.Name, m.Cluster.Namespace, m.ControlPlane, m.ProviderID, m.Node, m.Phase,
			m.Deployment, m.Set, m.Infrastructure.Kind, m.Infrastructure.Group, m.Infrastructure.Name, m.Owner.Kind, m.Owner.Name, m.Owner.UID, m.ClusterName,
		}
		expect := []any{
			textAt(o, "metadata", "uid"), textAt(o, "metadata", "creationTimestamp"), textAt(o, "spec", "clusterName"), m.Namespace, controlPlane,
			textAt(o, "spec", "providerID"), textAt(o, "status", "nodeRef", "name"), textAt(o, "status", "phase"),
			textAt(o, "metadata", "labels", label+"deployment-name"), textAt(o, "metadata", "labels", label+"set-name"),
			textAt(o, "spec", "infrastructureRef", "kind"), textAt(o, "spec", "infrastructureRef", "apiGroup"), textAt(o, "spec", "infrastructureRef", "name"),
			textAt(owner, "kind"), textAt(owner, "name"), textAt(owner, "uid"), textAt(o, "metadata", "labels", label+"cluster-name"),
		}
		if !reflect.DeepEqual(got, expect) {
			t.Errorf("machine %s:\n got %v\nwant %v", m.Name, got, expect)
		}
	}
}

// The numbers were counted by hand in the extracted backup.
func TestLabCounts(t *testing.T) {
	s, _ := loadPath(t, lab, backup.Want{})
	info := s.Backups[0]
	if info.Items != 565 || info.FormatVersion != "1.1.0" || info.Path != lab {
		t.Errorf("backup %+v", info)
	}
	file, err := os.ReadFile(lab)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%x", sha256.Sum256(file)); info.SHA256 != want {
		t.Errorf("SHA-256 %s, want %s", info.SHA256, want)
	}
	if from, to := info.WrittenFrom.Format(time.RFC3339), info.WrittenTo.Format(time.RFC3339); from != "2026-11-21T04:06:21Z" || to != "2026-11-21T04:06:32Z" {
		t.Errorf("written from %s to %s", from, to)
	}
	kinds := map[string]int{}
	for _, g := range s.Groups {
		kinds[g.Kind]++
	}
	if want := map[string]int{"MachineDeployment": 12, "MachineSet": 12, "MachinePool": 1}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("groups %v, want %v", kinds, want)
	}
	if len(s.ControlPlanes) != 5 || len(s.Problems) != 0 || len(s.Absent) != 0 {
		t.Errorf("%d control planes, problems %v, absent %v", len(s.ControlPlanes), s.Problems, s.Absent)
	}
	var clusters []string
	for _, c := range s.Clusters {
		clusters = append(clusters, c.Namespace+"/"+c.Name+" "+c.Endpoint+" "+c.ControlPlane.Name)
		if c.Derived || c.Self || c.Paused || s.Cluster(c.ID()) == nil {
			t.Errorf("cluster %+v", c)
		}
	}
	want := []string{
		"tenant-alpha/alpha-dev 127.0.0.1:20001 alpha-dev", "tenant-alpha/alpha-prod 127.0.0.1:20000 alpha-prod",
		"tenant-aws/aws-prod 127.0.0.1:26443 aws-prod-control-plane", "tenant-beta/beta-prod 127.0.0.1:20002 beta-prod",
		"tenant-gamma/gamma-edge 127.0.0.1:20003 gamma-edge",
	}
	if !reflect.DeepEqual(clusters, want) {
		t.Errorf("clusters %q", clusters)
	}
	if s.Cluster(backup.ClusterID{Namespace: "tenant-alpha", Name: "alpha"}) != nil {
		t.Error("a cluster that does not exist was found")
	}
}

func TestObjectStoreFolder(t *testing.T) {
	for _, dir := range []string{
		"../testdata/bucket", "../testdata/bucket/mgmt-cluster-1", "../testdata/bucket/mgmt-cluster-1/backups",
		"../testdata/bucket/mgmt-cluster-1/backups/mgmt-full", "../testdata/bucket/mgmt-cluster-1/backups/mgmt-full/",
	} {
		s, _ := loadPath(t, dir, backup.Want{})
		if len(s.Machines) != 42 || filepath.Base(s.Backups[0].Path) != "mgmt-full.tar.gz" {
			t.Errorf("%s: %d machines from %s", dir, len(s.Machines), s.Backups[0].Path)
		}
	}
}

func TestPlainTar(t *testing.T) {
	f, err := os.ReadFile(lab)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := loadPath(t, lab, backup.Want{})
	b, _ := loadAll(t, backup.Want{}, backuptest.Source("plain.tar", plain))
	if !reflect.DeepEqual(a.Machines, b.Machines) || !reflect.DeepEqual(a.Clusters, b.Clusters) {
		t.Error("the plain tar reads otherwise")
	}
}

// A backup of something else is refused, and says what to give.
func TestWithoutClusterAPI(t *testing.T) {
	for what, b := range map[string]*backuptest.Tarball{
		"no items": backuptest.New(),
		"pods":     backuptest.New().Add("pods", object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"namespace": "shop", "name": "p"}}),
	} {
		s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("b", b.Bytes())}, backup.Want{})
		var input *backup.InputError
		if !errors.As(err, &input) || s != nil || secrets != nil || input.Name != "b" || !strings.Contains(input.Problem, "without Cluster API objects") || input.Next == "" {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

func TestContextEndsThePass(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	source, err := archive.FileSource(lab)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := backup.Load(ctx, []backup.Source{source}, backup.Want{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func marshal(o object) []byte {
	body, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return body
}

// The lab's other backups: with cluster-scoped objects, and the one that was
// restored. They are loaded at the same time, because Kinds are shared.
func TestOtherLabBackups(t *testing.T) {
	for file, want := range map[string][3]int{ // items, clusters, machines
		"fleet-cluster-scoped-data.tar.gz": {769, 5, 42},
		"restore/restored-data.tar.gz":     {717, 7, 49},
		"fleet-data.tar.gz":                {565, 5, 42},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s, _ := loadPath(t, "../testdata/"+file, backup.Want{Kinds: []backup.AnyKind{thingKind}})
			if got := [3]int{s.Backups[0].Items, len(s.Clusters), len(s.Machines)}; got != want || len(s.Problems) > 0 || len(s.Absent) > 0 {
				t.Errorf("%v, want %v, problems %v, absent %v", got, want, s.Problems, s.Absent)
			}
			for _, c := range s.Clusters {
				if c.Paused != (c.Name == "beta-new") {
					t.Errorf("cluster %s: paused %v", c.Name, c.Paused)
				}
			}
		})
	}
}

// Who reads beside the pass gets the whole objects that it asks for, of its backup.
func TestBeside(t *testing.T) {
	b := backuptest.New().
		Raw("resources/clusters.cluster.x-k8s.io/namespaces/a/b.json", []byte("1")).
		Raw("resources/things/cluster/c.json", []byte("2")).Raw("resources/others/cluster/d.json", []byte("3")).Bytes()
	mine := errors.New("mine")
	var got [3]string
	var fail error
	w := backup.Want{Beside: func(i int) archive.Visitor {
		if i == 1 {
			return archive.Visitor{}
		}
		return archive.Visitor{
			Want: func(h *archive.Header) (bool, error) { return h.Resource != "others", nil },
			Visit: func(item *archive.Item) error {
				got[i] += item.Path() + "=" + string(item.Body) + " "
				return fail
			},
		}
	}}
	sources := []backup.Source{backuptest.Source("x", b), backuptest.Source("y", b), backuptest.Source("z", b)}
	loadAll(t, w, sources...)
	want := "resources/clusters.cluster.x-k8s.io/namespaces/a/b.json=1 resources/things/cluster/c.json=2 "
	if got != [3]string{want, "", want} {
		t.Errorf("%q", got)
	}
	fail = mine
	if _, _, err := backup.Load(t.Context(), sources, w); !errors.Is(err, mine) {
		t.Errorf("error %v", err)
	}
}

// Owners are kept where one of the kinds of a resource asks for them, and checked in any case.
func TestOwnerlessKinds(t *testing.T) {
	const resource = "things.example.org"
	thing := func(name string, owner any) object {
		return object{"apiVersion": "example.org/v1", "kind": "Thing", "metadata": object{
			"namespace": "ns", "name": name, "uid": name, "ownerReferences": []any{object{"kind": "Machine", "name": owner, "uid": "u"}},
		}}
	}
	source := backuptest.Source("b", withCluster().Add(resource, thing("good", "m")).Add(resource, thing("bad", 7)).Bytes())
	full, brief := backup.NewKind[struct{}](resource), backup.NewKind[struct{}](resource).Ownerless()
	for want, kinds := range map[int][]backup.AnyKind{0: {brief}, 1: {brief, full}} {
		s, _ := loadAll(t, backup.Want{Kinds: kinds}, source)
		r := brief.In(s).Named(0, "ns", "good")
		if r == nil || len(r.Owners) != want || brief.In(s).Len() != 1 || brief.In(s).Named(0, "ns", "bad") != nil {
			t.Errorf("%d kinds: read %+v", len(kinds), r)
		}
		if len(s.Problems) != 1 || s.Problems[0].Reason != "metadata.ownerReferences[].name is not a string" {
			t.Errorf("%d kinds: problems %+v", len(kinds), s.Problems)
		}
	}
}
