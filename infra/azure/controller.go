package azure

import (
	"drift-detector/infra"
	"drift-detector/report/code"
)

// controller describes CAPZ, as seen with v1.26.0 and in its code
// (controllers/azuremachine_{controller,reconciler}.go, azure/services/virtualmachines).
// It takes the VM of the recorded name in the resource group of the cluster, whatever its
// vmId, power state or provisioningState, and starts none.
var controller = infra.Controller{
	Name: "CAPZ", Makes: "creates a VM", ID: infra.IDNowhere, NameIsID: true, Defaults: true,
	RefusedAtFirst: "AzureMachines, and AzureMachinePools that are Flexible or have an identity of the system",
	Obstacles: map[infra.Obstacle]string{
		infra.NoBootstrapData: "CAPZ reads that before it looks for the VM",
	},
}

// remedies are what to do about a machine that could not be decided, where Azure differs
// from others.
var remedies = map[code.Reason]string{
	code.IdentityChanged:    "Either a VM with its vmId is in another resource group, because it was moved: move it back (az resource move) before the restore, since CAPZ looks for it by name in the resource group of the cluster alone. Or a VM with its name and ARM id is there that is not its own: it has another vmId, or was created after the backup. Find out by its Node and its disks who created it, and for what. As it has the name, CAPZ takes it for the machine's without a word, and deletes it with the Machine: leave Machine and AzureMachine out of the restore, or delete that VM and its network interface first, if it is to end.",
	code.InstanceUnreadable: "Azure does not say whether this VM runs, or is deleting it. Look at it (az vm get-instance-view), wait until it is gone, and run detect again.",
}
