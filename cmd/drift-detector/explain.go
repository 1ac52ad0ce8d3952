package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"drift-detector/backup/check"
	"drift-detector/infra/all"
	"drift-detector/report/code"
)

func explainCommand(s *streams) *cli.Command {
	var format string
	return &cli.Command{
		Name:      "explain",
		Usage:     "say what a code of a report means, why it matters and what to do",
		UsageText: "drift-detector explain [CODE…]",
		Description: `Every status, reason, warning, outcome, note, check and fault that a report can
hold. Without a code all of them are listed, a line each.

EXAMPLES:
   drift-detector explain IdentityAbsent
   drift-detector explain
   drift-detector explain --format json`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Usage: "`FORMAT` of the output: json or text", Value: "text", Destination: &format},
		},
		Action: func(c *cli.Context) error {
			codes, err := codesNamed(c.Args().Slice())
			if err != nil {
				return err
			}
			var out []byte
			switch {
			case format == "json":
				if out, err = json.MarshalIndent(codes, "", "  "); err != nil {
					return err
				}
				out = append(out, '\n')
			case format != "text":
				return &usageError{message: "--format " + format + " is not known; it is json or text", command: "explain"}
			case c.NArg() == 0:
				out = listed(codes)
			default:
				out = explained(codes)
			}
			_, err = s.stdout.Write(out)
			return err
		},
	}
}

// allCodes are those of reports and of checks, kind by kind. A code of checks is there
// once for each rule.
func allCodes() []code.Row {
	out := code.Listed(code.OfStatus)
	for _, kind := range code.Kinds() {
		out = append(out, code.Listed(kind)...)
	}
	rules := slices.Concat(check.Rules(), all.Registry().Rules())
	slices.SortStableFunc(rules, func(a, b check.Rule) int { return cmp.Compare(a.Code, b.Code) })
	for _, r := range rules {
		r.Kinds = []code.Kind{code.Check}
		out = append(out, code.Row(r))
	}
	return out
}

// codesNamed are the codes of these names, all without any. One name may be that of a
// reason and of a check.
func codesNamed(names []string) ([]code.Row, error) {
	codes := allCodes()
	if len(names) == 0 {
		return codes, nil
	}
	var out []code.Row
	for _, name := range names {
		found := slices.DeleteFunc(slices.Clone(codes), func(c code.Row) bool { return !strings.EqualFold(string(c.Code), name) })
		if len(found) == 0 {
			var known []string
			for i := range codes {
				known = append(known, string(codes[i].Code))
			}
			return nil, &usageError{message: fmt.Sprintf("unknown code %q", name) + cmp.Or(didYouMean("", name, known), "; without a code, explain lists all"), command: "explain"}
		}
		out = append(out, found...)
	}
	return out, nil
}

// explained is all that is known of codes.
func explained(codes []code.Row) []byte {
	var b bytes.Buffer
	for i, c := range codes {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\n\n", c.Code)
		for _, part := range []struct{ label, text string }{{"What it is", c.Meaning()}, {"Why it matters", c.Why}, {"What to do", c.Do}} {
			if part.text != "" {
				fmt.Fprintf(&b, "%-16s%s", part.label, strings.TrimLeft(indented(part.text, 16, 16), " "))
			}
		}
	}
	b.WriteString("\nThe steps for a report, with commands: drift-detector plan report.json --phase before\n")
	return b.Bytes()
}

// listed is a line for each code, under the kinds.
func listed(codes []code.Row) []byte {
	var b bytes.Buffer
	for i, c := range codes {
		title := c.Kinds[0].Title()
		if i == 0 || title != codes[i-1].Kinds[0].Title() {
			fmt.Fprintf(&b, "%s:\n", strings.ToUpper(strings.ReplaceAll(title, "`", "")))
		}
		fmt.Fprintf(&b, "   %-28s %s\n", c.Code, c.Happens)
	}
	return b.Bytes()
}
