package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/archive"
	"drift-detector/backup/backuptest"
)

// open returns the lab's backup.
func open(t testing.TB) archive.Source {
	t.Helper()
	source, err := archive.FileSource(lab)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// Every item of the lab's backup is visited once, whole, as archive/tar reads it.
func TestWalkVisitsWholeItems(t *testing.T) {
	f, err := os.Open(lab)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(h.Name, "resources/") && !strings.Contains(h.Name, "-preferredversion/") {
			want[h.Name] = string(body) + h.ModTime.UTC().String()
		}
	}
	got := map[string]string{}
	info, err := archive.Walk(t.Context(), open(t), archive.DefaultBounds, archive.Visitor{
		Visit: func(i *archive.Item) error {
			if _, twice := got[i.Path()]; twice || int(i.Size) != len(i.Body) {
				t.Errorf("%s: %d bytes, visited before: %v", i.Path(), i.Size, twice)
			}
			got[i.Path()] = string(i.Body) + i.Written.String()
			return nil
		},
		Problem: func(path, reason string) { t.Errorf("%s: %s", path, reason) },
	})
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("error %v, %d items, want %d", err, len(got), len(want))
	}
	if info.Items != len(want) || info.Resources[machines] != 42 || info.FormatVersion != "1.1.0" {
		t.Errorf("%+v", info)
	}
}

// manifest returns what Helm stores of a release: JSON in gzip in base64, in the
// base64 of a Secret's data (helm.sh/helm/v3 pkg/storage/driver/util.go v3.19.0).
func manifest(t *testing.T, body []byte) string {
	t.Helper()
	var secret struct {
		Type string
		Data struct{ Release []byte }
	}
	if err := json.Unmarshal(body, &secret); err != nil || secret.Type != "helm.sh/release.v1" {
		return ""
	}
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(secret.Data.Release)))
	if err != nil {
		t.Fatal(err)
	}
	var release struct{ Manifest string }
	if err := json.NewDecoder(r).Decode(&release); err != nil {
		t.Fatal(err)
	}
	return release.Manifest
}

// What a second pass over a Source reads may be known only after the first: here
// the objects that the lab's Helm releases name, of whatever kind.
func TestSecondPass(t *testing.T) {
	source := open(t)
	var releases []string
	first, err := archive.Walk(t.Context(), source, archive.DefaultBounds, archive.Visitor{
		Want: func(h *archive.Header) (bool, error) {
			return h.Resource == "secrets" && bytes.HasPrefix(h.Name, []byte("sh.helm.release.v1.")), nil
		},
		Visit: func(i *archive.Item) error {
			releases = append(releases, manifest(t, i.Body))
			return nil
		},
	})
	if err != nil || len(releases) != 2 {
		t.Fatalf("%d releases, error %v", len(releases), err)
	}
	named := func(kind, name string) bool {
		return strings.Contains(releases[1], "\nkind: "+kind+"\nmetadata:\n  name: "+name+"\n")
	}
	var found []string
	second, err := archive.Walk(t.Context(), source, archive.DefaultBounds, archive.Visitor{
		Want: func(h *archive.Header) (bool, error) {
			return string(h.Namespace) == "shop" && strings.Contains(releases[1], "  name: "+string(h.Name)+"\n"), nil
		},
		Visit: func(i *archive.Item) error {
			var o struct{ Kind string }
			if err := json.Unmarshal(i.Body, &o); err != nil {
				return err
			}
			if named(o.Kind, string(i.Name)) {
				found = append(found, i.Resource+" "+string(i.Name))
			}
			return nil
		},
	})
	want := []string{
		"configmaps shop-config", "configmaps shop-extra", "deployments.apps shop-web", "deployments.apps shop-worker",
		"horizontalpodautoscalers.autoscaling shop-worker", "secrets shop-db", "services shop-web",
	}
	slices.Sort(found)
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("found %q, error %v", found, err)
	}
	if first.SHA256 != second.SHA256 || first.Items != second.Items {
		t.Errorf("the passes differ: %+v, %+v", first, second)
	}
}

