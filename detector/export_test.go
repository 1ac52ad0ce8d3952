package detector

import (
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
)

// RandomWorld returns a random world for the tests of what is made of a Result. Its parts
// may be changed before Detect is called with them.
func RandomWorld(seed uint64) (*backup.Snapshot, infra.Expected, infra.Inventory, time.Time) {
	s := randomWorld(seed)
	return &s.snap, s.expected, s.inventory(), s.now
}
