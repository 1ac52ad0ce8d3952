// Package windows runs the program for Windows under wine: its paths, files, console and exit status.
package windows
