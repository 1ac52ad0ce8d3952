package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	mainModule      = "drift-detector"
	standardLibrary = "std"
)

// modules are the modules that a program is linked of, by their paths: this one and the
// standard library among them.
type modules map[string]*module

type module struct {
	version, sum string
	needs        map[string]bool   // the modules that its packages import
	texts        map[string]string // licences and notices, by their files below the module
	licenses     []string          // SPDX ids, sorted
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir string
	Imports         []string
	Standard        bool
	Module          *struct{ Path, Version, Dir string }
}

// linked finds the modules of a program, and the licences in the folders of the packages
// that are linked and above them, up to the module's own. It fails when one has none.
func linked(goos, goarch string, build []string) (modules, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Dir,Imports,Standard,Module"}, build...)...)
	cmd.Env = target(goos, goarch)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	goroot, version, err := toolchain()
	if err != nil {
		return nil, err
	}
	all, owner := modules{}, map[string]string{}
	var packages []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		path, release, root := standardLibrary, version, goroot
		if !p.Standard {
			path, release, root = p.Module.Path, p.Module.Version, p.Module.Dir
		}
		if all[path] == nil {
			all[path] = &module{version: release, needs: map[string]bool{}, texts: map[string]string{}}
		}
		owner[p.ImportPath] = path
		packages = append(packages, p)
		if err := all[path].gather(p.Dir, root); err != nil {
			return nil, err
		}
	}
	for _, p := range packages {
		from := owner[p.ImportPath]
		for _, i := range p.Imports {
			if to := owner[i]; to != "" && to != from {
				all[from].needs[to] = true
			}
		}
	}
	for path, m := range all {
		if err := m.classify(); err != nil {
			return nil, fmt.Errorf("module %s %s: %w", path, m.version, err)
		}
	}
	return all, nil
}

// toolchain returns where Go is, and its version.
func toolchain() (goroot, version string, err error) {
	out, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	goroot, version, _ = strings.Cut(strings.TrimSpace(string(out)), "\ngo")
	if err != nil || version == "" {
		return "", "", fmt.Errorf("go env GOROOT GOVERSION: %q, %w", out, err)
	}
	return goroot, version, nil
}

var isLicence = regexp.MustCompile(`(?i)^((un)?licen[sc]e|copying|notice|patents)([._-].*)?$`)

// gather reads the licences of a folder and of those above it up to the root.
func (m *module) gather(dir, root string) error {
	for ; dir == root || strings.HasPrefix(dir, root+string(filepath.Separator)); dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || !isLicence.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			file := filepath.Join(dir, e.Name())
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			m.texts[filepath.ToSlash(name)] = strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
		}
	}
	return nil
}

// licences are known by words that no other has. All of them let a program be passed on
// with their text; one that is not here is for somebody to read before it is added.
var licences = []struct {
	id          string
	has, hasNot string
}{
	{"Apache-2.0", "apache license,? version 2\\.0", ""},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy", ""},
	{"BSD-3-Clause", "redistribution and use in source and binary forms.*be used to endorse or promote", "advertising materials"},
	{"BSD-2-Clause", "redistribution and use in source and binary forms", "be used to endorse or promote|advertising materials"},
	{"ISC", "permission to use, copy, modify,? and(/or)? distribute this software for any purpose with or without fee", ""},
	{"Unlicense", "this is free and unencumbered software released into the public domain", ""},
	{publicDomain, "(are|is|been) (hereby )?(placed|put) (into|in) the public domain", ""},
}

const publicDomain = "public domain" // which is no licence, and has no id of SPDX

// classify finds the licences that the texts are.
func (m *module) classify() error {
	found := map[string]bool{}
	for _, text := range m.texts {
		text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
		for _, l := range licences {
			if regexp.MustCompile(l.has).MatchString(text) && (l.hasNot == "" || !regexp.MustCompile(l.hasNot).MatchString(text)) {
				found[l.id] = true
			}
		}
	}
	if m.licenses = slices.Sorted(maps.Keys(found)); len(m.licenses) == 0 {
		return fmt.Errorf("no known licence in %q", slices.Sorted(maps.Keys(m.texts)))
	}
	return nil
}

// notices returns the texts of all licences, each once, below the modules that it is of.
func (all modules) notices() []byte {
	owners := map[string][]string{} // by text
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if path == mainModule {
			continue // its licence is a file of its own
		}
		for _, name := range slices.Sorted(maps.Keys(all[path].texts)) {
			text := all[path].texts[name]
			owners[text] = append(owners[text], fmt.Sprintf("%s %s: %s", path, all[path].version, name))
		}
	}
	texts := slices.SortedFunc(maps.Keys(owners), func(a, b string) int { return strings.Compare(owners[a][0], owners[b][0]) })
	var out strings.Builder
	out.WriteString("drift-detector holds the following modules. Its own licence is in LICENSE.\n")
	for _, text := range texts {
		fmt.Fprintf(&out, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(owners[text], "\n"), text)
	}
	return []byte(out.String())
}
