package list

import (
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/report/code"
)

// lab is the fleet that CAPZ made on a fake Azure.
const lab = "../../../testdata/azure/"

// small does not wait. What the operator has is two workload identities.
func small(env map[string]string) *provider {
	p := New().(*provider)
	p.retry.Pause = 1
	p.Getenv = func(name string) string { return env[name] }
	return p
}

// access leads to the lab's Azure, and trusts its certificate.
func access(s *azurelab.Server) infra.Access {
	a := infra.Access{Options: map[string]string{"azure-ambient": "true"}}
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
	p := small(azurelab.Operator)
	s, secrets := azurelab.Load(t, p, data)
	return decideWith(t, p, s, secrets, a)
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

// groupID returns the ARM id of a resource group.
func groupID(subscription, name string) string {
	return "/subscriptions/" + subscription + "/resourcegroups/" + name
}

// vmID returns the ARM id of a VM in the group of cluster shop.
func vmID(name string) string {
	return groupID(azurelab.Retail, "shop") + "/providers/microsoft.compute/virtualmachines/" + name
}
