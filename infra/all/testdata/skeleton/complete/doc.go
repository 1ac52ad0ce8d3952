// Package skeleton is the smallest provider that lacks nothing: boxes that carry a
// serial number.
//
//	provider.go  what the program needs to know of it, and all that it does
//	tool.go      the lines of plans that address a box
//
// Keys of instances and of what is expected:
//
//	serial  the serial number, as the box shows it
package skeleton
