package releases

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"drift-detector/detector/releases"
	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
)

// maxShown is how many characters of a value text has room for.
const maxShown = 60

// Text writes the document for a person: a table, then what to know of each release.
// With diff it shows live and desired values whole, one below the other.
func Text(w io.Writer, d *Document, diff bool) error {
	p := &printer{Writer: bufio.NewWriter(w), diff: diff}
	switch {
	case len(d.Releases) > 0:
		p.table(d.Releases)
	case d.Only != "":
		p.line("", "No Helm release is %s.", d.Only)
	default:
		p.line("", "No Helm release: the backup has no release record%s.", shownOf(d))
	}
	for _, r := range d.Releases {
		p.release(r)
	}
	if len(d.WithoutRecord) > 0 {
		p.line("", "")
	}
	for _, l := range d.WithoutRecord {
		p.line("", "release without record: %s/%s: named by %s (%s); its record is in an SQL database or lost", l.Namespace, l.Name, english.Count(l.Count, "object"), strings.Join(l.Objects[:min(3, len(l.Objects))], ", "))
		p.line("  ", "→ %s", l.Do.Text)
		p.line("      ", "%s", l.Do.Command)
	}
	for _, r := range d.IgnoreRules {
		used := "not used"
		if r.Used > 0 {
			used = "used " + english.Count(r.Used, "time")
		}
		p.line("", "ignore rule of %s: paths %q %s: %s", r.Source, r.Paths, r.Target, used)
	}
	for _, s := range d.Said {
		p.line("", "%s says: %s", s.Object, s.Message)
	}
	for _, s := range d.Problems {
		p.line("", "can't be read: %s: %s", s.Object, s.Reason)
	}
	if d.Backup.Stale != "" {
		p.line("", "The backup is stale: %s.", d.Backup.Stale)
	}
	return p.Flush()
}

func shownOf(d *Document) string {
	if len(d.WithoutRecord) > 0 {
		return ", but objects of releases"
	}
	return ""
}

type printer struct {
	*bufio.Writer
	diff bool
}

// columns is how wide lines are at most, except commands and values, which are left whole.
const columns = 80

// wholeLines is the indent of what is left whole.
const wholeLines = "      "

// line writes one line, broken where it is too wide; the first error of the writer is Flush's.
func (p *printer) line(indent, format string, args ...any) {
	text := strings.TrimRight(terminal.Escape(fmt.Sprintf(format, args...)), " ")
	if indent == wholeLines || terminal.Width(indent+text) <= columns {
		_, _ = p.WriteString(indent + text + "\n")
		return
	}
	_, _ = p.WriteString(indent)
	at := len(indent)
	for i, word := range strings.Split(text, " ") {
		switch wide := terminal.Width(word); {
		case i == 0:
			at += wide
		case at+1+wide > columns:
			if word == "" {
				continue
			}
			_, _ = p.WriteString("\n" + indent + "  ")
			at = len(indent) + 2 + wide
		default:
			_ = p.WriteByte(' ')
			at += 1 + wide
		}
		_, _ = p.WriteString(word)
	}
	_ = p.WriteByte('\n')
}

func (p *printer) table(all []*releases.Release) {
	rows := [][]string{{"NAME", "NAMESPACE", "REVISION", "READY", "REASON", "MESSAGE", "MODE", "SUSPENDED"}}
	for _, r := range all {
		suspended := "-"
		if r.Suspended != nil {
			suspended = strconv.FormatBool(*r.Suspended)
		}
		revision := strconv.Itoa(r.Revision)
		if r.Revision == 0 {
			revision = "-"
		}
		rows = append(rows, []string{r.Name, r.Namespace, revision, r.Ready, r.Reason, r.Message, orDash(r.Mode), suspended})
	}
	table := terminal.Table(rows)
	if !isWide(table) {
		_, _ = p.WriteString(table)
		return
	}
	for i, row := range rows { // without the messages, which are said below
		rows[i] = slices.Concat(row[:5], row[6:])
	}
	if table = terminal.Table(rows); isWide(table) {
		for i, row := range rows {
			rows[i] = []string{row[1] + "/" + row[0], row[2], row[3], row[4]}
		}
		table = terminal.Table(rows)
	}
	_, _ = p.WriteString(table)
	for _, r := range all {
		if r.Message != "" {
			p.line("", "%s/%s: %s", r.Namespace, r.Name, r.Message)
		}
	}
}

