package program

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra"
	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/internal/terminal"
)

// A saved inventory is for eyes and terminals too: names of VMs are foreign text.
func TestInventoryShowsNothingRaw(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	const name = "vm\u202egnp\u009b31m\U000e0041 机"
	if err := w.VCenter.Rename("jumphost-01", name); err != nil {
		t.Fatal(err)
	}
	o := runs.Run(t, slices.Concat([]string{"inventory", "-o", "-", "--quiet"}, w.Sources(), w.Reach())...)
	o.Demand(t, cli.ExitOK)
	for line := range strings.Lines(o.Stdout) {
		if line = strings.TrimSuffix(line, "\n"); terminal.Escape(line) != line {
			t.Errorf("raw: %q", line)
		}
	}
	inv, err := infra.ReadInventory(bytes.NewReader([]byte(o.Stdout)))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(inv.Listings, func(l infra.Listing) bool {
		return slices.ContainsFunc(l.Instances, func(i infra.Instance) bool { return i.Name == name })
	}) {
		t.Error("the name is another when it is read back")
	}
}
