package confirm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
)

// As is what somebody says of a thing.
type As string

// What can be said.
const (
	NotAMachine As = "notAMachine" // of a VM, or of all in a folder: it belongs to no cluster of the backup
	Leave       As = "leave"       // of a VM, of all in a folder, or of a machine whose Machine the backup lacks: ours, and stays as it is
	GivenUp     As = "givenUp"     // of a cluster: it is left out of the restore
	StaysOff    As = "staysOff"    // of a machine whose VM is off
)

// All returns what can be said.
func All() []As { return []As{NotAMachine, Leave, GivenUp, StaysOff} }

// Named returns what a word says: as the file and reports spell it, or as commands did before, with dashes
// and small letters.
func Named(word string) (As, bool) {
	for _, as := range All() {
		if strings.EqualFold(strings.ReplaceAll(word, "-", ""), string(as)) {
			return as, true
		}
	}
	return As(word), false
}

// Confirmation is the word of a person for one thing. Exactly one of VM, Folder, Cluster and
// Machine is set.
type Confirmation struct {
	VM      string `yaml:"vm,omitempty"`      // its name, which ID decides
	Folder  string `yaml:"folder,omitempty"`  // inventory path; what IDs has of all that is in it or beneath it
	Cluster string `yaml:"cluster,omitempty"` // namespace/name
	Machine string `yaml:"machine,omitempty"` // namespace/name
	// Provider and Place are of a VM or a folder: where it is, by the identity of the place in
	// the report, or its endpoint where it has none.
	Provider string `yaml:"provider,omitempty"`
	Place    string `yaml:"place,omitempty"`
	ID       string `yaml:"id,omitempty"` // of a VM, and of the instance of a machine
	// IDs are of a folder: the VMs that it held when that was said, and all that it is about.
	IDs     []string `yaml:"ids,omitempty"`
	As      As       `yaml:"as"`
	By      string   `yaml:"by"`                // who says so: a person, a ticket
	On      string   `yaml:"on"`                // the day, YYYY-MM-DD, UTC
	Expires string   `yaml:"expires,omitempty"` // the last day on which it is taken, likewise; empty: for good
}

// maxSize bounds a file of confirmations.
const maxSize = 1 << 20

type document struct {
	Confirmations []Confirmation `yaml:"confirmations"`
}

// Read reads a file of confirmations. Nothing in it is guessed or skipped: what is not
// understood is an error that begins with the name.
func Read(name string, r io.Reader) ([]Confirmation, error) {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s", terminal.Escape(name), terminal.Escape(fmt.Sprintf(format, args...)))
	}
	text, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	switch {
	case err != nil:
		return nil, fail("%v", err)
	case len(text) > maxSize:
		return nil, fail("it is larger than 1 MiB")
	}
	var doc document
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fail("it is empty; 'drift-detector confirm' writes such files")
		}
		return nil, fail("%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(new(document)); !errors.Is(err, io.EOF) {
		return nil, fail("it holds a second YAML document; put all under one confirmations:")
	}
	for i := range doc.Confirmations {
		c := &doc.Confirmations[i]
		c.As, _ = Named(string(c.As))
		if problem := c.problem(); problem != "" {
			return nil, fail("line %d: confirmation %d (%s): %s", lineOf(text, i), i+1, c.Subject(), problem)
		}
	}
	return doc.Confirmations, nil
}

// lineOf returns where a confirmation begins in the text of a file that was read.
func lineOf(text []byte, n int) int {
	var doc struct{ Confirmations []yaml.Node }
	if yaml.Unmarshal(text, &doc) != nil || n >= len(doc.Confirmations) {
		return 1
	}
	return doc.Confirmations[n].Line
}

// Subject names the thing that it is about, with its kind.
func (c *Confirmation) Subject() string {
	switch {
	case c.VM != "":
		return "VM " + c.VM
	case c.Folder != "":
		return "folder " + c.Folder
	case c.Cluster != "":
		return "Cluster " + c.Cluster
	case c.Machine != "":
		return "Machine " + c.Machine
	}
	return "nothing"
}

