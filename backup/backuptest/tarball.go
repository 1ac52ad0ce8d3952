package backuptest

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"drift-detector/backup"
)

// Written is when the entries of a Tarball were written, unless At says otherwise.
var Written = time.Date(2026, 11, 21, 4, 6, 0, 0, time.UTC)

// Tarball builds a backup item by item. Its methods return the Tarball, so that
// calls can be chained; mistakes of the test panic.
type Tarball struct {
	raw     bytes.Buffer
	out     *tar.Writer
	written time.Time
	closed  bool
}

// New starts a backup of format 1.1.0.
func New() *Tarball { return NewFormat("1.1.0") }

// NewFormat starts a backup whose metadata/version holds the text; without text
// the entry is missing.
func NewFormat(version string) *Tarball {
	t := &Tarball{written: Written}
	t.out = tar.NewWriter(&t.raw)
	if version != "" {
		t.Raw("metadata/version", []byte(version+"\n"))
	}
	return t
}

// At sets the modification time of the entries that follow.
func (t *Tarball) At(written time.Time) *Tarball {
	t.written = written
	return t
}

// Add writes an object twice, as Velero does by default: under its classic path
// and under that of the preferred version, which is the one in its apiVersion.
// An object without uid gets one that depends on its resource and names only.
func (t *Tarball) Add(resource string, object map[string]any) *Tarball {
	version := path.Base(text(object, "apiVersion"))
	return t.AddAt(resource, "", object).AddAt(resource, version+"-preferredversion", object)
}

// AddAt writes an object once, under the version directory of that name, or
// under the classic path when it is empty.
func (t *Tarball) AddAt(resource, versionDir string, object map[string]any) *Tarball {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		panic(fmt.Sprintf("an object of %s without metadata", resource))
	}
	namespace, name := text(meta, "namespace"), text(meta, "name")
	if meta["uid"] == nil {
		meta["uid"] = UID(resource, namespace, name)
	}
	body, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return t.Raw(Path(resource, versionDir, namespace, name), body)
}

// Raw writes any regular file.
func (t *Tarball) Raw(name string, body []byte) *Tarball {
	return t.Entry(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(body)), Mode: 0o755}, body)
}

// Entry writes an entry of any kind.
func (t *Tarball) Entry(h *tar.Header, body []byte) *Tarball {
	if h.ModTime.IsZero() {
		h.ModTime = t.written
	}
	if err := t.out.WriteHeader(h); err != nil {
		panic(err)
	}
	if _, err := t.out.Write(body); err != nil {
		panic(err)
	}
	return t
}

// Tar returns the backup as a plain tar archive. Nothing can be added afterwards.
func (t *Tarball) Tar() []byte {
	if !t.closed {
		t.closed = true
		if err := t.out.Close(); err != nil {
			panic(err)
		}
	}
	return t.raw.Bytes()
}

// Bytes returns the backup as Velero stores it. Nothing can be added afterwards.
func (t *Tarball) Bytes() []byte { return Compress(t.Tar()) }

// Compress packs bytes as gzip, the fastest way: they are read once.
func Compress(data []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		panic(err)
	}
	if _, err := w.Write(data); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// Path returns the path of an item; namespace is empty for cluster-scoped objects.
func Path(resource, versionDir, namespace, name string) string {
	scope := "cluster"
	if namespace != "" {
		scope = "namespaces/" + namespace
	}
	return path.Join("resources", resource, versionDir, scope, name+".json")
}

// UID returns a uid in the usual form, the same for equal arguments.
func UID(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "/")))
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// Source returns a backup in memory.
func Source(name string, data []byte) backup.Source {
	return backup.Source{Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// text returns a string member, or empty.
func text(object map[string]any, member string) string {
	s, _ := object[member].(string)
	return s
}
