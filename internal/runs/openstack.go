package runs

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report"
	"drift-detector/report/code"
)

// The fleet in testdata/openstack was made by real Cluster API 1.13.4 and CAPO 0.14.7 on
// a real OpenStack, and restored by them.
const OpenStackData = Testdata + "openstack/"

// OpenStackFleet returns that fleet after its drift: the backup with the address and the
// certificate of a cloud that serves the recorded answers.
func OpenStackFleet(t *testing.T, o openstacklab.Options) (*World, *openstacklab.Server) {
	t.Helper()
	o.TLS = true
	cloud := openstacklab.Serve(t, OpenStackData+"after", o)
	w := &World{T: t, Dir: t.TempDir()}
	file := filepath.Join(w.Dir, "openstack-data.tar.gz")
	if err := os.WriteFile(file, AtCloud(t, OpenStackData+"openstack-data.tar.gz", cloud), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Backups = []string{file}
	return w, cloud
}

// AtCloud leads the credentials of a backup to a cloud.
func AtCloud(t *testing.T, backup string, cloud *openstacklab.Server) []byte {
	t.Helper()
	return backuptest.Rewrite(t, backup, func(path string, body []byte) ([]byte, bool) {
		if !strings.HasPrefix(path, "resources/secrets/") || !strings.Contains(path, "cloud-config") {
			return body, true
		}
		var secret map[string]any
		if err := json.Unmarshal(body, &secret); err != nil {
			t.Fatal(err)
		}
		data := secret["data"].(map[string]any)
		text, err := base64.StdEncoding.DecodeString(data["clouds.yaml"].(string))
		if err != nil {
			t.Fatal(err)
		}
		led := strings.ReplaceAll(string(text), "http://127.0.0.1:6000/v3", cloud.Identity)
		data["clouds.yaml"] = base64.StdEncoding.EncodeToString([]byte(led))
		data["cacert"] = base64.StdEncoding.EncodeToString(cloud.CA)
		out, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		return out, true
	})
}

// WithOpenStackNodes serves the Node lists of the fleet's workload clusters.
func (w *World) WithOpenStackNodes() []string {
	w.T.Helper()
	nodes, err := lab.StartAPIServers(w.Backups[0], OpenStackData+"nodes")
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(nodes.Close)
	w.Nodes = nodes
	return w.Reach()
}

// OpenStackTruth is testdata/openstack/truth.json: what is so.
type OpenStackTruth struct {
	Machines []struct {
		Namespace, Machine, Expected string
		Acceptable                   []string
	}
	Servers []struct {
		ID, Name, Expected, Machine string
		Acceptable                  []string
	}
}

// OpenStackOutcomes is testdata/openstack/outcomes.json: what the controllers did.
type OpenStackOutcomes struct {
	Machines []struct{ Namespace, Name, Outcome string }
	Ghosts   []struct{ ID, Name, Code string }
}

// foretold are the codes of a forecast that say what the real controllers did.
var foretold = map[string][]string{
	"Adopted": {"Adopted"}, "AdoptedNotReady": {"Adopted"},
	"AdoptedByName":                {"AdoptedByName"},
	"AdoptedForeignByName":         {"OtherInstanceTaken"},
	"BlockedByDuplicateName":       {"Halted"},
	"CreateFailedPortInUse":        {"Halted"},
	"NewServerCreated":             {"NewInstanceNeverJoins"},
	"OrphanedAndReplaced":          {"OrphanedAndReplaced"},
	"ReplacedByMachineHealthCheck": {"ReplacedByMachineHealthCheck"},
	"StuckErrorState":              {"Halted"},
	"StuckNetworkGone":             {"Stuck", "StuckNodeLeft"},
	"StuckStopped":                 {"Stuck"},
}

// words translates the verdicts of a report into those of truth.json.
var openstackWords = map[string][]string{
	"infraMachines": {"Unknown"}, "nowhere": {"Unrelated"}, "NotProvisioned": {"Pending", "Stale"},
}

// DemandOpenStack complains of what is not as the truth of the fleet on OpenStack.
func (o Outcome) DemandOpenStack(t *testing.T, want OpenStackTruth) {
	t.Helper()
	placed := PlacementsOf(o.Report)
	for _, m := range want.Machines {
		got, ok := placed.Machines[m.Namespace+"/"+m.Machine]
		if !ok {
			t.Errorf("the report has no machine %s", m.Machine)
			continue
		}
		is := []string{string(got.Machine.Status)}
		is = append(is, openstackWords[string(got.Machine.Reason)]...)
		if !slices.ContainsFunc(is, func(s string) bool { return s == m.Expected || slices.Contains(m.Acceptable, s) }) {
			t.Errorf("machine %s is %s %s (%s), want %s %v", m.Machine, got.Machine.Status, got.Machine.Reason, got.Machine.Message, m.Expected, m.Acceptable)
		}
	}
	for _, s := range want.Servers {
		where, _, _ := PlacementOfID(o.Report, s.ID)
		is := append([]string{where}, openstackWords[where]...)
		if !slices.ContainsFunc(is, func(w string) bool { return w == s.Expected || slices.Contains(s.Acceptable, w) }) {
			t.Errorf("server %s %s is %s, want %s %v", s.Name, s.ID, where, s.Expected, s.Acceptable)
		}
	}
}

// DemandOutcomes holds what is foretold against what the controllers did.
func (o Outcome) DemandOutcomes(t *testing.T, want OpenStackOutcomes) {
	t.Helper()
	placed := PlacementsOf(o.Report)
	for _, m := range want.Machines {
		got := placed.Machines[m.Namespace+"/"+m.Name].Machine.Forecast
		if got == nil || !slices.Contains(foretold[m.Outcome], string(got.Outcome)) {
			t.Errorf("of %s %+v is foretold, and it came to %s", m.Name, got, m.Outcome)
		}
	}
	for _, g := range want.Ghosts {
		for _, c := range o.Report.Clusters {
			for _, m := range MachinesOf(c) {
				if g.Code != "" && m.Status == "Ghost" && m.Instance.ID == g.ID && string(m.Forecast.Outcome) != g.Code {
					t.Errorf("of %s %+v is foretold, and it came to %s", g.Name, m.Forecast, g.Code)
				}
			}
		}
	}
}

// forecastOf returns what a report foretells of a machine.
func (o Outcome) forecastOf(t *testing.T, machine string) report.MachineForecast {
	t.Helper()
	for _, c := range o.Report.Clusters {
		for _, m := range MachinesOf(c) {
			if m.Name == machine && m.Forecast != nil {
				return *m.Forecast
			}
		}
	}
	t.Fatalf("nothing is foretold of %s\n%s", machine, o.Stderr)
	return report.MachineForecast{}
}

// Foretells complains unless the forecast of a machine has an outcome, and says so.
func (o Outcome) Foretells(t *testing.T, machine string, want code.Outcome, says string) {
	t.Helper()
	if f := o.forecastOf(t, machine); f.Outcome != want || !strings.Contains(f.Message, says) {
		t.Errorf("of %s %s is foretold, want %s with %q: %s", machine, f.Outcome, want, says, f.Message)
	}
}

// WithoutNodes runs detect without Node lists.
func (w *World) WithoutNodes() Outcome {
	w.T.Helper()
	return w.Run(append(w.Sources(), "--skip-access-apiserver")...)
}

// PausedObjects gives objects of a name the annotation.
func (w *World) PausedObjects(name string, resources ...string) {
	for _, resource := range resources {
		w.Set(resource, name, "", "metadata", "annotations", "cluster.x-k8s.io/paused")
	}
}

// DemandSafe holds the answer for a fleet of one control plane, and what is foretold of
// each of its machines, which exist.
func (o Outcome) DemandSafe(t *testing.T, safe bool, want code.Outcome, says string) {
	t.Helper()
	if o.Report == nil {
		t.Fatal(o.Stderr)
	}
	if a := o.Report.Summary.Answer.Safe; (a == code.Yes) != safe {
		t.Errorf("safe to restore: %s", a)
	}
	for _, m := range MachinesOf(o.Report.Clusters[0]) {
		if m.Status != code.Healthy || m.Forecast.Outcome != want || !strings.Contains(m.Forecast.Message+m.Forecast.Condition, says) {
			t.Errorf("%s is %s, %+v", m.Name, m.Status, m.Forecast)
		}
	}
}

// WellOpenStack returns a fleet that it is safe to restore: one control plane that is whole.
func WellOpenStack(t *testing.T, o openstacklab.Options) (*World, *openstacklab.Server) {
	t.Helper()
	w, cloud := OpenStackFleet(t, o)
	kept := func(name string) bool { return strings.HasPrefix(name, "data-control-plane-") }
	w.Edited("control-plane", func(item string, body []byte) ([]byte, bool) {
		resource, name := ItemOf(item)
		var object struct{ Metadata struct{ Namespace string } }
		if json.Unmarshal(body, &object) == nil && object.Metadata.Namespace == "tenant-os-a" {
			return nil, false
		}
		switch resource, _, _ = strings.Cut(resource, "."); resource {
		case "machinedeployments", "machinesets":
			return nil, false
		case "machines", "openstackmachines", "openstackservers":
			return body, kept(name)
		}
		return body, true
	})
	cloud.Edit("servers", func(o openstacklab.Object) bool { return kept(o["name"].(string)) })
	return w, cloud
}

// ManagedOpenStack returns the fleet of wellOpenStack with a network, a router and security
// groups that CAPO made for it.
func ManagedOpenStack(t *testing.T, o openstacklab.Options) (*World, *openstacklab.Server) {
	t.Helper()
	w, cloud := WellOpenStack(t, o)
	const network, router, name = "c47ce825-6d66-4882-9be5-1cbccd4536f7", "11111111-aaaa-4111-8111-111111111111", "k8s-clusterapi-cluster-tenant-os-b-data"
	w.Change("managed", func(resource, _ string, o Object) bool {
		if resource != "openstackclusters" {
			return true
		}
		spec, status := In(o, "spec"), In(o, "status")
		delete(spec, "network")
		delete(spec, "subnets")
		delete(spec, "disableExternalNetwork")
		spec["managedSubnets"] = []any{Object{"cidr": "10.20.0.0/24"}}
		spec["managedSecurityGroups"] = Object{}
		In(o, "status", "network")["name"] = name
		status["router"] = Object{"id": router, "name": name}
		status["controlPlaneSecurityGroup"] = Object{"id": "22222222-bbbb-4222-8222-222222222222", "name": "k8s-cluster-tenant-os-b-data-secgroup-controlplane"}
		status["workerSecurityGroup"] = Object{"id": "22222222-aaaa-4222-8222-222222222222", "name": "k8s-cluster-tenant-os-b-data-secgroup-worker"}
		return true
	})
	cloud.Edit("networks", func(o openstacklab.Object) bool {
		if o["id"] == network {
			o["name"] = name
		}
		return true
	})
	cloud.Add("ports", openstacklab.Object{
		"id": "44444444-aaaa-4444-8444-444444444444", "name": "", "description": "", "device_id": router, "device_owner": "network:router_interface", "network_id": network,
		"project_id": openstacklab.Recorded.ProjectID, "tenant_id": openstacklab.Recorded.ProjectID, "security_groups": []any{},
	})
	add := func(kind, id, name string) {
		cloud.Add(kind, openstacklab.Object{"id": id, "name": name, "project_id": openstacklab.Recorded.ProjectID, "tenant_id": openstacklab.Recorded.ProjectID})
	}
	add("routers", router, name)
	add("security_groups", "22222222-aaaa-4222-8222-222222222222", "k8s-cluster-tenant-os-b-data-secgroup-worker")
	add("security_groups", "22222222-bbbb-4222-8222-222222222222", "k8s-cluster-tenant-os-b-data-secgroup-controlplane")
	return w, cloud
}
