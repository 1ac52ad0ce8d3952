package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

const provenanceFile = "provenance.intoto.json"

// statement is in-toto's, about the files of a release, with SLSA's provenance as predicate:
// https://slsa.dev/spec/v1.1/provenance
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     predicate  `json:"predicate"`
}

type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

type predicate struct {
	BuildDefinition buildDefinition `json:"buildDefinition"`
	RunDetails      runDetails      `json:"runDetails"`
}

type buildDefinition struct {
	BuildType            string         `json:"buildType"`
	ExternalParameters   map[string]any `json:"externalParameters"`
	InternalParameters   map[string]any `json:"internalParameters"`
	ResolvedDependencies []resource     `json:"resolvedDependencies"`
}

type runDetails struct {
	Builder builder `json:"builder"`
}

type builder struct {
	ID      string            `json:"id"`
	Version map[string]string `json:"version"`
}

// provenance says of what, by what and how the files were made. It has no time and no id of
// the run: the same commit gives the same bytes, so anyone can make it again and compare. Who
// built is known from the signature alone.
func provenance(o options, goVersion string, made []summed) (file, error) {
	source := home(o.releases)
	s := statement{
		Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1",
		Predicate: predicate{
			BuildDefinition: buildDefinition{
				BuildType:          source + "/blob/" + o.commit + "/docs/install.md#provenance",
				ExternalParameters: map[string]any{"repository": source, "version": o.version, "targets": o.targets},
				InternalParameters: map[string]any{"flags": o.build, "environment": settings},
				ResolvedDependencies: []resource{
					{URI: "git+" + source + "@" + o.commit, Digest: map[string]string{"gitCommit": o.commit}},
					{Name: "go", URI: "pkg:golang/std@" + goVersion},
				},
			},
			RunDetails: runDetails{builder{o.builder, map[string]string{"go": goVersion}}},
		},
	}
	for _, m := range made {
		s.Subject = append(s.Subject, resource{Name: m.name, Digest: map[string]string{"sha256": m.sum}})
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		return file{}, fmt.Errorf("writing the provenance: %w", err)
	}
	return file{provenanceFile, out.Bytes(), 0o644}, nil
}
