// Package browser holds tests alone: they open the HTML report in Debian's
// Chromium, without a network, and look for what a parser of HTML cannot see. It
// is a module of its own, so that the browser's driver weighs nothing on
// drift-detector's.
package browser
