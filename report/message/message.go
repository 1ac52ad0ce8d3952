// Package message writes a report, or that there is none, as the body of a chat's or another program's
// webhook: both answers, why the run failed, the backup, and the three things to do first. It is short on purpose, and
// holds no more of the report than its screen does.
package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/outline"
)

// most are how many things to do there are, and stamp is the form of a time.
const (
	most  = 3
	stamp = "2006-01-02T15:04:05Z"
)

// About is what a message says that is not in the report. Its zero value says nothing.
type About struct {
	Fails []string // what --fail-on matched, in words; none where it matched nothing
	Link  string   // where the report is; empty where that was not given
}

// Webhook is the body for programs. Fields are added to it, and none is taken away.
type Webhook struct {
	Question string   `json:"question"`         // "Safe to restore?", or of a management cluster that runs "Drift now:"
	Answer   string   `json:"answer"`           // "NO"
	ByPlan   string   `json:"byPlan,omitempty"` // the same for a restore by the plan
	Status   string   `json:"status"`           // of the report; NoReport where there is none
	Error    string   `json:"error,omitempty"`  // why there is no report; empty where there is one
	Complete bool     `json:"complete"`         // everything could be looked at
	Fails    []string `json:"fails"`            // what --fail-on matched, in words
	Only     string   `json:"only,omitempty"`   // which clusters it is of, where not of all
	Of       []string `json:"of"`               // the backups
	Machines string   `json:"machines"`         // counts, in words
	First    []string `json:"first"`            // to do, most urgent first
	Link     string   `json:"link,omitempty"`   // where the report is, as --link says
	At       string   `json:"generatedAt"`
}

// of returns the facts of a report that a message has.
func (about About) of(r *report.Report) *Webhook {
	a, m := r.Answer(), r.Summary.Machines
	w := &Webhook{
		Question: a.Question, Answer: a.Safe, ByPlan: a.ByPlan, Status: string(a.Status), Complete: r.Summary.Complete,
		Fails: foreign(about.Fails), Of: []string{}, First: []string{}, Link: about.Link,
		Machines: fmt.Sprintf("%d Healthy, %d Stale, %d Ghost, %d Unknown", m.Healthy, m.Stale, m.Ghost, m.Unknown),
		At:       r.GeneratedAt.UTC().Format(stamp),
	}
	if f := r.Options.Filter; f != nil {
		w.Only = short(terminal.Escape(report.Valid(f.Covers())))
	}
	for i := range r.Backups {
		w.Of = append(w.Of, terminal.Escape(report.Valid(r.Backups[i].Path)))
	}
	for _, s := range outline.ToDo(r) {
		for i := range s.Items {
			if len(w.First) < most {
				w.First = append(w.First, short(terminal.Escape(report.Valid(s.Items[i].Text))))
			}
		}
	}
	return w
}

// Failure is a run that ended without a report.
type Failure struct {
	Live bool     // it was to read a management cluster that runs
	Of   []string // what it was to read
	Why  string
	Next string // what to do
	At   time.Time
}

// noReport returns the facts of it. What is safe is not known, whatever an older report says.
func (about About) noReport(f *Failure) *Webhook {
	w := &Webhook{
		Question: "Safe to restore?", Answer: "NOT KNOWN", Status: "NoReport", Error: foreign([]string{f.Why})[0],
		Fails: []string{}, Of: foreign(f.Of), First: foreign([]string{f.Next}), Link: about.Link, At: f.At.UTC().Format(stamp),
	}
	if f.Live {
		w.Question = "Drift now:"
	}
	return w
}

// Failed writes in a format that there is no report. It returns the first error of the writer.
func (about About) Failed(to io.Writer, format string, f *Failure) error {
	return bodies[format](about.noReport(f), to)
}

// foreign returns texts that hold names of a backup, as a message shows them.
func foreign(texts []string) []string {
	out := []string{}
	for _, text := range texts {
		out = append(out, short(terminal.Escape(report.Valid(text))))
	}
	return out
}

// short returns a text that a chat shows whole.
func short(text string) string {
	const limit = 300
	if r := []rune(text); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return text
}

// answer returns the first line.
func (w *Webhook) answer() string {
	line := w.Question + " " + w.Answer
	if w.Error != "" {
		return line + ": the run failed, and there is no report"
	}
	if w.ByPlan != "" {
		line += "; by the plan: " + w.ByPlan
	}
	if !w.Complete {
		line += " (not everything could be looked at)"
	}
	return line
}

