package markdown

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
)

// Foreign text is in code, word by word in sentences. Nothing else holds it:
// GitHub looks for mentions, references and links in the finished text, where a
// backslash before them is gone (github/markup issue 1168, github/cmark-gfm issue
// 181), but never in code, as does GitLab (gitlab-foss merge request 365).

// clean makes foreign text one line that a terminal shows as it is. Invalid UTF-8
// becomes what the JSON report makes of it, so that a saved report gives the same
// document.
func clean(s string) string { return terminal.Escape(report.Valid(s)) }

// shorten cuts what no honest name or message needs, and says so.
func shorten(s string, most int) string {
	rs := []rune(s)
	if len(rs) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%s)", string(rs[:most]), english.Count(len(rs)-most, "more character"))
}

// The most characters that are shown of a name, a path or an id, and of a message.
// Kubernetes' names have 253 at most, vSphere's 80 for each part of a path.
const (
	longestName    = 600
	longestMessage = 1200
)

// Name returns a foreign name, path or id as code, cut when no honest one is as long.
func Name(s string) string { return Code(shorten(clean(s), longestName)) }

// short returns a word of the document's own language as code: a reason, a version.
func short(s string) string { return Code(shorten(clean(s), 64)) }

// Code returns foreign text as it is, between as many backticks as its own demand
// (CommonMark 0.31, 6.1). Quotes show where it ends when that is not plain.
func Code(s string) string {
	s = clean(s)
	if s == "" || strings.TrimSpace(s) != s {
		s = `"` + s + `"`
	}
	fence := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// longestRun returns the length of the longest run of backticks.
func longestRun(s string) int {
	longest, run := 0, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// prose returns a sentence with foreign text in it: plain words stay, all else becomes
// code. It begins no line, or a number at its start would begin a list.
func prose(s string) string {
	words := strings.Fields(shorten(clean(s), longestMessage))
	for i, w := range words {
		words[i] = word(w)
	}
	return strings.Join(words, " ")
}

// strong returns prose in bold.
func strong(s string) string { return "**" + cmp.Or(prose(s), "none") + "**" }

const opening, closing = `("`, `)".,:;?!`

func word(w string) string {
	core := strings.TrimRight(strings.TrimLeft(w, opening), closing)
	if core == "" {
		return Code(w)
	}
	if plain(core) {
		return w
	}
	at := strings.Index(w, core)
	return w[:at] + Code(core) + w[at+len(core):]
}

// plain says that a word means nothing to any reader of Markdown: letters, joined
// by hyphens and apostrophes, or a short number. One that could be a commit is not.
func plain(w string) bool {
	if strings.Trim(w, "0123456789") == "" {
		return len(w) < 7
	}
	if len(w) >= 7 && strings.Trim(w, "abcdef") == "" {
		return false
	}
	letter := false
	for _, r := range w {
		switch {
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			letter = true
		case (r == '-' || r == '\'') && letter:
			letter = false // and another one must follow
		default:
			return false
		}
	}
	return letter
}

// Cell makes text one cell of a table, whose columns bars separate even in code.
func Cell(s string) string { return strings.ReplaceAll(s, "|", `\x7c`) }

// fenced returns lines as they are, in a block of code that they cannot end.
func fenced(indent string, lines []string) string {
	var b strings.Builder
	fence := strings.Repeat("`", max(3, longestRun(strings.Join(lines, "\n"))+1))
	b.WriteString(indent + fence + "sh\n")
	for _, l := range lines {
		b.WriteString(indent + clean(l) + "\n")
	}
	b.WriteString(indent + fence + "\n")
	return b.String()
}
