package vsphere

import (
	"fmt"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/readiness"
)

var (
	ruleCredential = readiness.Rule{
		Code: "CredentialAbsent", Severity: readiness.Error,
		Why: "CAPV can't log in to the vCenter: after the restore nothing of these clusters is reconciled.",
		Do:  "create the Secret by hand before the clusters are unpaused; give user and password to drift-detector detect with --credentials",
	}
	ruleGone = readiness.Rule{
		Code: "VMGone", Severity: readiness.Warning,
		Why: "CAPV has not found the VM by its BIOS UUID any more, and says so nowhere but in this condition: Machine and VSphereMachine look fine. It never makes a recorded VM again.",
		Do:  "see whether the VM is gone for good (drift-detector detect tells); after the restore a MachineHealthCheck replaces the Machine, or whoever deletes it",
	}
)

// notFound is the reason of a VSphereVM's condition when its VM is gone (CAPV
// api/govmomi/v1beta2/condition_consts.go v1.16.1).
const notFound = "NotFoundByBIOSUUID"

// Check tells which credentials the backup lacks, and which VMs were gone when
// it was taken.
func (p *provider) Check(s *backup.Snapshot, secrets *backup.Secrets, _ time.Time) []readiness.Finding {
	e := newEstate(s)
	return append(e.credentialsAbsent(secrets), e.gone()...)
}

func (e *estate) credentialsAbsent(secrets *backup.Secrets) []readiness.Finding {
	type login struct {
		backup int
		identity
	}
	users := map[login]map[backup.ClusterID]bool{}
	faults := map[login]string{}
	for _, h := range e.homes() {
		if h.identity.Kind == unknownIdentity {
			continue // the VSphereCluster itself is what the backup lacks
		}
		k := login{h.backup, h.identity}
		_, fault := e.credentialOf(h, secrets)
		if k.Kind == identityKind && e.identities[object{backup: h.backup, name: k.Name}] == nil {
			// Without the identity nothing says who may use it, but its Secret
			// may be there.
			k.Namespace = ""
			_, fault = e.fromIdentity(h, secrets)
		}
		if fault != nil {
			faults[k] = fault.Message
			if users[k] == nil {
				users[k] = map[backup.ClusterID]bool{}
			}
			for _, id := range h.clusters {
				users[k][id] = true
			}
		}
	}
	var found []readiness.Finding
	for k, message := range faults {
		what, namespace := "credential of "+k.Kind+" "+k.Name, managerSpace
		switch k.Kind {
		case identityKind:
			if k.Namespace != "" {
				what += " for namespace " + k.Namespace
			}
		case secretKind:
			what, namespace = secretKind+" "+k.Namespace+"/"+k.Name, k.Namespace
		case managerIdentity:
			what = secretKind + " " + managerSpace + "/" + managerSecret
		}
		clusters := "1 cluster"
		if n := len(users[k]); n != 1 {
			clusters = fmt.Sprintf("%d clusters", n)
		}
		found = append(found, ruleCredential.On(k.backup, what, "%s; used by %s", message, clusters).At("secrets", namespace))
	}
	return found
}

func (e *estate) gone() []readiness.Finding {
	var found []readiness.Finding
	for i := range e.members {
		m := &e.members[i]
		if m.vm == nil || m.vm.Data.Missing == nil || m.vm.Data.Missing.Reason != notFound {
			continue
		}
		says := "its Machine is not in the backup"
		if m.index >= 0 {
			says = "its Machine says " + e.snapshot.Machines[m.index].Phase
		}
		found = append(found, ruleGone.On(m.vm.Backup, vmKind+" "+m.vm.Namespace+"/"+m.vm.Name,
			"condition says %s, while %s", notFound, says))
	}
	return found
}
