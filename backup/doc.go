// Package backup turns Velero backups of a Cluster API management cluster into
// a [Snapshot]: the clusters, control planes, machine groups and machines that
// the backup expects to exist, the provider objects behind them, and what the
// backup lacks.
//
// [Load] makes one streaming pass over each tarball. Nothing is extracted to
// disk and nothing is contacted. What is kept of an object is decided before
// the pass by a [Want]: kinds with the few JSON paths that their owner asks
// for, and the shapes of the Secrets that hold credentials. All other bytes are
// skipped.
//
// A backup is hostile until proven otherwise. Sizes, depths and counts are
// bounded, a bad item costs only itself and is listed in [Snapshot.Problems],
// and credentials come back beside the Snapshot, in [Secrets], so that they can
// be dropped as soon as listing is done.
package backup
