package lab

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// unread are the kinds of objects that take two thirds of the files of a saved
// vCenter and that nothing here asks for: the tasks that it once ran, its performance
// counters, and how guests are customised. The simulator makes empty managers of its
// own for them.
var unread = regexp.MustCompile(`^[0-9]+-(Task|TaskManager|PerformanceManager|CustomizationSpecManager)-`)

// unreadProperties take half of what is left, by kind: nothing here asks for them, and the
// simulator needs none of them to delete or to change a VM.
var unreadProperties = map[string][]string{
	"HostSystem": {"config", "summary", "runtime", "hardware", "capability"},
	"VirtualMachine": {
		"availableField", "capability", "configIssue", "configStatus", "customValue", "declaredAlarmState", "disabledMethod",
		"effectiveRole", "overallStatus", "permission", "recentTask", "rootSnapshot", "triggeredAlarmState", "value",
	},
	"Folder":               {"recentTask"},
	"HostNetworkSystem":    {"networkInfo"},
	"EventManager":         {"description"},
	"AuthorizationManager": {"roleList"},
}

// unreadDevices are what every VM has alike, a quarter of what is left then.
var unreadDevices = []string{
	"VirtualPCIController", "VirtualIDEController", "VirtualPS2Controller", "VirtualSIOController",
	"VirtualKeyboard", "VirtualPointingDevice", "VirtualMachineVideoCard", "VirtualMachineVMCIDevice",
}

// unpacked are the archives of the vCenters that run now, by path: many tests of a
// process start the same ones beside each other.
var unpacked = struct {
	sync.Mutex
	archives map[string]*unpackedArchive
}{archives: map[string]*unpackedArchive{}}

type unpackedArchive struct {
	dir, saved string
	users      int
}

// borrow unpacks an archive, unless it is unpacked, and returns its folder, which
// nobody may write to. It is removed when all who borrowed it have given it back.
func borrow(archive string) (saved string, giveBack func(), err error) {
	if archive, err = filepath.Abs(archive); err != nil {
		return "", nil, err
	}
	unpacked.Lock()
	defer unpacked.Unlock()
	a := unpacked.archives[archive]
	if a == nil {
		a = new(unpackedArchive)
		if a.dir, err = os.MkdirTemp("", "drift-detector-lab-"); err != nil {
			return "", nil, err
		}
		if a.saved, err = unpack(archive, a.dir); err != nil {
			_ = os.RemoveAll(a.dir)
			return "", nil, fmt.Errorf("unpacking %s: %w", archive, err)
		}
		unpacked.archives[archive] = a
	}
	a.users++
	return a.saved, func() {
		unpacked.Lock()
		defer unpacked.Unlock()
		if a.users--; a.users == 0 {
			delete(unpacked.archives, archive)
			_ = os.RemoveAll(a.dir)
		}
	}, nil
}

// unpack extracts a tar.gz of one folder into dir, except for what is unread, and
// returns that folder. It is for the lab's own archives, and still refuses names
// that leave dir.
func unpack(archive, dir string) (string, error) {
	folder := ""
	err := eachEntry(archive, func(h *tar.Header, body io.Reader) error {
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("entry %q leaves the folder", h.Name)
		}
		if unread.MatchString(path.Base(h.Name)) {
			return nil
		}
		target := filepath.Join(dir, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			return os.MkdirAll(target, 0o700)
		case tar.TypeReg:
		default:
			return fmt.Errorf("entry %q is neither file nor folder", h.Name)
		}
		if filepath.Ext(target) == ".xml" && folder == "" {
			folder = filepath.Dir(target)
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		content, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		return os.WriteFile(target, withoutUnread(path.Base(h.Name), content), 0o600)
	})
	if err == nil && folder == "" {
		err = errors.New("it holds no objects of a vCenter")
	}
	// The first file may lie in a folder of one object's method results; the
	// objects themselves lie directly in the archive's only top folder.
	if rel, relErr := filepath.Rel(dir, folder); err == nil && relErr == nil {
		for filepath.Dir(rel) != "." {
			rel = filepath.Dir(rel)
		}
		folder = filepath.Join(dir, rel)
	}
	return folder, err
}

// withoutUnread returns a saved object, of a file of that name, without its unread
// properties and devices.
func withoutUnread(name string, object []byte) []byte {
	parts := strings.SplitN(name, "-", 3) // number, kind, id
	if len(parts) < 3 {
		return object
	}
	object = without(object, "  <propSet>\n    <name>", "</name>", "  </propSet>\n", unreadProperties[parts[1]])
	return without(object, `        <device _XMLSchema-instance:type="`, `">`, "        </device>\n", unreadDevices)
}

// without returns a text without those of its parts that are named: a part begins with start,
// after which its name stands up to stop, and ends with end.
func without(text []byte, start, stop, end string, named []string) []byte {
	kept := make([]byte, 0, len(text))
	for {
		before, rest, found := bytes.Cut(text, []byte(start))
		kept = append(kept, before...)
		if !found {
			return kept
		}
		part, after, _ := bytes.Cut(rest, []byte(end))
		if name, _, _ := bytes.Cut(part, []byte(stop)); !slices.Contains(named, string(name)) {
			kept = append(append(append(kept, start...), part...), end...)
		}
		text = after
	}
}

// eachEntry walks a tar.gz.
func eachEntry(archive string, visit func(*tar.Header, io.Reader) error) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	zr, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	tr := tar.NewReader(zr)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(h, tr); err != nil {
			return err
		}
	}
}
