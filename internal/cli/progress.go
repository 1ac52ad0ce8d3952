package cli

import (
	"context"
	"io"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Progress shows on a terminal what is going on: lines that change, and nothing when it has
// stopped.
type Progress struct {
	bars    *mpb.Progress
	lines   []*ProgressLine
	streams *Streams
	stderr  io.Writer // what the streams had before
}

// ProgressLine is one line.
type ProgressLine struct{ bar *mpb.Bar }

// ShowProgress begins, without a line. Until Stop, what is said to stderr appears above the lines.
func ShowProgress(ctx context.Context, s *Streams) *Progress {
	p := &Progress{bars: mpb.NewWithContext(ctx, mpb.WithOutput(s.Stderr)), streams: s, stderr: s.Stderr}
	s.Stderr = p
	return p
}

// Line adds one below the others. Its text is asked for again and again, from another goroutine.
func (p *Progress) Line(text func() string) *ProgressLine {
	l := &ProgressLine{p.bars.New(0, mpb.NopStyle(), mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return text() })))}
	p.lines = append(p.lines, l)
	return l
}

// End takes the line away.
func (l *ProgressLine) End() { l.bar.Abort(true) }

// Write prints above the lines, or as it is when there are none any more.
func (p *Progress) Write(b []byte) (int, error) {
	if n, err := p.bars.Write(b); err == nil {
		return n, nil
	}
	return p.stderr.Write(b)
}

// Stop takes the lines away, and gives the streams back what they had.
func (p *Progress) Stop() {
	p.streams.Stderr = p.stderr
	for _, l := range p.lines {
		l.End()
	}
	p.bars.Wait()
}
