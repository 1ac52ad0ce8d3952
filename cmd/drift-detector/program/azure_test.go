package program

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report/code"
)

// The fleet in testdata/azure was made by real Cluster API 1.13.4, CAPZ 1.26.0 and Azure
// Service Operator 2.18.0 on a fake Azure, and restored by them.
const (
	azureData   = testdata + "azure/"
	azureRetail = "8a1f3c52-6d0e-4b7a-9c41-2f5e7d9b1a30"
)

// azureOperator is the operator's own account, for the whole process: one cluster has a
// workload identity, which no backup holds.
var azureOperator = sync.OnceFunc(func() {
	for name, value := range map[string]string{
		"AZURE_TENANT_ID": "3d9c2f71-5b8e-4a06-9f12-c7e04b6a8d15", "AZURE_CLIENT_ID": "11111111-aaaa-4bbb-8ccc-000000000001", "AZURE_CLIENT_SECRET": "operator-secret",
	} {
		os.Setenv(name, value)
	}
})

// azureFleet returns that fleet after its drift.
func azureFleet(t *testing.T, o azurelab.Options) *world {
	t.Helper()
	azureOperator()
	w := &world{t: t, dir: t.TempDir(), azure: azurelab.Serve(t, azureData, o), backups: []string{azureData + "azure-data.tar.gz"}}
	w.creds = filepath.Join(w.dir, "credentials.yaml")
	w.ensure(os.WriteFile(w.creds, []byte("endpoints:\n"+w.azureTrust()), 0o600))
	return w
}

// azureTrust returns the entries of a credentials file that say which certificate is Azure's.
func (w *world) azureTrust() string {
	ca := filepath.Join(w.dir, "azure.pem")
	w.ensure(os.WriteFile(ca, w.azure.CA, 0o600))
	return fmt.Sprintf("- endpoint: %s\n  caFile: %q\n- endpoint: %s\n  caFile: %q\n", azurelab.Authority, ca, azurelab.Manager, ca)
}

func (w *world) reachAzure() []string {
	args := []string{"--azure-ambient"}
	if w.vcenter == nil {
		args = append(args, "--credentials", w.creds)
	}
	for _, r := range w.azure.Reroutes() {
		args = append(args, "--endpoint", r)
	}
	return args
}

// withAzureNodes serves the Node lists of the fleet's workload clusters.
func (w *world) withAzureNodes() {
	w.t.Helper()
	w.withAzureNodesIn(azureData + "nodes")
}

func (w *world) withAzureNodesIn(folder string) {
	w.t.Helper()
	nodes, err := lab.StartAPIServers(w.backups[0], folder)
	w.ensure(err)
	w.t.Cleanup(nodes.Close)
	w.nodes = nodes
}

// wholeAzure returns the fleet with all that is asked for: a private DNS zone, a bastion host, an
// image, and a VM that is not in the list of power states.
func wholeAzure(t *testing.T) *world {
	t.Helper()
	w := azureFleet(t, azurelab.Options{PageSize: 5})
	w.azure.WithoutStatus("shop-md-0-w66kl-wxqkz")
	in := "/subscriptions/" + azureRetail + "/resourceGroups/shop/providers/"
	w.azure.Put(in+"Microsoft.Network/privateDnsZones/shop.internal", "Microsoft.Network/privateDnsZones", azurelab.Object{"properties": azurelab.Object{}})
	w.azure.Put(in+"Microsoft.Network/bastionHosts/shop-bastion", "Microsoft.Network/bastionHosts", azurelab.Object{"properties": azurelab.Object{}})
	w.azure.Put(in+"Microsoft.Compute/images/node", "Microsoft.Compute/images", azurelab.Object{"properties": azurelab.Object{}})
	data, err := os.ReadFile(w.backups[0])
	w.ensure(err)
	data = backuptest.Edit(t, data, func(_ string, o map[string]any) bool {
		meta, _ := o["metadata"].(map[string]any)
		switch {
		case o["kind"] == "AzureCluster" && meta["name"] == "shop":
			backuptest.Inside(o, "spec", "networkSpec")["privateDNSZoneName"] = "shop.internal"
			backuptest.Inside(o, "spec", "networkSpec", "apiServerLB")["type"] = "Internal" // else CAPZ makes no zone
			backuptest.Inside(o, "spec")["bastionSpec"] = map[string]any{"azureBastion": map[string]any{"name": "shop-bastion"}}
		case o["kind"] == "AzureMachineTemplate" && meta["name"] == "shop-md-0":
			backuptest.Inside(o, "spec", "template", "spec")["image"] = map[string]any{"id": in + "Microsoft.Compute/images/node"}
		}
		return true
	}, "azure")
	w.backups = []string{filepath.Join(w.dir, "whole.tar.gz")}
	w.ensure(os.WriteFile(w.backups[0], data, 0o600))
	return w
}

