package azure

import (
	_ "embed"
	"os"

	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/azure/azcli"
)

// Name is the provider's name in reports.
const Name = "azure"

//go:embed permissions.json
var role string

// Flags that let the operator's own credential be used.
const (
	flagCLI     = "azure-cli"
	flagAmbient = "azure-ambient"
)

// provider implements infra.Provider. Its only state is the count of failed logins,
// which must outlive a single listing.
type provider struct {
	logins *infra.Logins
	retry  infra.Retry
	getenv func(string) string
	az     func() (string, error) // where the az command is
}

// New returns the Azure provider. One value serves one run: it counts the logins that
// failed, so that no account is locked.
func New() infra.Provider {
	retry := infra.Patient
	retry.Also = overloaded
	return &provider{logins: &infra.Logins{}, retry: retry, getenv: os.Getenv, az: findAz}
}

// Spec says what the provider reads from a backup.
func (p *provider) Spec() infra.Spec {
	return infra.Spec{
		Name: Name, Title: "Azure", Scope: "Azure subscription",
		Supports:      "CAPZ v1beta1, machine pools, AKS",
		Want:          want,
		Rules:         []check.Rule{ruleCredential, ruleBadIdentity, rulesForbidden.Decided, ruleSecretPadded},
		Keys:          providerIDKeys,
		MachineKinds:  []infra.Kind{{Group: group, Kind: machineKind, Plural: "azuremachines"}, {Group: group, Kind: memberKind, Plural: "azuremachinepoolmachines"}},
		ClusterKind:   infra.Kind{Group: group, Kind: clusterKind, Plural: "azureclusters"},
		ManagedPlanes: []infra.Kind{{Group: group, Kind: planeKind, Plural: "azuremanagedcontrolplanes"}, {Group: group, Kind: asoPlaneKind, Plural: "azureasomanagedcontrolplanes"}},
		IdentityKinds: []infra.Kind{{Group: group, Kind: identityKind, Plural: "azureclusteridentities"}},
		Controller:    controller,
		OnDelete:      "deleting a Machine makes CAPZ delete the VM of its name in the resource group of its cluster, also one that CAPZ did not make, and then its network interfaces and disks by their names",
		// A subscription is a place of its own, and each account sees what it may read there.
		SeparateAccounts: true,
		Tool:             azcli.Tool{},
		Words: map[string]string{
			keyInstance.String():     "ARM id and VM id",
			keyHardware.String():     "VM id",
			keyVM.String():           "ARM id",
			string(infra.ErrorState): "its last change failed (provisioningState Failed)",
			string(infra.NotActive):  "Azure is still creating it",
		},
		Permissions: infra.Permissions{
			About: "is the definition of a custom role; Reader on the subscription does, too",
			Text:  role, File: "permissions.json", Save: "drift-detector-role.json",
		},
		Remedies: remedies, Walk: walkRows(),
		Flags: []infra.Flag{
			{Name: flagCLI, Usage: "use the login of your own az command, where the backup's credential is missing or refused", Excludes: flagAmbient},
			{Name: flagAmbient, Usage: "use the service principal or workload identity of your own AZURE_ variables, where the backup's is missing or refused", Excludes: flagCLI},
		},
	}
}

// Kinds of keys, see the package documentation.
var (
	keyInstance = infra.KeyKindOf("instance")
	keyHardware = infra.KeyKindOf("vmId")
	keyVM       = infra.KeyKindOf("vm")
	keyName     = infra.KeyKindOf("name")
	keyPlace    = infra.KeyKindOf("group+name")
	keyMade     = infra.KeyKindOf("cluster+name")
	keyGroup    = infra.KeyKindOf("group")
	keyPool     = infra.KeyKindOf("scaleSet")
	keyLostPool = infra.KeyKindOf("lostPool")
	keyRole     = infra.KeyKindOf("cluster+role")
	keyStem1    = infra.KeyKindOf("cluster+stem1")
	keyStem2    = infra.KeyKindOf("cluster+stem2")
	keyNear1    = infra.KeyKindOf("group+near1")
	keyNear2    = infra.KeyKindOf("group+near2")
	keyLike1    = infra.KeyKindOf("like1")
	keyLike2    = infra.KeyKindOf("like2")
	keyMark     = infra.KeyKindOf("mark")
	// Probes.
	keyAnswered = infra.KeyKindOf("groupAnswer")
	keyResource = infra.KeyKindOf("resource")
)
