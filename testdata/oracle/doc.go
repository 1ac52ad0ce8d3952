// Package oracle holds tests alone: they set package backup against the code
// that the formats come from, Velero's own reader of backups and Cluster API's
// own conversion of its API versions. It is a module of its own, so that
// neither weighs on drift-detector's.
package oracle
