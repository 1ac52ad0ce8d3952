package runs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/lab"
	"drift-detector/report"
)

// AWSCluster edits the AWSCluster of the world's backup.
func (w *World) AWSCluster(name, old, text string) {
	w.T.Helper()
	edits := 0
	w.Edited(name, func(item string, body []byte) ([]byte, bool) {
		if resource, _ := ItemOf(item); resource == "awsclusters.infrastructure.cluster.x-k8s.io" {
			edits += strings.Count(string(body), old)
			body = []byte(strings.ReplaceAll(string(body), old, text))
		}
		return body, true
	})
	if edits == 0 {
		w.T.Fatalf("the AWSCluster holds no %s", old)
	}
}

// Scenes on AWS that are wrong in the findings, by their numbers there. Each is the
// real fleet of testdata/capa with one thing changed.

// OnObject changes one object of the world's backup, in all its copies.
func (w *World) OnObject(resource, name string, change func(o map[string]any)) {
	w.T.Helper()
	edits := 0
	w.Edited("changed", func(item string, body []byte) ([]byte, bool) {
		if of, called := ItemOf(item); of != resource && !strings.HasPrefix(of, resource+".") || called != name {
			return body, true
		}
		var o map[string]any
		if err := json.Unmarshal(body, &o); err != nil {
			w.T.Fatal(err)
		}
		change(o)
		edits++
		if o["kind"] == nil {
			return nil, false // taken out
		}
		body, err := json.Marshal(o)
		if err != nil {
			w.T.Fatal(err)
		}
		return body, true
	})
	if edits == 0 {
		w.T.Fatalf("the backup holds no %s %s", resource, name)
	}
}

// Tagged returns a running instance with tags, as CAPA writes them.
func Tagged(id, vpc string, tags ...string) lab.EC2Instance {
	i := lab.EC2Instance{InstanceID: id, VPC: vpc, State: lab.EC2State{Code: 16, Name: "running"}}
	i.Placement.AvailabilityZone = "us-east-1a"
	for _, t := range tags {
		key, value, _ := strings.Cut(t, "=")
		i.Tags = append(i.Tags, lab.EC2Tag{Key: strings.Replace(key, "CAPA", "sigs.k8s.io/cluster-api-provider-aws", 1), Value: value})
	}
	return i
}

// Places complains of each instance that is not where want has it.
func (o Outcome) Places(t *testing.T, want map[string]string) {
	t.Helper()
	for id, place := range want {
		if got, cluster, _ := PlacementOfID(o.Report, id); got != place {
			t.Errorf("%s is %s of %q, want %s", id, got, cluster, place)
		}
	}
}

// The fleet in testdata/capa was made by real Cluster API 1.13.4 and CAPA 2.13.0.
const CAPAData = Testdata + "capa/"

// CAPAEC2 returns the account that it drifted from, with the keys of its Secrets.
func CAPAEC2() lab.EC2Options {
	return lab.EC2Options{
		State: CAPAData + "aws",
		Keys: []lab.EC2Key{
			{ID: "AKIAIOSFODNN7CTRLLER", Secret: "wJalrXUtnFEMIcontrollerEXAMPLEKEY"},
			{ID: "AKIAIOSFODNN7TEAMAAA", Secret: "wJalrXUtnFEMIteamaEXAMPLEKEY"},
		},
		Roles: []lab.EC2Role{{ARN: "arn:aws:iam::" + lab.EC2Account + ":role/capa-eks"}},
	}
}

// CAPAFleet returns that fleet. Nobody answers for its workload clusters.
func CAPAFleet(t *testing.T) (*World, *lab.EC2) {
	t.Helper()
	return &World{T: t, Backups: []string{CAPAData + "capa-data.tar.gz"}, Dir: t.TempDir()}, ServeEC2(t, CAPAEC2())
}

// DetectAWS runs detect with the credentials of the backup and without Node lists.
func (w *World) DetectAWS(extra ...string) Outcome {
	w.T.Helper()
	return w.Run(slices.Concat(w.Sources(), []string{"--skip-access-apiserver"}, extra)...)
}

// AWSResource is what a report says of a resource.
type AWSResource struct{ Cluster, Kind, Name, State, WhenGone, Message string }

// AWSPool is what a report says of a machine pool.
type AWSPool struct {
	Name, State, Status, Message string
	Then, Now                    []string
	Desired, DesiredNow          int
}

// ResourcesAndPools reads the JSON off the JSON, as a script does.
func (o Outcome) ResourcesAndPools(t *testing.T) (resources []AWSResource, pools []AWSPool) {
	t.Helper()
	var doc struct {
		Clusters []struct {
			Namespace, Name string
			Resources       []AWSResource
			Workers         struct {
				Groups []struct {
					Name, Status string
					Pool         *AWSPool
				}
			}
		}
	}
	if err := json.Unmarshal(o.JSON, &doc); err != nil {
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

// Resource returns what a report says of one resource of a cluster, by its kind and the
// beginning of its name.
func (o Outcome) Resource(t *testing.T, cluster, kind, name string) AWSResource {
	t.Helper()
	all, _ := o.ResourcesAndPools(t)
	for _, r := range all {
		if r.Cluster == cluster && r.Kind == kind && strings.HasPrefix(r.Name, name) {
			return r
		}
	}
	t.Fatalf("the report has no %s %s of %s: %+v", kind, name, cluster, all)
	return AWSResource{}
}

// Pool returns what a report says of one machine pool.
func (o Outcome) Pool(t *testing.T, name string) AWSPool {
	t.Helper()
	_, all := o.ResourcesAndPools(t)
	for _, p := range all {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("the report has no pool %s: %+v", name, all)
	return AWSPool{}
}

// Machine returns the verdict on one machine of the backup.
func (o Outcome) Machine(t *testing.T, key string) report.Machine {
	t.Helper()
	m, ok := PlacementsOf(o.Report).Machines[key]
	if !ok {
		t.Fatalf("the report has no machine %s", key)
	}
	return m.Machine
}
