package backup

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"iter"
	"os"
	"strings"
	"testing"

	velero "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
)

const labPath = "../testdata/fleet-data.tar.gz"

// labBodies walks the bodies of the lab's items, read by the standard library.
func labBodies(t testing.TB) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, body := range labItems(t) {
			if !yield(body) {
				return
			}
		}
	}
}

// labItems walks the classic copies of the lab's items with their paths.
func labItems(t testing.TB) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		f, err := os.Open(labPath)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		unzipped, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		for r := tar.NewReader(unzipped); ; {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(h.Name, ".json") && !strings.Contains(h.Name, velero.PreferredVersionDir) && !yield(h.Name, body) {
				return
			}
		}
	}
}
