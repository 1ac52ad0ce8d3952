//go:build unix && !aix

package infra

import (
	"io/fs"
	"os"
	"syscall"
)

// openToOthers reports whether others than its owner may read a file. One that belongs to another
// account is read by its group, or not at all: a Secret that is mounted into a pod is root's, with the
// pod's group, and its mode can't be changed.
func openToOthers(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() {
		return info.Mode()&0o077 != 0
	}
	return info.Mode()&0o027 != 0
}
