package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	var err error
	if len(os.Args) == 3 && os.Args[1] == "gunzip" {
		err = gunzip(os.Args[2])
	} else {
		err = measure()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// settings say what is measured.
type settings struct {
	root     string // of the repository
	program  string // drift-detector
	subjects string // the program of that folder
	files    string // folder of what is generated; it is used again
	rounds   int
	machines []int
	naming   []string
	vms      []int
	charts   []int // releases of Helm
	peers    int   // fleets up to this many machines are given to Velero's reader and to jq
	page     string
}

func measure() error {
	var s settings
	var machines, naming, vms, releases string
	flag.StringVar(&s.root, "root", "../..", "the repository")
	flag.IntVar(&s.rounds, "rounds", 3, "how often each contestant runs")
	flag.StringVar(&machines, "machines", "1000,10000", "machines of the fleets, separated by commas")
	flag.StringVar(&naming, "naming", "distinct,same", "names in the namespaces of a fleet: distinct, same, or both")
	flag.StringVar(&vms, "vms", "3000", "VMs of the vCenters, separated by commas; empty for none")
	flag.StringVar(&releases, "releases", "1000", "Helm releases of the backups, separated by commas; empty for none")
	flag.IntVar(&s.peers, "peers", 10000, "largest fleet that Velero's reader and jq are measured with; they unpack it")
	flag.StringVar(&s.page, "page", "", "Markdown file to write the table into; stdout has it in any case")
	flag.Parse()
	var err error
	if s.machines, err = numbers(machines); err != nil {
		return err
	}
	if s.vms, err = numbers(vms); err != nil {
		return err
	}
	if s.charts, err = numbers(releases); err != nil {
		return err
	}
	s.naming = strings.Split(naming, ",")
	if s.root, err = filepath.Abs(s.root); err != nil {
		return err
	}
	s.program, s.subjects, s.files = filepath.Join(s.root, "bin/drift-detector"), filepath.Join(s.root, "bin/bench-subjects"), filepath.Join(s.root, "bin/bench")
	if err := os.MkdirAll(s.files, 0o755); err != nil {
		return err
	}
	tables, err := s.tables()
	if err != nil || s.page == "" {
		return err
	}
	return writePage(s, tables)
}

// tables measures all, and prints each table when it is there.
func (s settings) tables() (all []table, err error) {
	keep := func(t table, err error) error {
		if err == nil {
			fmt.Println(t)
			all = append(all, t)
		}
		return err
	}
	for _, n := range s.machines {
		for _, names := range s.naming {
			if err := keep(s.fleet(n, names)); err != nil {
				return nil, err
			}
		}
	}
	for _, n := range s.vms {
		if err := keep(s.vcenter(n)); err != nil {
			return nil, err
		}
	}
	for _, n := range s.charts {
		for _, how := range []string{"drifted", "in-sync"} {
			if err := keep(s.releases(n, how)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func numbers(list string) (out []int, err error) {
	for word := range strings.SplitSeq(list, ",") {
		if word == "" {
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("%q is not a number of machines, VMs or releases", word)
		}
		out = append(out, n)
	}
	return out, nil
}
