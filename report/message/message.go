// Package message writes a report as the body of a chat's or another program's webhook: both
// answers, the backup, and the three things to do first. It is short on purpose, and holds no
// more of the report than its screen does.
package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/outline"
)

// most are how many things to do there are.
const most = 3

// Webhook is the body for programs. Fields are added to it, and none is taken away.
type Webhook struct {
	Question string   `json:"question"`         // "Safe to restore?", or of a management cluster that runs "Drift now:"
	Answer   string   `json:"answer"`           // "NO"
	ByPlan   string   `json:"byPlan,omitempty"` // the same for a restore by the plan
	Status   string   `json:"status"`           // of the report
	Complete bool     `json:"complete"`         // everything could be looked at
	Of       []string `json:"of"`               // the backups
	Machines string   `json:"machines"`         // counts, in words
	First    []string `json:"first"`            // to do, most urgent first
	At       string   `json:"generatedAt"`
}

// of are the facts of a report that a message has.
func of(r *report.Report) Webhook {
	a, m := r.Answer(), r.Summary.Machines
	w := Webhook{
		Question: a.Question, Answer: a.Safe, ByPlan: a.ByPlan, Status: string(a.Status), Complete: r.Summary.Complete, Of: []string{}, First: []string{},
		Machines: fmt.Sprintf("%d Healthy, %d Stale, %d Ghost, %d Unknown", m.Healthy, m.Stale, m.Ghost, m.Unknown),
		At:       r.GeneratedAt.UTC().Format("2006-01-02T15:04:05Z"),
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

// short is a text that a chat shows whole.
func short(text string) string {
	const limit = 300
	if r := []rune(text); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return text
}

// answer is the first line.
func (w *Webhook) answer() string {
	line := w.Question + " " + w.Answer
	if w.ByPlan != "" {
		line += "; by the plan: " + w.ByPlan
	}
	if !w.Complete {
		line += " (not everything could be looked at)"
	}
	return line
}

// JSON writes the body for programs. It returns the first error of the writer.
func JSON(w io.Writer, r *report.Report) error { return write(w, of(r)) }

// Slack writes the body for an incoming webhook of Slack, and of Mattermost: text and blocks
// (https://api.slack.com/messaging/webhooks). It returns the first error of the writer.
func Slack(w io.Writer, r *report.Report) error {
	type text struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type block struct {
		Type string `json:"type"`
		Text text   `json:"text"`
	}
	m := of(r)
	// Slack reads these three as marks (https://api.slack.com/reference/surfaces/formatting#escaping).
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	// A section of more than 3000 characters is refused, and with it the message: each line has one,
	// of 300 characters and their escapes (https://api.slack.com/reference/block-kit/blocks#section).
	blocks := []block{{"section", text{"mrkdwn", "*" + escape.Replace(m.answer()) + "*"}}}
	for _, line := range m.lines() {
		blocks = append(blocks, block{"section", text{"mrkdwn", escape.Replace(line)}})
	}
	return write(w, struct {
		Text   string  `json:"text"`
		Blocks []block `json:"blocks"`
	}{escape.Replace(m.answer()), blocks})
}

// Teams writes the body for a workflow of Microsoft Teams: a message with one adaptive card
// (https://adaptivecards.io/explorer/TextBlock.html). It returns the first error of the writer.
func Teams(w io.Writer, r *report.Report) error {
	type block struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		Weight string `json:"weight,omitempty"`
		Wrap   bool   `json:"wrap"`
	}
	m := of(r)
	body := []block{{"TextBlock", marked.Replace(m.answer()), "Bolder", true}}
	for _, line := range m.lines() {
		body = append(body, block{"TextBlock", marked.Replace(line), "", true})
	}
	return write(w, map[string]any{"type": "message", "attachments": []any{map[string]any{
		"contentType": "application/vnd.microsoft.card.adaptive",
		"content":     map[string]any{"type": "AdaptiveCard", "version": "1.4", "body": body},
	}}})
}

// marked takes the marks of Markdown away that a card would follow: links and emphasis.
var marked = strings.NewReplacer("[", "(", "]", ")", "*", "·", "_", "\\_")

// lines are what follows the answer.
func (w *Webhook) lines() []string {
	out := []string{english.Join(": ", short(strings.Join(w.Of, ", ")), w.Machines)}
	for i, first := range w.First {
		out = append(out, fmt.Sprintf("%d. %s", i+1, first))
	}
	return append(out, w.At)
}

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
