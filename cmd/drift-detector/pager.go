package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

// page writes a long text to stdout: on a terminal through the pager that PAGER names, as git
// does, and without one as it is.
func page(s *streams, write func(io.Writer) error) error {
	pager := s.getenv("PAGER")
	if !isTerminal(s.stdout) || pager == "" || pager == "cat" || s.getenv("TERM") == "dumb" {
		return write(s.stdout)
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	cmd := exec.Command("sh", "-c", pager)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text.Bytes()), s.stdout, s.stderr
	cmd.Env = os.Environ()
	if s.getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX") // what fits a screen ends it; colours; the text stays
	}
	if err := cmd.Start(); err != nil {
		_, err := s.stdout.Write(text.Bytes())
		return err
	}
	// Ctrl-C is for the pager, which has the terminal.
	signal.Ignore(os.Interrupt)
	_ = cmd.Wait() // people leave a pager before the end
	return nil
}
