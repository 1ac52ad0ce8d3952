package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// fleet measures all that reads backups with one fleet.
func (s settings) fleet(n int, naming string) (table, error) {
	self, err := os.Executable()
	if err != nil {
		return table{}, err
	}
	dir := filepath.Join(s.files, fmt.Sprintf("%d-%s", n, naming))
	backup, inventory := filepath.Join(dir, "data.tar.gz"), filepath.Join(dir, "inventory.json")
	if err := s.make(dir, fmt.Sprintf("%d machines with %s names", n, naming), "generate", s.root, dir+".part", strconv.Itoa(n), naming); err != nil {
		return table{}, err
	}
	detect := []string{s.program, "detect", "--backup", backup, "--inventory", inventory, "-o", folder + "/report.json", "--quiet"}
	all := []*contestant{
		{name: "gunzip", args: []string{self, "gunzip", backup}},
		{name: "version", args: []string{s.program, "version"}},
		{name: "backup.Load", args: []string{s.subjects, "read", backup}},
		{name: "check", args: []string{s.program, "check", "--backup", backup, "-o", folder + "/check.json"}},
		{name: "detect --inventory", good: []int{3}, args: detect},
		{name: "detect, GOGC=10", good: []int{3}, args: detect, env: []string{"GOGC=10"}},
	}
	t := table{title: fmt.Sprintf("%d machines, %s names", copiesOf(n)*tenantMachines, naming)}
	if n <= s.peers {
		all = append(all, &contestant{name: "Velero", args: []string{s.subjects, "velero", backup}})
		if _, err := exec.LookPath("jq"); err == nil {
			all = append(all, &contestant{name: "tar + jq", args: script(backup, folder)})
		} else {
			t.notes = append(t.notes, "tar + jq was left out: jq is not installed.")
		}
	}
	t.all = all
	info, err := os.Stat(backup)
	if err != nil {
		return table{}, err
	}
	t.title += fmt.Sprintf(", %d clusters, a backup of %.0f MB", 2*copiesOf(n), float64(info.Size())/1e6)
	return t, rounds(s.rounds, all)
}

// tenantMachines is how many machines the lab's tenant has that fleets are copies of.
const (
	tenant         = "tenant-alpha"
	tenantMachines = 17
)

func copiesOf(machines int) int { return (machines + tenantMachines - 1) / tenantMachines }

// make generates a backup in a folder, unless it is there; the program gets args, which name
// the folder with ".part" behind it.
func (s settings) make(dir, what string, args ...string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	part := dir + ".part"
	if err := errors.Join(os.RemoveAll(part), os.MkdirAll(part, 0o755)); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "generating", what)
	if out, err := exec.Command(s.subjects, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return os.Rename(part, dir)
}

// properties are those that drift-detector reads of VMs (infra/vsphere/list/list.go).
var properties = []string{
	"name", "parent", "parentVApp", "config.uuid", "config.instanceUuid", "config.template", "config.createDate", "config.managedBy",
	"summary.config.uuid", "summary.config.instanceUuid", "summary.config.template", "summary.config.vmPathName",
	"runtime.connectionState", "runtime.powerState", "guest.ipAddress",
}

// vcenter measures what lists VMs with one vCenter, a process of its own.
func (s settings) vcenter(n int) (t table, err error) {
	server := exec.Command(s.subjects, "vcenter", s.root, strconv.Itoa(n))
	server.Stderr = os.Stderr
	end, err := server.StdinPipe() // it serves until this is closed
	if err != nil {
		return t, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return t, err
	}
	if err := server.Start(); err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, end.Close(), server.Wait()) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return t, fmt.Errorf("starting the vCenter: %w", err)
	}
	at := strings.Fields(line) // address, route, file of credentials, counter of calls
	backup := filepath.Join(s.root, "testdata/fleet-data.tar.gz")
	t = table{title: fmt.Sprintf("a vCenter of %d VMs", n), all: []*contestant{
		{name: "govc object.collect", args: append([]string{s.subjects, "govc", "object.collect", "-json", "-type", "m", "/"}, properties...), env: []string{
			"GOVC_URL=https://user:pass@" + at[0], "GOVC_INSECURE=true", "GOVC_PERSIST_SESSION=false", "HOME=/nonexistent",
		}},
		{name: "drift-detector inventory", good: []int{3}, args: []string{
			s.program, "inventory", "--backup", backup, "--namespace", tenant, "--skip-access-apiserver", "-o", folder + "/inventory.json",
			"--quiet", "--credentials", at[2], "--endpoint", at[1],
		}},
		{name: "drift-detector detect", good: []int{3}, args: []string{
			s.program, "detect", "--backup", backup, "--namespace", tenant, "--skip-access-apiserver", "-o", folder + "/report.json",
			"--quiet", "--credentials", at[2], "--endpoint", at[1],
		}},
	}}
	for range s.rounds {
		for _, c := range t.all {
			if _, err := calls(at[3]); err != nil {
				return t, err
			}
			if err := c.run(); err != nil {
				return t, err
			}
			if c.runs[len(c.runs)-1].calls, err = calls(at[3]); err != nil {
				return t, err
			}
		}
	}
	return t, nil
}

// calls returns how many calls the vCenter got since it was asked last.
func calls(counter string) (int, error) {
	res, err := http.Get(counter)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(text))
}
