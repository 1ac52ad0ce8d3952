package backuptest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"testing"
)

// Rewrite makes a changed copy of a backup. The backup is the path of a tarball
// or its bytes. The function sees each item with its path, the classic one and
// the preferred-version copy alike, and returns the body to write instead, and
// whether to write it at all. Times and order stay as they are.
func Rewrite[B string | []byte](t testing.TB, tarball B, change func(path string, body []byte) (newBody []byte, keep bool)) []byte {
	t.Helper()
	var data []byte
	switch b := any(tarball).(type) {
	case string:
		var err error
		if data, err = os.ReadFile(b); err != nil {
			t.Fatal(err)
		}
	case []byte:
		data = b
	}
	out, err := rewrite(data, change)
	if err != nil {
		t.Fatalf("rewriting a backup: %v", err)
	}
	return out
}

func rewrite(data []byte, change func(string, []byte) ([]byte, bool)) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	// The fastest level: the copy is read once.
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	from, to := tar.NewReader(unzipped), tar.NewWriter(zipped)
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(from)
		if err != nil {
			return nil, err
		}
		body, keep := change(h.Name, body)
		if !keep {
			continue
		}
		h.Size = int64(len(body))
		if err := to.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := to.Write(body); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(to.Close(), zipped.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
