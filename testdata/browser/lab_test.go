package browser

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
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

// demo is what `make demo` makes of the lab, 49 machines in 5 clusters: report.json and report.html.
type demo struct{ document, page []byte }

var made = sync.OnceValues(func() (*demo, error) {
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
	run := exec.Command(filepath.Join(dir, "bin", "demo"))
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	var d demo
	if d.document, err = os.ReadFile(filepath.Join(dir, "report.json")); err != nil {
		return nil, err
	}
	d.page, err = os.ReadFile(filepath.Join(dir, "report.html"))
	return &d, err
})

// labPage returns the URL of the page that the program writes of the lab, with all that its plan has.
func labPage(t *testing.T) string {
	t.Helper()
	lab(t)
	d, _ := made()
	name := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(name, d.page, 0o600); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: name}).String()
}

func lab(t *testing.T) *report.Report {
	t.Helper()
	if browser == nil {
		missing(t, "chromium")
	}
	d, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, d.document)
}

func parsed(t *testing.T, doc []byte) *report.Report {
	t.Helper()
	r, err := report.Read(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// labs returns a report of so many labs: each with names of its own.
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
