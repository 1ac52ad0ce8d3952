// Package infra knows what exists: it defines what a provider is, and the plain
// values that providers and detector share.
//
// One folder per provider (infra/vsphere, infra/nodes, …) and one line in
// infra/all. All that is special to a provider lives in its folder: which
// objects of a backup it reads, how it finds endpoints and credentials, how it
// lists, how it normalises ids, what ties an unknown VM to a cluster. Towards
// the detector it speaks in Keys only: an [ExpectedMachine] says by which keys a machine
// can be found, an [Instance] says which keys it has, and the detector joins
// them by equality. To all others it is what its [Spec] says.
package infra
