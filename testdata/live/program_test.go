package live

import (
	"bytes"
	"errors"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

var programs = flag.String("programs", "../../bin/live", "folder of drift-detector, etcd and kube-apiserver")

// repository is its testdata.
const repository = "../"

// process is a server that runs.
type process struct {
	cmd  *exec.Cmd
	said bytes.Buffer
	gone chan struct{}
}

// start starts a server, until the test ends. When that failed, what it said last is shown.
func start(t *testing.T, program string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(filepath.Join(*programs, program), args...), gone: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	p.cmd.Dir = t.TempDir()
	if file, err := filepath.Abs(p.cmd.Path); err != nil {
		t.Fatal(err)
	} else {
		p.cmd.Path = file
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("%v: 'make test-live' builds it", err)
	}
	go func() {
		defer close(p.gone)
		_ = p.cmd.Wait() // it is killed
	}()
	t.Cleanup(func() {
		p.kill()
		lines := slices.DeleteFunc(bytes.Split(p.said.Bytes(), []byte("\n")), func(line []byte) bool {
			return bytes.HasPrefix(line, []byte("I")) || bytes.HasPrefix(line, []byte("W"))
		})
		if t.Failed() {
			t.Logf("%s said:\n%s", program, bytes.Join(lines[max(0, len(lines)-20):], []byte("\n")))
		}
	})
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.gone
}

// ends reports whether it ended by itself.
func (p *process) ends() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// wait asks again until something is so.
func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within two minutes", what)
		}
	}
}

// port returns a port of loopback that was free.
func port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, p, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// outcome is what one run of drift-detector wrote, and into its file.
type outcome struct {
	code           int
	stdout, stderr string
	file           []byte
}

// run runs drift-detector.
func run(t *testing.T, env []string, args ...string) outcome {
	t.Helper()
	return runTo(t, "", env, args...)
}

// runTo runs drift-detector, which writes a file of that name.
func runTo(t *testing.T, name string, env []string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	file := filepath.Join(t.TempDir(), name)
	if name != "" {
		args = append(args, "-o", file)
	}
	cmd := exec.Command(filepath.Join(*programs, "drift-detector"), args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = &stdout, &stderr, slices.Concat(os.Environ(), env)
	var status *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &status) {
		t.Fatalf("%v: 'make test-live' builds it", err)
	}
	o := outcome{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
	o.file, _ = os.ReadFile(file) // when it is not there, the status says why
	return o
}

func (o outcome) demand(t *testing.T, code int) {
	t.Helper()
	if o.code != code {
		t.Fatalf("exit status %d, want %d\n%s\n%s", o.code, code, o.stderr, o.stdout)
	}
}