// problem says what is wrong with it; empty for nothing.
func (c *Confirmation) problem() string {
	subjects := 0
	for _, s := range []string{c.VM, c.Folder, c.Cluster, c.Machine} {
		if s != "" {
			subjects++
		}
	}
	of := map[As]bool{NotAMachine: c.VM+c.Folder != "", Leave: c.VM+c.Folder+c.Machine != "", GivenUp: c.Cluster != "", StaysOff: c.Machine != ""}
	fits, known := of[c.As]
	switch {
	case subjects != 1:
		return "it needs exactly one of vm, folder, cluster and machine"
	case !known:
		words := make([]string, 0, len(of))
		for _, as := range All() {
			words = append(words, string(as))
		}
		return fmt.Sprintf("as: %q is not known; it is %s", c.As, english.Choice(words))
	case !fits:
		return fmt.Sprintf("as: %s is not said of a %s", c.As, strings.ToLower(strings.SplitN(c.Subject(), " ", 2)[0]))
	case c.VM+c.Folder != "" && (c.Provider == "" || c.Place == ""):
		return "a VM or a folder needs provider and place"
	case (c.VM != "" || c.Machine != "") && c.ID == "":
		return "it needs the id of the VM: a name alone may be another VM's tomorrow"
	case c.Folder != "" && len(c.IDs) == 0:
		return "it needs the ids of the VMs that are in it: who says it knows nothing of later ones"
	case c.Folder == "" && len(c.IDs) > 0:
		return "ids: are of a folder"
	case strings.TrimSpace(c.By) == "":
		return "by: says who confirms it, and is missing"
	case !IsDay(c.On):
		return fmt.Sprintf("on: %q is no day; write it as 2026-11-25", c.On)
	case c.Expires != "" && !IsDay(c.Expires):
		return fmt.Sprintf("expires: %q is no day; write the last day on which it is taken, such as 2027-01-31", c.Expires)
	}
	return ""
}

// IsDay reports whether a text is a day of the calendar: 2027-02-30 is none.
func IsDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// key returns the same for confirmations of one thing.
func (c *Confirmation) key() [5]string {
	if c.VM != "" {
		return [5]string{"VM", c.Provider, c.Place, strings.ToLower(c.ID)}
	}
	return [5]string{c.Subject(), c.Provider, c.Place}
}

// Merge adds confirmations to those of a file. What somebody said of a thing is replaced by what
// the same person or ticket says now, and returned; what others say of it stays.
func Merge(old, more []Confirmation) (all, replaced []Confirmation) {
	all = slices.Clone(old)
	for _, c := range more {
		i := slices.IndexFunc(all, func(o Confirmation) bool { return o.key() == c.key() && o.By == c.By })
		if i < 0 {
			all = append(all, c)
			continue
		}
		if before := all[i]; before.As != c.As || before.Expires != c.Expires {
			replaced = append(replaced, before)
		}
		all[i] = c
	}
	return all, replaced
}

// Contradictions say which words of others are not the same as those that are given: of none of
// them anything is taken.
func Contradictions(all, given []Confirmation) []string {
	var out []string
	for i := range given {
		for j := range all {
			if c := &all[j]; c.key() == given[i].key() && c.As != given[i].As {
				out = append(out, fmt.Sprintf("%s says %s of %s, and neither is taken: %s", given[i].By, given[i].As, given[i].Subject(), c.contradicts()))
			}
		}
	}
	return out
}

// Write writes a file that Read reads. It returns the first error of the writer.
func Write(w io.Writer, all []Confirmation) error {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(document{all}); err != nil {
		return fmt.Errorf("writing confirmations: %w", err)
	}
	if b.Len() > maxSize {
		return fmt.Errorf("writing confirmations: %s make more than 1 MiB; confirm a folder as a whole", english.Count(len(all), "confirmation"))
	}
	if _, err := b.WriteTo(w); err != nil {
		return fmt.Errorf("writing confirmations: %w", err)
	}
	return nil
}
