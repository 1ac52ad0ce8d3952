// Package injection runs the real command over backups and servers whose every text is
// an attack on whoever reads what it writes, and reads that with real parsers.
package injection
