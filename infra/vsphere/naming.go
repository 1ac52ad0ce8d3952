package vsphere

import (
	"regexp"
	"strconv"
	"strings"

	"drift-detector/backup/naming"
)

// text is a name of which some characters are random: rune 0 stands for any
// one character of the safe alphabet.
type text []rune

const anySafe rune = 0

func literal(s string) text { return text([]rune(s)) }

func random(n int) text { return make(text, n) }

func join(parts ...text) text {
	var t text
	for _, p := range parts {
		t = append(t, p...)
	}
	return t
}

// generated returns what Cluster API's name generator makes of a base: the base cut
// so that it fits with five random characters behind it
// (internal/topology/names/names.go v1.14.0).
func generated(base text) text {
	if len(base) > naming.MaxName-naming.SuffixLen {
		base = base[:naming.MaxName-naming.SuffixLen]
	}
	return join(base, random(naming.SuffixLen))
}

// concrete returns the text when nothing in it is random.
func (t text) concrete() (string, bool) {
	for _, r := range t {
		if r == anySafe {
			return "", false
		}
	}
	return string(t), true
}

// pattern returns an anchored RE2 expression that matches just what the text stands for.
func (t text) pattern() string {
	var b strings.Builder
	b.WriteString("^")
	for i := 0; i < len(t); {
		j := i
		for j < len(t) && (t[j] == anySafe) == (t[i] == anySafe) {
			j++
		}
		if t[i] == anySafe {
			b.WriteString("[" + naming.Alphabet + "]{" + strconv.Itoa(j-i) + "}")
		} else {
			b.WriteString(regexp.QuoteMeta(string(t[i:j])))
		}
		i = j
	}
	b.WriteString("$")
	return b.String()
}

func (t text) literals() (n int) {
	for _, r := range t {
		if r != anySafe {
			n++
		}
	}
	return n
}

// vmName returns the name that CAPV gives the VM of a machine: the naming template
// first, then, for OS Windows, a cut to the 15 characters that NetBIOS allows
// (pkg/services/vimmachine.go v1.16.1). It is false when the template holds
// something that this package does not understand.
func vmName(machine text, os, template string) (text, bool) {
	name := machine
	if template != "" {
		var ok bool
		if name, ok = expand(template, map[string]text{".machine.name": machine}); !ok || len(name) == 0 {
			return nil, false
		}
		name = name[:min(len(name), naming.MaxName)]
	}
	const limit, head, tail = 15, 9, 5
	if !isWindows(os) || len(machine) <= limit || len(name) < head {
		return name, true
	}
	start := name[:head]
	if start[head-1] == '-' {
		start = start[:head-1]
	}
	return join(start, literal("-"), name[len(name)-tail:]), true
}

func isWindows(os string) bool { return strings.EqualFold(os, "windows") }

// concreteName returns the VM name of a machine that is known by name. Where the template
// is not understood it returns the machine's own name and false.
func concreteName(machine, os, template string) (string, bool) {
	if template == "" && !isWindows(os) {
		return machine, true
	}
	if t, ok := vmName(literal(machine), os, template); ok {
		if s, ok := t.concrete(); ok {
			return s, true
		}
	}
	return machine, false
}

// Bounds of a naming template: it comes from the backup.
const (
	maxTemplate = 256
	maxText     = 512
)

// expand evaluates the part of Go templates that naming templates are made of:
// fields, and the functions trunc and trimSuffix in pipes (Cluster API
// internal/topology/names v1.14.0, CAPV pkg/util/template.go v1.16.1). It never
// runs a template engine, and is false for everything else.
func expand(template string, fields map[string]text) (text, bool) {
	if len(template) > maxTemplate {
		return nil, false
	}
	var out text
	for rest := template; rest != ""; {
		before, after, found := strings.Cut(rest, "{{")
		out = append(out, literal(before)...)
		if !found {
			break
		}
		action, tail, closed := strings.Cut(after, "}}")
		if !closed {
			return nil, false
		}
		value, ok := pipeline(action, fields)
		if !ok || len(out)+len(value) > maxText {
			return nil, false
		}
		out = append(out, value...)
		rest = tail
	}
	return out, true
}

func pipeline(action string, fields map[string]text) (text, bool) {
	var value text
	for i, command := range strings.Split(action, "|") {
		words := strings.Fields(command)
		if i == 0 && len(words) == 1 {
			v, known := fields[words[0]]
			if !known {
				return nil, false
			}
			value = v
			continue
		}
		if i == 0 && len(words) == 3 { // the function form: trunc 5 .machine.name
			v, known := fields[words[2]]
			if !known {
				return nil, false
			}
			value, words = v, words[:2]
		}
		if len(words) != 2 {
			return nil, false
		}
		var ok bool
		if value, ok = apply(words[0], words[1], value); !ok {
			return nil, false
		}
	}
	return value, true
}

func apply(function, arg string, t text) (text, bool) {
	switch function {
	case "trunc":
		n, err := strconv.Atoi(arg)
		if err != nil {
			return nil, false
		}
		if n < 0 && -n <= len(t) { // Sprig: from the end
			return t[len(t)+n:], true
		}
		if n >= 0 && n <= len(t) {
			return t[:n], true
		}
		return t, true
	case "trimSuffix":
		s, err := strconv.Unquote(arg)
		if err != nil {
			return nil, false
		}
		return trimSuffix(t, literal(s))
	default:
		return nil, false
	}
}

// trimSuffix returns false when it depends on the random characters whether the
// text ends in the suffix.
func trimSuffix(t, suffix text) (text, bool) {
	if len(suffix) > len(t) {
		return t, true
	}
	end := t[len(t)-len(suffix):]
	undecided := false
	for i, want := range suffix {
		switch {
		case end[i] == want:
		case end[i] == anySafe && strings.ContainsRune(naming.Alphabet, want):
			undecided = true
		default:
			return t, true
		}
	}
	if undecided {
		return nil, false
	}
	return t[:len(t)-len(suffix)], true
}
