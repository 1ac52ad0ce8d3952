package aws_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

// capaOracle is testdata/capa/verdicts.json.
type capaOracle struct {
	Machines  []runs.Expected
	Instances []struct{ ID, Placement, Cluster, Strength string }
	Pools     []struct {
		Name, State                    string
		Then, Now, Desired, DesiredNow int
	}
	Resources []runs.AWSResource
}

// Misses compares a report with the oracle and returns each difference.
func (want capaOracle) Misses(r *report.Report) []string {
	miss := runs.PlacementsOf(r).MachineMisses(want.Machines, func(string) bool { return true })
	ghosts := 0
	for _, i := range want.Instances {
		where, cluster, strength := runs.PlacementOfID(r, i.ID)
		if where != i.Placement || i.Cluster != "" && cluster != i.Cluster || i.Strength != "" && string(strength) != i.Strength {
			miss = append(miss, fmt.Sprintf("instance %s is %s of %q, %s; want %s of %q, %s", i.ID, where, cluster, strength, i.Placement, i.Cluster, i.Strength))
		}
		if i.Placement == "Ghost" {
			ghosts++
		}
	}
	if r.Summary.Machines.Ghost != ghosts {
		miss = append(miss, fmt.Sprintf("%d Ghosts, want %d", r.Summary.Machines.Ghost, ghosts))
	}
	return miss
}

// The verdicts on a real fleet hold live and through a saved inventory.
func TestCAPAVerdicts(t *testing.T) {
	var want capaOracle
	runs.ReadJSON(t, runs.CAPAData+"verdicts.json", &want)
	if len(want.Machines) == 0 || len(want.Instances) == 0 || len(want.Pools) == 0 || len(want.Resources) == 0 {
		t.Fatal("the oracle lacks something")
	}
	w, ec2 := runs.CAPAFleet(t)
	live := w.DetectAWS()
	saved := filepath.Join(w.Dir, "inventory.json")
	runs.Run(t, slices.Concat([]string{"inventory", "-o", saved, "--skip-access-apiserver"}, w.Sources())...).Demand(t, cli.ExitOK)
	before := ec2.Calls()["ec2:DescribeInstances"]
	offline := w.Run(append(w.Sources(), "--inventory", saved)...)
	if ec2.Calls()["ec2:DescribeInstances"] != before {
		t.Error("AWS was called in spite of the inventory")
	}
	for name, o := range map[string]runs.Outcome{"live": live, "offline": offline} {
		t.Run(name, func(t *testing.T) {
			o.Demand(t, cli.ExitOK)
			o.AgreesWith(t, want)
			for _, p := range want.Pools {
				got := o.Pool(t, p.Name)
				if got.State != p.State || len(got.Then) != p.Then || len(got.Now) != p.Now || got.Desired != p.Desired || got.DesiredNow != p.DesiredNow {
					t.Errorf("pool %+v, want %+v", got, p)
				}
			}
			for _, r := range want.Resources {
				if got := o.Resource(t, r.Cluster, r.Kind, r.Name); got.State != r.State || got.WhenGone != r.WhenGone {
					t.Errorf("%s %s of %s is %s, %s; want %s, %s", r.Kind, r.Name, r.Cluster, got.State, got.WhenGone, r.State, r.WhenGone)
				}
			}
			all, _ := o.ResourcesAndPools(t)
			for _, r := range all {
				if r.State != "present" && r.Cluster != "team-a/old-west" {
					t.Errorf("%s %s of %s is %s: %s", r.Kind, r.Name, r.Cluster, r.State, r.Message)
				}
			}
		})
	}
}
