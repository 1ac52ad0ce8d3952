package vsphere

import (
	"path"
	"strings"

	"drift-detector/infra"
)

var _ infra.Stater = (*Provider)(nil)

// StateEmpty takes the operator's word that a folder is empty or gone, so that its
// machines are where nobody can see them: the folder's own proofs hold. That it is the
// right vCenter stays to be shown by ids. The path is an inventory path
// ("/DC0/vm/prod"), with a vCenter before it where several have the folder.
func (p *Provider) StateEmpty(c *infra.Expected, folder, words string) bool {
	known := false
	for i := range c.Proofs {
		proof := &c.Proofs[i]
		if len(proof.All) == 1 && proof.All[0] == inhabitedKey(proof.Folder) && isFolder(proof.Folder, folder) {
			proof.Stated, known = words, true
		}
	}
	return known
}

// isFolder reports whether what an operator writes for a folder may be what a key of
// one says, see folderOf.
func isFolder(key, written string) bool {
	server, at, _ := strings.Cut(key, "/")
	written = strings.TrimSpace(written)
	if !strings.HasPrefix(written, "/") && !FolderRef.MatchString(written) {
		host, below, _ := strings.Cut(written, "/")
		if given, err := serverOf(host); err != nil || given != server {
			return false
		}
		written = below
	}
	at, written = "/"+at, CleanPath(written)
	dc, name, deep := strings.Cut(at, "/vm/.../")
	_, below, anyOf := strings.Cut(at, "/"+AnyDatacenter+"/vm")
	switch {
	case deep && dc == "/"+AnyDatacenter:
		return path.Base(written) == name && strings.Contains(written, "/vm/")
	case deep:
		return path.Base(written) == name && strings.HasPrefix(written, dc+"/vm/")
	case anyOf:
		_, rest, ok := strings.Cut(written, "/vm")
		return ok && rest == below
	}
	return at == written
}
