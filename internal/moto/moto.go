//go:build moto

// Package moto starts moto, an AWS written by others, for tests.
package moto

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Serve starts moto until the test ends, and returns its URL. It ends with its standard
// input.
func Serve(t testing.TB) string {
	t.Helper()
	python := os.Getenv("MOTO_PYTHON")
	if python == "" {
		t.Fatal("MOTO_PYTHON names no Python that has moto: run `make test-aws`")
	}
	const program = `
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("%s:%s" % server.get_host_and_port(), flush=True)
sys.stdin.read()
server.stop()
`
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, python, "-c", program)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
		cancel()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("moto did not start: %v\n%s", err, stderr.String())
	}
	return "http://" + strings.TrimSpace(line)
}
