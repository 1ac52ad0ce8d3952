package backuptest

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
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
	out, err := rewrite(data, change, nil)
	if err != nil {
		t.Fatalf("rewriting a backup: %v", err)
	}
	return out
}

// Append returns a tarball with further items, by their paths.
func Append(t testing.TB, tarball string, items map[string][]byte) []byte {
	t.Helper()
	data, err := os.ReadFile(tarball)
	if err != nil {
		t.Fatal(err)
	}
	out, err := rewrite(data, func(_ string, body []byte) ([]byte, bool) { return body, true }, items)
	if err != nil {
		t.Fatalf("adding to a backup: %v", err)
	}
	return out
}

func rewrite(data []byte, change func(string, []byte) ([]byte, bool), more map[string][]byte) ([]byte, error) {
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
	var last *tar.Header
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
		last = h
		if err := write(to, h, body); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		h := *last
		h.Name = name
		if err := write(to, &h, more[name]); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(to.Close(), zipped.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func write(to *tar.Writer, h *tar.Header, body []byte) error {
	h.Size = int64(len(body))
	if err := to.WriteHeader(h); err != nil {
		return err
	}
	_, err := to.Write(body)
	return err
}

// Edit changes the objects of a backup whose resource begins with one of the prefixes:
// the function gets each as it is decoded, and reports whether to keep it.
func Edit(t testing.TB, tarball []byte, change func(resource string, object map[string]any) (keep bool), prefixes ...string) []byte {
	t.Helper()
	return Rewrite(t, tarball, func(path string, body []byte) ([]byte, bool) {
		parts := strings.Split(path, "/")
		if parts[0] != "resources" || !strings.HasSuffix(path, ".json") {
			return body, true
		}
		if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(parts[1], p) }) {
			return body, true
		}
		var object map[string]any
		if err := json.Unmarshal(body, &object); err != nil {
			t.Fatal(err)
		}
		if !change(parts[1], object) {
			return nil, false
		}
		out, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		return out, true
	})
}

// Inside walks into an object by member names, makes those that are not there, and
// returns the last map.
func Inside(object map[string]any, names ...string) map[string]any {
	for _, n := range names {
		next, ok := object[n].(map[string]any)
		if !ok {
			next = map[string]any{}
			object[n] = next
		}
		object = next
	}
	return object
}
