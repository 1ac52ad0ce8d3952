// Package rehearsal asks what every controller of Cluster API will ask once the backup has
// been restored, in the controller's own order, and notes each answer that does not pass:
// what is absent, there more than once, not as it is needed, refused, or not to be seen
// from here. A restore is safe only when all steps passed or are named conditions.
//
// [Rehearse] is a pure function. A file holds the rows of one controller; a row says what
// is asked, what each answer does, and where that is written. The rows of infrastructure
// providers are in their folders and arrive with infra.Expected.
package rehearsal