// A body is handed over whole up to the bound on an item, and costs only its item
// beyond that.
func TestLargeItems(t *testing.T) {
	widget := func(name string, size int) object {
		return object{
			"apiVersion": "example.org/v1", "kind": "Widget", "metadata": object{"name": name},
			"spec": object{"text": strings.Repeat("x", size)},
		}
	}
	b := backuptest.New().Add("widgets.example.org", widget("small", 1)).
		Add("widgets.example.org", widget("large", 200<<10)).
		Add("widgets.example.org", widget("larger", 1<<20))
	bounds := archive.DefaultBounds
	bounds.Item = 512 << 10
	var visited, problems []string
	_, err := archive.Walk(t.Context(), backuptest.Source("b", b.Bytes()), bounds, archive.Visitor{
		Visit: func(i *archive.Item) error {
			var o object
			if err := json.Unmarshal(i.Body, &o); err != nil {
				return err
			}
			visited = append(visited, fmt.Sprintf("%s %s %d", i.Resource, i.Name, len(o["spec"].(object)["text"].(string))))
			return nil
		},
		Problem: func(path, reason string) { problems = append(problems, path+": "+reason) },
	})
	if want := []string{"widgets.example.org small 1", "widgets.example.org large 204800"}; err != nil || !slices.Equal(visited, want) {
		t.Errorf("visited %q, error %v", visited, err)
	}
	if want := []string{
		"resources/widgets.example.org/cluster/larger.json: the item is larger than 524288 bytes",
		"resources/widgets.example.org/v1-preferredversion/cluster/larger.json: the item is larger than 524288 bytes",
	}; !slices.Equal(problems, want) {
		t.Errorf("problems %q", problems)
	}
}

// The copies of an object are distinguished; one that repeats the classic copy right
// before it is not visited.
func TestCopiesThatAreVisited(t *testing.T) {
	pod := func(image string) object {
		return object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"namespace": "ns", "name": "p"}, "spec": image}
	}
	b := backuptest.New().Add("pods", pod("a")).
		AddAt("pods", "v1-preferredversion", pod("b")).
		AddAt("pods", "v1beta1", pod("a"))
	var forms []archive.Form
	info, err := archive.Walk(t.Context(), backuptest.Source("b", b.Bytes()), archive.DefaultBounds, archive.Visitor{
		Visit: func(i *archive.Item) error {
			forms = append(forms, i.Form)
			return nil
		},
	})
	want := []archive.Form{{}, {Version: "v1", Preferred: true}, {Version: "v1beta1"}}
	if err != nil || !slices.Equal(forms, want) || !slices.IsSortedFunc(forms, archive.Form.Compare) {
		t.Errorf("%v, want %v, error %v", forms, want, err)
	}
	if info.Items != 2 { // the path that occurs twice counts twice
		t.Errorf("%d items", info.Items)
	}
}

// An error of the Visitor, and the end of the context, end the walk as they are.
func TestWalkEnds(t *testing.T) {
	stop := errors.New("stop")
	visits := 0
	for what, v := range map[string]archive.Visitor{
		"Want":  {Want: func(*archive.Header) (bool, error) { return false, stop }},
		"Visit": {Visit: func(*archive.Item) error { visits++; return stop }},
	} {
		if info, err := archive.Walk(t.Context(), open(t), archive.DefaultBounds, v); err != stop || info.SHA256 != "" {
			t.Errorf("%s: error %v, %+v", what, err, info)
		}
	}
	if visits != 1 {
		t.Errorf("%d visits", visits)
	}
	ctx, cancel := context.WithCancel(t.Context())
	visit := func(*archive.Item) error { cancel(); return nil }
	if _, err := archive.Walk(ctx, open(t), archive.DefaultBounds, archive.Visitor{Visit: visit}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// An archive that has more than Bounds allow is refused as a whole.
func TestBoundsOfAnArchive(t *testing.T) {
	long := strings.Repeat("x", 2000)
	for what, path := range map[string]func(i int) string{
		"names of resources": func(i int) string { return fmt.Sprintf("resources/r%d%s/cluster/x.json", i, long) },
		"names of versions":  func(i int) string { return fmt.Sprintf("resources/r%d/v%d%s/cluster/x.json", i/32, i, long) },
		"resources":          func(i int) string { return fmt.Sprintf("resources/r%d/cluster/x.json", i) },
		"objects":            func(i int) string { return fmt.Sprintf("resources/r/cluster/x%d.json", i) },
	} {
		b := backuptest.New()
		for i := range 600 {
			b.Raw(path(i), []byte("{}"))
		}
		source, bounds := backuptest.Source("b", b.Tar()), archive.DefaultBounds
		if _, err := archive.Walk(t.Context(), source, bounds, archive.Visitor{Visit: func(*archive.Item) error { return nil }}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		bounds.Names, bounds.Resources, bounds.Items = 1<<20, 599, 599
		var input *archive.InputError
		if _, err := archive.Walk(t.Context(), source, bounds, archive.Visitor{Visit: func(*archive.Item) error { return nil }}); !errors.As(err, &input) || input.Name != "b" || input.Next == "" {
			t.Errorf("%s: error %v", what, err)
		}
	}
}
