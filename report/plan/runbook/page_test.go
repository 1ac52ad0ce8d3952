package runbook

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/terminal"
	"drift-detector/report/html"
	"drift-detector/report/plan"
	"drift-detector/report/plan/plantest"
	"drift-detector/report/reporttest"
)

// blocksOf returns the blocks of commands of a runbook, in order.
func blocksOf(b *html.Runbook) [][]string {
	var out [][]string
	add := func(lines []string) {
		if len(lines) > 0 {
			out = append(out, lines)
		}
	}
	add(b.Variables)
	for _, p := range b.Phases {
		for _, c := range p.Chapters {
			for _, s := range c.Steps {
				add(s.Pick)
				for _, do := range s.Does {
					for _, block := range do.Blocks {
						add(block.Commands)
					}
				}
			}
		}
	}
	return out
}

// The page has the steps and the commands of the Markdown, in its order, a block for a block, and
// no name gets out of its place.
func TestRunbookOfThePage(t *testing.T) {
	blocks := 0
	for seed := range uint64(60) {
		r := plantest.AtRandom(sample("alpha"), seed)
		p := plan.New(r, providerTools)
		var md strings.Builder
		if err := Markdown(&md, p); err != nil {
			t.Fatal(err)
		}
		b := Page(p)
		if want, got := fences(md.String()), blocksOf(b); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("seed %d: %d blocks, the Markdown has %d:\n%q\n%q", seed, len(got), len(want), got, want)
		}
		blocks += len(blocksOf(b))
		for _, row := range p.Checklist {
			if !b.Numbers()[row.Number] {
				t.Errorf("seed %d: no step %d", seed, row.Number)
			}
		}
		if b.Count() != len(p.Checklist) {
			t.Errorf("seed %d: %d steps of %d", seed, b.Count(), len(p.Checklist))
		}
	}
	if blocks < 1000 {
		t.Errorf("only %d blocks", blocks)
	}
	for _, hostile := range append([]string{"sample"}, reporttest.Hostile...) {
		r := sample(hostile)
		p := plan.New(r, providerTools)
		var page bytes.Buffer
		if err := html.WriteWith(&page, r, Page(p)); err != nil {
			t.Fatal(err)
		}
		_, plan, _ := strings.Cut(page.String(), `<section id="plan"`)
		plan, _, ok := strings.Cut(plan, "</section>")
		if !ok || strings.Contains(plan, "<img") || strings.Contains(plan, "<script") || strings.Count(plan, "noscript") != 2 {
			t.Errorf("%q: %d bytes of the plan", hostile, len(plan))
		}
		for line := range strings.Lines(plan) {
			if line = strings.Trim(line, "\n\t"); terminal.Escape(line) != line {
				t.Errorf("%q: %q", hostile, line)
			}
		}
	}
}
