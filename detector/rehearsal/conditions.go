package rehearsal

import "drift-detector/infra"

// Condition is what has to hold for a YES and cannot be seen from here.
type Condition struct{ Code, Text string }

// Conditions are those of the rows, the special ones first.
var Conditions = []Condition{
	{infra.CredentialUntried, "The infrastructure accepts the credentials in the backup, which are what the controllers log in with: others were used here, and these were not tried"},
	{infra.CertificateUnchecked, "The controllers trust the certificates of the infrastructure's servers: the check was turned off here"},
}
