package infra

import (
	"context"

	"drift-detector/backup"
)

// Provider lists one kind of infrastructure.
type Provider interface {
	// Spec describes the provider. It returns the same each time.
	Spec() Spec
	// Targets returns where to look and with which credential. It contacts nothing. A
	// scope without a usable credential is a Target too, with the reason in
	// Target.Refused. Without Secrets it returns the same ids.
	Targets(*backup.Snapshot, *backup.Secrets, Access) []Target
	// Expected returns what the backup expects to exist. It is pure: no secrets, no I/O.
	Expected(*backup.Snapshot) Expected
	// List returns what there is at a Target. It is the only method that does I/O. It
	// never fails: it returns what it has, with a State and a Fault for what is missing,
	// so that nobody concludes absence from it. It returns soon after the context ends.
	List(context.Context, Target) Listing
}

// GroupKind is an API group and kind, such as
// infrastructure.cluster.x-k8s.io VSphereMachine.
type GroupKind struct{ Group, Kind string }
