package program

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup/check"
	"drift-detector/infra/all"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

func explainCommand(s *cli.Streams) *urfave.Command {
	var o explainOptions
	return &urfave.Command{
		Name:      "explain",
		Usage:     "say what a code of a report means, why it matters and what to do",
		UsageText: "drift-detector explain [CODE…] [REPORT] [options]",
		Description: `Every status, reason, warning, outcome, note, check and fault that a report can
hold. Without a code all of them are listed, a line each. With a report it says
what in the report the codes are about, and which steps of its plan; without a
code those of the report.

EXAMPLES:
   drift-detector explain IdentityAbsent
   drift-detector explain IdentityAbsent report.json
   drift-detector explain report.json
   drift-detector explain --search etcd
   drift-detector explain --format json`,
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "format", Usage: "`FORMAT` of the output: json or text", Value: "text", Destination: &o.format},
			&urfave.StringFlag{Name: "search", Usage: "list the codes that say `WORD`, in any part of what is said of them", Destination: &o.search},
		},
		Action: func(c *urfave.Context) error {
			if o.format != "json" && o.format != "text" {
				return &cli.UsageError{Message: "--format " + o.format + " is not known; it is json or text", Command: "explain"}
			}
			codes, err := o.read(c.Args().Slice())
			if err != nil {
				return err
			}
			o.program = cli.Quoted(s.Program)
			_, err = s.Stdout.Write(o.print(codes, cli.IsTerminal(s.Stdout)))
			return err
		},
	}
}

type explainOptions struct {
	format, search string
	program        string // as a shell reads it
	named          bool   // codes were given by their names
	found          *explainedReport
}

// read takes the arguments: names of codes, and a report.
func (o *explainOptions) read(args []string) ([]code.Row, error) {
	at := slices.IndexFunc(args, func(a string) bool { return strings.ContainsAny(a, "./-") })
	if at >= 0 {
		var err error
		if o.found, err = readFound(args[at]); err != nil {
			return nil, err
		}
		args = slices.Delete(slices.Clone(args), at, at+1)
	}
	o.named = len(args) > 0
	codes, err := codesNamed(args)
	if err != nil {
		return nil, err
	}
	if o.search != "" {
		codes = slices.DeleteFunc(codes, func(r code.Row) bool { return !mentions(r, o.search) })
	}
	if !o.named && o.found != nil {
		codes = slices.DeleteFunc(codes, func(r code.Row) bool { return len(o.found.of(r)) == 0 })
	}
	if len(codes) == 0 && o.search != "" {
		return nil, &cli.UsageError{Message: fmt.Sprintf("no code says %q; without --search, explain lists all", o.search), Command: "explain"}
	}
	return codes, nil
}

// mentions reports whether a word is in anything that is said of a code.
func mentions(r code.Row, word string) bool {
	text := strings.Join([]string{string(r.Code), r.Meaning(), r.Why, r.Do, r.Screen, r.Plan, r.Confirm}, "\n")
	return strings.Contains(strings.ToLower(text), strings.ToLower(word))
}

// print returns the output; short lists have lines that fit a terminal.
func (o *explainOptions) print(codes []code.Row, short bool) []byte {
	switch {
	case o.format == "json":
		return o.inJSON(codes)
	case o.named:
		return o.explained(codes)
	}
	return listed(codes, short)
}

// allCodes returns those of reports and of checks, kind by kind. A code of checks is there
// once for each rule.
func allCodes() []code.Row {
	out := code.Listed(code.OfStatus)
	for _, kind := range code.Kinds() {
		out = append(out, code.Listed(kind)...)
	}
	rules := slices.Concat(check.Rules(), all.Registry().Rules())
	sorting.StableBy(rules, func(a, b check.Rule) int { return cmp.Compare(a.Code, b.Code) })
	for _, r := range rules {
		r.Kinds, r.Phases, r.Do = []code.Kind{code.Check}, nil, upper(r.Do)
		if r.Severity == code.CheckError {
			r.Phases = []code.Phase{code.Before}
		}
		r.Why = cmp.Or(r.Why, "The finding says what the object that refers to it does without it.")
		out = append(out, code.Row(r))
	}
	return out
}

// upper makes a sentence of a clause that tells people what to do.
func upper(clause string) string {
	if clause == "" {
		return ""
	}
	return english.Sentence(english.Capital(clause))
}

// codesNamed returns the codes of these names, all without any. One name may be that of a
// reason and of several rules of checks.
func codesNamed(names []string) ([]code.Row, error) {
	codes := allCodes()
	if len(names) == 0 {
		return codes, nil
	}
	var out []code.Row
	for _, name := range names {
		found := slices.DeleteFunc(slices.Clone(codes), func(r code.Row) bool { return !strings.EqualFold(string(r.Code), name) })
		if len(found) == 0 {
			return nil, &cli.UsageError{Message: fmt.Sprintf("unknown code %q", name) + cmp.Or(cli.DidYouMean("", name, codeNames()), "; without a code, explain lists all"), Command: "explain"}
		}
		out = append(out, found...)
	}
	return out, nil
}

