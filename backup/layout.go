package backup

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

// itemName is what the path of an item says. Its parts lie in the path.
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

// resourceIn is the resource of an item, as far as its path names one, however the
// path is written.
func resourceIn(item string) string {
	rest, ok := strings.CutPrefix(path.Clean("/"+item), "/"+resourcesPrefix)
	if !ok {
		return ""
	}
	resource, _, _ := strings.Cut(rest, "/")
	return resource
}

// parseItem takes the path of an item apart:
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

// itemPath is the reverse of parseItem.
func itemPath(resource string, form copyForm, namespace, name string) string {
	parts := []string{velero.ResourcesDir, resource}
	if form.version != "" {
		parts = append(parts, form.dir())
	}
	if namespace == "" {
		parts = append(parts, velero.ClusterScopedDir)
	} else {
		parts = append(parts, velero.NamespaceScopedDir, namespace)
	}
	return strings.Join(append(parts, name+itemSuffix), "/")
}
