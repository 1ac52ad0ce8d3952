package vsphere

import (

	// CAPV's thumbprints are SHA-1; it only compares, it signs nothing

	"slices"

	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// rowVM1b is the part of VM1 that the certificate decides.
var rowVM1b = &walk.Row{
	ID: "vsphere.VM1b", Of: vmKind,
	Asks:      "the certificate of vCenter, by the thumbprint of its VSphereMachine, else of the VSphereCluster, unless CAPV has a session for another VM of the datacenter",
	Differs:   walk.Waits.Says("CAPV refuses the certificate and has no session for the VM"),
	Condition: code.CertificateUnchecked,
	Source:    "retrieveVcenterSession: controllers/vspherevm_controller.go; GetOrCreate, newClient: pkg/session/session.go; createOrPatchVSphereVM: pkg/services/vimmachine.go v1.8.10 to v1.16.1",
}

// rowVM1c is the part of VM1 that the login decides. At the vCenter of the VSphereCluster C6 asks.
var rowVM1c = &walk.Row{
	ID: "vsphere.VM1c", Of: vmKind,
	Asks:      "a session with the credential in the backup, at a vCenter that is not its VSphereCluster's",
	None:      walk.Waits.Says("CAPV has no credential and has no session for the VM"),
	Differs:   walk.Waits.Says("CAPV cannot log in and has no session for the VM"),
	Condition: code.CredentialUntried,
	Source:    "retrieveVcenterSession: controllers/vspherevm_controller.go; generateOverrideFunc: pkg/services/vimmachine.go v1.5.8 to v1.16.1",
}

// sessionAt is what CAPV keeps a session for: a vCenter with a credential, and a datacenter as it
// is written.
type sessionAt struct {
	target, datacenter string
}

// sessions notes the thumbprints for each session at the places that it serves.
func (objs *objects) sessions() {
	of := map[sessionAt]*[]string{}
	for i := range objs.members {
		m := &objs.members[i]
		if m.index < 0 || m.machine == nil || m.vm == nil {
			continue
		}
		if m.place.pins == nil {
			key := sessionAt{m.place.target, m.place.spec.Datacenter}
			if of[key] == nil {
				of[key] = new([]string)
			}
			m.place.pins = of[key]
		}
		if pins, pin := m.place.pins, objs.pinOf(m); !slices.Contains(*pins, pin) {
			*pins = append(*pins, pin)
		}
	}
}

// pinOf returns the thumbprint that CAPV writes into a machine's VSphereVM.
func (objs *objects) pinOf(m *member) string {
	if m.machine.Data.Spec.Thumbprint != "" {
		return m.machine.Data.Spec.Thumbprint
	}
	if m.infra != nil {
		return m.infra.Data.Thumbprint
	}
	return ""
}

// askSession asks VM1b and VM1c. Of the thumbprint of the VSphereCluster C6b says what there is to
// say of its own vCenter; to that of another vCenter, which a failure domain or the VSphereMachine
// names, CAPV brings the same thumbprint and the same credential.
func (q *questions) askSession(m *member) {
	c := m.infra
	pins := *m.place.pins
	elsewhere := c != nil && m.place.unplaced == "" && m.place.target != q.objs.targetID(m.cluster, q.objs.server(c.Data.Server))
	if elsewhere && q.objs.mayUse(m.cluster, c) {
		at := infra.AccessAt{Cluster: m.cluster, Subject: q.objs.titleOf(m), ID: m.place.target, With: credentialTitle(q.objs.identityOf(m.cluster))}
		step := at.CredentialStep(rowVM1c)
		step.Machine = m.index
		q.Steps = append(q.Steps, step)
	}
	if c == nil || slices.Contains(pins, "") || slices.Contains(pins, c.Data.Thumbprint) && !elsewhere {
		q.noteMachine(rowVM1b, m, pass)
		return
	}
	object, target := machineKind+" "+m.machine.Namespace+"/"+m.machine.Name, m.place.target
	if m.machine.Data.Spec.Thumbprint == "" {
		object = clusterKind + " " + c.Namespace + "/" + c.Name
	}
	q.Steps = append(q.Steps, infra.Step{
		Step: walk.Step{Row: rowVM1b, Cluster: m.cluster, Subject: q.objs.titleOf(m), Machine: m.index},
		Look: func(inv *infra.Inventory) (a walk.Answer) {
			for _, pin := range pins {
				if a = certificateAnswer(inv, inv.Named(target), object, pin); a.Found == walk.Passed {
					return a
				}
			}
			return a
		},
	})
}
