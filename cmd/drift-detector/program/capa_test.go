package program

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/report"
)

// The fleet in testdata/capa was made by real Cluster API 1.13.4 and CAPA 2.13.0.
const capaData = testdata + "capa/"

// capaEC2 returns the account that it drifted from, with the keys of its Secrets.
func capaEC2() lab.EC2Options {
	return lab.EC2Options{
		State: capaData + "aws",
		Keys: []lab.EC2Key{
			{ID: "AKIAIOSFODNN7CTRLLER", Secret: "wJalrXUtnFEMIcontrollerEXAMPLEKEY"},
			{ID: "AKIAIOSFODNN7TEAMAAA", Secret: "wJalrXUtnFEMIteamaEXAMPLEKEY"},
		},
		Roles: []lab.EC2Role{{ARN: "arn:aws:iam::" + lab.EC2Account + ":role/capa-eks"}},
	}
}

// capaFleet returns that fleet. Nobody answers for its workload clusters.
func capaFleet(t *testing.T) (*world, *lab.EC2) {
	t.Helper()
	return &world{t: t, backups: []string{capaData + "capa-data.tar.gz"}, dir: t.TempDir()}, serveEC2(t, capaEC2())
}

// detectAWS runs detect with the credentials of the backup and without Node lists.
func (w *world) detectAWS(extra ...string) outcome {
	w.t.Helper()
	return w.run(slices.Concat(w.sources(), []string{"--skip-access-apiserver"}, extra)...)
}

// capaOracle is testdata/capa/verdicts.json.
type capaOracle struct {
	Machines  []expected
	Instances []struct{ ID, Placement, Cluster, Strength string }
	Pools     []struct {
		Name, State                    string
		Then, Now, Desired, DesiredNow int
	}
	Resources []awsResource
}

// awsResource is what a report says of a resource.
type awsResource struct{ Cluster, Kind, Name, State, WhenGone, Message string }

// awsPool is what a report says of a machine pool.
type awsPool struct {
	Name, State, Status, Message string
	Then, Now                    []string
	Desired, DesiredNow          int
}

// resourcesAndPools reads the JSON off the JSON, as a script does.
func (o outcome) resourcesAndPools(t *testing.T) (resources []awsResource, pools []awsPool) {
	t.Helper()
	var doc struct {
		Clusters []struct {
			Namespace, Name string
			Resources       []awsResource
			Workers         struct {
				Groups []struct {
					Name, Status string
					Pool         *awsPool
				}
			}
		}
	}
	if err := json.Unmarshal(o.json, &doc); err != nil {
		t.Fatal(err)
	}
	for _, c := range doc.Clusters {
		for _, r := range c.Resources {
			r.Cluster = c.Namespace + "/" + c.Name
			resources = append(resources, r)
		}
		for _, g := range c.Workers.Groups {
			if g.Pool != nil {
				g.Pool.Name, g.Pool.Status = g.Name, g.Status
				pools = append(pools, *g.Pool)
			}
		}
	}
	return resources, pools
}

// resource returns what a report says of one resource of a cluster, by its kind and the
// beginning of its name.
func (o outcome) resource(t *testing.T, cluster, kind, name string) awsResource {
	t.Helper()
	all, _ := o.resourcesAndPools(t)
	for _, r := range all {
		if r.Cluster == cluster && r.Kind == kind && strings.HasPrefix(r.Name, name) {
			return r
		}
	}
	t.Fatalf("the report has no %s %s of %s: %+v", kind, name, cluster, all)
	return awsResource{}
}

// pool returns what a report says of one machine pool.
func (o outcome) pool(t *testing.T, name string) awsPool {
	t.Helper()
	_, all := o.resourcesAndPools(t)
	for _, p := range all {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("the report has no pool %s: %+v", name, all)
	return awsPool{}
}

// machine returns the verdict on one machine of the backup.
func (o outcome) machine(t *testing.T, key string) report.Machine {
	t.Helper()
	m, ok := placementsOf(o.report).machines[key]
	if !ok {
		t.Fatalf("the report has no machine %s", key)
	}
	return m.machine
}

// misses compares a report with the oracle and returns each difference.
func (want capaOracle) misses(r *report.Report) []string {
	miss := placementsOf(r).machineMisses(want.Machines, func(string) bool { return true })
	ghosts := 0
	for _, i := range want.Instances {
		where, cluster, strength := placementOfID(r, i.ID)
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
	readJSON(t, capaData+"verdicts.json", &want)
	if len(want.Machines) == 0 || len(want.Instances) == 0 || len(want.Pools) == 0 || len(want.Resources) == 0 {
		t.Fatal("the oracle lacks something")
	}
	w, ec2 := capaFleet(t)
	live := w.detectAWS()
	saved := filepath.Join(w.dir, "inventory.json")
	runProgram(t, slices.Concat([]string{"inventory", "-o", saved, "--skip-access-apiserver"}, w.sources())...).demand(t, cli.ExitOK)
	before := ec2.Calls()["ec2:DescribeInstances"]
	offline := w.run(append(w.sources(), "--inventory", saved)...)
	if ec2.Calls()["ec2:DescribeInstances"] != before {
		t.Error("AWS was called in spite of the inventory")
	}
	for name, o := range map[string]outcome{"live": live, "offline": offline} {
		t.Run(name, func(t *testing.T) {
			o.demand(t, cli.ExitOK)
			o.agreesWith(t, want)
			for _, p := range want.Pools {
				got := o.pool(t, p.Name)
				if got.State != p.State || len(got.Then) != p.Then || len(got.Now) != p.Now || got.Desired != p.Desired || got.DesiredNow != p.DesiredNow {
					t.Errorf("pool %+v, want %+v", got, p)
				}
			}
			for _, r := range want.Resources {
				if got := o.resource(t, r.Cluster, r.Kind, r.Name); got.State != r.State || got.WhenGone != r.WhenGone {
					t.Errorf("%s %s of %s is %s, %s; want %s, %s", r.Kind, r.Name, r.Cluster, got.State, got.WhenGone, r.State, r.WhenGone)
				}
			}
			all, _ := o.resourcesAndPools(t)
			for _, r := range all {
				if r.State != "present" && r.Cluster != "team-a/old-west" {
					t.Errorf("%s %s of %s is %s: %s", r.Kind, r.Name, r.Cluster, r.State, r.Message)
				}
			}
		})
	}
}
