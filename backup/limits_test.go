package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"drift-detector/backup/archive"
)

// tarOf returns a plain tar of files, given as name and content in turns.
func tarOf(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: files[i], Size: int64(len(files[i+1])), Mode: 0o644}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func loadBytes(data []byte, bounds limits) (*Snapshot, error) {
	s, _, err := load(context.Background(), []Source{{Name: "b", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}}, Want{}, bounds)
	return s, err
}

func machineFile(name string) (path, body string) {
	return "resources/machines.cluster.x-k8s.io/namespaces/ns/" + name + ".json",
		`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","metadata":{"namespace":"ns","name":"` + name + `","uid":"` + name + `"},"spec":{"clusterName":"c","infrastructureRef":{"kind":"K","name":"n"}}}`
}

func TestBounds(t *testing.T) {
	files := []string{"metadata/version", "1.1.0\n"}
	for i := range 3 {
		path, body := machineFile(fmt.Sprintf("m%d", i))
		files = append(files, path, body)
	}
	path, body := machineFile("large")
	data := tarOf(t, append(files, path, body+strings.Repeat(" ", 1000))...)

	bounds := func(item int64, items int) limits {
		b := defaultLimits
		b.archive.Item, b.archive.Items, b.archive.Versions = item, items, 4
		return b
	}
	s, err := loadBytes(data, bounds(1000, 4))
	if err != nil || len(s.Machines) != 3 || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Reason, "larger than 1000 bytes") {
		t.Errorf("a large item: error %v, snapshot %+v", err, s)
	}
	if s, err = loadBytes(data, bounds(2000, 4)); err != nil || len(s.Machines) != 4 {
		t.Errorf("within the bounds: error %v, snapshot %+v", err, s)
	}
	var input *InputError
	if _, err = loadBytes(data, bounds(2000, 3)); !errors.As(err, &input) || !strings.Contains(input.Problem, "more than 3 objects") {
		t.Errorf("too many items: error %v", err)
	}
	for i := range 6 {
		dir := fmt.Sprintf("machines.cluster.x-k8s.io/v%d/", i+1)
		path, body := machineFile("m0")
		files = append(files, strings.Replace(path, "machines.cluster.x-k8s.io/", dir, 1), body)
	}
	s, err = loadBytes(tarOf(t, files...), bounds(1000, 4))
	if err != nil || len(s.Problems) != 2 || !strings.Contains(s.Problems[0].Reason, "more than 4 version directories") {
		t.Errorf("many versions: error %v, problems %v", err, s.Problems)
	}
}

func TestDefaultLimits(t *testing.T) {
	want := limits{
		archive: archive.Bounds{Item: 16 << 20, Versions: 32, Items: 5_000_000, Resources: 10_000, Names: 16 << 20}, kinds: 64,
		memory: 1 << 30, spare: 128 << 20, expansion: 16,
	}
	if defaultLimits != want || maxText != 64<<10 || maxSecret != 1<<20 {
		t.Errorf("limits %+v", defaultLimits)
	}
}

// A backup of more kinds than any cluster has is refused before each of them
// costs its reader.
func TestKindsAreBounded(t *testing.T) {
	bounds := defaultLimits
	bounds.kinds, bounds.archive.Resources = 3, 10
	for resource, most := range map[string]int{
		"r%d.controlplane.cluster.x-k8s.io": 3, "r%dclusters.infrastructure.cluster.x-k8s.io": 3, "r%d": 9, "r%d.cluster.x-k8s.io": 9,
	} {
		path, body := machineFile("m")
		files := []string{"metadata/version", "1.1.0\n", path, body}
		for i := range most + 1 {
			s, err := loadBytes(tarOf(t, files...), bounds)
			if err != nil || len(s.Machines) != 1 {
				t.Fatalf("%d of %s: error %v", i, resource, err)
			}
			files = append(files, "resources/"+fmt.Sprintf(resource, i)+"/namespaces/ns/x.json", "{}")
		}
		var input *InputError
		if _, err := loadBytes(tarOf(t, files...), bounds); !errors.As(err, &input) || input.Name != "b" ||
			!strings.Contains(input.Problem, "holds more than") || !strings.Contains(input.Next, "where the file comes from") {
			t.Errorf("%d of %s: error %v", most+1, resource, err)
		}
	}
}

