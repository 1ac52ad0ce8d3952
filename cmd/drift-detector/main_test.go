package main

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"
)

// A terminal that goes away interrupts a run, except under nohup, which ignores its signal.
func TestTerminalGoesAway(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("the tests run under nohup")
	}
	if !slices.Contains(endings(), os.Signal(syscall.SIGHUP)) {
		t.Error("it ends the process before anything is cleared away")
	}
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	if slices.Contains(endings(), os.Signal(syscall.SIGHUP)) {
		t.Error("nohup is of no use")
	}
}
