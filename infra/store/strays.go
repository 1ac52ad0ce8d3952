package store

import (
	"context"
	"fmt"
	"slices"
)

// ofVelero are the folders that Velero itself has in a store, beside that of backups
// (pkg/persistence/object_store_layout.go v1.18.3).
var ofVelero = []string{folder, "restores", "restic", "metadata", "plugins", "kopia"}

// strays finds backups/ in folders beside one. Velero calls such a location invalid
// (object_store.go:IsValid), so that the backups beside it have come to an end, and those
// below may be the ones. A folder that can't be listed is passed over.
func (p *Place) strays(ctx context.Context, at string, below []string) []string {
	var found []string
	beside := slices.DeleteFunc(slices.Clone(below), func(f string) bool { return slices.Contains(ofVelero, f) })
	for i, f := range beside {
		if i == maxRoots {
			p.bounds = append(p.bounds, fmt.Sprintf("%s has %d folders beside backups/: backups of others are looked for in %d, the most. Give the prefix that spec.objectStorage.prefix of the BackupStorageLocation names", p.Name(), len(beside), maxRoots))
			break
		}
		if deeper, err := p.folders(ctx, at+f+"/"); err == nil && slices.Contains(deeper, folder) {
			found = append(found, at+f+"/"+folder+"/")
		}
	}
	return found
}
