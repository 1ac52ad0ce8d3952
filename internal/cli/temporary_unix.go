//go:build unix && !solaris && !aix

package cli

import (
	"os"
	"syscall"
)

// hold locks a file for as long as the process keeps it open, so that other runs know
// that it is in use, those in other containers, too. Where a file system has no locks
// nothing is swept.
func hold(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// isOwn reports whether a file is this user's.
func isOwn(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// removeUnheld removes a file, unless a process holds it.
func removeUnheld(path string) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		os.Remove(path)
	}
}