// wellAzure returns the control plane of cluster shop alone, on an Azure in which each of its VMs
// runs, and no other. CAPZ's webhook refuses its AzureMachines at first: it is safe to restore
// by the plan.
func wellAzure(t *testing.T) *world {
	t.Helper()
	w := azureFleet(t, azurelab.Options{PageSize: 2})
	const creating, gone, living = "shop-control-plane-sn8rj", "shop-control-plane-79kth", "shop-control-plane-76qbr"
	var uuid string
	w.change("control-plane", func(resource, name string, o object) bool {
		switch meta := in(o, "metadata"); {
		case meta["namespace"] == "ml", strings.HasPrefix(name, "edge-7"), strings.HasPrefix(name, creating):
			return false
		}
		switch resource {
		case "machinedeployments", "machinesets", "machinehealthchecks", "machinepools":
			return false
		case "machines", "azuremachines":
			if name == gone && resource == "machines" {
				uuid, _ = in(o, "status", "nodeInfo")["systemUUID"].(string)
			}
			return name == living || name == gone
		case "kubeadmcontrolplanes":
			in(o, "spec")["replicas"] = 2
			for _, count := range []string{"replicas", "readyReplicas", "upToDateReplicas", "availableReplicas"} {
				in(o, "status")[count] = 2
			}
		}
		return true
	})
	var vm azurelab.Object
	w.azure.Edit(func(id string, o azurelab.Object) bool {
		if o["name"] == living && strings.Contains(id, "/virtualmachines/") {
			vm = o
			return true
		}
		return !strings.Contains(id, "/virtualmachine")
	})
	again := maps.Clone(vm)
	again["properties"] = maps.Clone(vm["properties"].(azurelab.Object))
	again["properties"].(azurelab.Object)["vmId"] = uuid
	w.azure.Put(strings.Replace(vm["id"].(string), living, gone, 1), vm["type"].(string), again)
	w.withAzureNodesIn(nodeForEach(t, w.backups[0], "shop"))
	return w
}

// azureTruth is testdata/azure/truth.json: what is so.
type azureTruth struct {
	Machines []struct {
		Namespace, Machine, Expected    string
		AlsoAcceptable, NeverAcceptable []string
	}
	VMs []struct{ ID, Name, Expected string }
}

// azureWords are what truth.json calls where VMs are put.
var azureWords = map[string][]string{"Healthy": {"Matched"}, "infraMachines": {"Unknown"}, "nowhere": {"Unrelated", "PoolMember"}}

func (o outcome) demandAzure(t *testing.T, want azureTruth) {
	t.Helper()
	placed := placementsOf(o.report)
	for _, m := range want.Machines {
		got, ok := placed.machines[m.Namespace+"/"+m.Machine]
		is := string(got.machine.Status)
		if !ok || is != m.Expected && !slices.Contains(m.AlsoAcceptable, is) || slices.Contains(m.NeverAcceptable, is) {
			t.Errorf("machine %s is %s %s (%s), want %s %v", m.Machine, is, got.machine.Reason, got.machine.Message, m.Expected, m.AlsoAcceptable)
		}
	}
	for _, vm := range want.VMs {
		where, _, _ := placementOfID(o.report, strings.ToLower(vm.ID))
		is := append([]string{where}, azureWords[where]...)
		// One was created again under its name, and of the other the age and the clocks leave it open.
		open := slices.Contains([]string{"shop-md-1-2fcjq-9252z", "shop-md-9-manual"}, vm.Name) && slices.Contains(is, "Unknown")
		if !open && !slices.Contains(is, vm.Expected) {
			t.Errorf("VM %s is %s, want %s", vm.ID, where, vm.Expected)
		}
	}
}

