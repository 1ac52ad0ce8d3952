package azure

import (
	"encoding/json"

	"drift-detector/infra"
)

// Facts of a VM that the backup records, which steps of the walk ask for: ids in a JSON list, those
// of interfaces in lower case, and those of identities as Azure writes them.
const (
	factInterfaces = "networkInterfaces"
	factIdentities = "userAssignedIdentities"
)

// FactsOf returns the Facts of a VM with these network interfaces and identities, each in its order.
func FactsOf(interfaces, identities []string) infra.Facts {
	return infra.Facts{{Name: factInterfaces, Value: listText(interfaces)}, {Name: factIdentities, Value: listText(identities)}}
}

func listText(all []string) string {
	text, _ := json.Marshal(all) // of strings
	return string(text)
}

// listOf reads a Fact that is a list.
func listOf(text string) []string {
	var all []string
	_ = json.Unmarshal([]byte(text), &all)
	return all
}
