//go:build !unix || aix

package infra

import "io/fs"

// openToOthers reports whether others than its owner may read a file.
func openToOthers(info fs.FileInfo) bool { return info.Mode()&0o077 != 0 }
