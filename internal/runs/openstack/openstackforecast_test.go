package openstack_test

import (
	"maps"
	"testing"

	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
	"drift-detector/report/code"
)

// Machines of the fleet: whose server runs, and whose is gone without a health check.
const (
	osLiving = "web-prod-md-0-46mng-9s5vw"
	osGone   = "web-prod-md-0-46mng-9xd5m"
)

// CAPO looks for its ports by name before it looks for the server, and fails where there
// are two: it neither takes a server over nor makes one.
func TestOpenStackTwoPortsOfOneName(t *testing.T) {
	t.Parallel()
	w, cloud := runs.OpenStackFleet(t, openstacklab.Options{PageSize: 10})
	for _, port := range cloud.Objects("ports") {
		if name := port["name"]; name == osLiving+"-0" || name == osGone+"-0" {
			twin := maps.Clone(port)
			twin["id"] = "5" + port["id"].(string)[1:]
			twin["device_id"] = ""
			cloud.Add("ports", twin)
		}
	}
	o := w.WithoutNodes()
	for _, machine := range []string{osLiving, osGone} {
		o.Foretells(t, machine, code.Halted, "found multiple ports with name")
	}
	// On another network it is another one.
	cloud.Edit("ports", func(p openstacklab.Object) bool {
		if name := p["name"]; (name == osLiving+"-0" || name == osGone+"-0") && p["id"].(string)[0] == '5' {
			p["network_id"] = "99999999-9999-4999-8999-999999999999"
		}
		return true
	})
	o = w.WithoutNodes()
	o.Foretells(t, osLiving, code.Adopted, "")
	o.Foretells(t, osGone, code.NewInstanceNeverJoins, "")
}

// Nova gives a port to one server: where another one has that of a machine, none can be
// made for the machine, and one that has its name is taken over all the same.
func TestOpenStackPortOfAnotherServer(t *testing.T) {
	t.Parallel()
	w, cloud := runs.OpenStackFleet(t, openstacklab.Options{})
	const other = "11111111-1111-4111-8111-111111111111"
	cloud.Like(osLiving, "spare", other, false)
	cloud.Edit("ports", func(p openstacklab.Object) bool {
		if name := p["name"]; name == osLiving+"-0" || name == osGone+"-0" {
			p["device_id"] = other
		}
		return true
	})
	o := w.WithoutNodes()
	o.Foretells(t, osGone, code.Stuck, "attached to another server")
	o.Foretells(t, osLiving, code.Adopted, "")
}

// Each object is paused by itself, and the OpenStackServer is what CAPO makes servers for.
func TestOpenStackPausedObjects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paused       []string
		living, gone code.Outcome
	}{
		"OpenStackMachine": {[]string{"openstackmachines"}, code.Halted, code.NewInstanceNeverJoins},
		"OpenStackServer":  {[]string{"openstackservers"}, code.Halted, code.Halted},
		"both":             {[]string{"openstackmachines", "openstackservers"}, code.Halted, code.Halted},
		"Machine":          {[]string{"machines"}, code.UntouchedPaused, code.NewInstanceNeverJoins},
		"all":              {[]string{"machines", "openstackmachines", "openstackservers"}, code.UntouchedPaused, code.UntouchedPaused},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := runs.OpenStackFleet(t, openstacklab.Options{})
			w.PausedObjects(osLiving, c.paused...)
			w.PausedObjects(osGone, c.paused...)
			o := w.WithoutNodes()
			o.Foretells(t, osLiving, c.living, "")
			o.Foretells(t, osGone, c.gone, "")
		})
	}
}

// While a cell is down nobody knows what CAPO finds: its query leaves such servers out, and
// Nova refuses a second one on the port of the first.
func TestOpenStackCellDownForecast(t *testing.T) {
	t.Parallel()
	w, cloud := runs.OpenStackFleet(t, openstacklab.Options{})
	id := func(name string) string {
		for _, s := range cloud.Objects("servers") {
			if s["name"] == name {
				return s["id"].(string)
			}
		}
		t.Fatal("no server " + name)
		return ""
	}
	cloud.CellDown(id(osLiving))
	o := w.WithoutNodes()
	o.Foretells(t, osLiving, code.CannotKnow, "Nova refuses because the port of that name is attached")
	o.Foretells(t, osGone, code.NewInstanceNeverJoins, "")
	// One that nobody knows may have any name.
	cloud.Like(osLiving, osGone, "11111111-1111-4111-8111-111111111111", false)
	cloud.CellDown("11111111-1111-4111-8111-111111111111")
	w.WithoutNodes().Foretells(t, osGone, code.CannotKnow, "")
}
