package vsphere

import "drift-detector/report/code"

// remedies are what to do about a machine that could not be decided, and about a VM with the
// id of one: a VM can be moved, and given another BIOS UUID while it is off.
var remedies = map[code.Reason]string{
	code.AmbiguousMatch:     "Several VMs may be the machine. First find out which of them its Node runs on: compare the Node's addresses and heartbeat with theirs. That one is left as it is. A copy that is off gets another BIOS UUID, or is taken out of the inventory; one that runs is its owner's to shut down. Then run detect again. Until then nothing may start, stop or delete anything of it: the controller takes any VM that it finds by the id.",
	code.DuplicateID:        "It has the id of a machine of the backup, and deleting that Machine may destroy this VM too. First find out which of the VMs with that id the Node of the machine runs on: that one is left as it is. Ask the owner of the other to shut it down and to give it another BIOS UUID, or to take it out of the inventory, before the restore.",
	code.FoundElsewhere:     "A VM with its id is where its controller does not look: in another datacenter or vCenter. Prove by its Node and addresses that it is the machine, and no replica. If it is, move it back before the restore.",
	code.IdentityChanged:    "A VM that may be it is there under another id, as after a restore from a VM backup. Prove by its Node and addresses that it is the machine. If it is, give it its recorded id again before the restore, while it is powered off, of a control plane one at a time and while etcd has a majority without it; or leave the Machine as it is, and paused, until that is possible. If it is not, run detect again when it is out of the way.",
	code.InstanceUnreadable: "A VM that may be this machine could not be read. Bring it back (inaccessible datastore, disconnected host, missing permission), and run detect again.",
}
