// Package runbook prints a plan: as [Markdown], as a script for a [Shell] that does nothing as it
// is, as a [Table] for a terminal, as an [Env] file of its variables, and as the [Page] that the
// HTML of a report has. What there is to do, and in which order, package plan has decided: here it
// is only said.
//
// Findings that need the same are printed once, see fold: in a loop, or with variables that a function
// sets for the machine of a number. What is pasted goes on behind a failure, so that what is copied at
// once holds no two steps, see pieces. What has been said is pointed to, see memory.
//
// Texts of a plan may hold names from a backup that may be hostile. Each form escapes them in its own
// way; commands are made of words that are quoted already.
package runbook
