// Package backup turns Velero backups of a Cluster API management cluster into
// a [Snapshot]: the clusters, control planes, machine groups and machines that
// the backup expects to exist, the provider objects behind them, and what the
// backup lacks.
//
// [Load] makes one streaming pass over each tarball, which package archive
// reads. Nothing is extracted to disk and nothing is contacted. What is kept of
// an object is decided before the pass by a [Want]: kinds with the few JSON paths
// that their owner asks for, and the shapes of the Secrets that hold credentials.
// Package scan finds them, and skips all other bytes.
//
// A backup is hostile until proven otherwise. Each item is bounded in size,
// depth and the length of each text and list that is kept of it; an item that
// breaks a bound, or is bad in another way, costs only itself and is listed in
// [Snapshot.Problems]: nothing is cut short. The number of objects and of their
// kinds is bounded for a backup as a whole, and so is all that is kept of them;
// a backup beyond that is refused. Credentials come back beside the Snapshot, in
// [Secrets], so that they can be dropped as soon as listing is done.
package backup
