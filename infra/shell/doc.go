// Package shell makes lines for a POSIX shell out of words that may be hostile,
// and says what a plan asks of the command line of a provider: [Tool].
//
// Nothing here runs a command. Foreign names reach a line through [Quote] alone. A
// line that would have to hold a control character is not made: its [Command]
// remembers the text that it refused, and everything that is put together with it refuses,
// too.
package shell
