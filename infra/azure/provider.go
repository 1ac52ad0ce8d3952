package azure

import (
	_ "embed"

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

// Provider is all of the Azure provider but List, which package list adds. Its fields say what the
// operator has, and are asked only where a flag lets that be used.
type Provider struct {
	Getenv func(name string) string // a variable of the environment
	Az     func() (string, error)   // where the az command is
}

// Spec says what the provider reads from a backup.
func (p *Provider) Spec() infra.Spec {
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
