package infra

import "fmt"

// MaxQuiet is how many pages of a list in a row may hold nothing new. Servers do answer
// with empty pages where they filter, and with one that was read where something has
// changed meanwhile.
const MaxQuiet = 100

// Quiet counts the pages in a row of a list that held nothing new: so a server that always
// leads to another page comes to an end. The zero value is ready to use.
type Quiet int

// Page counts a page that leads to another one. It is an error after MaxQuiet pages in a
// row that were not fresh.
func (q *Quiet) Page(fresh bool) error {
	*q++
	switch {
	case fresh:
		*q = 0
	case *q >= MaxQuiet:
		return fmt.Errorf("%d pages in a row hold nothing new", MaxQuiet)
	}
	return nil
}
