package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// seen is what the lab saw after it had restored its backup with Velero.
type seen struct {
	Machines []struct{ Namespace, Cluster, Name, Outcome string }
	Ghosts   []struct{ Cluster, Name, Code string }
}

// unlike are the machines of which the oracle says something else than the lab saw, each
// with the reason.
var unlike = map[string]string{
	"beta-new": "the lab left the paused cluster paused, and the oracle unpauses it",
}

// The oracle says of the lab's backup what the lab saw when it restored it.
func TestCalibration(t *testing.T) {
	b, err := restored.backup()
	if err != nil {
		t.Fatal(err)
	}
	l, err := restored.listings()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(testdata, "restore", "outcomes.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lab seen
	if err := json.Unmarshal(data, &lab); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	names := map[client.ObjectKey]bool{}
	for _, m := range lab.Machines {
		names[client.ObjectKey{Namespace: m.Namespace, Name: m.Cluster}] = true
	}
	var same atomic.Int64
	t.Run("cluster", func(t *testing.T) {
		for at := range names {
			t.Run(at.Name, func(t *testing.T) {
				t.Parallel()
				w := recordedWorld(b, l, at)
				res, err := w.restore()
				if err != nil {
					t.Fatal(err)
				}
				same.Add(int64(lab.compare(t, w, res)))
			})
		}
	})
	fmt.Printf("Cluster API %s: %d of %d machines and ghosts as the lab saw them, in %.0f s\n", Minor, same.Load(), len(lab.Machines)+len(lab.Ghosts), time.Since(start).Seconds())
}

// compare returns how many of a cluster's machines and ghosts are as the lab saw them.
func (s seen) compare(t *testing.T, w *World, res *Result) int {
	t.Helper()
	same := 0
	check := func(name, want, got string, ok bool) {
		if ok {
			same++
			return
		}
		for prefix, why := range unlike {
			if strings.HasPrefix(name, prefix) {
				t.Logf("%s: the lab saw %s, the oracle says %s: %s", name, want, got, why)
				return
			}
		}
		t.Errorf("%s: the lab saw %s, the oracle says %s", name, want, got)
	}
	for _, m := range s.Machines {
		if m.Namespace != w.Cluster.Namespace || m.Cluster != w.Cluster.Name {
			continue
		}
		got := "missing"
		for _, f := range res.Fates {
			if f.Machine == m.Name {
				got = res.outcome(f)
			}
		}
		check(m.Name, m.Outcome, got, got == m.Outcome || strings.HasPrefix(m.Outcome, "Stuck") && got == "Stuck" ||
			m.Outcome == "OrphanedAndReplaced" && got == "missing" && len(res.Made) > 0)
	}
	for _, g := range s.Ghosts {
		if g.Cluster == w.Cluster.Name {
			got := res.ghost(w, g.Name)
			check(g.Name, g.Code, got, got == g.Code || g.Code == "" || g.Code == "UntouchedPaused")
		}
	}
	return same
}

// outcome returns a fate in the words of forecasts.
func (res *Result) outcome(f *Fate) string {
	kept := f.Object == "kept"
	switch {
	case kept && f.Provisioned && slices.Contains(res.PoweredOn, f.Machine):
		return "AdoptedPoweredOn"
	case kept && f.Provisioned && f.After == "made":
		return "NewInstanceCreated"
	case kept && f.Provisioned && f.After == "none":
		return "AdoptedByName"
	case kept && f.Provisioned && f.After == "kept":
		return "Adopted"
	case kept && f.Owner == "" && f.After != "made":
		return "UntouchedPaused"
	case kept:
		return "Stuck"
	case f.Before == "gone":
		return "ReplacedByMachineHealthCheck"
	}
	return fmt.Sprintf("VM %s, Machine %s", f.After, f.Object)
}

func (res *Result) ghost(w *World, name string) string {
	switch {
	case w.workload.members[name]:
		return "GhostEtcdMemberKept"
	case slices.Contains(res.RemovedMembers, name):
		return "GhostEtcdMemberRemoved"
	}
	return "GhostKeepsRunning"
}
