// Package oracle restores random backups with the real controllers of Cluster API and
// holds what they did against what drift-detector says that they do. See README.md.
//
// Its module is named as if it were a part of Cluster API: Go lets it import the
// internal packages of KubeadmControlPlane for that, as Cluster API's own tests do.
// go.mod has one minor of Cluster API, each other NAME.mod another; the tag capi112
// chooses the few lines in which they differ.
package oracle
