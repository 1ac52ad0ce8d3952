package archive_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drift-detector/backup/archive"
	"drift-detector/backup/backuptest"
)

const (
	lab      = "../../testdata/fleet-data.tar.gz"
	machines = "machines.cluster.x-k8s.io"
)

// object is an API object as JSON.
type object = map[string]any

func machine(name string) object {
	return object{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": object{"namespace": "ns", "name": name}}
}

// walk reads a source and wants all of it.
func walk(source archive.Source) (archive.Info, error) {
	return archive.Walk(context.Background(), source, archive.DefaultBounds, archive.Visitor{
		Visit: func(*archive.Item) error { return nil },
	})
}

func readLab(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(lab)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// refusal returns the error that a file is refused with. It must be an InputError of
// one line that names the file and a next step.
func refusal(t *testing.T, name string, data []byte) *archive.InputError {
	t.Helper()
	info, err := walk(backuptest.Source(name, data))
	var input *archive.InputError
	if !errors.As(err, &input) {
		t.Fatalf("%s: error %v", name, err)
	}
	if info.Items != 0 || input.Next == "" || !strings.HasPrefix(err.Error(), name+": ") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%s: error %q", name, err)
	}
	return input
}

func TestUnusableFiles(t *testing.T) {
	whole := readLab(t)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-8] ^= 1 // the CRC
	wrongLength := bytes.Clone(whole)
	wrongLength[len(wrongLength)-1] ^= 1
	plain := backuptest.New().Add(machines, machine("m")).Tar()
	text := strings.Repeat("some text that is no backup. ", 40)
	for _, test := range []struct {
		what, name string
		data       []byte
		want       string
	}{
		{"empty", "b.tar.gz", nil, "empty"},
		{"text", "b.tar.gz", []byte(text), "unknown data"},
		{"short text", "b.tar.gz", []byte("x"), "unknown data"},
		{"gzip of text", "b.tar.gz", backuptest.Compress([]byte(text)), "gzip of unknown data"},
		{"gzip of little", "b.tar.gz", backuptest.Compress([]byte("x")), "gzip of unknown data"},
		{"gzip of nothing", "b.tar.gz", backuptest.Compress(nil), "gzip of nothing"},
		{"gzip of gzip", "b.tar.gz", backuptest.Compress(whole), "gzip of a gzip file"},
		{"a log under another name", "b.tar.gz", backuptest.Compress([]byte(`time="2026" level=info`)), "gzip of a log"},
		{"JSON", "b.json", []byte(`{"kind":"Backup"}`), "JSON"},
		{"zip", "b.zip", []byte("PK\x03\x04rest"), "zip"},
		{"age", "b.tar.gz.age", []byte("age-encryption.org/v1\n-> X25519"), "encrypted with age"},
		{"age armor", "b.tar.gz.age", []byte("-----BEGIN AGE ENCRYPTED FILE-----\n"), "encrypted with age"},
		{"gpg armor", "b.tar.gz.asc", []byte("-----BEGIN PGP MESSAGE-----\n"), "encrypted with PGP"},
		{"gpg public key", "b.tar.gz.gpg", []byte{0x85, 0x01, 0x0c, 0x03}, "encrypted with PGP"},
		{"gpg passphrase", "b.tar.gz.gpg", []byte{0x8c, 0x0d, 0x04, 0x09}, "encrypted with PGP"},
		{"wrong CRC", "b.tar.gz", damaged, "checksum"},
		{"wrong length", "b.tar.gz", wrongLength, "checksum"},
		{"text behind the gzip stream", "b.tar.gz", append(bytes.Clone(whole), text...), "follows"},
		{"zeros behind the gzip stream", "b.tar.gz", append(bytes.Clone(whole), make([]byte, 512)...), "follows"},
		{"a byte behind the gzip stream", "b.tar.gz", append(bytes.Clone(whole), 'x'), "foreign data follows"},
		{"gzip behind the gzip stream", "b.tar.gz", append(bytes.Clone(whole), backuptest.Compress([]byte("x"))...), "foreign data follows"},
		{"text behind the tar archive", "b.tar", append(bytes.Clone(plain), text...), "follows"},
		{"tar behind tar", "b.tar.gz", backuptest.Compress(append(bytes.Clone(plain), plain...)), "follows"},
		{"damaged header", "b.tar", damage(plain), "checksum"},
		{"tar of something else", "b.tar.gz", backuptest.NewFormat("").Raw("etc/hosts", []byte("x")).Bytes(), "not a Velero backup"},
		{"log", "mgmt-logs.gz", backuptest.Compress([]byte("time=...")), "log"},
		{"results", "mgmt-results.gz", backuptest.Compress([]byte("{}")), "warnings and errors"},
		{"resource list", "mgmt-resource-list.json.gz", backuptest.Compress([]byte("{}")), "resource list"},
		{"volumes", "mgmt-volumeinfo.json.gz", backuptest.Compress([]byte("[]")), "volume list"},
		{"CSI", "mgmt-csi-volumesnapshots.json.gz", backuptest.Compress([]byte("[]")), "CSI"},
		{"description", "velero-backup.json", []byte(`{"kind":"Backup"}`), "description"},
	} {
		if got := refusal(t, test.name, test.data); !strings.Contains(got.Problem, test.want) {
			t.Errorf("%s: %s", test.what, got)
		}
	}
	for name, next := range map[string]string{
		"mgmt-logs.gz": "mgmt.tar.gz", "dir/mgmt-results.gz": "mgmt-data.tar.gz", "mgmt-csi-volumesnapshots.json.gz": "give mgmt.tar.gz", "b.age": "", "velero-backup.json": ".tar.gz",
	} {
		if got := refusal(t, name, backuptest.Compress([]byte("{}"))); !strings.Contains(got.Next, next) {
			t.Errorf("%s: next %q", name, got.Next)
		}
	}
	if got := refusal(t, "b", []byte("age-encryption.org/v1")); !strings.Contains(got.Next, "decrypt") {
		t.Errorf("encrypted: next %q", got.Next)
	}
}

