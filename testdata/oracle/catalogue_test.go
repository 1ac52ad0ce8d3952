package oracle

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	veleroarchive "github.com/vmware-tanzu/velero/pkg/archive"
	"github.com/vmware-tanzu/velero/pkg/util/filesystem"

	"drift-detector/backup"
	"drift-detector/backup/archive"
)

// catalogue is the items of a backup: "namespace/name" by resource.
type catalogue map[string][]string

func (c catalogue) items() int {
	n := 0
	for _, names := range c {
		n += len(names)
	}
	return n
}

// velero reads a tarball as `velero restore` does.
func velero(t *testing.T, file string) catalogue {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir()) // the extractor leaves its folder behind
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	log := logrus.New()
	log.SetOutput(io.Discard)
	fs := filesystem.NewFileSystem()
	dir, err := veleroarchive.NewExtractor(log, fs).UnzipAndExtractBackup(f)
	if err != nil {
		t.Fatal(err)
	}
	resources, err := veleroarchive.NewParser(log, fs).Parse(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := catalogue{}
	for resource, items := range resources {
		for namespace, names := range items.ItemsByNamespace {
			for _, name := range names {
				c[resource] = append(c[resource], namespace+"/"+name)
			}
		}
		slices.Sort(c[resource])
	}
	return c
}

// ours asks the loader for every resource that Velero found.
func ours(t *testing.T, file string, resources catalogue) (catalogue, int) {
	t.Helper()
	source, err := archive.FileSource(file)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]*backup.Kind[struct{}]{}
	var want backup.Want
	for resource := range resources {
		kinds[resource] = backup.NewKind[struct{}](resource)
		want.Kinds = append(want.Kinds, kinds[resource])
	}
	s := load(t, source, want)
	c := catalogue{}
	for resource, kind := range kinds {
		for r := range kind.In(s).All() {
			c[resource] = append(c[resource], r.Namespace+"/"+r.Name)
		}
		slices.Sort(c[resource])
	}
	return c, s.Backups[0].Items
}

func TestCatalogueIsVeleros(t *testing.T) {
	for _, file := range tarballs {
		t.Run(strings.TrimPrefix(file, "../"), func(t *testing.T) {
			want := velero(t, file)
			got, items := ours(t, file, want)
			if want.items() < 200 {
				t.Fatalf("Velero finds only %d items", want.items())
			}
			// The number also shows that the loader found nothing beside.
			if items != want.items() {
				t.Errorf("%d items, Velero finds %d", items, want.items())
			}
			for resource, names := range want {
				if !slices.Equal(got[resource], names) {
					t.Errorf("%s:\n%v\nVelero finds\n%v", resource, got[resource], names)
				}
			}
		})
	}
}
