package faults_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

// The run is incomplete without an object of any kind that verdicts or forecasts rest
// on, and of no other.
func TestKindsOfItems(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	whole := w.Backups[0]
	for resource, code := range map[string]cli.ExitCode{
		"machines.cluster.x-k8s.io": cli.ExitIncomplete, "machinesets.cluster.x-k8s.io": cli.ExitIncomplete,
		"machinedeployments.cluster.x-k8s.io": cli.ExitIncomplete,
		"clusters.cluster.x-k8s.io":           cli.ExitIncomplete, "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io": cli.ExitIncomplete,
		"vspherevms.infrastructure.cluster.x-k8s.io": cli.ExitIncomplete, "vspheremachines.infrastructure.cluster.x-k8s.io": cli.ExitIncomplete,
		"awsmachines.infrastructure.cluster.x-k8s.io": cli.ExitIncomplete,
		"pods": cli.ExitOK, "configmaps": cli.ExitOK, "kubeadmconfigs.bootstrap.cluster.x-k8s.io": cli.ExitOK,
	} {
		t.Run(resource, func(t *testing.T) {
			w.Backups = []string{whole}
			bad := 0
			w.Edited("bad-"+resource, func(item string, body []byte) ([]byte, bool) {
				of, name := runs.ItemOf(item)
				if of == resource && name != "kube-root-ca.crt" && bad < 5 && !strings.Contains(item, "preferredversion") {
					bad++
					return body[:len(body)/2], true
				}
				return body, of != resource || !strings.Contains(item, "preferredversion")
			})
			o := w.Detect()
			o.Demand(t, code)
			if bad == 0 {
				t.Fatal("the backup has none")
			}
			says := strings.Count(o.Stderr, "of the backup: resources/")
			if (says == 1) != (code == cli.ExitIncomplete) || o.Report.Summary.Complete != (code == cli.ExitOK) {
				t.Errorf("complete is %t, and stderr says\n%s", o.Report.Summary.Complete, o.Stderr)
			}
			if bad > 3 && code == cli.ExitIncomplete && !strings.Contains(o.Stderr, fmt.Sprintf("; %d more", bad-3)) {
				t.Errorf("stderr does not count the others:\n%s", o.Stderr)
			}
		})
	}
}

// One unreadable item on which verdicts rest is skipped and listed, the summary is at
// best NeedFurtherConfirmation, and the run is incomplete, whichever clusters are shown.
func TestOneBadItem(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(body []byte) []byte{
		"invalid JSON":              func(b []byte) []byte { return b[:len(b)/2] },
		"path and content disagree": func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "tenant-gamma", "tenant-delta")) },
		"a missing field": func(b []byte) []byte {
			return []byte(strings.Replace(string(b), `"infrastructureRef":`, `"elsewhere":`, 1))
		},
		"a field of another JSON type": func(b []byte) []byte {
			return []byte(strings.Replace(string(b), `"clusterName":"gamma-edge"`, `"clusterName":7`, 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := runs.Fleet(t)
			const machine = "gamma-edge-md-0-7n6v9-cg4hx"
			w.Edited("bad-item", func(item string, body []byte) ([]byte, bool) {
				if resource, name := runs.ItemOf(item); resource == "machines.cluster.x-k8s.io" && name == machine {
					return edit(body), true
				}
				return body, true
			})
			// A cluster of which nothing worse is known: it is the item that lowers
			// the status of the whole.
			const calm = "beta-prod"
			o := w.Detect("--cluster", calm)
			o.Demand(t, cli.ExitIncomplete)
			if s := o.Report.Summary.Status; s != "NeedFurtherConfirmation" {
				t.Errorf("the summary of %s is %s", calm, s)
			}
			o = w.Detect()
			o.Demand(t, cli.ExitIncomplete)
			said := slices.DeleteFunc(strings.Split(o.Stderr, "\n"), func(line string) bool { return !strings.Contains(line, machine) })
			if len(said) != 1 || !strings.Contains(said[0], "incomplete: could not read 1 object of the backup: resources/machines.cluster.x-k8s.io/") || o.Report.Summary.Complete {
				t.Errorf("stderr names the item in %q", said)
			}
			if !slices.ContainsFunc(o.Report.Errors, func(e report.Error) bool { return strings.Contains(e.Object, machine) }) {
				t.Errorf("errors do not name the item: %+v", o.Report.Errors)
			}
			if s := o.Report.Summary.Status; s != "NeedFurtherConfirmation" && s != "ManualRemediationRequired" {
				t.Errorf("the summary is %s", s)
			}
			if at := runs.PlacementsOf(o.Report).Vms["/DC0/vm/capi/tenant-gamma/"+machine]; len(at) > 0 && at[0].Machine.Status == "Ghost" {
				t.Error("the VM of the item became a Ghost")
			}
		})
	}
}
