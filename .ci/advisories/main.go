// Command advisories holds a built drift-detector against what is known to be wrong with
// the modules that it is made of.
//
//	go run ./.ci/advisories bin/drift-detector
//
// govulncheck compares the modules with the Go vulnerability database. An advisory that
// is not in the list below fails; so does the use of more of a module with an advisory
// than the list allows, by the names of functions that the linker left in the program.
// Where the database cannot be had, the second check is all, and that is said.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// known are the advisories that no release of their module mends, and that do not matter
// because the program uses none of what they are about.
var known = []struct {
	id, module, why string
	uses            []string // functions of the module that are in the program, with all in them
}{
	{
		"GO-2024-2698", "github.com/mholt/archiver/v3", "extracting a tar writes outside its folder; nothing is extracted",
		[]string{"(*Gz).Decompress", "NewZstd"},
	},
	{
		"GO-2025-3605", "github.com/mholt/archiver/v3", "extracting a zip writes outside its folder; nothing is extracted",
		[]string{"(*Gz).Decompress", "NewZstd"},
	},
	{"GO-2025-4020", "github.com/nwaples/rardecode", "a RAR takes any amount of memory; no RAR is read", nil},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: advisories PROGRAM")
		os.Exit(2)
	}
	if err := check(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "advisories: %v\n", err)
		os.Exit(1)
	}
}

func check(program string) error {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	var faults []error
	for _, k := range known {
		if used := unexpected(content, k.module, k.uses); len(used) > 0 {
			faults = append(faults, fmt.Errorf("%s (%s): the program now holds %s of %s", k.id, k.why, strings.Join(used, ", "), k.module))
			continue
		}
		fmt.Printf("%s %s: not reachable: %s\n", k.id, k.module, k.why)
	}
	found, err := govulncheck(program)
	if err != nil {
		fmt.Printf("The Go vulnerability database could not be had, so nobody looked for newer advisories: %v\n", err)
		return errors.Join(faults...)
	}
	return errors.Join(append(faults, news(found)...)...)
}

// news returns the advisories that the list lacks, and those that it no longer needs.
func news(found map[string]string) (faults []error) {
	for _, k := range known {
		if found[k.id] == "" {
			faults = append(faults, fmt.Errorf("%s is no longer about %s as it is linked: delete it from the list", k.id, k.module))
		}
		delete(found, k.id)
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		faults = append(faults, fmt.Errorf("%s is about %s, https://pkg.go.dev/vuln/%s", id, found[id], id))
	}
	return faults
}

// unexpected returns the functions of a module that a program holds and may not: all but
// those of the list, what is declared in them, and the initialisation of packages. It
// finds names in the table that every Go program has, stripped or not, in which those of
// inlined functions are, too: they end with a NUL, and follow one.
func unexpected(program []byte, module string, uses []string) []string {
	found := map[string]bool{}
	for rest := program; ; {
		at := bytes.Index(rest, []byte("\x00"+module))
		if at < 0 {
			return slices.Sorted(maps.Keys(found))
		}
		rest = rest[at+1+len(module):]
		name, _, ok := bytes.Cut(rest[:min(len(rest), 1<<10)], []byte{0})
		if !ok || len(name) == 0 || name[0] != '.' && name[0] != '/' {
			continue // another module, a path of a file, or data
		}
		function := strings.TrimPrefix(string(name), ".")
		initialises := function
		if name[0] == '/' { // of a package below: "/lzma.init"
			_, initialises, _ = strings.Cut(function[strings.LastIndex(function, "/")+1:], ".")
		}
		allowed := func(use string) bool { return function == use || strings.HasPrefix(function, use+".") }
		if !slices.ContainsFunc(uses, allowed) && initialises != "init" && !strings.HasPrefix(initialises, "init.") {
			found[function] = true
		}
	}
}

// scanner is the release of govulncheck that is run.
const scanner = "golang.org/x/vuln/cmd/govulncheck@v1.1.4"

// govulncheck returns the advisories about the modules of a program, and the module and
// version that each is about.
func govulncheck(program string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // it is compiled the first time
	defer cancel()
	args := []string{"run", scanner, "-mode", "binary", "-format", "json"}
	if db := os.Getenv("GOVULNDB"); db != "" {
		args = append(args, "-db", db) // a mirror, as a URL
	}
	cmd := exec.CommandContext(ctx, "go", append(args, program)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %.300s", err, strings.Join(strings.Fields(stderr.String()), " "))
	}
	return findings(out)
}

// findings reads the messages of govulncheck.
func findings(out []byte) (map[string]string, error) {
	all := map[string]string{}
	scanned := false
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct {
			Config  *struct{} `json:"config"`
			Finding *struct {
				OSV   string
				Trace []struct{ Module, Version string }
			} `json:"finding"`
		}
		switch err := d.Decode(&m); {
		case errors.Is(err, io.EOF) && scanned:
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("reading what govulncheck says: %w", err)
		}
		scanned = scanned || m.Config != nil
		if f := m.Finding; f != nil && len(f.Trace) > 0 {
			all[f.OSV] = f.Trace[0].Module + " " + f.Trace[0].Version
		}
	}
}