// Every verdict is right, with Node lists and without, in both backups, whatever pages and
// case Azure answers in, and from a saved inventory.
func TestAzureFleet(t *testing.T) {
	t.Parallel()
	var truth azureTruth
	readJSON(t, azureData+"truth.json", &truth)
	if len(truth.Machines) == 0 || len(truth.VMs) == 0 {
		t.Fatal("the oracle lacks something")
	}
	for name, o := range map[string]azurelab.Options{"one page": {}, "pages of 3, groups in upper case": {PageSize: 3, UpperCase: true}} {
		for _, file := range []string{"azure-data.tar.gz", "azure-cluster-scoped-data.tar.gz"} {
			t.Run(name+", "+file, func(t *testing.T) {
				w := azureFleet(t, o)
				w.backups = []string{azureData + file}
				bare := w.run(slices.Concat(w.sources(), w.reach(), []string{"--skip-access-apiserver"})...)
				bare.demand(t, cli.ExitOK)
				bare.demandAzure(t, truth)
				w.withAzureNodes()
				live := w.detect()
				live.demand(t, cli.ExitOK)
				live.demandAzure(t, truth)
				saved := filepath.Join(w.dir, "inventory.json")
				runProgram(t, slices.Concat([]string{"inventory", "-o", saved}, w.sources(), w.reach())...).demand(t, cli.ExitOK)
				again := w.run(append(w.sources(), "--inventory", saved)...)
				again.demand(t, cli.ExitOK)
				again.demandAzure(t, truth)
			})
		}
	}
}

// Without a flag the cluster with a workload identity is Unknown, the run incomplete, and the
// flag is the way out; with it, its use is announced.
func TestAzureWithoutAFlag(t *testing.T) {
	t.Parallel()
	w := azureFleet(t, azurelab.Options{})
	args := slices.Concat(w.sources(), slices.DeleteFunc(w.reach(), func(a string) bool { return a == "--azure-ambient" }), []string{"--skip-access-apiserver"})
	o := w.run(args...)
	o.demand(t, cli.ExitIncomplete)
	for key, p := range placementsOf(o.report).machines {
		if strings.HasPrefix(key, "ml/") && p.machine.Status != code.Unknown {
			t.Errorf("%s is %s", key, p.machine.Status)
		}
	}
	if !strings.Contains(string(o.json), "--azure-cli") || !strings.Contains(string(o.json), "--azure-ambient") {
		t.Error("the report names no way out")
	}
	o = runProgram(t, append([]string{"detect", "--dry-run"}, append(args, "--azure-ambient")...)...)
	if !strings.Contains(o.stdout+o.stderr, "AZURE_ variables (--azure-ambient)") {
		t.Errorf("the operator's own account is not announced:\n%s%s", o.stdout, o.stderr)
	}
	if strings.Contains(o.stderr, "matches nothing") {
		t.Errorf("an endpoint of Azure's is taken for a slip:\n%s", o.stderr)
	}
	if asked := w.azure.Asked(); slices.ContainsFunc(asked, func(a string) bool { return strings.Contains(a, "c47e9b06") }) {
		t.Error("a subscription was asked without a credential of its own")
	}
}

// One backup of a management cluster with all four kinds of infrastructure: one run, four
// kinds of places, one report.
func TestFourProviders(t *testing.T) {
	t.Parallel()
	azureOperator()
	w := fleet(t)
	w.azure = azurelab.Serve(t, azureData, azurelab.Options{PageSize: 7})
	known, err := os.ReadFile(w.creds)
	w.ensure(err)
	w.ensure(os.WriteFile(w.creds, append(known, w.azureTrust()...), 0o600))
	cloud := openstacklab.Serve(t, openstackData+"after", openstacklab.Options{TLS: true})
	more := map[string][]byte{}
	collect := func(path string, body []byte) ([]byte, bool) {
		if strings.HasPrefix(path, "resources/") {
			more[path] = slices.Clone(body)
		}
		return body, true
	}
	backuptest.Rewrite(t, atCloud(t, openstackData+"openstack-data.tar.gz", cloud), collect)
	backuptest.Rewrite(t, azureData+"azure-data.tar.gz", collect)
	one := filepath.Join(w.dir, "four-data.tar.gz")
	w.ensure(os.WriteFile(one, backuptest.Append(t, w.backups[0], more), 0o600))
	w.backups = []string{one}
	o := w.detect("--skip-access-apiserver")
	o.demand(t, cli.ExitOK)
	providers := map[string]bool{}
	for _, s := range o.report.Scopes {
		providers[s.Provider] = true
	}
	if len(providers) != 4 {
		t.Errorf("the scopes are of %v", providers)
	}
	var truth azureTruth
	readJSON(t, azureData+"truth.json", &truth)
	o.demandAzure(t, truth)
	o.demandOpenStack(t, func() (want openstackTruth) { readJSON(t, openstackData+"truth.json", &want); return }())
	alone := fleet(t).detect("--skip-access-apiserver")
	is := placementsOf(o.report)
	for key, p := range placementsOf(alone.report).machines {
		if got := is.machines[key].machine; got.Status != p.machine.Status || got.Reason != p.machine.Reason {
			t.Errorf("%s is %s %s beside others, and %s %s alone", key, got.Status, got.Reason, p.machine.Status, p.machine.Reason)
		}
	}
}
