package azure

import (
	"os"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/report/code"
)

// lab is the fleet that CAPZ made on a fake Azure.
const lab = "../../testdata/azure/"

const (
	retail = "8a1f3c52-6d0e-4b7a-9c41-2f5e7d9b1a30" // subscription of clusters shop and edge-7
	ml     = "c47e9b06-12d5-4f38-8ab3-6e0f91d7c254" // of cluster train
)

func fleet(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(lab + "azure-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// load reads a backup as the program does.
func load(t *testing.T, data []byte) (*backup.Snapshot, *backup.Secrets) {
	t.Helper()
	s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("backup.tar.gz", data)}, want)
	if err != nil {
		t.Fatal(err)
	}
	return s, secrets
}

// edit changes objects of a backup.
func edit(t *testing.T, data []byte, change func(resource string, object map[string]any) (keep bool)) []byte {
	t.Helper()
	return backuptest.Edit(t, data, change, "secrets", "azure", "machine", "cluster", "resourcegroups")
}

// small does not wait. What the operator has is two workload identities.
func small(env map[string]string) *provider {
	p := New().(*provider)
	p.retry.Pause = 1
	p.getenv = func(name string) string { return env[name] }
	return p
}

// operator is an account that may read all of the lab's Azure.
var operator = map[string]string{
	"AZURE_TENANT_ID": "3d9c2f71-5b8e-4a06-9f12-c7e04b6a8d15", "AZURE_CLIENT_ID": "11111111-aaaa-4bbb-8ccc-000000000001", "AZURE_CLIENT_SECRET": "operator-secret",
}

// access leads to the lab's Azure, and trusts its certificate.
func access(s *azurelab.Server) infra.Access {
	a := infra.Access{Options: map[string]string{flagAmbient: "true"}}
	for _, host := range []string{azurelab.Authority, azurelab.Manager} {
		a.Reroutes = append(a.Reroutes, infra.Reroute{From: host, To: s.Address})
		a.Credentials = append(a.Credentials, infra.Credential{Endpoint: host, CA: s.CA})
	}
	return a
}

// world is what was decided.
type world struct {
	machines     map[string]detector.Verdict
	unattributed map[string]detector.Unattributed // by id
	ghosts       map[string]detector.Verdict      // by id
	excluded     map[string]int
	result       *detector.Result
	listings     []infra.Listing
}

// decide lists and decides, without Node lists.
func decide(t *testing.T, data []byte, a infra.Access) world {
	t.Helper()
	s, secrets := load(t, data)
	return decideWith(t, small(operator), s, secrets, a)
}

func decideWith(t *testing.T, p *provider, s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) world {
	t.Helper()
	inv := infra.Inventory{Version: infra.InventoryVersion}
	for _, target := range p.Targets(s, secrets, a) {
		l := p.List(t.Context(), target)
		l.IDs, l.Asked = target.IDs, target.Probes
		inv.Listings = append(inv.Listings, l)
	}
	r := detector.Detect(s, infra.NewRegistry(p).Expected(s), inv, detector.Options{Now: time.Now()})
	w := world{machines: map[string]detector.Verdict{}, unattributed: map[string]detector.Unattributed{}, ghosts: map[string]detector.Verdict{}, excluded: r.Excluded, result: &r, listings: inv.Listings}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		for _, set := range append([]detector.Set{c.ControlPlane}, c.WorkerGroups...) {
			for _, v := range set.Machines {
				if v.Status == code.Ghost || v.Reason == code.MachineNotInBackup {
					w.ghosts[v.Instance.ID] = *v
				} else {
					w.machines[v.Name] = *v
				}
			}
		}
	}
	for _, u := range r.Unattributed {
		w.unattributed[u.Instance.ID] = u
	}
	return w
}

func (w world) demand(t *testing.T, machine string, status code.Status, reason code.Reason) {
	t.Helper()
	if v := w.machines[machine]; v.Status != status || v.Reason != reason {
		t.Errorf("%s is %s %s (%s), want %s %s", machine, v.Status, v.Reason, v.Message, status, reason)
	}
}

// vmID returns the ARM id of a VM in the group of cluster shop.
func vmID(name string) string {
	return groupID(retail, "shop") + "/providers/" + kindVM + "/" + name
}
