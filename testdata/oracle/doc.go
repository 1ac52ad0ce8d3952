// Package oracle holds tests alone: they set drift-detector against the code that
// formats come from. What it reads: Velero's own reader of backups and Cluster
// API's own conversion of its API versions. What it finds of Helm releases:
// helm-controller's library of drift, and the merge of Helm's upgrade. What it writes:
// Prometheus' own parser and linter, and a renderer of CommonMark with GitHub's tables.
// What plans print: govc itself, run against the lab's vCenter, and the parsers of
// kubectl's output forms. It is a module of its own, so that none of them weighs on drift-detector's.
package oracle
