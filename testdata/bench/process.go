package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// contestant is a command that is measured.
type contestant struct {
	name string
	args []string
	env  []string
	good []int // exit statuses other than 0
	runs []cost
}

// cost is what one run of a process took, with those that it waited for.
type cost struct {
	cpu, wall time.Duration
	memory    int64 // peak, bytes
	calls     int   // of a vCenter
}

// run runs a command in a folder for its files, which is removed afterwards. The
// kernel counts the memory of this process in until the other is started
// (Linux fs/exec.c, exec_mmap), so this one has to stay small: all that is
// large is made by processes of its own.
func (c *contestant) run() error {
	dir, err := os.MkdirTemp(scratch(), "drift-detector-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	args := slices.Clone(c.args)
	for i, a := range args {
		args[i] = expand(a, dir)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(append(os.Environ(), "TMPDIR="+dir), c.env...)
	messages := &tail{}
	cmd.Stderr = messages
	start := time.Now()
	err = cmd.Run()
	wall := time.Since(start)
	if failed := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &failed) && slices.Contains(c.good, failed.ExitCode())) {
		return fmt.Errorf("%s: %w\n%s", c.name, err, messages.text)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	c.runs = append(c.runs, cost{
		cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall: wall, memory: usage.Maxrss << 10,
	})
	return nil
}

// folder in an argument means the folder of the run.
const folder = "{folder}"

func expand(arg, dir string) string {
	if len(arg) >= len(folder) && arg[:len(folder)] == folder {
		return dir + arg[len(folder):]
	}
	return arg
}

// tail keeps the end of what a process says.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-2000):]
	return len(p), nil
}

// scratch returns where files of runs go: memory where there is such a place, which
// favours those that unpack.
func scratch() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}

// rounds runs all contestants in turns.
func rounds(n int, all []*contestant) error {
	for range n {
		for _, c := range all {
			if err := c.run(); err != nil {
				return err
			}
		}
	}
	return nil
}

// median of what the runs of a contestant took; of two, the lower.
func median[T cmp.Ordered](c *contestant, of func(cost) T) T {
	var values []T
	for _, r := range c.runs {
		values = append(values, of(r))
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

func cpuOf(c cost) time.Duration  { return c.cpu }
func wallOf(c cost) time.Duration { return c.wall }
func memoryOf(c cost) int64       { return c.memory }
func callsOf(c cost) int          { return c.calls }