// Whatever many items make the loader keep, there is an end to it.
func TestMemoryIsBounded(t *testing.T) {
	type list struct{ Names []string }
	const things = "things.infrastructure.cluster.x-k8s.io"
	w := Want{
		Kinds:   []AnyKind{NewKind(things, Texts(func(l *list) *[]string { return &l.Names }, "spec.names[].name"))},
		Secrets: []SecretRule{{Name: "*-kubeconfig", Keys: []string{"value"}}},
	}
	object := func(resource, apiVersion, name, rest string) (string, string) {
		return "resources/" + resource + "/namespaces/ns/" + name + ".json",
			`{"apiVersion":"` + apiVersion + `","kind":"K","metadata":{"namespace":"ns","name":"` + name + `","uid":"` + name + `"` + rest + `}`
	}
	machine := func(name, rest string) (string, string) {
		return object("machines.cluster.x-k8s.io", "cluster.x-k8s.io/v1beta2", name, rest)
	}
	long := strings.Repeat("x", maxText)
	for what, c := range map[string]struct {
		items int
		item  func(i int) (path, body string)
	}{
		"records": {10000, func(i int) (string, string) {
			return machine(fmt.Sprintf("m%d", i), `},"spec":{"infrastructureRef":{"kind":"K","name":"n"},"clusterName":"c"}`)
		}},
		"texts": {100, func(i int) (string, string) {
			return machine(fmt.Sprintf("m%d", i), fmt.Sprintf(`},"spec":{"infrastructureRef":{"kind":"K","name":"n"},"clusterName":"c","providerID":"%d%s"}`, i, long[10:]))
		}},
		"texts of items that are left out": {100, func(i int) (string, string) {
			return machine(fmt.Sprintf("m%d", i), fmt.Sprintf(`},"spec":{"infrastructureRef":{"kind":"K","name":"n"},"clusterName":"%d%s","providerID":7}`, i, long[10:]))
		}},
		"labels": {100, func(i int) (string, string) {
			return machine(fmt.Sprintf("m%d", i), fmt.Sprintf(`,"labels":{"a":"%d%s"}},"spec":{"infrastructureRef":{"kind":"K","name":"n"},"clusterName":"c"}`, i, long[20:]))
		}},
		"owners": {100, func(i int) (string, string) {
			return machine(fmt.Sprintf("m%d", i), `,"ownerReferences":[`+strings.Repeat(`{"kind":""},`, 4999)+fmt.Sprintf(`{"kind":"%d"}]},"spec":{"clusterName":"c"}`, i))
		}},
		"lists": {100, func(i int) (string, string) {
			return object(things, "infrastructure.cluster.x-k8s.io/v1", fmt.Sprintf("t%d", i), fmt.Sprintf(`},"spec":{"names":[{"name":"%d"}`, i)+strings.Repeat(`,{}`, 9999)+`]}`)
		}},
		"Secrets": {100, func(i int) (string, string) {
			return object("secrets", "v1", fmt.Sprintf("%d-kubeconfig", i), `},"data":{"value":"`+long+long+`"}`)
		}},
	} {
		path, body := machineFile("m")
		files := []string{"metadata/version", "1.1.0\n", path, body}
		for i := range c.items {
			path, body := c.item(i)
			files = append(files, path, body)
		}
		data := tarOf(t, files...)
		load := func(bounds limits) error {
			_, _, err := load(context.Background(), []Source{{Name: "b", Open: func() (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(data)), nil
			}}}, w, bounds)
			return err
		}
		if err := load(defaultLimits); err != nil {
			t.Errorf("%s: error %v", what, err)
		}
		whole, small := defaultLimits, defaultLimits
		whole.memory = 1 << 20
		small.spare, small.expansion = 1<<20, 0
		for _, bounds := range []limits{whole, small} {
			var input *InputError
			if err := load(bounds); !errors.As(err, &input) || !strings.Contains(input.Problem, "more than 1 MiB of memory") || input.Next == "" {
				t.Errorf("%s: error %v", what, err)
			}
		}
		small.spare, small.expansion = 0, 16
		if what == "records" {
			if err := load(small); err != nil {
				t.Errorf("%s, for the size of the file: error %v", what, err)
			}
		}
	}
}

func TestUsage(t *testing.T) {
	m, u := newMemory(), &usage{}
	for i := range 5000 {
		if got := m.keep(fmt.Appendf(nil, "unique-%d", i), u); got != fmt.Sprintf("unique-%d", i) {
			t.Fatalf("kept %q", got)
		}
	}
	if u.misses > 300 {
		t.Errorf("%d unique values are remembered", u.misses)
	}
	repeats := &usage{}
	for range 3 {
		for i := range 100 {
			m.keep(fmt.Appendf(nil, "repeated-%d", i), repeats)
		}
	}
	if repeats.hits < 150 { // some may have one hash
		t.Errorf("100 values that come three times: %d of 200 were known", repeats.hits)
	}
	large := bytes.Repeat([]byte("x"), 3*arenaSize)
	if got := m.keep(large, u); got != string(large) {
		t.Error("a large value was not kept")
	}
}
