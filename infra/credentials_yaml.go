package infra

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"drift-detector/internal/lazyregexp"
)

// credentialEntry is one item of endpoints: its fields as they are written.
type credentialEntry struct {
	line   int
	fields map[string]string
}

var credentialFields = []string{"endpoint", "username", "password", "passwordFile", "thumbprint", "caFile", "kubeconfig"}

// credentialEntries reads the YAML by its nodes: only so are the texts of
// scalars kept as written (a password 0123), the lines known, and the errors
// free of what could not be read.
func credentialEntries(text []byte) ([]credentialEntry, error) {
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty; endpoints: is missing")
	} else if err != nil {
		return nil, yamlError(err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("it holds more than one YAML document")
	}
	top, err := mapping(doc.Content[0], "endpoints")
	if err != nil {
		return nil, err
	}
	list, ok := top["endpoints"]
	if !ok || list.Kind != yaml.SequenceNode {
		return nil, errors.New("endpoints: must be a list")
	}
	entries := make([]credentialEntry, 0, len(list.Content))
	for _, item := range list.Content {
		nodes, err := mapping(item, credentialFields...)
		if err != nil {
			return nil, err
		}
		e := credentialEntry{line: item.Line, fields: map[string]string{}}
		for name, n := range nodes {
			if e.fields[name], err = scalar(name, n); err != nil {
				return nil, err
			}
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// yamlLine finds the line in an error of the YAML parser. The rest of its text
// is not shown: it quotes anchors, and "*word" is what an unquoted password
// may look like.
var yamlLine = lazyregexp.New(`line (\d+)`)

func yamlError(err error) error {
	const quote = "it is not valid YAML; quote passwords with special characters"
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("line %s: %s", m[1], quote)
	}
	return errors.New(quote)
}

// mapping returns the values of a mapping by their names, which must be known.
func mapping(n *yaml.Node, known ...string) (map[string]*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: expected fields (%s)", n.Line, strings.Join(known, ", "))
	}
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !slices.Contains(known, key.Value) {
			return nil, fmt.Errorf("line %d: unknown field%s; known are %s", key.Line, named(key.Value), strings.Join(known, ", "))
		}
		if fields[key.Value] != nil {
			return nil, fmt.Errorf("line %d: field %s is given twice", key.Line, key.Value)
		}
		fields[key.Value] = n.Content[i+1]
	}
	return fields, nil
}

// isWord is what a field's name may look like. A text with digits or other characters may
// be a password that lost its field.
var isWord = lazyregexp.New(`^[A-Za-z]+([-_][A-Za-z]+)*$`)

// named returns an unknown field's name for a message, where it looks like one.
func named(field string) string {
	const longest = 24 // bytes
	if len(field) > longest || !isWord.MatchString(field) {
		return ""
	}
	return " " + field
}

// scalar returns a field's text as it is written. An empty value, an alias or a
// tag is most likely a password that lacks its quotes.
func scalar(name string, n *yaml.Node) (string, error) {
	plain := n.Kind == yaml.ScalarNode && n.Anchor == "" && n.Style&yaml.TaggedStyle == 0
	if !plain || n.Value == "" || n.ShortTag() == "!!null" {
		return "", fmt.Errorf("line %d: %s must be a text that is not empty; quote it when it has special characters", n.Line, name)
	}
	return n.Value, nil
}
