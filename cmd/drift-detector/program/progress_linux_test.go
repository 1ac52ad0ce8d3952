package program

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

	"drift-detector/infra"
	"drift-detector/internal/cli"
)

// pseudoTerminal is what a program sees as a terminal, and all that was
// written to it.
type pseudoTerminal struct {
	*os.File
	mu   sync.Mutex
	sent bytes.Buffer
	read chan struct{} // closed when nothing more comes
}

func (p *pseudoTerminal) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent.Write(b)
}

// await waits until a text was written.
func (p *pseudoTerminal) await(t *testing.T, text string) {
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

// end closes the terminal and returns all that was written.
func (p *pseudoTerminal) end() string {
	_ = p.File.Close()
	<-p.read
	return p.sent.String()
}

func openTerminal(t *testing.T, columns, rows int) *pseudoTerminal {
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
	p := &pseudoTerminal{File: tty, read: make(chan struct{})}
	go func() {
		_, _ = io.Copy(struct{ io.Writer }{p}, controller) // ends with an error when the terminal closes
		_ = controller.Close()
		close(p.read)
	}()
	return p
}

// show plays what a terminal was sent, as far as progress uses it: newline,
// cursor up, erase line and erase below. It returns the lines that are left.
func show(sent string) []string {
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

func TestProgressComesAndGoes(t *testing.T) {
	tty := openTerminal(t, 60, 24)
	s := &cli.Streams{Stderr: tty.File}
	targets := []infra.Target{
		{Provider: "vsphere", Endpoint: "vc1.example:443"},
		{Provider: "aws", Endpoint: "evil\x1b[31m\u202e" + strings.Repeat("x", 200), Location: "eu-west-1"},
		{Provider: "workload", Endpoint: "a", NodeState: "unreachable"},
		{Provider: "workload", Endpoint: "b", NodeState: "unreachable"},
	}
	p := showProgress(context.Background(), s, targets)
	p.found(0, 1234)
	p.done(2, infra.Listing{})
	tty.await(t, "vsphere vc1.example:443: 1234 VMs, ")
	tty.await(t, "Node lists: 1 of 2 clusters answered")
	s.Info("a note")
	p.found(0, 5678)
	tty.await(t, "5678 VMs, ")
	tty.await(t, "a note")
	for _, i := range []int{0, 1, 3} {
		p.done(i, infra.Listing{})
	}
	p.Stop()
	s.Info("afterwards")
	sent := tty.end()
	if strings.Contains(sent, "\x1b[31m") || strings.Contains(sent, "\u202e") {
		t.Error("a name reached the terminal unescaped")
	}
	left := strings.TrimSpace(strings.Join(show(sent), "\n"))
	if left != "drift-detector: a note\ndrift-detector: afterwards" {
		t.Errorf("left on the terminal: %q", left)
	}
}
