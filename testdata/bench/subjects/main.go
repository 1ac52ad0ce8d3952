// Command subjects is what the command bench measures and needs in addition to drift-detector
// itself, one at a time: Velero's reader, govc, a vCenter, a generator of fleets. It is
// large, and a process counts the memory of the one that started it.
package main

import (
	"fmt"
	"os"
)

// modes are what it can be, by its first argument.
var modes = map[string]func(args []string) error{
	"generate": func(args []string) error { return generate(args[0], args[1], args[2], args[3]) },
	"releases": func(args []string) error { return generateReleases(args[0], args[1], args[2], args[3]) },
	"read":     func(args []string) error { return read(args[0]) },
	"velero":   func(args []string) error { return velero(args[0]) },
	"govc":     govc,
	"vcenter":  func(args []string) error { return vcenter(args[0], args[1]) },
}

func main() {
	if err := modes[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "subjects:", err)
		os.Exit(1)
	}
}
