package live

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/lab"
	"drift-detector/report"
)

// world is the lab: its infrastructure after the drift, and its management cluster as a backup
// from before.
type world struct {
	backup string
	reach  []string // arguments that lead to the infrastructure
	env    []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w := &world{}
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: repository + "vcenter-after.tar.gz"})
	must(err)
	t.Cleanup(v.Close)
	w.backup, err = v.WritePinned(repository+"fleet-cluster-scoped-data.tar.gz", t.TempDir())
	must(err)
	nodes, err := lab.StartAPIServers(w.backup, repository+"nodes")
	must(err)
	t.Cleanup(nodes.Close)
	aws, err := lab.StartEC2(lab.EC2Options{Instances: repository + "aws/describe-instances.json", Backup: w.backup})
	must(err)
	t.Cleanup(aws.Close)
	w.env = aws.Environment()
	credentials, err := v.WriteCredentials(t.TempDir())
	must(err)
	w.reach = []string{"--endpoint", v.Reroute(), "--credentials", credentials, "--aws-ambient"}
	for _, r := range nodes.Reroutes() {
		w.reach = append(w.reach, "--endpoint", r)
	}
	return w
}

// detection is what detect said.
type detection struct {
	outcome
	*report.Report
}

// detect runs detect on a source with the infrastructure.
func (w *world) detect(t *testing.T, source ...string) detection {
	t.Helper()
	o := runTo(t, "report.json", w.env, slices.Concat([]string{"detect"}, source, w.reach)...)
	r, err := report.Read(bytes.NewReader(o.file))
	if err != nil {
		t.Fatalf("%v\n%s", err, o.stderr)
	}
	return detection{o, r}
}

// ofCluster has what is said of a backup be of a management cluster that runs.
var ofCluster = strings.NewReplacer(
	" is in the backup without its Machine: it was being deleted, or was left out", " is left without its Machine: nobody deletes it, and its VM",
	"the backup", "the management cluster",
	": being deleted when the backup was taken, or filtered out", ": nobody deletes it, and its VM",
	" when the backup was taken", " now",
)

// machines returns all of a report by their names, with all that was decided on them. What a restore
// makes of them is left out.
func machines(t *testing.T, r *report.Report) (all map[string]string, status map[string]report.Machine) {
	t.Helper()
	all, status = map[string]string{}, map[string]report.Machine{}
	add := func(cluster string, list []report.Machine) {
		for _, m := range list {
			m.Forecast, m.Remediation = nil, nil
			text, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			all[cluster+" "+m.Name] += ofCluster.Replace(string(text))
			status[cluster+" "+m.Name] = m
		}
	}
	for _, c := range r.Clusters {
		add(c.Name, c.ControlPlane.Machines)
		for _, g := range c.Workers.Groups {
			add(c.Name, g.Machines)
		}
	}
	for _, u := range r.InfraMachines {
		u.Remediation = nil
		text, err := json.Marshal(u)
		if err != nil {
			t.Fatal(err)
		}
		all["VM "+u.Instance.Name] = ofCluster.Replace(string(text))
	}
	return all, status
}
