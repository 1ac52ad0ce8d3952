package forecasts_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

// sizesOf returns the sizes of the instances in a report, by provider; each as its listing says it.
func sizesOf(t *testing.T, r *report.Report) map[string][]report.Size {
	t.Helper()
	sizes := map[string][]report.Size{}
	for _, c := range r.Clusters {
		for _, m := range runs.MachinesOf(c) {
			if m.Instance != nil {
				sizes[m.Instance.Provider] = append(sizes[m.Instance.Provider], m.Instance.Size)
			}
		}
	}
	return sizes
}

// Each provider says the size of an instance as far as its listing has it, in the report, in a saved
// inventory and of what leaks.
func TestSizesOfInstances(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	sizes := sizesOf(t, w.Detect().Report)
	for provider, lacks := range map[string]func(report.Size) bool{
		"vsphere": func(s report.Size) bool { return s.VCPUs == 0 || s.MemoryMiB == 0 || s.Type != "" },
		"aws":     func(s report.Size) bool { return s.Type == "" || s.MemoryMiB != 0 },
	} {
		if all := sizes[provider]; len(all) == 0 || slices.ContainsFunc(all, lacks) {
			t.Errorf("%s: %v", provider, all)
		}
	}
	if !slices.ContainsFunc(sizes["vsphere"], func(s report.Size) bool { return s.DiskGiB > 0 }) {
		t.Error("no VM has disks")
	}
	text, err := os.ReadFile(w.Saved(t))
	if err != nil {
		t.Fatal(err)
	}
	var inv infra.Inventory
	if err := json.Unmarshal(text, &inv); err != nil {
		t.Fatal(err)
	}
	for _, l := range inv.Listings {
		for _, i := range l.Instances {
			if (l.Provider == "vsphere" || l.Provider == "aws") && !i.Unreadable && i.Size == (report.Size{}) {
				t.Errorf("%s of %s has no size in the inventory", i.Name, l.Provider)
			}
		}
	}
	_, from := runs.Management(t, w.Backups[0])
	leaks := w.Run(slices.Concat(from, w.Reach(), []string{"--summary"})...).Stdout
	for line := range strings.Lines(leaks) {
		if strings.Contains(line, "! LEAKED") && strings.Contains(line, "its VM of 1 vCPU 1 GiB runs since ") {
			return
		}
	}
	t.Errorf("no size of what leaks:\n%s", leaks)
}

func TestSizesOfServers(t *testing.T) {
	w, _ := runs.OpenStackFleet(t, openstacklab.Options{})
	all := sizesOf(t, w.Detect("--skip-access-apiserver").Report)["openstack"]
	if len(all) == 0 || slices.ContainsFunc(all, func(s report.Size) bool { return s.VCPUs == 0 || s.MemoryMiB == 0 || s.Type == "" }) {
		t.Errorf("%v", all)
	}
}
