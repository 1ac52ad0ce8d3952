// Package lab serves the real, drifted fleet of testdata on loopback: the
// vCenter by govmomi's simulator in this process, the API servers of the
// workload clusters by small TLS servers that know nothing but their Nodes, EC2
// and the services beside it by one that speaks their query protocol.
//
// Tests of several packages and the demo use it. It listens on random ports of
// 127.0.0.1 only; what the backup calls by another address is reached through
// Reroutes, in the form of drift-detector's --endpoint flag, and AWS through
// the environment, as its SDK has it. Everything that it writes is in temporary
// directories that Close removes.
//
// The lab may be bent: VMs cloned, renamed, moved, removed or made unreadable,
// folders hidden, logins demanded and counted, API servers made to hang, to
// refuse or to show an expired certificate, AWS to throttle, to forbid, to cut
// connections.
package lab
