package runbook

import (
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/terminal"
	"drift-detector/report/plan"
)

const howToCopy = "The commands are for sh or bash. Copy one block at a time, and look at what it did before you take the next: within a block nothing runs after a command that failed, except in a loop, which goes on with the next object. A line whose variable is not set ends with an error and does nothing. `drift-detector plan REPORT -o plan.env` writes these variables into a file: fill them in there, and begin each shell with `. ./plan.env`."

// widest is how long a row is. Tests compare commands as single lines.
var widest = 150

// variableLines set the variables that are not set yet, with what each is behind it, or above
// it where one row has no room for both.
func variableLines(vs []plan.Variable) []string {
	var out []string
	for _, v := range vs {
		line := shell.Default(v.Name, v.Value, v.Meaning).Text()
		if head, cut := strings.CutSuffix(line, " # "+terminal.Escape(v.Meaning)); cut && len(line) > widest {
			out = append(out, "# "+terminal.Escape(v.Meaning))
			line = head
		}
		out = append(out, line)
	}
	return out
}

// pieces returns the lines that are copied at once: a new piece begins where the operator fills a
// value in. A block is what a forge copies at one click, and a terminal runs what is pasted line by
// line, whatever has become of the line before. So a block holds no two steps, and within it what
// follows a command runs only when that one succeeded, except in a loop, where each object is
// for itself.
func pieces(lines []shell.Command) [][]string {
	var out [][]string
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && (!lines[to].IsAsk() || lines[to-1].IsAsk()) {
			to++
		}
		out = append(out, chained(lines[from:to]))
		from = to
	}
	return out
}

// chained makes one command of several.
func chained(lines []shell.Command) (out []string) {
	for i, l := range lines {
		out = append(out, l.Rows(widest)...)
		if i < len(lines)-1 && !l.IsAsk() {
			out[len(out)-1] += " &&"
		}
	}
	return out
}

// texts returns the lines as they are printed.
func texts(lines []shell.Command) []string {
	out := make([]string, len(lines))
	for i := range lines {
		out[i] = lines[i].Text()
	}
	return out
}
