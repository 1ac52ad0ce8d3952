// Command inventories lists the lab's two fleets with the real program, each against its
// simulated vCenter and API servers. The controllers oracle makes the inventories of its
// worlds after these, so that they have all that today's program lists.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"drift-detector/internal/lab"
)

// fleet is one that the lab saved.
type fleet struct{ name, backup, vcenter, nodes string }

var fleets = []fleet{
	{"fleet", "fleet-data.tar.gz", "vcenter-after.tar.gz", "nodes"},
	{"restore", "restore/restored-data.tar.gz", "restore/vcenter-before-restore.tar.gz", "restore/nodes"},
}

func main() {
	program := flag.String("program", "", "drift-detector")
	testdata := flag.String("testdata", "", "testdata of the repository")
	out := flag.String("o", "", "folder for fleet.json and restore.json")
	flag.Parse()
	for _, f := range fleets {
		if err := f.list(*program, *testdata, filepath.Join(*out, f.name+".json")); err != nil {
			fmt.Fprintf(os.Stderr, "inventories: %s: %v\n", f.name, err)
			os.Exit(1)
		}
	}
}

// list writes the inventory of a fleet.
func (f fleet) list(program, testdata, out string) error {
	backup := filepath.Join(testdata, f.backup)
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: filepath.Join(testdata, f.vcenter)})
	if err != nil {
		return err
	}
	defer v.Close()
	n, err := lab.StartAPIServers(backup, filepath.Join(testdata, f.nodes))
	if err != nil {
		return err
	}
	defer n.Close()
	dir, err := os.MkdirTemp("", "inventories-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	credentials, err := v.WriteCredentials(dir)
	if err != nil {
		return err
	}
	args := []string{"inventory", "--backup", backup, "-o", out, "--quiet", "--credentials", credentials, "--endpoint", v.Reroute()}
	for _, r := range n.Reroutes() {
		args = append(args, "--endpoint", r)
	}
	said, err := exec.Command(program, args...).CombinedOutput()
	var status *exec.ExitError
	if errors.As(err, &status) && status.ExitCode() == 3 { // incomplete: some API servers are down, and AWS is not served
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	return nil
}
