package runs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/report"
	"drift-detector/report/verify"
)

// Management serves the objects of a tarball as the management cluster that runs. No output of
// the test may hold its token, with which every continue token begins.
func Management(t *testing.T, tarball string) (*lab.Management, []string) {
	t.Helper()
	m, err := lab.StartManagement(tarball)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	file, err := m.WriteKubeconfig(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return m, []string{"--kubeconfig", file}
}

// Saved returns what the world's places hold now, as a file.
func (w *World) Saved(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "inventory.json")
	Run(t, slices.Concat([]string{"inventory", "-o", file}, w.Sources(), w.Reach())...).Demand(t, cli.ExitOK)
	return file
}

// DecidedIn returns the machines of a report with all that was decided on them, and the VMs to
// confirm, by their names; what a restore makes of them is left out.
func DecidedIn(t *testing.T, r *report.Report) map[string]string {
	t.Helper()
	all := map[string]string{}
	add := func(name string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		all[name] += string(text)
	}
	machines := func(cluster, set string, list []report.Machine) {
		for _, m := range list {
			m.Forecast, m.Remediation = nil, nil // which are of a restore
			add(cluster+" "+set+" "+m.Name, m)
		}
	}
	for _, c := range r.Clusters {
		machines(c.Name, "", c.ControlPlane.Machines)
		for _, g := range c.Workers.Groups {
			machines(c.Name, g.Name, g.Machines)
		}
	}
	for _, u := range r.InfraMachines {
		u.Remediation = nil
		add("VM "+u.Instance.Name, u)
	}
	return all
}

// ReportedBefore returns the report of an hour ago.
func (w *World) ReportedBefore(args ...string) *report.Report {
	w.T.Helper()
	file := filepath.Join(w.Dir, "report.json")
	o := RunAt(w.T, func() time.Time { return Clock().Add(-time.Hour) }, slices.Concat([]string{"detect", "-o", file}, w.Sources(), w.Reach(), args)...)
	o.Demand(w.T, cli.ExitOK)
	r, err := ReadBack(file)
	if err != nil {
		w.T.Fatal(err)
	}
	return r
}

// Verify runs the command verify against a management cluster, and returns its document.
func (w *World) Verify(m *lab.Management, args ...string) (Outcome, *verify.Document) {
	w.T.Helper()
	kubeconfig, err := m.WriteKubeconfig(w.T.TempDir())
	if err != nil {
		w.T.Fatal(err)
	}
	file := filepath.Join(w.T.TempDir(), "verify.json")
	o := Run(w.T, slices.Concat([]string{"verify", filepath.Join(w.Dir, "report.json"), "--kubeconfig", kubeconfig, "-o", file}, args, w.Reach())...)
	o.Keeps(w.T, m.Token)
	if o.JSON, err = os.ReadFile(file); err != nil {
		return o, nil
	}
	o.Keeps(w.T, m.Token)
	d := new(verify.Document)
	if err := json.Unmarshal(o.JSON, d); err != nil {
		w.T.Fatal(err)
	}
	return o, d
}
