package report

import (
	"testing"

	"drift-detector/report/code"
)

// NONE is said only of a management cluster that was read whole, and of which there is a Cluster.
func TestDriftNowOfWhatWasNotRead(t *testing.T) {
	t.Parallel()
	unread := []Error{{Object: "machines.cluster.x-k8s.io", Message: "not read: EOF"}}
	for _, c := range []struct {
		complete bool
		errors   []Error
		clusters []Cluster
		want     string
		known    bool
	}{
		{true, nil, []Cluster{driftsWith(code.Healthy)}, "NONE", true},
		{true, nil, []Cluster{driftsWith(code.Ghost, code.Unknown)}, "1 LEAKED, 1 UNKNOWN", true},
		{false, unread, nil, "NOT KNOWN", false},
		{false, unread, []Cluster{driftsWith()}, "NOT KNOWN", false},
		{false, unread, []Cluster{driftsWith(code.Healthy)}, "NOT KNOWN", false},
		{false, unread, []Cluster{driftsWith(code.Unknown, code.Unknown)}, "NOT KNOWN, 2 UNKNOWN", false},
		{false, unread, []Cluster{driftsWith(code.Unknown, code.Stale)}, "at least 1 LOST, 1 UNKNOWN", false},
		{false, []Error{{Scope: "vsphere vc", Message: "refused"}}, []Cluster{driftsWith(code.Healthy)}, "NOT KNOWN", false},
		{false, []Error{{Message: "no Cluster is in the management cluster"}}, nil, "NOT KNOWN, no Cluster is there", false},
		{true, nil, nil, "NOT KNOWN, no Cluster is there", false},
	} {
		r := &Report{Backups: []Backup{{Live: true}}, Clusters: c.clusters, Errors: c.errors}
		r.Summary.Complete = c.complete
		if a := r.Answer(); a.Question != "Drift now:" || a.Safe != c.want || r.DriftKnown() != c.known {
			t.Errorf("%v %v: %s %s, known %t; want %s", c.complete, c.errors, a.Question, a.Safe, r.DriftKnown(), c.want)
		}
	}
}

func driftsWith(statuses ...code.Status) Cluster {
	var c Cluster
	for _, s := range statuses {
		c.ControlPlane.Machines = append(c.ControlPlane.Machines, Machine{Status: s})
	}
	return c
}
