package vsphere

// Facts of a listing, beside those of [infra.Listing.NoteOwn].
const (
	FactThumbprint = "thumbprint"     // SHA-256 of the certificate that vCenter showed
	FactShort      = "thumbprintSHA1" // likewise
	FactDatacenter = "datacenter"     // each that the account sees: managed object id and path
	FactCluster    = "computeCluster" // path of each, where a failure domain names a VM group
	FactGroup      = "vmGroup"        // of each compute cluster, after an empty one; and of a VM of a machine, each that it is in
	FactMembers    = "vmGroupMembers" // that these were asked for their VMs: "read"
	FactVMs        = "machineVMs"     // that the VMs of machines were asked for their Facts: "read"
)

// Facts of the VM of a machine.
const (
	FactHardware = "hardwareVersion" // "vmx-19"
	FactCards    = "networkCards"    // how many
	FactHost     = "host"            // name of the host
	FactPCI      = "pciDevice"       // each, after an empty one: its ids, with its label behind them
	FactAddress  = "address"         // each that the guest has on a network card, as CAPV counts them
)

// MaxAddresses bounds what a guest may make of its addresses.
const MaxAddresses = 16
