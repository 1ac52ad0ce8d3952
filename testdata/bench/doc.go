// Command bench measures whole runs of drift-detector against what else reads a
// backup or lists a vCenter, and writes the table of docs/benchmarks.md: `make bench`.
//
// It makes its own backups, out of the lab's, and its own vCenter. Each figure is
// that of a process of its own: CPU time (user and system) and peak memory as the
// kernel counts them. All contestants run in turns, round by round, so that a busy
// machine slows all of them. Only ratios within one run carry over to other machines.
//
// It is a module of its own, so that Velero's reader and govc do not weigh on
// drift-detector's, and two programs: see the folder subjects.
package main
