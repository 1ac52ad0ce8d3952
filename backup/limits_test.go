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
)

// tarOf is a plain tar of files, given as name and content in turns.
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
		`{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","metadata":{"namespace":"ns","name":"` + name + `","uid":"` + name + `"},"spec":{"clusterName":"c"}}`
}

func TestBounds(t *testing.T) {
	files := []string{versionPath, "1.1.0\n"}
	for i := range 3 {
		path, body := machineFile(fmt.Sprintf("m%d", i))
		files = append(files, path, body)
	}
	path, body := machineFile("large")
	data := tarOf(t, append(files, path, body+strings.Repeat(" ", 1000))...)

	s, err := loadBytes(data, limits{item: 1000, items: 4, versions: 4})
	if err != nil || len(s.Machines) != 3 || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Reason, "larger than 1000 bytes") {
		t.Errorf("a large item: error %v, snapshot %+v", err, s)
	}
	if s, err = loadBytes(data, limits{item: 2000, items: 4, versions: 4}); err != nil || len(s.Machines) != 4 {
		t.Errorf("within the bounds: error %v, snapshot %+v", err, s)
	}
	var input *InputError
	if _, err = loadBytes(data, limits{item: 2000, items: 3, versions: 4}); !errors.As(err, &input) || !strings.Contains(input.Problem, "more than 3 objects") {
		t.Errorf("too many items: error %v", err)
	}
	for i := range 6 {
		dir := fmt.Sprintf("machines.cluster.x-k8s.io/v%d/", i+1)
		path, body := machineFile("m0")
		files = append(files, strings.Replace(path, "machines.cluster.x-k8s.io/", dir, 1), body)
	}
	s, err = loadBytes(tarOf(t, files...), limits{item: 1000, items: 4, versions: 4})
	if err != nil || len(s.Problems) != 2 || !strings.Contains(s.Problems[0].Reason, "more than 4 version directories") {
		t.Errorf("many versions: error %v, problems %v", err, s.Problems)
	}
}

func TestDefaultLimits(t *testing.T) {
	if (defaultLimits != limits{item: 16 << 20, items: 5_000_000, versions: 32}) || maxName != 4096 || maxDepth != 100 {
		t.Errorf("limits %+v", defaultLimits)
	}
}

// listing notes what a walk tells.
type listing struct {
	entries []string
	odd     bool // want every other body only
}

func (l *listing) enter(h *tarHeader) (bool, error) {
	l.entries = append(l.entries, fmt.Sprintf("%s %c %d %d", h.name, h.kind, h.size, h.written))
	return !l.odd || len(l.entries)%2 == 1, nil
}

func (l *listing) body(b []byte) error {
	l.entries[len(l.entries)-1] += " " + string(b)
	return nil
}

// The walk tells what archive/tar tells, in pieces of every size.
func TestTarWalkAgreesWithArchiveTar(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i, format := range []tar.Format{tar.FormatUSTAR, tar.FormatPAX, tar.FormatGNU, tar.FormatUnknown} {
		for _, size := range []int{0, 1, 511, 512, 513, 3000} {
			for _, length := range []int{5, 99, 100, 101, 155, 300} {
				name := strings.Repeat("d", length/2) + "/" + strings.Repeat("f", length-length/2-1)
				h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(size), Mode: 0o644, Format: format}
				if format == tar.FormatUSTAR && length > 155 {
					continue
				}
				if err := w.WriteHeader(h); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Write(bytes.Repeat([]byte{'a' + byte(i)}, size)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var want []string
	for r := tar.NewReader(bytes.NewReader(b.Bytes())); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("%s %c %d %d %s", h.Name, h.Typeflag, h.Size, h.ModTime.Unix(), body))
	}
	for _, odd := range []bool{false, true} {
		for _, piece := range []int{1, 7, 511, 512, 513, 4096, b.Len()} {
			l := &listing{odd: odd}
			walker := &tarWalker{visitor: l}
			for rest := b.Bytes(); len(rest) > 0; rest = rest[min(piece, len(rest)):] {
				if n, err := walker.Write(rest[:min(piece, len(rest))]); err != nil || n != min(piece, len(rest)) {
					t.Fatalf("pieces of %d: wrote %d, error %v", piece, n, err)
				}
			}
			if err := walker.end(); err != nil || len(l.entries) != len(want) {
				t.Fatalf("pieces of %d: %d entries, want %d, error %v", piece, len(l.entries), len(want), err)
			}
			for i, got := range l.entries {
				expect := want[i]
				if odd && i%2 == 1 {
					expect = expect[:strings.LastIndex(expect, " ")]
				}
				if got != expect {
					t.Fatalf("pieces of %d, entry %d: %.300q, want %.300q", piece, i, got, expect)
				}
			}
		}
	}
}

// FuzzTarWalk looks for archives that crash the walk or make it hoard.
func FuzzTarWalk(f *testing.F) {
	f.Add(tarOf(f, versionPath, "1\n", strings.Repeat("long/", 40)+"x", "body"))
	f.Add([]byte("short"))
	f.Add(make([]byte, 1024))
	f.Fuzz(func(t *testing.T, data []byte) {
		walker := &tarWalker{visitor: &listing{}}
		_, _ = walker.Write(data)
		if cap(walker.got) > 2*len(data)+maxExtended {
			t.Errorf("%d bytes held of %d", cap(walker.got), len(data))
		}
	})
}

func TestUsage(t *testing.T) {
	m, u := newMemory(), &usage{}
	for i := range 5000 {
		if got := m.keep(fmt.Appendf(nil, "unique-%d", i), u); got != fmt.Sprintf("unique-%d", i) {
			t.Fatalf("kept %q", got)
		}
	}
	if len(m.interned) > 1100 {
		t.Errorf("%d unique values are remembered", len(m.interned))
	}
	large := bytes.Repeat([]byte("x"), 3*arenaSize)
	if got := m.keep(large, u); got != string(large) {
		t.Error("a large value was not kept")
	}
}
