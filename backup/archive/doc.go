// Package archive reads the tarballs of Velero: the objects of a cluster as one
// JSON file each, below resources/.
//
// [Walk] makes one streaming pass over a [Source] and hands whole items to a
// [Visitor], which says by the name of an item whether it reads the body.
// Nothing is extracted to disk; a body that nobody reads is passed over. A
// Source can be walked again: what the first pass finds may decide what the
// second one is to read.
//
// A tarball is hostile until proven otherwise. It means here what it means to
// archive/tar, with which Velero reads it, or is refused. [Bounds] limit what it
// may cost. An entry that no Velero writes, or that breaks a bound of its own,
// costs only itself and is reported to the Visitor. An input that cannot be
// used as a whole is refused with an [*InputError], which says what to do.
package archive
