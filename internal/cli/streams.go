package cli

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"drift-detector/internal/terminal"
)

// Streams is the process as commands see it, so that tests can replace it.
//
// Rules of the user interface: stdout is the result and nothing else; stderr is
// everything else, one line each, beginning with "drift-detector:"; a hint has a
// line of its own; foreign text passes terminal.Escape.
type Streams struct {
	Stdin          io.Reader // where a file called - comes from
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Now            func() time.Time
	Debug          bool
	Program        string              // as it was called
	Hide           func(string) string // takes what may be secret out of a text; nil where nothing is
	made           temporaries
	surplus        atomic.Bool // a server sent more than its answer, see silence
}

// Process returns the streams of this process, to which no library writes by itself any more.
func Process() *Streams {
	forgetEmpty()
	s := &Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now}
	silence(s)
	return s
}

// Say writes a line to stderr: what kind of line it is, such as "hint: ", and its text, from which
// what may be secret is taken. Foreign text is escaped.
func (s *Streams) Say(kind, format string, args ...any) {
	fmt.Fprintf(s.Stderr, "drift-detector: %s%s\n", kind, terminal.Escape(s.Redacted(fmt.Sprintf(format, args...))))
}

// Redacted returns a text without what the operator typed and may be secret.
func (s *Streams) Redacted(text string) string {
	if s.Hide == nil {
		return text
	}
	return s.Hide(text)
}

// Info says what is done or was found.
func (s *Streams) Info(format string, args ...any) { s.Say("", format, args...) }

// Warn says what the operator should know of the result, which is written all the same.
func (s *Streams) Warn(format string, args ...any) { s.Say("warning: ", format, args...) }

// Hint says what to do next.
func (s *Streams) Hint(format string, args ...any) { s.Say("hint: ", format, args...) }

// Debugf says what only --debug says.
func (s *Streams) Debugf(format string, args ...any) {
	if s.Debug {
		s.Say("debug: ", format, args...)
	}
}
