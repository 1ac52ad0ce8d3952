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
	return uuidOf(id[len(providerIDPrefix):])
}

// Kinds of keys, see the package documentation.
var (
	keyBIOS       = infra.KeyKindOf("biosUUID")
	keyInstance   = infra.KeyKindOf("instanceUUID")
	keyRef        = infra.KeyKindOf("vmRef")
	keyName       = infra.KeyKindOf("name")
	keyVMX        = infra.KeyKindOf("vmxFolder")
	keyDatacenter = infra.KeyKindOf("datacenter")
	keyFolder     = infra.KeyKindOf("folder")
	keyPath       = infra.KeyKindOf("path")
	keyPathRef    = infra.KeyKindOf("path+vmRef")
	keyStem1      = infra.KeyKindOf("stem1")
	keyStem2      = infra.KeyKindOf("stem2")
	keyEndpoint   = infra.KeyKindOf("endpoint+ownhost")
	keyHost       = infra.KeyKindOf("host")
	keyNamed      = infra.KeyKindOf("namedInMetadata") // whether CAPV's metadata on a VM gives it its name
	keyAlias      = infra.KeyKindOf("alias")
	keyWitness    = infra.KeyKindOf("folder+name")
	keyWithin     = infra.KeyKindOf("folder+withinName")
	keyOrdinal    = infra.KeyKindOf("ordinal")
	keyNamedAfter = infra.KeyKindOf("namedAfter")
	keyBelow      = infra.KeyKindOf("belowFolder")
	keyUnreadable = infra.KeyKindOf("unreadable")
	keyPool       = infra.KeyKindOf("resourcePool")
	keyDatastore  = infra.KeyKindOf("datastore")
	keyNetwork    = infra.KeyKindOf("network")
	keyTemplate   = infra.KeyKindOf("template")
	keyInhabited  = infra.KeyKindOf("vmInFolder")
	keyKnown      = infra.KeyKindOf("vmOfBackup")
	keyRead       = infra.KeyKindOf("metadataInFolder")
)

// ownName is a key of VMs whose own metadata gives them the name that they have.
var ownName = infra.Key{Kind: keyNamed, Value: "itself"}

// metadataUnread is a key of VMs whose own metadata could not be read.
var metadataUnread = infra.Key{Kind: keyNamed, Value: "unread"}

// nameless is a key of VMs of which not even the name could be read.
var nameless = infra.Key{Kind: keyUnreadable, Value: "nameless"}

// uuidOf returns the UUID in lower case, or empty when s is none. CAPV's own pattern
// ignores case (pkg/util/machines.go v1.16.1).
func uuidOf(s string) string {
	if s = strings.TrimSpace(s); len(s) != len("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
		return ""
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return ""
			}
		case c-'0' > 9 && c|0x20-'a' > 5: // no hexadecimal digit
			return ""
		}
	}
	return strings.ToLower(s)
}
