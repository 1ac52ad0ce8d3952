// Package verify holds what is seen of a management cluster after a restore against what a report
// foretold of it: machine by machine, with the VMs that were created and that are gone since. It
// reads nothing itself and changes nothing. What was not seen is never as foretold.
package verify
