package azure_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
	"drift-detector/report/code"
)

// Every verdict is right, with Node lists and without, in both backups, whatever pages and
// case Azure answers in, and from a saved inventory.
func TestAzureFleet(t *testing.T) {
	t.Parallel()
	var truth runs.AzureTruth
	runs.ReadJSON(t, runs.AzureData+"truth.json", &truth)
	if len(truth.Machines) == 0 || len(truth.VMs) == 0 {
		t.Fatal("the oracle lacks something")
	}
	for name, o := range map[string]azurelab.Options{"one page": {}, "pages of 3, groups in upper case": {PageSize: 3, UpperCase: true}} {
		for _, file := range []string{"azure-data.tar.gz", "azure-cluster-scoped-data.tar.gz"} {
			t.Run(name+", "+file, func(t *testing.T) {
				w := runs.AzureFleet(t, o)
				w.Backups = []string{runs.AzureData + file}
				bare := w.Run(slices.Concat(w.Sources(), w.Reach(), []string{"--skip-access-apiserver"})...)
				bare.Demand(t, cli.ExitOK)
				bare.DemandAzure(t, truth)
				w.WithAzureNodes()
				live := w.Detect()
				live.Demand(t, cli.ExitOK)
				live.DemandAzure(t, truth)
				saved := filepath.Join(w.Dir, "inventory.json")
				runs.Run(t, slices.Concat([]string{"inventory", "-o", saved}, w.Sources(), w.Reach())...).Demand(t, cli.ExitOK)
				again := w.Run(append(w.Sources(), "--inventory", saved)...)
				again.Demand(t, cli.ExitOK)
				again.DemandAzure(t, truth)
			})
		}
	}
}

// Without a flag the cluster with a workload identity is Unknown, the run incomplete, and the
// flag is the way out; with it, its use is announced.
func TestAzureWithoutAFlag(t *testing.T) {
	t.Parallel()
	w := runs.AzureFleet(t, azurelab.Options{})
	args := slices.Concat(w.Sources(), slices.DeleteFunc(w.Reach(), func(a string) bool { return a == "--azure-ambient" }), []string{"--skip-access-apiserver"})
	o := w.Run(args...)
	o.Demand(t, cli.ExitIncomplete)
	for key, p := range runs.PlacementsOf(o.Report).Machines {
		if strings.HasPrefix(key, "ml/") && p.Machine.Status != code.Unknown {
			t.Errorf("%s is %s", key, p.Machine.Status)
		}
	}
	if !strings.Contains(string(o.JSON), "--azure-cli") || !strings.Contains(string(o.JSON), "--azure-ambient") {
		t.Error("the report names no way out")
	}
	o = runs.Run(t, append([]string{"detect", "--dry-run"}, append(args, "--azure-ambient")...)...)
	if !strings.Contains(o.Stdout+o.Stderr, "AZURE_ variables (--azure-ambient)") {
		t.Errorf("the operator's own account is not announced:\n%s%s", o.Stdout, o.Stderr)
	}
	if strings.Contains(o.Stderr, "matches nothing") {
		t.Errorf("an endpoint of Azure's is taken for a slip:\n%s", o.Stderr)
	}
	if asked := w.Azure.Asked(); slices.ContainsFunc(asked, func(a string) bool { return strings.Contains(a, "c47e9b06") }) {
		t.Error("a subscription was asked without a credential of its own")
	}
}

// One backup of a management cluster with all four kinds of infrastructure: one run, four
// kinds of places, one report.
func TestFourProviders(t *testing.T) {
	t.Parallel()
	runs.AzureOperator()
	w := runs.Fleet(t)
	w.Azure = azurelab.Serve(t, runs.AzureData, azurelab.Options{PageSize: 7})
	known, err := os.ReadFile(w.Creds)
	w.Ensure(err)
	w.Ensure(os.WriteFile(w.Creds, append(known, w.AzureTrust()...), 0o600))
	cloud := openstacklab.Serve(t, runs.OpenStackData+"after", openstacklab.Options{TLS: true})
	more := map[string][]byte{}
	collect := func(path string, body []byte) ([]byte, bool) {
		if strings.HasPrefix(path, "resources/") {
			more[path] = slices.Clone(body)
		}
		return body, true
	}
	backuptest.Rewrite(t, runs.AtCloud(t, runs.OpenStackData+"openstack-data.tar.gz", cloud), collect)
	backuptest.Rewrite(t, runs.AzureData+"azure-data.tar.gz", collect)
	one := filepath.Join(w.Dir, "four-data.tar.gz")
	w.Ensure(os.WriteFile(one, backuptest.Append(t, w.Backups[0], more), 0o600))
	w.Backups = []string{one}
	o := w.Detect("--skip-access-apiserver")
	o.Demand(t, cli.ExitOK)
	providers := map[string]bool{}
	for _, s := range o.Report.Scopes {
		providers[s.Provider] = true
	}
	if len(providers) != 4 {
		t.Errorf("the scopes are of %v", providers)
	}
	var truth runs.AzureTruth
	runs.ReadJSON(t, runs.AzureData+"truth.json", &truth)
	o.DemandAzure(t, truth)
	o.DemandOpenStack(t, func() (want runs.OpenStackTruth) { runs.ReadJSON(t, runs.OpenStackData+"truth.json", &want); return }())
	alone := runs.Fleet(t).Detect("--skip-access-apiserver")
	is := runs.PlacementsOf(o.Report)
	for key, p := range runs.PlacementsOf(alone.Report).Machines {
		if got := is.Machines[key].Machine; got.Status != p.Machine.Status || got.Reason != p.Machine.Reason {
			t.Errorf("%s is %s %s beside others, and %s %s alone", key, got.Status, got.Reason, p.Machine.Status, p.Machine.Reason)
		}
	}
}
