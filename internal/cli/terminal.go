package cli

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether a stream is of a person: what is read comes from one, or what is
// written goes to one.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Look is how text looks on stdout.
type Look struct {
	Color         bool
	Width, Height int // in characters; no height is known where it is no terminal
}

// Look says in which form stdout takes text: in colour and as wide as it is on a
// terminal. NO_COLOR turns colour off, FORCE_COLOR and CLICOLOR_FORCE turn it on where
// there is no terminal; 0 is no force.
func (s *Streams) Look() Look {
	set := func(name string) bool { return s.Getenv(name) != "" }
	forced := func(name string) bool { return set(name) && s.Getenv(name) != "0" }
	l := Look{Width: 80, Color: (forced("FORCE_COLOR") || forced("CLICOLOR_FORCE")) && !set("NO_COLOR")}
	if !IsTerminal(s.Stdout) {
		return l
	}
	stdout := s.Stdout.(*os.File)
	l.Color = (l.Color || !set("NO_COLOR") && s.Getenv("TERM") != "dumb" && s.Getenv("FORCE_COLOR") != "0") && showsColor(stdout)
	width, height, err := term.GetSize(int(stdout.Fd()))
	if l.Height = height; err == nil && width > 0 {
		l.Width = width
	}
	return l
}

// Taller reports whether a text has more rows than the terminal of stdout, where only its end
// is seen then.
func (s *Streams) Taller(write func(io.Writer) error) bool {
	_, height, err := term.GetSize(int(s.Stdout.(*os.File).Fd()))
	var b bytes.Buffer
	return err == nil && write(&b) == nil && bytes.Count(b.Bytes(), []byte("\n")) >= height
}
