package program

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/report"
)

// The run is incomplete without an object of any kind that verdicts or forecasts rest
// on, and of no other.
func TestKindsOfItems(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	whole := w.backups[0]
	for resource, code := range map[string]cli.ExitCode{
		"machines.cluster.x-k8s.io": cli.ExitIncomplete, "machinesets.cluster.x-k8s.io": cli.ExitIncomplete,
		"machinedeployments.cluster.x-k8s.io": cli.ExitIncomplete,
		"clusters.cluster.x-k8s.io":           cli.ExitIncomplete, "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io": cli.ExitIncomplete,
		"vspherevms.infrastructure.cluster.x-k8s.io": cli.ExitIncomplete, "vspheremachines.infrastructure.cluster.x-k8s.io": cli.ExitIncomplete,
		"awsmachines.infrastructure.cluster.x-k8s.io": cli.ExitIncomplete,
		"pods": cli.ExitOK, "configmaps": cli.ExitOK, "kubeadmconfigs.bootstrap.cluster.x-k8s.io": cli.ExitOK,
	} {
		t.Run(resource, func(t *testing.T) {
			w.backups = []string{whole}
			bad := 0
			w.edited("bad-"+resource, func(item string, body []byte) ([]byte, bool) {
				of, name := itemOf(item)
				if of == resource && name != "kube-root-ca.crt" && bad < 5 && !strings.Contains(item, "preferredversion") {
					bad++
					return body[:len(body)/2], true
				}
				return body, of != resource || !strings.Contains(item, "preferredversion")
			})
			o := w.detect()
			o.demand(t, code)
			if bad == 0 {
				t.Fatal("the backup has none")
			}
			says := strings.Count(o.stderr, "of the backup: resources/")
			if (says == 1) != (code == cli.ExitIncomplete) || o.report.Summary.Complete != (code == cli.ExitOK) {
				t.Errorf("complete is %t, and stderr says\n%s", o.report.Summary.Complete, o.stderr)
			}
			if bad > 3 && code == cli.ExitIncomplete && !strings.Contains(o.stderr, fmt.Sprintf("; %d more", bad-3)) {
				t.Errorf("stderr does not count the others:\n%s", o.stderr)
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
			w := fleet(t)
			const machine = "gamma-edge-md-0-7n6v9-cg4hx"
			w.edited("bad-item", func(item string, body []byte) ([]byte, bool) {
				if resource, name := itemOf(item); resource == "machines.cluster.x-k8s.io" && name == machine {
					return edit(body), true
				}
				return body, true
			})
			// A cluster of which nothing worse is known: it is the item that lowers
			// the status of the whole.
			const calm = "beta-prod"
			o := w.detect("--cluster", calm)
			o.demand(t, cli.ExitIncomplete)
			if s := o.report.Summary.Status; s != "NeedFurtherConfirmation" {
				t.Errorf("the summary of %s is %s", calm, s)
			}
			o = w.detect()
			o.demand(t, cli.ExitIncomplete)
			said := slices.DeleteFunc(strings.Split(o.stderr, "\n"), func(line string) bool { return !strings.Contains(line, machine) })
			if len(said) != 1 || !strings.Contains(said[0], "incomplete: could not read 1 object of the backup: resources/machines.cluster.x-k8s.io/") || o.report.Summary.Complete {
				t.Errorf("stderr names the item in %q", said)
			}
			if !slices.ContainsFunc(o.report.Errors, func(e report.Error) bool { return strings.Contains(e.Object, machine) }) {
				t.Errorf("errors do not name the item: %+v", o.report.Errors)
			}
			if s := o.report.Summary.Status; s != "NeedFurtherConfirmation" && s != "ManualRemediationRequired" {
				t.Errorf("the summary is %s", s)
			}
			if at := placementsOf(o.report).vms["/DC0/vm/capi/tenant-gamma/"+machine]; len(at) > 0 && at[0].machine.Status == "Ghost" {
				t.Error("the VM of the item became a Ghost")
			}
		})
	}
}
