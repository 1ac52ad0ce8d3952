package program

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"drift-detector/infra"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
)

// progress shows on a terminal what is being listed: a line per scope, one for
// all Node lists, and nothing when it has stopped.
type progress struct {
	*cli.Progress
	lines    []*scopeLine      // by target; nil for a Node list
	clusters *cli.ProgressLine // the line of the Node lists, while there is one
	asked    int
	answered atomic.Int64
}

type scopeLine struct {
	*cli.ProgressLine
	found atomic.Int64
}

// showProgress begins. Until Stop, what is said to stderr appears above the lines.
func showProgress(ctx context.Context, s *cli.Streams, targets []infra.Target) *progress {
	p := &progress{Progress: cli.ShowProgress(ctx, s), lines: make([]*scopeLine, len(targets))}
	begun := time.Now()
	for i := range targets {
		if t := &targets[i]; t.NodeState == "" {
			line := &scopeLine{}
			name := terminal.Escape(strings.TrimSpace(t.Provider + " " + t.Endpoint + " " + t.Location))
			line.ProgressLine = p.Line(func() string { return placeLine(name, line.found.Load(), time.Since(begun)) })
			p.lines[i] = line
		} else {
			p.asked++
		}
	}
	if p.asked > 0 {
		p.clusters = p.Line(func() string {
			return fmt.Sprintf("Node lists: %d of %s answered", p.answered.Load(), english.Count(p.asked, "cluster"))
		})
	}
	return p
}

// placeLine returns one line: how much was found so far, and how fast.
func placeLine(name string, found int64, since time.Duration) string {
	return fmt.Sprintf("%s: %s, %.0f/s", name, english.Count(int(found), "VM"), float64(found)/max(since.Seconds(), 0.001))
}

func (p *progress) found(target, n int) {
	if line := p.lines[target]; line != nil {
		line.found.Store(int64(n))
	}
}

func (p *progress) done(target int, _ infra.Listing) {
	if line := p.lines[target]; line != nil {
		line.End()
		return
	}
	if p.answered.Add(1) == int64(p.asked) {
		p.clusters.End()
	}
}
