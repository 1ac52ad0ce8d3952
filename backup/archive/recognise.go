package archive

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"drift-detector/internal/lazyregexp"
)

// companions are the files that Velero writes beside a tarball, by the ends of
// their names (Velero pkg/persistence/object_store_layout.go v1.18.1). A longer
// end comes before a shorter one that it contains.
var companions = []struct{ suffix, what string }{
	{"-logs.gz", "the log of a backup"},
	{"-results.gz", "the warnings and errors of a backup"},
	{"-resource-list.json.gz", "the resource list of a backup"},
	{"-podvolumebackups.json.gz", "the pod volume list of a backup"},
	{"-csi-volumesnapshots.json.gz", "the CSI snapshot list of a backup"},
	{"-csi-volumesnapshotcontents.json.gz", "the CSI snapshot contents of a backup"},
	{"-csi-volumesnapshotclasses.json.gz", "the CSI snapshot classes of a backup"},
	{"-volumesnapshots.json.gz", "the volume snapshot list of a backup"},
	{"-itemoperations.json.gz", "the item operations of a backup"},
	{"-volumeinfo.json.gz", "the volume list of a backup"},
}

// rancher are paths in a backup of Rancher's backup-restore-operator: PLURAL.GROUP#VERSION/… and
// filters/filters.json (pkg/resourcesets/collector.go e90504c).
var rancher = lazyregexp.New(`^([a-z0-9.-]+#v[0-9][a-z0-9]*/.|filters/filters\.json$)`)

// What is known of one: no uid and no time of an object is in it. Its restore writes status, lets
// the controllers of Cluster API run meanwhile, and prunes by default
// (pkg/controllers/restore/controller.go, prune.go e90504c).
const (
	ofRancher   = "a backup of Rancher's backup-restore-operator, which is not read: it holds no uid and no time of any object, its default set leaves out the infrastructure objects of machines, and its restore prunes by default: what its selectors match and the backup lacks is deleted, Machines made since then with their VMs"
	nextRancher = "give a backup of Velero, a folder of 'clusterctl move --to-directory', or, while it runs, the management cluster with --kubeconfig; and restore that one with prune: false, if at all"
)

// descriptor is the Backup object beside a tarball in the object store.
const descriptor = "velero-backup.json"

// wrongFile returns the error for a file that is no tarball: what it is by its
// name or content, and which file to give instead.
func wrongFile(path, content string, err error) error {
	base := filepath.Base(path)
	if base == descriptor {
		return &InputError{path, "the description of a backup, not the backup", "give its folder, or the .tar.gz file beside it", err}
	}
	for _, b := range companions {
		if name, ok := strings.CutSuffix(base, b.suffix); ok {
			next := fmt.Sprintf("give %s.tar.gz from the same folder, or %s-data.tar.gz from `velero backup download %s`", name, name, name)
			return &InputError{path, b.what + ", not the backup", next, err}
		}
	}
	next := nextTarball
	if strings.HasPrefix(content, "encrypted") {
		next = "decrypt it first"
	}
	return &InputError{path, content + ", not a Velero backup", next, err}
}

// magics are the beginnings of files that people give by mistake.
var magics = []struct{ start, what string }{
	{"age-encryption.org/", "encrypted with age"},
	{"-----BEGIN AGE ENCRYPTED FILE", "encrypted with age"},
	{"-----BEGIN PGP MESSAGE", "encrypted with PGP"},
	{"\x1f\x8b", "a gzip file"},
	{"PK\x03\x04", "a zip file"},
	{"BZh", "a bzip2 file"},
	{"\xfd7zXZ\x00", "an xz file"},
	{"\x28\xb5\x2f\xfd", "a zstd file"},
	{"\x7fELF", "a program"},
	{"%PDF", "a PDF file"},
	{"time=\"", "a log"},
	{"apiVersion:", "YAML"},
	{"<", "an HTML or XML page"},
	{"{", "JSON"},
	{"[", "JSON"},
}

// nameOf returns the kind of file that begins so.
func nameOf(head []byte) string {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.start)) {
			return m.what
		}
	}
	// OpenPGP packets that an encrypted message begins with: session keys,
	// tags 1 and 3 in the old and the new form (RFC 9580, section 4.2).
	if len(head) > 0 {
		switch head[0] {
		case 0x84, 0x85, 0x86, 0x8c, 0x8d, 0xc1, 0xc3:
			return "encrypted with PGP"
		}
	}
	if len(head) == 0 {
		return "nothing"
	}
	return "unknown data"
}
