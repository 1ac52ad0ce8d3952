// Package releases says what becomes of every Helm release after a restore, and
// what of it has drifted.
//
// A backup holds both sides: Helm's records, with the manifest that is desired,
// and the objects as they lived. A [Collector] takes the objects of a backup
// twice, first the records and what looks after them, then each object that a
// manifest names, which is compared at once and not kept. The comparison is that
// of Flux's helm-controller, with the server's part done here: Kubernetes' own
// types, defaults and zero values (kinds.go, normalize.go, defaults.go, zeros.go), the
// merge of a server-side apply (schema.go, compare.go), and what a server refuses
// (refuse.go).
//
// The package decides and reads nothing. Values of Secrets and of charts are masked in its
// [Result], as is what has the name of a secret elsewhere, such as AZURE_CLIENT_SECRET;
// Helm's values are never read.
package releases
