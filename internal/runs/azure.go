package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"drift-detector/internal/lab"
	"drift-detector/internal/lab/azurelab"
)

// The fleet in testdata/azure was made by real Cluster API 1.13.4, CAPZ 1.26.0 and Azure
// Service Operator 2.18.0 on a fake Azure, and restored by them.
const (
	AzureData   = Testdata + "azure/"
	AzureRetail = "8a1f3c52-6d0e-4b7a-9c41-2f5e7d9b1a30"
)

// AzureOperator is the operator's own account, for the whole process: one cluster has a
// workload identity, which no backup holds.
var AzureOperator = sync.OnceFunc(func() {
	for name, value := range map[string]string{
		"AZURE_TENANT_ID": "3d9c2f71-5b8e-4a06-9f12-c7e04b6a8d15", "AZURE_CLIENT_ID": "11111111-aaaa-4bbb-8ccc-000000000001", "AZURE_CLIENT_SECRET": "operator-secret",
	} {
		os.Setenv(name, value)
	}
})

// AzureFleet returns that fleet after its drift.
func AzureFleet(t *testing.T, o azurelab.Options) *World {
	t.Helper()
	AzureOperator()
	w := &World{T: t, Dir: t.TempDir(), Azure: azurelab.Serve(t, AzureData, o), Backups: []string{AzureData + "azure-data.tar.gz"}}
	w.Creds = filepath.Join(w.Dir, "credentials.yaml")
	w.Ensure(os.WriteFile(w.Creds, []byte("endpoints:\n"+w.AzureTrust()), 0o600))
	return w
}

// AzureTrust returns the entries of a credentials file that say which certificate is Azure's.
func (w *World) AzureTrust() string {
	ca := filepath.Join(w.Dir, "azure.pem")
	w.Ensure(os.WriteFile(ca, w.Azure.CA, 0o600))
	return fmt.Sprintf("- endpoint: %s\n  caFile: %q\n- endpoint: %s\n  caFile: %q\n", azurelab.Authority, ca, azurelab.Manager, ca)
}

// WithAzureNodes serves the Node lists of the fleet's workload clusters.
func (w *World) WithAzureNodes() {
	w.T.Helper()
	w.WithAzureNodesIn(AzureData + "nodes")
}

// WithAzureNodesIn serves the Node lists of a folder, under the endpoints of Azure.
func (w *World) WithAzureNodesIn(folder string) {
	w.T.Helper()
	nodes, err := lab.StartAPIServers(w.Backups[0], folder)
	w.Ensure(err)
	w.T.Cleanup(nodes.Close)
	w.Nodes = nodes
}

// AzureTruth is testdata/azure/truth.json: what is so.
type AzureTruth struct {
	Machines []struct {
		Namespace, Machine, Expected    string
		AlsoAcceptable, NeverAcceptable []string
	}
	VMs []struct{ ID, Name, Expected string }
}

// azureWords are what truth.json calls where VMs are put.
var azureWords = map[string][]string{"Healthy": {"Matched"}, "infraMachines": {"Unknown"}, "nowhere": {"Unrelated", "PoolMember"}}

// DemandAzure complains of what is not as the truth of the fleet on Azure.
func (o Outcome) DemandAzure(t *testing.T, want AzureTruth) {
	t.Helper()
	placed := PlacementsOf(o.Report)
	for _, m := range want.Machines {
		got, ok := placed.Machines[m.Namespace+"/"+m.Machine]
		is := string(got.Machine.Status)
		if !ok || is != m.Expected && !slices.Contains(m.AlsoAcceptable, is) || slices.Contains(m.NeverAcceptable, is) {
			t.Errorf("machine %s is %s %s (%s), want %s %v", m.Machine, is, got.Machine.Reason, got.Machine.Message, m.Expected, m.AlsoAcceptable)
		}
	}
	for _, vm := range want.VMs {
		where, _, _ := PlacementOfID(o.Report, strings.ToLower(vm.ID))
		is := append([]string{where}, azureWords[where]...)
		// One was created again under its name, and of the other the age and the clocks leave it open.
		open := slices.Contains([]string{"shop-md-1-2fcjq-9252z", "shop-md-9-manual"}, vm.Name) && slices.Contains(is, "Unknown")
		if !open && !slices.Contains(is, vm.Expected) {
			t.Errorf("VM %s is %s, want %s", vm.ID, where, vm.Expected)
		}
	}
}
