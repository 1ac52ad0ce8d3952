package ignore

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"drift-detector/internal/lazyregexp"
	"drift-detector/internal/terminal"
)

// What is no YAML at all: the parser names a line at best, and not always the
// right one.

// characters refuses what no text file holds.
func (f file) characters(text []byte) error {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if why := unfit(r, n); why != "" {
			line, column := position(text, i)
			return f.at(line, column, "%s", why)
		}
		i += n
	}
	return nil
}

func unfit(r rune, size int) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return "this is not UTF-8; save the file as UTF-8 text"
	case r < ' ' && r != '\n' && r != '\r' && r != '\t', '\x7f' <= r && r < '\u00a0' && r != '\u0085':
		return `there is a control character here; write it as an escape in double quotes, such as "\x1b"`
	}
	return ""
}

// position returns the line and the column of a byte, both from 1.
func position(text []byte, at int) (line, column int) {
	before := text[:at]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[1+bytes.LastIndexByte(before, '\n'):])
}

var (
	bareMatch    = lazyregexp.New(`(?m)^[ \t]*(?:-[ \t]+)?(!match)`)
	bareAlias    = lazyregexp.New(`^yaml: unknown anchor '(.*)' referenced$`)
	parserReport = lazyregexp.New(`^yaml: (?:line (\d+): )?(.*)$`)
	// Errors of the parser, unlike those of the scanner below it, count lines
	// from 0 (go.yaml.in/yaml/v3 v3.0.5 decode.go, parser.fail).
	countsFromZero = lazyregexp.New(`^did not find expected (<|node content|'-'|key|',' or)`)
)

// syntax turns an error of the YAML parser into one that says where and what to do.
func (f file) syntax(text []byte, err error) error {
	if m := bareMatch.FindSubmatchIndex(text); m != nil {
		line, column := position(text, m[2])
		return f.at(line, column, "%s", quoteMatch)
	}
	if m := bareAlias.FindStringSubmatch(err.Error()); m != nil {
		if i := bytes.Index(text, []byte("*"+m[1])); i >= 0 {
			line, column := position(text, i)
			return f.at(line, column, "YAML reads *%s as an alias; quote a glob that begins with *", terminal.Escape(m[1]))
		}
	}
	line, what := 1, err.Error()
	if m := parserReport.FindStringSubmatch(what); m != nil {
		what = m[2]
		line, _ = strconv.Atoi(m[1]) // without a line it is the first one
		if m[1] == "" || countsFromZero.MatchString(what) {
			line++
		}
	}
	return f.at(line, begin(text, line), "not valid YAML near here: %s; look at the indentation, and quote texts that begin with * ! & @ [ or {", terminal.Escape(what))
}

// begin returns the column at which a line begins, after its indentation.
func begin(text []byte, line int) int {
	lines := strings.SplitN(string(text), "\n", line+1)
	if line > len(lines) {
		return 1
	}
	row := lines[line-1]
	return 1 + len(row) - len(strings.TrimLeft(row, " \t"))
}
