package infra

import "drift-detector/backup"

// Access is what the operator says about reaching endpoints, beside what the
// backup says.
type Access struct {
	Reroutes    []Reroute
	Credentials []Credential // by precedence
	// InsecureSkipVerify turns off certificate checks for infrastructure
	// endpoints, never for workload API servers.
	InsecureSkipVerify bool
	// Options are the values of the flags that providers declare, by name, "true" for a
	// switch. A flag that was not given is not among them.
	Options map[string]string
	// SkipNodes leaves workload API servers alone.
	SkipNodes bool

	index *accessIndex // of Reroutes and Credentials, see indexed; may be nil
}

// Reroute says to reach at To what the backup calls From. The certificate is
// still checked for the name in From.
type Reroute struct{ From, To string }

// Credential overrides what the backup holds for one endpoint.
type Credential struct {
	Endpoint   string // host or host:port as the backup calls it
	Source     string // where it was given, for messages: "--credentials file.yaml", "GOVC_USERNAME"
	Username   string
	Password   backup.Sensitive
	Thumbprint string // of the server certificate, SHA-1 or SHA-256, colon-separated hex
	CA         []byte // PEM
	Kubeconfig backup.Sensitive
}
