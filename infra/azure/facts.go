package azure

import (
	"encoding/json"
	"slices"
	"strings"

	"drift-detector/infra"
)

// Facts of a VM that the backup records, which steps of the walk ask for: ids in a JSON list, those
// of interfaces in lower case, and those of identities as Azure writes them.
const (
	factInterfaces = "networkInterfaces"
	factIdentities = "userAssignedIdentities"
)

func (l *listing) facts(v *vmAnswer, id armID) infra.Facts {
	if _, recorded := l.seek.vms[id.text]; !recorded || v.Properties.Network == nil {
		return nil
	}
	nics, users := []string{}, []string{}
	for _, nic := range v.Properties.Network.NICs {
		nics = append(nics, strings.ToLower(nic.ID))
	}
	if v.Identity != nil {
		for user := range v.Identity.Users {
			users = append(users, user)
		}
	}
	slices.Sort(users)
	return infra.Facts{{Name: factInterfaces, Value: listText(nics)}, {Name: factIdentities, Value: listText(users)}}
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
