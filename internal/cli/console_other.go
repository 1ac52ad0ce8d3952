//go:build !windows

package cli

import "os"

// showsColor reports whether a terminal takes the sequences that make colours.
func showsColor(*os.File) bool { return true }
