package check

import (
	"drift-detector/backup"
)

var ruleHostStatus = rule("host status")

// hostFields is what decides what becomes of a BareMetalHost whose status is gone.
type hostFields struct {
	State                 string
	Kept, Paused, Outside bool
}

var hostKind = backup.NewKind("baremetalhosts.metal3.io",
	backup.Text(func(h *hostFields) *string { return &h.State }, "status.provisioning.state"),
	backup.Present(func(h *hostFields) *bool { return &h.Kept }, "annotation:baremetalhost.metal3.io/status"),
	backup.Present(func(h *hostFields) *bool { return &h.Paused }, "annotation:baremetalhost.metal3.io/paused"),
	backup.Flag(func(h *hostFields) *bool { return &h.Outside }, "spec.externallyProvisioned"),
)

// hosts finds the provisioned BareMetalHosts that a restore has written over
// (handleRegistering, handleInspecting, handleAvailable in
// internal/controller/metal3.io/host_state_machine.go, and the annotations in
// baremetalhost_controller.go, of metal3-io/baremetal-operator 02aa505).
func hosts(e *examination) []Finding {
	var found []Finding
	for r := range hostKind.In(e.Snapshot).All() {
		if h := &r.Data; h.State == "provisioned" && !h.Kept && !h.Paused && !h.Outside {
			found = append(found, ruleHostStatus.On(r.Backup, name("BareMetalHost", r.Namespace, r.Name), "provisioned, and nothing keeps its status"))
		}
	}
	return found
}
