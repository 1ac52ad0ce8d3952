package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"drift-detector/infra"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
)

// progress shows on a terminal what is being listed: a line per scope, one for
// all Node lists, and nothing when it has stopped.
type progress struct {
	*mpb.Progress
	lines    []*scopeLine // by target; nil for a Node list
	clusters *mpb.Bar     // the line of the Node lists, while there is one
	asked    int
	answered atomic.Int64
	streams  *cli.Streams
	stderr   io.Writer // what the streams had before
}

type scopeLine struct {
	bar   *mpb.Bar
	found atomic.Int64
}

// showProgress begins. Until stop, what is said to stderr appears above the lines.
func showProgress(ctx context.Context, s *cli.Streams, targets []infra.Target) *progress {
	p := &progress{
		Progress: mpb.NewWithContext(ctx, mpb.WithOutput(s.Stderr)),
		lines:    make([]*scopeLine, len(targets)), streams: s, stderr: s.Stderr,
	}
	begun := time.Now()
	for i := range targets {
		if t := &targets[i]; t.NodeState == "" {
			line := &scopeLine{}
			name := terminal.Escape(strings.TrimSpace(t.Provider + " " + t.Endpoint + " " + t.Location))
			line.bar = p.line(func() string { return placeLine(name, line.found.Load(), time.Since(begun)) })
			p.lines[i] = line
		} else {
			p.asked++
		}
	}
	if p.asked > 0 {
		p.clusters = p.line(func() string {
			return fmt.Sprintf("Node lists: %d of %s answered", p.answered.Load(), english.Count(p.asked, "cluster"))
		})
	}
	s.Stderr = p
	return p
}

func (p *progress) line(text func() string) *mpb.Bar {
	return p.New(0, mpb.NopStyle(), mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return text() })))
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
		line.bar.Abort(true)
		return
	}
	if p.answered.Add(1) == int64(p.asked) {
		p.clusters.Abort(true)
	}
}

// Write prints above the lines, or as it is when there are none any more.
func (p *progress) Write(b []byte) (int, error) {
	if n, err := p.Progress.Write(b); err == nil {
		return n, nil
	}
	return p.stderr.Write(b)
}

// stop takes the lines away.
func (p *progress) stop() {
	p.streams.Stderr = p.stderr
	for _, line := range p.lines {
		if line != nil {
			line.bar.Abort(true)
		}
	}
	if p.clusters != nil {
		p.clusters.Abort(true)
	}
	p.Wait()
}
