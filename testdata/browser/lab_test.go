package browser

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// made is the lab's report as `make demo` makes it: 49 machines in 5 clusters.
var made = sync.OnceValues(func() ([]byte, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "drift-detector-lab-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.Symlink(filepath.Join(root, "testdata"), filepath.Join(dir, "testdata")); err != nil {
		return nil, err
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "bin")+"/", "./cmd/drift-detector", "./cmd/demo")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	demo := exec.Command(filepath.Join(dir, "bin", "demo"))
	demo.Dir = dir
	if out, err := demo.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(filepath.Join(dir, "report.json"))
})

func lab(t *testing.T) *report.Report {
	t.Helper()
	if browser == nil {
		missing(t, "chromium")
	}
	doc, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, doc)
}

func parsed(t *testing.T, doc []byte) *report.Report {
	t.Helper()
	r, err := report.Read(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// labs is a report of so many labs: each with names of its own.
func labs(t *testing.T, n int) *report.Report {
	t.Helper()
	one, err := json.Marshal(lab(t))
	if err != nil {
		t.Fatal(err)
	}
	all := parsed(t, one)
	for i := 1; i < n; i++ {
		var names []string
		for _, name := range []string{"tenant-", "alpha-", "beta-", "gamma-", "aws-prod", "vcenter-", "jumphost-"} {
			names = append(names, name, fmt.Sprintf("n%03d-%s", i, name))
		}
		next := parsed(t, []byte(strings.NewReplacer(names...).Replace(string(one))))
		all.Clusters = append(all.Clusters, next.Clusters...)
		all.InfraMachines = append(all.InfraMachines, next.InfraMachines...)
		all.Checks = append(all.Checks, next.Checks...)
		all.Variables = append(all.Variables, next.Variables...)
		s := &all.Summary
		s.Machines.Add(next.Summary.Machines)
		s.InfraMachines += next.Summary.InfraMachines
		s.Answer.Reasons = append(s.Answer.Reasons, next.Summary.Answer.Reasons...)
		for j := range next.Clusters {
			s.Clusters.Count(next.Clusters[j].Status)
		}
	}
	slices.SortStableFunc(all.Checks, func(a, b report.Check) int {
		order := code.Severities()
		return cmp.Or(slices.Index(order, a.Severity)-slices.Index(order, b.Severity), strings.Compare(string(a.Code), string(b.Code)))
	})
	return all
}