// explained returns all that is known of codes, once for each.
func (o *explainOptions) explained(codes []code.Row) []byte {
	var b bytes.Buffer
	for i, rows := range byCode(codes) {
		if i > 0 {
			b.WriteString("\n")
		}
		say := func(label, text string) {
			if text != "" {
				fmt.Fprintf(&b, "%-16s%s", label, strings.TrimLeft(cli.Indented(text, 16, 16), " "))
			}
		}
		r, kinds, phases := rows[0], kindsOf(rows), phasesOf(rows)
		fmt.Fprintf(&b, "%s\n\n", r.Code)
		say("It is", kinds)
		say("What happens", r.Happens)
		say("Why it matters", r.Why)
		say("What to do", r.Do)
		for _, also := range rows[1:] {
			say("As a check", strings.Join([]string{upper(string(also.Severity)), also.Happens, also.Why, also.Do}, " "))
		}
		fmt.Fprintf(&b, "%-16s%s\n", "In the plan", inThePlan(o.program, phases, o.found, "\n"+strings.Repeat(" ", 16)))
		o.found.print(&b, rows)
	}
	return b.Bytes()
}

// byCode puts rows of one code together, which are the reason of it and rules of checks.
func byCode(codes []code.Row) [][]code.Row {
	var out [][]code.Row
	at := map[code.Reason]int{}
	for _, r := range codes {
		i, known := at[r.Code]
		if !known {
			i = len(out)
			at[r.Code], out = i, append(out, nil)
		}
		if !slices.ContainsFunc(out[i], func(have code.Row) bool { return have.Meaning() == r.Meaning() && have.Why == r.Why && have.Do == r.Do }) {
			out[i] = append(out[i], r)
		}
	}
	return out
}

// kindsOf says what a code occurs as: "a reason of the answer (no), a note".
func kindsOf(rows []code.Row) string {
	var out []string
	for i := range rows {
		before, _, _ := strings.Cut(rows[i].Meaning(), ": ")
		out = append(out, before)
		if rows[i].Is(code.Answer) && rows[i].Is(code.Note) {
			out = append(out, string(code.Note))
		}
	}
	return strings.Join(slices.Compact(out), "; ")
}

func phasesOf(rows []code.Row) []code.Phase {
	var out []code.Phase
	for i := range rows {
		for _, p := range rows[i].Phases {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// inThePlan says where the plan of a report has steps about a code: commands as they are typed.
func inThePlan(program string, phases []code.Phase, f *explainedReport, separator string) string {
	if len(phases) == 0 {
		return "No steps of its own."
	}
	report := "report.json"
	if f != nil {
		report = cli.Quoted(f.file)
	}
	var out []string
	for _, p := range phases {
		text := program + " plan " + report + " --phase " + string(p)
		if p == code.Paused {
			text = program + " plan " + report + " --phase after"
			if whole := text + "  # while paused"; len(whole) <= cli.HelpWidth-16 {
				text = whole
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, separator)
}

// listed returns a line for each code, under the kinds. On a terminal it is cut where the line ends.
func listed(codes []code.Row, short bool) []byte {
	var b bytes.Buffer
	title := ""
	for i, r := range codes {
		if of := r.Kinds[0].Title(); of != title {
			if i > 0 {
				b.WriteString("\n")
			}
			title = of
			fmt.Fprintf(&b, "%s:\n", strings.ToUpper(strings.ReplaceAll(title, "`", "")))
		}
		if i > 0 && codes[i-1].Code == r.Code && codes[i-1].Is(code.Check) {
			continue
		}
		line := []rune(fmt.Sprintf("   %-28s %s", r.Code, r.Happens))
		if short && len(line) > cli.HelpWidth {
			line = append(line[:cli.HelpWidth-1], '…')
		}
		b.WriteString(string(line) + "\n")
	}
	return b.Bytes()
}

// inJSON returns an array with an object for each row.
func (o *explainOptions) inJSON(codes []code.Row) []byte {
	type row struct {
		Code    code.Reason  `json:"code"`
		Kind    string       `json:"kind"`
		Kinds   []code.Kind  `json:"kinds"`
		Meaning string       `json:"meaning"`
		Happens string       `json:"happens"`
		Why     string       `json:"why"`
		Do      string       `json:"do"`
		Phases  []code.Phase `json:"phases"`
		Objects []occurrence `json:"objects,omitempty"`
	}
	out := make([]row, len(codes))
	for i, r := range codes {
		out[i] = row{r.Code, r.Kinds[0].Title(), r.Kinds, r.Meaning(), r.Happens, r.Why, r.Do, append([]code.Phase{}, r.Phases...), o.found.of(r)}
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		panic("explain: " + err.Error()) // strings alone
	}
	return append(text, '\n')
}
