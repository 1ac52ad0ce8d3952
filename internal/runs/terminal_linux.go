package runs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"drift-detector/internal/cli"
)

// Terminal is what a program sees as a terminal, and all that was
// written to it.
type Terminal struct {
	*os.File
	mu   sync.Mutex
	sent bytes.Buffer
	read chan struct{} // closed when nothing more comes
}

// Write writes to the terminal as a program does.
func (p *Terminal) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent.Write(b)
}

// Await waits until a text was written.
func (p *Terminal) Await(t *testing.T, text string) {
	t.Helper()
	for range 3000 {
		p.mu.Lock()
		there := strings.Contains(p.sent.String(), text)
		p.mu.Unlock()
		if there {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never on the terminal: %q in %q", text, p.sent.String())
}

// End closes the terminal and returns all that was written.
func (p *Terminal) End() string {
	_ = p.File.Close()
	<-p.read
	return p.sent.String()
}

// OpenTerminal opens a terminal of so many columns and rows, until the test ends.
func OpenTerminal(t *testing.T, columns, rows int) *Terminal {
	t.Helper()
	controller, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(controller.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &Terminal{File: tty, read: make(chan struct{})}
	go func() {
		_, _ = io.Copy(struct{ io.Writer }{p}, controller) // ends with an error when the terminal closes
		_ = controller.Close()
		close(p.read)
	}()
	return p
}

// Show plays what a terminal was sent, as far as progress uses it: newline,
// cursor up, erase line and erase below. It returns the lines that are left.
func Show(sent string) []string {
	lines, row := []string{""}, 0
	for len(sent) > 0 {
		var n int
		var final byte
		switch {
		case strings.HasPrefix(sent, "\x1b["):
			body := sent[2:]
			end := strings.IndexFunc(body, func(r rune) bool { return r >= '@' && r <= '~' })
			_, _ = fmt.Sscanf(body[:end], "%d", &n)
			final, sent = body[end], body[end+1:]
			switch final {
			case 'A', 'F':
				row = max(0, row-max(n, 1))
			case 'K':
				lines[row] = ""
			case 'J':
				lines = append(lines[:row], "")
			}
		case sent[0] == '\n':
			if row++; row == len(lines) {
				lines = append(lines, "")
			}
			sent = sent[1:]
		case sent[0] == '\r':
			sent = sent[1:]
		default:
			lines[row] += sent[:1]
			sent = sent[1:]
		}
	}
	return lines
}

// OnTerminal runs the program on a terminal of so many columns, and returns the lines
// that are left there.
func OnTerminal(t *testing.T, columns int, environment map[string]string, args ...string) (lines []string, sent string, status cli.ExitCode) {
	t.Helper()
	return OnTall(t, columns, 24, environment, args...)
}

// OnTall runs onTerminal with so many rows.
func OnTall(t *testing.T, columns, rows int, environment map[string]string, args ...string) (lines []string, sent string, status cli.ExitCode) {
	t.Helper()
	tty := OpenTerminal(t, columns, rows)
	s := &cli.Streams{Stdout: tty.File, Stderr: tty.File, Getenv: func(name string) string { return environment[name] }, Now: Clock}
	status = Program(context.Background(), append([]string{"bin/drift-detector"}, args...), s)
	sent = tty.End()
	return strings.Split(strings.TrimSuffix(strings.Join(Show(sent), "\n"), "\n"), "\n"), sent, status
}
