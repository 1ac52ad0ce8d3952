// Package infra knows what exists: it defines what a provider is, and the plain
// values that providers and detector share.
//
// One folder per provider (infra/vsphere, infra/nodes, …) and one line in
// infra/all. All that is special to a provider lives in its folder: which
// objects of a backup it reads, how it finds endpoints and credentials, how it
// lists, how it normalises ids, what shows whose an unknown VM is. Its [Spec]
// describes it to the rest of the program. The detector sees Keys only: an
// [ExpectedMachine] says by which keys a machine can be found, an [Instance] which
// keys it has, and the detector joins them by equality.
package infra
