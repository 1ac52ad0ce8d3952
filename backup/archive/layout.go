package archive

import (
	"bytes"
	"errors"
	"path"
	"strings"

	velero "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
)

// The paths of a tarball, as Velero writes them (pkg/archive/filesystem.go,
// pkg/backup/backup.go v1.18.1).
const (
	versionPath     = velero.MetadataDir + "/version"
	resourcesPrefix = velero.ResourcesDir + "/"
	preferredSuffix = velero.PreferredVersionDir
	itemSuffix      = ".json"
)

// Form is the directory that one copy of an object is in: the classic path, or
// that of an API version, which the server may have preferred.
type Form struct {
	Version   string // empty for the classic path
	Preferred bool
}

// Compare orders the copies of one object: the classic one, which is what Velero itself
// restores, then the others by the names of their directories.
func (f Form) Compare(o Form) int {
	if c := strings.Compare(f.Version, o.Version); c != 0 || f.Preferred == o.Preferred {
		return c
	}
	if f.Preferred {
		return -1
	}
	return 1
}

// itemName is a path of an item in parts, which share its memory.
type itemName struct {
	resource        []byte
	version         []byte // empty for the classic path
	preferred       bool
	namespace, name []byte // namespace is empty for cluster-scoped objects
}

var (
	errEscapes   = errors.New("the path leads out of the archive")
	errDetour    = errors.New("the path is not in its shortest form, as Velero writes it; a restore reads it all the same")
	errNotAnItem = errors.New("not a path of a Velero backup")
)

// checkPath refuses paths that lead elsewhere when somebody extracts them, and
// those that Velero, which does extract them, would shorten first. Nothing is ever
// extracted here; such a path only shows that the tarball was not written by Velero.
func checkPath(path []byte) error {
	if len(path) > 0 && path[0] == '/' || bytes.IndexByte(path, 0) >= 0 {
		return errEscapes
	}
	var detour error
	for rest, more := path, len(path) > 0; more; {
		part := rest
		i := bytes.IndexByte(rest, '/')
		if more = i >= 0; more {
			part, rest = rest[:i], rest[i+1:]
		}
		switch string(part) {
		case "..":
			return errEscapes
		case "", ".":
			detour = errDetour
		}
	}
	return detour
}

// ResourceIn returns the resource that the path of an entry names, however the path
// is written. It is empty when the path names none.
func ResourceIn(item string) string {
	rest, ok := strings.CutPrefix(path.Clean("/"+item), "/"+resourcesPrefix)
	if !ok {
		return ""
	}
	resource, _, _ := strings.Cut(rest, "/")
	return resource
}

// parseItem splits the path of an item:
//
//	resources/<resource>/[<version>[-preferredversion]/]{cluster | namespaces/<namespace>}/<name>.json
func parseItem(path []byte) (itemName, error) {
	var n itemName
	rest, ok := bytes.CutPrefix(path, []byte(resourcesPrefix))
	if !ok {
		return n, errNotAnItem
	}
	var dir []byte
	n.resource, rest = cutDir(rest)
	dir, rest = cutDir(rest)
	if string(dir) != velero.ClusterScopedDir && string(dir) != velero.NamespaceScopedDir {
		n.version, n.preferred = bytes.CutSuffix(dir, []byte(preferredSuffix))
		if len(n.version) == 0 {
			return n, errNotAnItem
		}
		dir, rest = cutDir(rest)
	}
	switch string(dir) {
	case velero.ClusterScopedDir:
	case velero.NamespaceScopedDir:
		if n.namespace, rest = cutDir(rest); len(n.namespace) == 0 {
			return n, errNotAnItem
		}
	default:
		return n, errNotAnItem
	}
	n.name, ok = bytes.CutSuffix(rest, []byte(itemSuffix))
	if !ok || len(n.name) == 0 || len(n.resource) == 0 || bytes.IndexByte(n.name, '/') >= 0 {
		return n, errNotAnItem
	}
	return n, nil
}

// cutDir splits a path at its first slash. Without one there is no directory.
func cutDir(path []byte) (dir, rest []byte) {
	i := bytes.IndexByte(path, '/')
	if i < 0 {
		return nil, path
	}
	return path[:i], path[i+1:]
}

// Path returns the path of an item; namespace is empty for cluster-scoped objects.
func Path(resource string, form Form, namespace, name string) string {
	parts := []string{velero.ResourcesDir, resource}
	switch {
	case form.Preferred:
		parts = append(parts, form.Version+preferredSuffix)
	case form.Version != "":
		parts = append(parts, form.Version)
	}
	if namespace == "" {
		parts = append(parts, velero.ClusterScopedDir)
	} else {
		parts = append(parts, velero.NamespaceScopedDir, namespace)
	}
	return strings.Join(append(parts, name+itemSuffix), "/")
}

// ResourceOf returns the directory of the objects of a kind. The contract of Cluster API has all
// kinds named regularly (docs/book, contracts, v1.14.0), and so are those of Kubernetes and of Azure
// Service Operator, as natgateways.
func ResourceOf(kind, group string) string {
	plural := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(plural, "y") && !strings.HasSuffix(plural, "way"):
		plural = strings.TrimSuffix(plural, "y") + "ies"
	case strings.HasSuffix(plural, "s"), strings.HasSuffix(plural, "x"), strings.HasSuffix(plural, "ch"):
		plural += "es"
	default:
		plural += "s"
	}
	if group == "" {
		return plural
	}
	return plural + "." + group
}