func isWide(table string) bool {
	for line := range strings.Lines(table) {
		if terminal.Width(strings.TrimSuffix(line, "\n")) > columns {
			return true
		}
	}
	return false
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// release writes what to know of one release, unless it is in sync and nothing happens to it.
func (p *printer) release(r *releases.Release) {
	if r.Reason == releases.InSync && !p.diff && !slices.ContainsFunc(r.Objects, func(o *releases.Compared) bool { return !onlyBenign(o) }) && len(r.Extra) == 0 && r.After.Overwrites == "" {
		return
	}
	p.line("", "")
	p.line("", "%s/%s  after the restore: %s", r.Namespace, r.Name, comesBack(r))
	for _, why := range r.After.Reasons {
		p.line("  ", "%s", why)
	}
	for _, do := range r.After.Do {
		p.line("  ", "→ %s", do.Text)
		if do.Command != "" {
			p.line("      ", "%s", do.Command)
		}
	}
	for _, o := range r.Objects {
		if r.Reason != releases.InSync || p.diff || !onlyBenign(o) {
			p.object(o)
		}
	}
	for _, e := range r.Extra {
		p.line("  ", "extra: %s", e)
	}
}

// onlyBenign reports whether all that is to be said of an object does not count.
func onlyBenign(o *releases.Compared) bool {
	return o.Verdict == releases.Unchanged && !o.Fails() && o.Upgrade == "" && !slices.ContainsFunc(o.Added, func(a releases.Added) bool { return a.Benign == "" })
}

func comesBack(r *releases.Release) string {
	s := map[string]string{
		"drifted": "the drifted state comes back", "desired": "the desired state comes back", "unknown": "not known what comes back",
	}[r.After.State]
	if r.After.Missing > 0 {
		s += fmt.Sprintf(", %d missing", r.After.Missing)
	}
	if r.Reason != releases.Unreadable && r.Storage != "" {
		helm := "helm 3"
		if r.ApplyMethod != "" {
			helm = "helm 4, " + r.ApplyMethod
		}
		s += "; " + helm
	}
	if r.Controller == "" {
		return s + ", no controller"
	}
	return s + ", " + r.Controller
}

func (p *printer) object(o *releases.Compared) {
	head := o.Summary
	switch {
	case o.Refused != "":
		head = fmt.Sprintf("%s changed; refused: %s: Flux is blind to it", o.Subject(), o.Refused)
		if o.Verdict == releases.Excluded {
			head = fmt.Sprintf("%s excluded: %s; refused: %s", o.Subject(), o.Message, o.Refused)
		}
		if o.Fails() {
			head += ", the next upgrade fails"
		}
	case head == "" && o.Message != "":
		head = o.Subject() + " " + verdictWords[o.Verdict] + ": " + o.Message
	case o.Message != "":
		head += ": " + o.Message
	}
	p.line("  ", "%s", head)
	for i := range o.Patch {
		p.change(&o.Patch[i])
	}
	if o.Refused != "" {
		return
	}
	for _, a := range o.Added {
		switch {
		case a.Benign == "" && a.Upgrade != "":
			p.line("    ", "added: %s = %s  %s  an upgrade removes it", a.Path, shown(a.Value), owner(a.Owner))
		case a.Benign == "":
			p.line("    ", "added: %s = %s  %s  stays for ever", a.Path, shown(a.Value), owner(a.Owner))
		default:
			p.line("    ", "named: %s = %s  %s  %s", a.Path, shown(a.Value), owner(a.Owner), a.Benign)
		}
	}
}

var verdictWords = map[string]string{
	releases.NotInBackup: "not in the backup", releases.NotComparable: "not compared", releases.Excluded: "excluded", releases.Expired: "expired",
}

var upgradeWords = map[string]string{
	releases.Repairs: "an upgrade repairs it", releases.Leaves: "an upgrade leaves it", releases.Fails: "the next upgrade fails",
}

func (p *printer) change(c *releases.Change) {
	var who []string
	for _, o := range c.Owners {
		who = append(who, owner(o))
	}
	if len(who) == 0 {
		who = []string{"by whom is not known"}
	}
	note := upgradeWords[c.Upgrade]
	if c.Benign != "" {
		note = c.Benign
		if c.Upgrade == releases.Fails {
			note += "; " + upgradeWords[c.Upgrade]
		}
	}
	if c.Unseen {
		note += "; Flux does not see it"
	}
	if p.diff {
		p.line("    ", "%s  %s  %s", c.Path, strings.Join(who, "; "), note)
		for _, side := range []struct {
			mark  string
			value any
		}{{"- live    ", c.Live}, {"+ desired ", c.Desired}} {
			if side.value == nil {
				continue
			}
			for line := range strings.Lines(whole(side.value)) {
				p.line("      ", "%s%s", side.mark, strings.TrimSuffix(line, "\n"))
			}
		}
		return
	}
	p.line("    ", "%s  %s → %s  %s  %s", c.Path, shown(c.Desired), shown(c.Live), strings.Join(who, "; "), note)
}

func owner(o releases.Owner) string {
	s := o.Manager
	if o.Subresource != "" {
		s += " (" + o.Subresource + ")"
	}
	if o.Time != nil {
		s += ", " + o.Time.Format("2006-01-02 15:04")
	}
	return s
}

// shown returns a value in one piece of a line.
func shown(v any) string {
	s, ok := v.(string)
	switch {
	case v == nil:
		return "(absent)"
	case !ok:
		body, _ := json.Marshal(v)
		s = string(body)
	case s == "":
		return `""`
	}
	if r := []rune(s); len(r) > maxShown {
		s = string(r[:maxShown]) + "…"
	}
	return s
}

func whole(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	body, _ := json.MarshalIndent(v, "", "  ")
	return string(body)
}
