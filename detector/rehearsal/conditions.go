package rehearsal

import "drift-detector/infra"

// Condition is what has to hold for a YES and cannot be seen from here.
type Condition struct{ Code, Text string }

// Conditions are those of the rows, the special ones first.
var Conditions = []Condition{
	{"PoolAddressesTaken", "These addresses are excluded from their pools (spec.excludedAddresses) before a machine is made: VMs have them, and the pools believe that they are free"},
	{"NamedInVCenter", "The tags, modules, VM groups and storage policies that these objects name exist in vCenter: they are named by ids that were not looked up"},
	{"VCenterUnasked", "The names of datacenters are unique, and the VMs of machines have what CAPV asks for (an address, a network card for each device, the hardware version, a host that can be read): the inventory was saved before this was asked for"},
	{infra.CredentialUntried, "The infrastructure accepts the credentials in the backup, which are what the controllers log in with: others were used here, and these were not tried"},
	{infra.CertificateUnchecked, "The controllers trust the certificates of the infrastructure's servers: the check was turned off here"},
}