// lines returns what follows the answer: why the run failed comes first.
func (w *Webhook) lines() []string {
	var out []string
	if w.Error != "" {
		out = append(out, w.Error)
	}
	if len(w.Fails) > 0 {
		out = append(out, "Fails by --fail-on: "+short(strings.Join(w.Fails, "; ")))
	}
	if w.Only != "" {
		out = append(out, w.Only)
	}
	out = append(out, english.Join(": ", short(strings.Join(w.Of, ", ")), w.Machines))
	for i, first := range w.First {
		out = append(out, fmt.Sprintf("%d. %s", i+1, first))
	}
	return append(out, w.At)
}

// Formats are the formats of messages: Slack's is that of Mattermost, too, which shows its text alone.
var Formats = []string{"slack", "teams", "webhook"}

var bodies = map[string]func(*Webhook, io.Writer) error{"slack": (*Webhook).slack, "teams": (*Webhook).teams, "webhook": (*Webhook).json}

// Named returns the writer of one of the Formats, which returns the first error of what it writes to; nil
// for one that is no message.
func (about About) Named(format string) func(io.Writer, *report.Report) error {
	body := bodies[format]
	if body == nil {
		return nil
	}
	return func(w io.Writer, r *report.Report) error { return body(about.of(r), w) }
}

// json writes the body for programs.
func (w *Webhook) json(to io.Writer) error { return write(to, w) }

// escaped takes away what Slack reads as marks (https://api.slack.com/reference/surfaces/formatting#escaping).
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Escaped returns a text as a message for Slack holds it.
func Escaped(text string) string { return escaped.Replace(text) }

// slack writes the body for an incoming webhook of Slack (https://api.slack.com/messaging/webhooks).
func (w *Webhook) slack(to io.Writer) error {
	type text struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Verbatim bool   `json:"verbatim"` // else names become links and calls (…/block-kit/composition-objects/text-object)
	}
	type block struct {
		Type string `json:"type"`
		Text text   `json:"text"`
	}
	// A section of more than 3000 characters is refused, and with it the message: each line has one,
	// of 300 characters and their escapes (https://api.slack.com/reference/block-kit/blocks#section).
	blocks := []block{{"section", text{"mrkdwn", "*" + escaped.Replace(w.answer()) + "*", true}}}
	all := []string{escaped.Replace(w.answer())}
	for _, line := range w.lines() {
		blocks = append(blocks, block{"section", text{"mrkdwn", escaped.Replace(line), true}})
		all = append(all, escaped.Replace(plain(line)))
	}
	if w.Link != "" {
		link := "<" + escaped.Replace(w.Link) + "|The report>"
		blocks, all = append(blocks, block{"section", text{"mrkdwn", link, true}}), append(all, link)
	}
	return write(to, struct {
		Text   string  `json:"text"`
		Blocks []block `json:"blocks"`
	}{strings.Join(all, "\n"), blocks})
}

// plain returns a line in which Mattermost, which reads Markdown, finds no link, image or name to call. It finds names
// behind whatever is no letter of them, and without the marks around them, as in _@all: so no @ is left.
func plain(line string) string { return unmarked.Replace(line) }

var unmarked = strings.NewReplacer("[", "(", "]", ")", "@", "(at)")

// teams writes the body for a workflow of Microsoft Teams: a message with one adaptive card
// (https://adaptivecards.io/explorer/TextBlock.html).
func (w *Webhook) teams(to io.Writer) error {
	type block struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		Weight string `json:"weight,omitempty"`
		Wrap   bool   `json:"wrap"`
	}
	body := []block{{"TextBlock", marked.Replace(w.answer()), "Bolder", true}}
	for _, line := range w.lines() {
		body = append(body, block{"TextBlock", marked.Replace(line), "", true})
	}
	card := map[string]any{"type": "AdaptiveCard", "version": "1.4", "body": body}
	if w.Link != "" {
		card["actions"] = []any{map[string]any{"type": "Action.OpenUrl", "title": "The report", "url": w.Link}}
	}
	return write(to, map[string]any{"type": "message", "attachments": []any{map[string]any{
		"contentType": "application/vnd.microsoft.card.adaptive", "content": card,
	}}})
}

// marked takes the marks of Markdown away that a card would follow: links and emphasis.
var marked = strings.NewReplacer("[", "(", "]", ")", "*", "·", "_", "\\_")

func write(w io.Writer, body any) error {
	var doc bytes.Buffer
	e := json.NewEncoder(&doc)
	e.SetEscapeHTML(false)
	err := e.Encode(body)
	if err == nil {
		_, err = w.Write(terminal.JSON(doc.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("writing the report as a message: %w", err)
	}
	return nil
}
