package ignore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"drift-detector/internal/terminal"

	"go.yaml.in/yaml/v3"
)

// maxSize bounds an ignore file.
const maxSize = 1 << 20

// Read reads one ignore file. The name is what the operator called it: it is in
// every rule and before every error, as name:line:column. Nothing in a file is
// guessed or skipped: what is not understood is an error, since a rule that does
// not say what its author meant hides the wrong thing.
func Read(name string, r io.Reader) ([]Rule, error) {
	f := file{name}
	text, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading ignore rules from %s: %w", terminal.Escape(name), err)
	}
	if len(text) > maxSize {
		return nil, f.at(1, 1, "it is larger than 1 MiB; write globs instead of one rule for each machine")
	}
	root, err := f.document(text)
	if err != nil {
		return nil, err
	}
	top, err := f.mapping(root, "rules")
	if err != nil {
		return nil, err
	}
	list := top["rules"]
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil, f.fail(either(list, root), "rules: must be a list of rules")
	}
	rules := make([]Rule, 0, len(list.Content))
	for _, n := range list.Content {
		rule, err := f.rule(n)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// file makes the errors of one file.
type file struct{ name string }

func (f file) at(line, column int, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", terminal.Escape(f.name), line, column, fmt.Sprintf(format, args...))
}

func (f file) fail(n *yaml.Node, format string, args ...any) error {
	return f.at(n.Line, n.Column, format, args...)
}

// document returns the root of the only document of the file.
func (f file) document(text []byte) (*yaml.Node, error) {
	if err := f.characters(text); err != nil {
		return nil, err
	}
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		return nil, f.at(1, 1, "it is empty; write rules: and a list of rules")
	} else if err != nil {
		return nil, f.syntax(text, err)
	}
	if err := dec.Decode(&more); err == nil {
		return nil, f.fail(&more, "a second YAML document begins here; put all rules under one rules:")
	} else if !errors.Is(err, io.EOF) {
		return nil, f.syntax(text, err)
	}
	return doc.Content[0], f.plain(doc.Content[0])
}

// plain refuses what YAML makes of globs and keys that lack their quotes: *name
// is an alias, &name an anchor, !match: a tag.
func (f file) plain(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return f.fail(n, "YAML reads *%s as an alias; quote a glob that begins with *", terminal.Escape(n.Value))
	case n.Anchor != "":
		return f.fail(n, "YAML reads &%s as an anchor; quote a text that begins with &", terminal.Escape(n.Anchor))
	case strings.HasPrefix(n.Tag, "!match"):
		return f.fail(n, "%s", quoteMatch)
	case n.Style&yaml.TaggedStyle != 0:
		return f.fail(n, "YAML reads %s as a tag; quote a text that begins with !", terminal.Escape(n.Tag))
	}
	for _, child := range n.Content {
		if err := f.plain(child); err != nil {
			return err
		}
	}
	return nil
}

const quoteMatch = `YAML reads an unquoted !match as a tag; write "!match": in quotes`

func (f file) rule(n *yaml.Node) (Rule, error) {
	fields, err := f.mapping(n, "match", "!match", "reason", "expires")
	if err != nil {
		return Rule{}, err
	}
	rule := Rule{File: f.name, Line: n.Line}
	match, include := fields["match"], fields["!match"]
	switch {
	case match == nil && include == nil:
		return Rule{}, f.fail(n, `the rule has no match:, so it would match nothing`)
	case match != nil && include != nil:
		return Rule{}, f.fail(n, `the rule has match: and "!match":; make two rules of it`)
	case include != nil:
		match, rule.Include = include, true
	}
	if rule.Match, err = f.selector(match); err != nil {
		return Rule{}, err
	}
	if reason := fields["reason"]; reason != nil {
		if rule.Reason, err = f.text("reason", reason); err != nil {
			return Rule{}, err
		}
	}
	if strings.TrimSpace(rule.Reason) == "" && !rule.Include {
		return Rule{}, f.fail(either(fields["reason"], n), "the rule has no reason:; say why its findings may be set aside")
	}
	if day := fields["expires"]; day != nil {
		if rule.Expires, err = f.text("expires", day); err != nil {
			return Rule{}, err
		}
		if !isDay(rule.Expires) {
			return Rule{}, f.fail(day, "expires: %q is no date; write the last day on which the rule holds, such as 2027-01-31", rule.Expires)
		}
	}
	return rule, nil
}

func isDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func either(n, otherwise *yaml.Node) *yaml.Node {
	if n != nil {
		return n
	}
	return otherwise
}

// selector reads the conditions of a rule, in their order.
func (f file) selector(n *yaml.Node) (Selector, error) {
	fields, err := f.mapping(n, slices.Sorted(maps.Keys(keys))...)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 {
		return nil, f.fail(n, "the selector is empty and would match every finding; name at least one of %s", keyNames())
	}
	var s Selector
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		if key == "tag" {
			tags, err := f.tags(value)
			if err != nil {
				return nil, err
			}
			s = append(s, tags...)
			continue
		}
		c := condition{key: key}
		if c.globs, err = f.globs(key, value); err != nil {
			return nil, err
		}
		s = append(s, c)
	}
	return s, f.oneSubject(n, s)
}

// oneSubject refuses a rule that mixes keys of checks with those of machines.
func (f file) oneSubject(n *yaml.Node, s Selector) error {
	for i := 0; i < len(n.Content); i += 2 {
		switch key := n.Content[i]; {
		case s.ofChecks() && !slices.Contains(checkKeys, key.Value):
			return f.fail(key, "%s: is not a key of a check; a rule with check: has %s", key.Value, strings.Join(checkKeys, ", "))
		case !s.ofChecks() && key.Value == "object":
			return f.fail(key, "object: is a key of checks; add check: with their code")
		}
	}
	return nil
}

func (f file) tags(n *yaml.Node) (Selector, error) {
	fields, err := f.mapping(n)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 {
		return nil, f.fail(n, "tag: names no tag; write tag: {KEY: GLOB}")
	}
	var s Selector
	for i := 0; i+1 < len(n.Content); i += 2 {
		c := condition{key: "tag", tag: n.Content[i].Value}
		if c.globs, err = f.globs("tag", n.Content[i+1]); err != nil {
			return nil, err
		}
		s = append(s, c)
	}
	return s, nil
}

// globs reads a glob or a list of globs.
func (f file) globs(key string, n *yaml.Node) ([]glob, error) {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		if items = n.Content; len(items) == 0 {
			return nil, f.fail(n, "%s: is an empty list, so the rule would match nothing", key)
		}
	}
	out := make([]glob, len(items))
	for i, item := range items {
		text, err := f.text(key, item)
		if err != nil {
			return nil, err
		}
		if out[i], err = newGlob(text, key == "folder"); err != nil {
			return nil, f.fail(item, "%s: %v", key, err)
		}
		if known := words[key]; known != nil && !slices.ContainsFunc(known, out[i].fits) {
			return nil, f.fail(item, "%s: %q matches none of %s", key, text, strings.Join(slices.DeleteFunc(slices.Clone(known), isEmpty), ", "))
		}
	}
	return out, nil
}

func isEmpty(s string) bool { return s == "" }

// text returns a scalar as it is written: 0123 and true are texts here.
func (f file) text(key string, n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return "", f.fail(n, `%s: must be a text; quote it when it is empty or has special characters`, key)
	}
	return n.Value, nil
}

// mapping returns the values of a mapping by their keys, which must be among the
// known ones, when there are such.
func (f file) mapping(n *yaml.Node, known ...string) (map[string]*yaml.Node, error) {
	list := strings.Join(known, ", ")
	if n.Kind != yaml.MappingNode {
		return nil, f.fail(n, "expected keys with values here%s", inBrackets(list))
	}
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, f.fail(key, "a key must be a text%s", inBrackets(list))
		case len(known) > 0 && !slices.Contains(known, key.Value):
			return nil, f.fail(key, "key %q is not known here; there are %s", key.Value, list)
		case fields[key.Value] != nil:
			return nil, f.fail(key, "key %q is given twice", key.Value)
		}
		fields[key.Value] = n.Content[i+1]
	}
	return fields, nil
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}
