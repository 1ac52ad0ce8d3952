package cli

import (
	"bytes"
	"io"
	"log"

	urfave "github.com/urfave/cli/v2"
	"k8s.io/klog/v2"
)

// silence keeps what libraries say by themselves away from the streams: it is in the words
// of servers, with what they were sent in it, and passes neither [terminal.Escape] nor a
// [infra.Redaction]. What the program links has no other way to a stream, which a test of
// package docs holds: package log, where net/http quotes what a server sends behind the end
// of its answer and HTTP/2 its frames; klog; and the errors of the library for flags.
func silence(s *Streams) {
	log.SetFlags(0)
	log.SetOutput(unasked{s})
	klog.SetLogger(klog.Logger{}) // says nothing
	urfave.ErrWriter = io.Discard
}

// unasked takes what is written into the log of the process, and keeps no more of it than
// the fact.
type unasked struct{ s *Streams }

// Write implements io.Writer.
func (u unasked) Write(line []byte) (int, error) {
	// net/http.persistConn.readLoopPeekFailLocked.
	if bytes.HasPrefix(line, []byte("Unsolicited response received")) {
		u.s.surplus.Store(true)
	}
	return len(line), nil
}

// surplusSaid says, at the end of a run, that a server sent what nobody had asked for.
func (s *Streams) surplusSaid() {
	if s.surplus.Load() {
		s.Warn("a server sent more than its answer; nothing of that was used, or is shown")
	}
}
