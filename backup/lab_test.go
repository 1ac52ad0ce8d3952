package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"iter"
	"os"
	"strings"
	"testing"

	velero "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"

	"drift-detector/backup/scan"
)

const labPath = "../testdata/fleet-data.tar.gz"

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

func BenchmarkScanMachine(b *testing.B) {
	var bodies [][]byte
	var size int64
	for _, body := range labItems(b) {
		if bytes.Contains(body, []byte(`"kind":"Machine","metadata"`)) {
			bodies = append(bodies, body)
			size += int64(len(body))
		}
	}
	r := machineKind.reader(newMemory()).(*builder[machineFields])
	var s scan.Scanner
	b.SetBytes(size / int64(len(bodies)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := s.Scan(r.own, bodies[i%len(bodies)]); err != nil {
			b.Fatal(err)
		}
	}
}