// damage flips a bit in the last header of a tar archive.
func damage(tarball []byte) []byte {
	tarball = bytes.Clone(tarball)
	at := bytes.LastIndex(tarball, []byte("resources/"))
	tarball[at] ^= 1
	return tarball
}

// The lab's backup, cut anywhere, is refused: at its head, at its end, in between.
func TestTruncation(t *testing.T) {
	whole := readLab(t)
	offsets := map[int]bool{}
	for i := range 24 {
		offsets[i], offsets[len(whole)-1-i] = true, true
	}
	for i := 0; i < len(whole); i += len(whole) / 50 {
		offsets[i] = true
	}
	for n := range offsets {
		got := refusal(t, "b.tar.gz", whole[:n])
		if n >= 2 && !strings.Contains(got.Problem, "cut short") {
			t.Errorf("cut at %d of %d: %s", n, len(whole), got)
		}
	}
}

// A plain tar has no checksum over all of it; its end marker must do. The cuts
// go through every block of an archive with long names in all their forms.
func TestTruncationOfPlainTar(t *testing.T) {
	long := strings.Repeat("n", 150)
	plain := backuptest.New().
		Add(machines, machine("m")).
		Add(machines, machine(long)).
		Tar()
	if _, err := walk(backuptest.Source("b.tar", plain)); err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(plain); n++ {
		if at := n % 512; at <= 1 || at == 511 || n%41 == 0 {
			refusal(t, "b.tar", plain[:n])
		}
	}
	// Inside gzip the same cuts come with a good checksum.
	for n := 512; n < len(plain); n += 512 {
		var zipped bytes.Buffer
		w, _ := gzip.NewWriterLevel(&zipped, gzip.NoCompression)
		_, _ = w.Write(plain[:n])
		_ = w.Close()
		if got := refusal(t, "b.tar.gz", zipped.Bytes()); !strings.Contains(got.Problem, "cut short") {
			t.Errorf("tar cut at %d: %s", n, got)
		}
	}
}

// One flipped bit anywhere is noticed.
func TestBitFlips(t *testing.T) {
	whole := readLab(t)
	for i := 10; i < len(whole); i += len(whole) / 60 {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1 << (i % 8)
		refusal(t, "b.tar.gz", flipped)
	}
}

func TestPathsOfInputs(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := backuptest.New().Add(machines, machine("m")).Bytes()
	write("empty/readme", nil)
	write("half/velero-backup.json", []byte("{}"))
	write("renamed/velero-backup.json", []byte("{}"))
	write("renamed/first.tar.gz", good)
	write("several/velero-backup.json", []byte("{}"))
	write("several/a.tar.gz", good)
	write("several/b.tar.gz", good)
	for _, name := range []string{"one", "two"} {
		write("bucket/backups/"+name+"/velero-backup.json", []byte("{}"))
		write("bucket/backups/"+name+"/"+name+".tar.gz", good)
		write("bucket/backups/"+name+"/"+name+"-extra.tar.gz", good)
	}
	write("secret.tar.gz", good)
	for name, want := range map[string]string{
		"none.tar.gz": "no such file", "empty": "without a Velero backup", "half": "missing", "several": "a.tar.gz, b.tar.gz",
		"bucket": "2 backups: backups/one, backups/two", "bucket/backups": "2 backups: one, two",
	} {
		_, err := archive.FileSource(filepath.Join(dir, name))
		var input *archive.InputError
		if !errors.As(err, &input) || !strings.Contains(input.Problem, want) || input.Next == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for name, file := range map[string]string{
		"renamed": "first.tar.gz", "bucket/backups/one": "one.tar.gz", "bucket/backups/two/": "two.tar.gz", "secret.tar.gz": "secret.tar.gz",
	} {
		source, err := archive.FileSource(filepath.Join(dir, name))
		if err != nil || filepath.Base(source.Name) != file {
			t.Errorf("%s: source %s, error %v", name, source.Name, err)
			continue
		}
		if info, err := walk(source); err != nil || info.Items != 1 {
			t.Errorf("%s: %+v, error %v", name, info, err)
		}
	}
}

// failing is an input that breaks.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
func (f failing) Close() error             { return nil }

func TestInputsThatFail(t *testing.T) {
	broken := &os.PathError{Op: "read", Path: "b.tar.gz", Err: errors.New("input/output error")}
	for what, test := range map[string]struct {
		open func() (io.ReadCloser, error)
		want string
	}{
		"no permission": {func() (io.ReadCloser, error) { return nil, &os.PathError{Op: "open", Path: "b", Err: os.ErrPermission} }, "no permission"},
		"gone":          {func() (io.ReadCloser, error) { return nil, &os.PathError{Op: "open", Path: "b", Err: os.ErrNotExist} }, "no such file"},
		"disk":          {func() (io.ReadCloser, error) { return failing{broken}, nil }, "input/output error"},
		"disk, later": {func() (io.ReadCloser, error) {
			half := io.MultiReader(bytes.NewReader(readLab(t)[:1000]), failing{broken})
			return io.NopCloser(half), nil
		}, "input/output error"},
	} {
		_, err := walk(archive.Source{Name: "b.tar.gz", Open: test.open})
		var input *archive.InputError
		if !errors.As(err, &input) || !strings.Contains(input.Problem, test.want) {
			t.Errorf("%s: error %v", what, err)
		}
	}
}
