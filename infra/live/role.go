package live

import _ "embed"

// Role is what the account must be allowed, as a ClusterRole.
//
//go:embed role.yaml
var Role string
