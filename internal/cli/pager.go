package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

// Page writes a long text to stdout: on a terminal through the pager that PAGER names, as git
// does, and without one as it is.
func (s *Streams) Page(write func(io.Writer) error) error {
	pager := s.Getenv("PAGER")
	if !IsTerminal(s.Stdout) || pager == "" || pager == "cat" || s.Getenv("TERM") == "dumb" {
		return write(s.Stdout)
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	cmd := exec.Command("sh", "-c", pager)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text.Bytes()), s.Stdout, s.Stderr
	cmd.Env = os.Environ()
	if s.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX") // what fits a screen ends it; colours; the text stays
	}
	if err := cmd.Start(); err != nil {
		_, err := s.Stdout.Write(text.Bytes())
		return err
	}
	// Ctrl-C is for the pager, which has the terminal.
	signal.Ignore(os.Interrupt)
	_ = cmd.Wait() // people leave a pager before the end
	return nil
}
