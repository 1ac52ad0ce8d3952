// Package live holds tests alone: they read the objects of the lab from a real kube-apiserver,
// with the real drift-detector, as 'make test-live' builds them. The objects are put into etcd,
// so that uids, states and times are those of the backup; no controller runs. It is a module of
// its own, so that nothing of Kubernetes weighs on drift-detector's.
package live
