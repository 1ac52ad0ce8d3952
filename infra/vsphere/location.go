package vsphere

import (
	"errors"
	"net/url"
	"strings"

	"drift-detector/infra"
	"drift-detector/internal/lazyregexp"
)

// location is where a VM is to be, in the forms that expected machines and listings share.
type location struct {
	Server     string // "vc1.example:443"; see serverOf
	Datacenter string // name, "/path" or managed object id; empty: any
	Folder     string // as folderOf makes it, with the server in front
	Root       bool   // Folder is the datacenter's own VM folder
}

// AnyDatacenter is used where the backup names none.
const AnyDatacenter = "*"

// within returns the key of a VM in the place's datacenter, or zero.
func (p location) within() infra.Key {
	if p.Datacenter == "" {
		return infra.Key{}
	}
	return infra.Key{Kind: keyDatacenter, Value: p.Datacenter}
}

func (p location) folderKey() infra.Key { return infra.Key{Kind: KeyFolder, Value: p.Folder} }

// serverOf returns the one form of a server in ids and keys. One that cannot be used
// has a form by its cause and by what may be shown of it, and the error.
func serverOf(raw string) (string, error) {
	e, err := infra.ParseEndpoint(raw)
	if err == nil {
		return e.String(), nil
	}
	cause := "host"
	switch {
	case strings.TrimSpace(raw) == "":
		cause = "none"
	case errors.Is(err, infra.ErrPlainHTTP):
		cause = "http"
	case errors.Is(err, infra.ErrScheme):
		cause = "scheme"
	case errors.Is(err, infra.ErrPort):
		cause = "port"
	}
	return "invalid:" + cause + ":" + shownHost(raw), err
}

// shownHost returns what may be shown of a server that cannot be used: its host. It
// is empty when a password might be taken for that.
func shownHost(raw string) string {
	rest := strings.ToLower(strings.TrimSpace(raw))
	if _, after, ok := strings.Cut(rest, "://"); ok {
		rest = after
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		if strings.Contains(rest[end:], "@") {
			return ""
		}
		rest = rest[:end]
	}
	rest = rest[strings.LastIndex(rest, "@")+1:]
	rest, _, _ = strings.Cut(rest, ":")
	return strings.ToValidUTF8(rest[:min(len(rest), 253)], "")
}

// datacenterOf normalises what objects write for a datacenter.
func datacenterOf(raw string) string {
	s := strings.TrimSuffix(strings.TrimSpace(raw), "/")
	s = strings.TrimPrefix(s, "Datacenter:")
	switch {
	case s == "" || s == AnyDatacenter || s == "/*" || s == ".":
		return ""
	case strings.Contains(s, "/"):
		return CleanPath(s)
	default:
		return PlainName(s)
	}
}

// FolderRef matches the managed object id of a folder of VMs.
var FolderRef = lazyregexp.New(`^group-v[0-9]+$`)

// folderOf makes the one form of a VM folder that both expected machines and listings
// compute: the inventory path behind the server. CAPV hands the text to
// govmomi's finder, which reads it as managed object id, as absolute path, as
// path below the datacenter, or as a name anywhere below it
// (govmomi find/finder.go v0.56.0). Where only vCenter can tell the path, the
// form keeps the question, and the listing answers it:
//
//	vc:443/DC0/vm/prod/eu   absolute, or made so from the datacenter
//	vc:443/DC0/vm/.../eu    a name at any depth
//	vc:443/group-v12        a managed object id
//	vc:443/*/vm/...         in whichever datacenter
func folderOf(server, datacenter, raw string) (folder string, root bool) {
	s := strings.TrimSpace(raw)
	s = strings.TrimPrefix(s, "Folder:")
	if FolderRef.MatchString(s) {
		return server + "/" + s, false
	}
	base := datacenterPath(datacenter)
	switch {
	case strings.HasPrefix(s, "/"):
		p := CleanPath(s)
		return server + p, p == base+"/vm" || isRootOf(p, datacenter)
	case !strings.Contains(s, "/"):
		if s == "" || s == "." || s == "vm" {
			return server + base + "/vm", true
		}
		return server + base + "/vm/.../" + Component(s), false
	default:
		p := strings.TrimPrefix(CleanPath(s), "/vm")
		return server + base + "/vm" + p, p == ""
	}
}

// isRootOf reports whether an absolute path is the VM folder of a datacenter that
// is known by name, or of some datacenter when none is known.
func isRootOf(path, datacenter string) bool {
	rest, ok := strings.CutSuffix(path, "/vm")
	if !ok || rest == "" {
		return false
	}
	name := rest[strings.LastIndex(rest, "/")+1:]
	switch {
	case datacenter == "" || strings.HasPrefix(datacenter, "datacenter-"):
		return true // can't tell; a root folder proves less, which is the safe side
	case strings.HasPrefix(datacenter, "/"):
		return rest == datacenter
	default:
		return name == Component(datacenter)
	}
}

// datacenterPath returns the path that a normalised datacenter is written with in
// folder keys.
func datacenterPath(datacenter string) string {
	switch {
	case datacenter == "":
		return "/" + AnyDatacenter
	case strings.HasPrefix(datacenter, "/"):
		return datacenter
	default:
		return "/" + Component(datacenter)
	}
}

// CleanPath gives an inventory path a leading slash, no empty parts, and each
// part in the form of Component.
func CleanPath(s string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part == "." {
			continue
		}
		b.WriteString("/")
		b.WriteString(Component(part))
	}
	return b.String()
}

// PlainName undoes vCenter's escapes: it keeps "/", "\" and "%" in names as
// %2f, %5c and %25 (vSphere API reference, ManagedEntity.name).
func PlainName(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}

// Component returns a name as one part of a path.
func Component(s string) string {
	return strings.ReplaceAll(PlainName(s), "/", "%2f")
}

// pathKey and pathRefKey are the keys of a VM of a name in a folder.
func pathKey(folder, name string) infra.Key {
	return infra.Key{Kind: keyPath, Value: folder + "/" + Component(name)}
}

// placeKeys returns the keys by which a machine is found and witnessed by its name in a folder:
// pathRefKey, pathKey where the id is not known, and witnessKey, of one text.
func placeKeys(folder, name, ref string) (weak, witness infra.Key) {
	path := folder + "/" + Component(name) + " " + ref
	weak = infra.Key{Kind: keyPathRef, Value: path}
	path = path[:len(path)-len(" "+ref)]
	if ref == "" {
		weak = infra.Key{Kind: keyPath, Value: path}
	}
	if lower := strings.ToLower(Component(name)); lower != path[len(folder)+1:] {
		path = folder + "/" + lower
	}
	return weak, infra.Key{Kind: keyWitness, Value: path}
}

func pathRefKey(folder, name, ref string) infra.Key {
	return infra.Key{Kind: keyPathRef, Value: folder + "/" + Component(name) + " " + ref}
}
