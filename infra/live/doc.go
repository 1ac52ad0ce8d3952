// Package live reads the objects of a management cluster that runs, as a backup: a stream in
// the layout of Velero, made of its lists as they come, so that all that is true of a tarball
// holds for it, its bounds and its readers.
//
//   - kubeconfig.go: the operator's own kubeconfig, or the account of the Pod. One out of a
//     backup never comes here: see infra/nodes.
//   - credentials.go: the token, certificate or program by which it logs in.
//   - client.go: questions to the API server, and what its refusals mean.
//   - discovery.go: which resources it serves, and which it should.
//   - list.go: all objects of one resource, page by page; spool.go keeps them until they are
//     whole.
//   - source.go: the stream.
//   - role.yaml: what the account must be allowed.
//
// A resource that can't be listed whole is unread (archive.Source.Unread):
// nothing is concluded from it. Only discovery and lists are asked for, and objects by name;
// nothing is watched or changed. Of an answer nothing is repeated but its status: servers and
// programs repeat what they were sent.
package live
