package list

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/lab/azurelab"
	"drift-detector/report/code"
)

// truth is testdata/azure/truth.json: what is so.
type truth struct {
	Machines []struct {
		Machine, Expected               string
		AlsoAcceptable, NeverAcceptable []string
	}
	VMs []struct {
		ID, Name, Expected string
	}
}

func readTruth(t *testing.T) (out truth) {
	t.Helper()
	text, err := os.ReadFile(lab + "truth.json")
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil || len(out.Machines) == 0 || len(out.VMs) == 0 {
		t.Fatal("the oracle lacks something", err)
	}
	return out
}

// Each verdict is right, in both backups, in pages of any size, and whatever case resource
// groups are in.
func TestFleet(t *testing.T) {
	for name, o := range map[string]azurelab.Options{"one page": {}, "pages of 3": {PageSize: 3}, "groups in upper case": {UpperCase: true}, "both": {PageSize: 3, UpperCase: true}} {
		s := azurelab.Serve(t, lab, o)
		for _, file := range []string{"azure-data.tar.gz", "azure-cluster-scoped-data.tar.gz"} {
			t.Run(name+", "+file, func(t *testing.T) {
				data, err := os.ReadFile(lab + file)
				if err != nil {
					t.Fatal(err)
				}
				demandTruth(t, decide(t, data, access(s)), readTruth(t))
			})
		}
	}
}

func demandTruth(t *testing.T, w world, want truth) {
	t.Helper()
	for _, l := range w.listings {
		if l.State != code.ScopeComplete || l.Fault != nil {
			t.Errorf("%v is %s: %+v", l.IDs, l.State, l.Fault)
		}
	}
	for _, m := range want.Machines {
		v := w.machines[m.Machine]
		if is := string(v.Status); is != m.Expected && !slices.Contains(m.AlsoAcceptable, is) || slices.Contains(m.NeverAcceptable, is) {
			t.Errorf("machine %s is %s %s (%s), want %s %v", m.Machine, v.Status, v.Reason, v.Message, m.Expected, m.AlsoAcceptable)
		}
	}
	placed := map[string]string{}
	for _, v := range w.machines {
		if v.Instance != nil {
			placed[v.Instance.ID] = "Matched"
		}
	}
	for id, v := range w.ghosts {
		placed[id] = string(v.Status)
	}
	for id := range w.unattributed {
		placed[id] = "Unknown"
	}
	for _, vm := range want.VMs {
		is := placed[strings.ToLower(vm.ID)]
		switch {
		case is == "" && (vm.Expected == "Unrelated" || vm.Expected == "PoolMember"):
		case is == "Unknown" && vm.Name == "shop-md-1-2fcjq-9252z": // created again under its name
		case is == "Unknown" && vm.Name == "shop-md-9-manual": // clocks may differ by more than it is younger than the backup
		case is != vm.Expected:
			t.Errorf("VM %s is %s, want %s", vm.ID, is, vm.Expected)
		}
	}
	if w.excluded["poolMember"] != 2 {
		t.Errorf("excluded are %v, want two new members of pools", w.excluded)
	}
}
