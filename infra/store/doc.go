// Package store reads the places where Velero keeps backups: a bucket of S3, or of a
// store that speaks its protocol, and a folder that is a copy of one. Velero's layout is
// [PREFIX/]backups/NAME/NAME.tar.gz beside velero-backup.json
// (pkg/persistence/object_store_layout.go v1.18.3).
//
// A store is read with credentials of the operator's, never with those of a backup, and
// nothing in it is changed. A tarball is streamed: it is never on disk. What has been
// read of an object pins it: when the object is replaced, reading on is an error.
//
// A store is not trusted. Its answers are bounded, its redirects are not followed, and a
// name in it is foreign text. Errors are [*backup.InputError] and repeat nothing of what
// a server says but its error codes.
package store
