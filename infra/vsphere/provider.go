package vsphere

import (
	_ "embed"
	"strings"
	"sync/atomic"

	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/vsphere/govc"
	"drift-detector/report/code"
)

// Name is the provider's name in reports.
const Name = "vsphere"

//go:embed permissions.md
var role string

// Provider says what a backup has to do with vSphere. It is all of [infra.Provider]
// but List, which package list adds: it contacts nothing. The zero value serves one run.
// Its state is what Check can use of what Expected or Survey made just before of the
// same Snapshot.
type Provider struct{ read atomic.Pointer[objects] }

// Spec says what the provider reads from a backup.
func (p *Provider) Spec() infra.Spec {
	return infra.Spec{
		Name: Name, Title: "vSphere", Scope: "vCenter",
		Supports:     "CAPV v1alpha3 to v1beta2",
		Want:         want,
		Rules:        []check.Rule{ruleCredential, ruleBadIdentity, rulesForbidden.Decided, rulesForbidden.Undecided, ruleAddress, ruleBootstrap, ruleGone},
		Keys:         providerIDKeys,
		MachineKinds: []infra.Kind{{Group: group, Kind: machineKind, Plural: "vspheremachines"}, {Group: group, Kind: vmKind, Plural: "vspherevms"}},
		ClusterKind:  infra.Kind{Group: group, Kind: clusterKind, Plural: "vsphereclusters"},
		IdentityKinds: []infra.Kind{
			{Group: group, Kind: identityKind, Plural: "vsphereclusteridentities"},
		},
		Controller: infra.Controller{
			// pkg/services/govmomi/service.go v1.16.1: reconcilePowerState powers on what is
			// off, and DestroyVM looks for the VM again until none has the UUID.
			Name: "CAPV", ID: infra.IDInSpec, PowersOn: true, DeletesCopies: true,
			Makes:         "clones a VM",
			ClustersFirst: "creates VSphereVMs without their ids",
		},
		OnDelete: "deleting a Machine makes CAPV destroy every VM of its datacenter that has its id",
		Tool:     govc.Tool{},
		Remedies: remedies,
		Words: map[string]string{
			keyBIOS.String():          "BIOS UUID",
			keyInstance.String():      "instance UUID",
			keyRef.String():           "managed object id",
			string(code.Disconnected): "the host of the VM is disconnected",
		},
		Walk: walkRows(),
		Permissions: infra.Permissions{
			About: "says which role the account needs, where, and what is not seen when a part of it is missing",
			Text:  role, File: "permissions.md",
		},
		Environment: infra.Environment{
			About: "GOVC_URL, GOVC_USERNAME and GOVC_PASSWORD are used for the vCenter that GOVC_URL names",
			Read:  govcCredential,
		},
	}
}

const providerIDPrefix = "vsphere://"

func providerIDKeys(providerID string) []infra.Key {
	if id := providerUUID(providerID); id != "" {
		return []infra.Key{{Kind: keyBIOS, Value: id}}
	}
	return nil
}

// providerUUID returns the UUID in a provider id of CAPV's; empty when it is none.
func providerUUID(providerID string) string {
	id := strings.TrimSpace(providerID)
	if len(id) < len(providerIDPrefix) || !strings.EqualFold(id[:len(providerIDPrefix)], providerIDPrefix) {
		return ""
	}
	return UUID(id[len(providerIDPrefix):])
}
