package backups

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report/code"
)

// write says it in lines, the first of which begins with of, which backups these are. One
// whose answer is not YES is never said to be restored, nor one where a bound left out others: the
// next line is how to read why.
func (c *Choice) write(line func(string, ...any), of string, run Flags) {
	if c.best.Safe == code.Yes && !c.bounded {
		line("%sRestore %s: %s.", of, c.Best, c.Why)
	} else {
		line("%sThe best is %s: %s.", of, c.Best, c.Why)
	}
	line("  %s", run.detect(c.best.Place))
	if c.best.Safe == code.Yes || c.best.ByPlan == code.Yes { // which is none without them
		for i := range c.best.Conditions {
			n := &c.best.Conditions[i]
			line("  only while %s: %s", n.Code, n.Sentence())
		}
	}
	for _, k := range c.Clusters {
		line("Cluster %s is better in %s: %s.", k.Cluster, k.Best, k.Why)
	}
}

// text returns the comparison for a person.
func (c *Comparison) text(place string, run Flags) string {
	var out strings.Builder
	b := bufio.NewWriter(&out)
	line := func(format string, args ...any) { writeLine(b, fmt.Sprintf(format, args...)) }
	if c.Best == "" {
		line("Restore none yet: %s.", c.Why)
	} else {
		c.write(line, "", run)
	}
	c.writeSkipped(line, run)
	for _, m := range c.ManagementClusters {
		names := english.First(3, m.Backups)
		if len(m.Holds) > 0 {
			names += ", with " + english.First(3, m.Holds)
		}
		if m.Best == "" {
			line("Of %s restore none yet: %s.", names, m.Why)
		} else {
			m.write(line, "Management cluster of "+names+": ", run)
		}
	}
	if c.NotCompared > 0 && run.More != "" {
		line("More of them are compared with:")
		line("  %s", run.more(place))
	}
	if !c.Complete {
		line("Not everything could be listed or read: what was not seen is Unknown, and the choice may be another one.")
	}
	_, _ = b.WriteString("\n" + c.table())
	for _, k := range c.Compared {
		if len(k.Missing) > 0 {
			line("%s lacks cluster %s", k.Name, english.First(3, k.Missing))
		}
		if len(k.Lacks) > 0 {
			line("%s: %s", k.Name, english.First(3, k.Lacks))
		}
	}
	if n := len(c.Borrowed); n > 0 {
		line("Credentials that a backup lacks came from another one: %s.", english.First(2, c.Borrowed))
	}
	_ = b.Flush() // to memory
	return out.String()
}

// writeSkipped says which backups are newer and left out, the newest in full.
func (c *Comparison) writeSkipped(line func(string, ...any), run Flags) {
	for i, s := range c.Skipped {
		if i == 0 {
			dated := " of " + s.Started.UTC().Format("2006-01-02 15:04")
			switch {
			case s.misdated:
				dated = " whose date is wrong"
			case s.newer:
				dated = " newer," + dated
			}
			line("Left out: %s,%s: %s; %s.", s.Name, dated, s.Why, s.Text)
			if s.stored {
				line("  %s", run.detect(s.Place))
			}
			if s.TakeAll != "" && (s.Holds == "better" || c.Best == "") {
				line("%s", s.TakeAll)
			}
			continue
		}
		line("Left out, too: %s: %s; %s.", s.Name, s.Why, s.Text)
	}
}

// brief are the answers as they have room in a table.
var brief = map[code.Safe]string{code.Yes: "YES", code.WithWork: "MANUAL WORK", code.Unclear: "NOT CLEAR", code.No: "NO"}

func (c *Comparison) table() string {
	rows := [][]string{{"NAME", "SAFE", "BY PLAN", "GHOST", "STALE", "UNKNOWN", "HEALTHY"}}
	for _, k := range c.Compared {
		switch {
		case k.Error != "":
			rows = append(rows, []string{k.Name, "can't be read"})
			continue
		case k.Empty:
			rows = append(rows, []string{k.Name, "holds no cluster"})
			continue
		}
		m := k.Machines
		rows = append(rows, []string{k.Name, brief[k.Safe], brief[k.ByPlan], strconv.Itoa(m.Ghost), strconv.Itoa(m.Stale), strconv.Itoa(m.Unknown), strconv.Itoa(m.Healthy)})
	}
	return narrow(rows)
}

// columns is how wide a table is at most: as wide as a terminal that nobody has widened.
const columns = 80

// narrow returns a table that has its first cells on lines of their own where it would be too wide.
func narrow(rows [][]string) string {
	table := terminal.Table(rows)
	wide := false
	for line := range strings.Lines(table) {
		wide = wide || terminal.Width(strings.TrimSuffix(line, "\n")) > columns
	}
	if !wide {
		return table
	}
	rest := make([][]string, len(rows))
	for i, row := range rows {
		rest[i] = append([]string{""}, row[1:]...)
	}
	var b strings.Builder
	i := 0
	for line := range strings.Lines(terminal.Table(rest)) {
		b.WriteString(rows[i][0] + "\n" + line) // Table has escaped it
		i++
	}
	return b.String()
}
