package runbook

import (
	"strings"

	"drift-detector/report/code"
)

// memory is what a runbook has printed, which it points to instead of printing it again.
type memory struct {
	copied map[string]string // the step that has these commands, in a chapter
	said   map[string]string // the step that says this
}

// sameAs returns the step before of the same chapter that has these commands; without one it is this one
// for those that follow.
func (m *memory) sameAs(label string, blocks []block) string {
	all := ""
	for _, b := range blocks {
		all += strings.Join(append(texts(b.lines), b.item), "\x00") + "\x00"
	}
	before := m.copied[all]
	if len(blocks) > 0 && len(blocks[0].lines) > 0 && before == "" {
		m.copied[all] = label
	}
	return before
}

// once returns a text, or its first sentence and where the rest has been said. What is done for
// one machine after the other is said in full each time: it says when to stop.
func (m *memory) once(text, label string) string {
	before := m.said[text]
	if before == "" {
		m.said[text] = label
		return text
	}
	first, rest, _ := strings.Cut(text, ". ")
	if rest == "" {
		return text
	}
	return first + ". As in " + before + "."
}

// forecast returns what is foreseen, or its first word and where the rest has been said.
func (m *memory) forecast(text string, outcome code.Outcome, label string) string {
	if text == "" {
		return ""
	}
	if before := m.said[text]; before != "" {
		return string(outcome) + ", as in step " + before + "."
	}
	m.said[text] = label
	return text
}
