package plan

import (
	"fmt"
	"strings"
)

// Names of variables that every plan may need.
const (
	reportFile    = "REPORT"
	management    = "MGMT"
	oldManagement = "OLD_MGMT"
	managementUID = "MGMT_UID"
	oldUID        = "OLD_MGMT_UID"
	backupName    = "BACKUP"
	restoreName   = "RESTORE"
	backupUID     = "BACKUP_UID"
	veleroSpace   = "VELERO_NAMESPACE"
	saidFile      = "SAID"
	backupFile    = "BACKUP_FILE"
	etcdPod       = "ETCD_POD"
)

// contextPrefix is what the variables begin with that lead to clusters.
const contextPrefix = "CTX_"

// IsContext reports whether a variable has the context of a cluster.
func IsContext(variable string) bool { return strings.HasPrefix(variable, contextPrefix) }

// Variable is a value that only the operator knows. It is set once, at the top.
type Variable struct {
	Name, Meaning string
	Value         string // what most operators need; empty: nobody else knows it
}

// variableName makes a name for a shell out of a foreign one. What is taken has a count of
// how many are called so, which keeps the next one of them from trying all numbers.
func variableName(from string, taken map[string]int) string {
	const most = 60
	clean := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		default:
			return '_'
		}
	}, from)
	clean = clean[:min(len(clean), most)]
	name := clean
	for taken[name] > 0 {
		taken[clean]++
		name = fmt.Sprintf("%s_%d", clean, taken[clean])
	}
	taken[name] = 1
	return name
}
