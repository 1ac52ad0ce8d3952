package program

import (
	"context"
	"strings"
	"testing"

	"drift-detector/infra"
	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

func TestProgressComesAndGoes(t *testing.T) {
	tty := runs.OpenTerminal(t, 60, 24)
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
	tty.Await(t, "vsphere vc1.example:443: 1234 VMs, ")
	tty.Await(t, "Node lists: 1 of 2 clusters answered")
	s.Info("a note")
	p.found(0, 5678)
	tty.Await(t, "5678 VMs, ")
	tty.Await(t, "a note")
	for _, i := range []int{0, 1, 3} {
		p.done(i, infra.Listing{})
	}
	p.Stop()
	s.Info("afterwards")
	sent := tty.End()
	if strings.Contains(sent, "\x1b[31m") || strings.Contains(sent, "\u202e") {
		t.Error("a name reached the terminal unescaped")
	}
	left := strings.TrimSpace(strings.Join(runs.Show(sent), "\n"))
	if left != "drift-detector: a note\ndrift-detector: afterwards" {
		t.Errorf("left on the terminal: %q", left)
	}
}
