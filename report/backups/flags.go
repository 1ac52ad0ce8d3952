package backups

import (
	"cmp"
	"strings"

	"drift-detector/internal/terminal"
)

// Flags are those of the run, as a shell reads them back, which a command needs that is offered.
type Flags struct {
	Program string // how the program is called, as a shell reads it; empty: drift-detector
	Store   string // how the store is reached
	Run     string // that, and how the infrastructure is
	Pick    string // which backups are compared
	All     string // the same without --schedule
	More    string // the same, widened for those that were not compared; empty where nothing is wider
	// Quote makes a word of a shell out of an address; nil shows where it begins and ends.
	Quote func(string) string
}

func (f Flags) quoted(address string) string {
	if strings.HasPrefix(address, "-") { // a folder, and no flag
		address = "./" + address
	}
	if f.Quote == nil {
		return terminal.Quoted(address)
	}
	return f.Quote(address)
}

func (f Flags) program() string { return cmp.Or(f.Program, "drift-detector") }

// detect returns the command that says all of one backup.
func (f Flags) detect(place string) string {
	return f.program() + " detect --backup " + f.quoted(place) + " -o report.json" + spaced(f.Run)
}

// only returns that command, with no more than the store's flags.
func (f Flags) only(place string) string {
	return f.program() + " detect --backup " + f.quoted(place) + " -o report.json" + spaced(f.Store)
}

// compare returns the command that says which backup of a place is the best.
func (f Flags) compare(place string) string {
	return f.program() + " backups " + f.quoted(place) + " --compare" + spaced(f.Store) + spaced(f.Pick)
}

// all returns that command for all schedules.
func (f Flags) all(place string) string {
	f.Pick = f.All
	return f.compare(place)
}

// more returns the command that compares more of them.
func (f Flags) more(place string) string {
	f.Store, f.Pick = f.Run, f.More
	return f.compare(place)
}

func spaced(text string) string {
	if text == "" {
		return ""
	}
	return " " + text
}

// Alone returns the address of the backups of one root of a place: where backups of others are below
// it, as far as backups/.
func Alone(root, place string) string {
	if root == strings.TrimRight(place, "/") {
		return root + "/backups"
	}
	return root
}

// Compare returns the command that says which backup of a place is the best.
func (f Flags) Compare(place string) string { return f.compare(place) }
