package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// bom is a software bill of materials in the form of CycloneDX 1.6, as far as it is used
// here: https://cyclonedx.org/docs/1.6/json/
type bom struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	SerialNumber string       `json:"serialNumber,omitempty"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string          `json:"type"`
	Ref        string          `json:"bom-ref"`
	Name       string          `json:"name"`
	Version    string          `json:"version"`
	Licenses   []licenseChoice `json:"licenses"`
	PURL       string          `json:"purl"`
	Properties []property      `json:"properties,omitempty"`
}

type licenseChoice struct {
	License license `json:"license"`
}

// license has either the id that SPDX gives it, or a name.
type license struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// purl returns the package URL of a module: its path is in lower case, whatever Go says.
// https://github.com/package-url/purl-spec, type golang
func purl(path, version, qualifiers string) string {
	segments := strings.Split(strings.ToLower(path), "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	p := "pkg:golang/" + strings.Join(segments, "/") + "@" + strings.ReplaceAll(url.PathEscape(version), "+", "%2B")
	if qualifiers != "" {
		p += "?" + qualifiers
	}
	return p
}

// sbom lists the modules that a program is made of, with their licences and which needs
// which. The same program gives the same bytes: the serial number is made of the rest.
func sbom(name, version, goos, goarch string, when time.Time, all modules) ([]byte, error) {
	refs := map[string]string{}
	for path, m := range all {
		refs[path] = purl(path, m.version, "")
	}
	refs[mainModule] = purl(name, version, "goarch="+goarch+"&goos="+goos)
	b := bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: metadata{Timestamp: when.Format(time.RFC3339)},
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		m := all[path]
		c := component{Type: "library", Ref: refs[path], Name: path, Version: m.version, PURL: refs[path]}
		for _, id := range m.licenses {
			l := license{ID: id}
			if id == publicDomain {
				l = license{Name: id}
			}
			c.Licenses = append(c.Licenses, licenseChoice{l})
		}
		if m.sum != "" {
			c.Properties = []property{{"go.sum", m.sum}}
		}
		needs := dependency{Ref: refs[path]}
		for _, other := range slices.Sorted(maps.Keys(m.needs)) {
			needs.DependsOn = append(needs.DependsOn, refs[other])
		}
		if path == mainModule {
			c.Type, c.Name, c.Version = "application", name, version
			b.Metadata.Component = c
		} else {
			b.Components = append(b.Components, c)
		}
		b.Dependencies = append(b.Dependencies, needs)
	}
	content, err := encode(b)
	if err != nil {
		return nil, err
	}
	h := sha256.Sum256(content)
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80 // a UUID of version 8 (RFC 9562): of our own making
	b.SerialNumber = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
	return encode(b)
}

func encode(b bom) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(b); err != nil {
		return nil, fmt.Errorf("writing the SBOM: %w", err)
	}
	return out.Bytes(), nil
}

// confirm demands that a program was built of these modules, by what its linker wrote
// into it, and takes their checksums from there.
func (all modules) confirm(program []byte) error {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return fmt.Errorf("reading what the program was built of: %w", err)
	}
	if want := "go" + all[standardLibrary].version; info.GoVersion != want {
		return fmt.Errorf("the program was built with %s, not with %s", info.GoVersion, want)
	}
	for _, d := range info.Deps {
		m := all[d.Path]
		if m == nil || m.version != d.Version || d.Replace != nil {
			return fmt.Errorf("the program holds %s %s, of which go list says nothing", d.Path, d.Version)
		}
		m.sum = d.Sum
	}
	if len(all) != len(info.Deps)+2 {
		return fmt.Errorf("the program holds %d modules, go list says %d", len(info.Deps), len(all)-2)
	}
	return nil
}
