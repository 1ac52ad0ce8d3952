// Command demo shows drift-detector at work: it serves the lab's drifted fleet
// on loopback, a vCenter simulator, a small server that speaks for AWS, and the
// API servers of the workload clusters, and runs the real program against the
// real backup of the lab. `make
// demo` builds that program first and runs this from the root of the repository.
//
// Its exit status is the program's, or 1 when it could not be run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"drift-detector/internal/lab"
)

// What the demo reads and writes, from the root of the repository.
const (
	program = "bin/drift-detector"
	backup  = "testdata/fleet-data.tar.gz"
	vcenter = "testdata/vcenter-after.tar.gz"
	ec2     = "testdata/aws/describe-instances.json"
	nodes   = "testdata/nodes"
	report  = "report.json"
	page    = "report.html"
)

func main() {
	// Ctrl-C reaches the program too; the demo stays to tidy up behind it.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := demo(ctx, program, os.Stdout, os.Stderr)
	stop()
	var failed *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &failed) && failed.ExitCode() > 0:
		os.Exit(failed.ExitCode())
	default:
		fmt.Fprintf(os.Stderr, "demo: %v\n", err)
		os.Exit(1)
	}
}

// demo serves the fleet, runs the program with its streams passed through, and
// says what to type next. The error is an *exec.ExitError when the program ran
// and ended with another status than 0.
func demo(ctx context.Context, program string, stdout, stderr io.Writer) error {
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("%w: run make build first, and this from the root of the repository", err)
	}
	s, err := serve(filepath.Dir(program))
	defer s.close()
	if err != nil {
		return err
	}
	say(stdout, introduction, backup, s.vcenter.Addr, strings.TrimPrefix(s.aws.URL, "http://"), s.aws.URL, lab.EC2KeyID,
		program, s.backup, report, page, filepath.Base(s.credentials), s.vcenter.Reroute(), len(s.api.Reroutes()))
	cmd := exec.Command(program, s.arguments()...)
	cmd.Stdout, cmd.Stderr, cmd.Env = stdout, stderr, environment(os.Environ(), s.aws.Environment())
	if err := run(ctx, cmd); err != nil {
		return err
	}
	say(stdout, next, fileURL(page), program, report, program, s.backup, program)
	return nil
}

const introduction = `A management cluster is lost; its Velero backup is %s.
What it managed has drifted since. Served on loopback: its vCenter, by a
simulator, on %s; its AWS account, by a server of this demo that
answers what EC2 would, on %s. The command:

  AWS_ENDPOINT_URL=%s \
  AWS_ACCESS_KEY_ID=%s AWS_SECRET_ACCESS_KEY=…   (made up) \
  %s detect --backup %s -o %s -o %s \
      --summary   (one screen, also where the output is no terminal)
      --credentials %s   (pins the simulator's certificate)
      --aws-ambient   (your own AWS key, from the environment: this backup holds
                       none, because CAPA's controller had its own)
      --endpoint %s   (and %d more: here is not where the backup says)

`

const next = `
The same report as a web page: %s

Try, too:
  %s plan %s --format shell
      the steps as a shell script, in which every command is commented out
  %s check --backup %s
      what is wrong with the backup itself; nothing is contacted
  %s detect --backup YOURS-data.tar.gz --dry-run
      where it would look for your own VMs, and with which account
`

// served is the fleet on loopback.
type served struct {
	vcenter     *lab.VCenter
	aws         *lab.EC2
	api         *lab.APIServers
	backup      string // the lab's, in which objects pin the certificate of the simulator
	credentials string // file that pins the vCenter's certificate
	stop        []func()
}

// serve starts all of it, and writes the backup into a folder. What was started is to be
// closed, also after an error.
func serve(folder string) (s served, err error) {
	if s.vcenter, err = lab.StartVCenter(lab.VCenterOptions{Archive: vcenter}); err != nil {
		return s, err
	}
	s.stop = append(s.stop, s.vcenter.Close)
	if s.aws, err = lab.StartEC2(lab.EC2Options{Instances: ec2, Backup: backup}); err != nil {
		return s, err
	}
	s.stop = append(s.stop, s.aws.Close)
	if s.api, err = lab.StartAPIServers(backup, nodes); err != nil {
		return s, err
	}
	s.stop = append(s.stop, s.api.Close)
	if s.backup, err = s.vcenter.WritePinned(backup, folder); err != nil {
		return s, err
	}
	dir, err := os.MkdirTemp("", "drift-detector-demo-")
	if err != nil {
		return s, err
	}
	s.stop = append(s.stop, func() { _ = os.RemoveAll(dir) })
	s.credentials, err = s.vcenter.WriteCredentials(dir)
	return s, err
}

func (s served) close() {
	for _, stop := range slices.Backward(s.stop) {
		stop()
	}
}

// arguments returns those of the program that looks at the fleet here, and not where
// the backup says.
func (s served) arguments() []string {
	args := []string{"detect", "--backup", s.backup, "-o", report, "-o", page, "--summary", "--credentials", s.credentials, "--aws-ambient"}
	for _, r := range append([]string{s.vcenter.Reroute()}, s.api.Reroutes()...) {
		args = append(args, "--endpoint", r)
	}
	return args
}

// fileURL returns what a browser opens, and many terminals on a click.
func fileURL(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(absolute)}).String()
}

// environment returns the process's own with all about AWS replaced, so that no
// setting or key of whoever runs the demo takes part.
func environment(own, aws []string) []string {
	return append(slices.DeleteFunc(own, func(setting string) bool { return strings.HasPrefix(setting, "AWS_") }), aws...)
}

// run runs the command to its end. When ctx ends the command is asked to end
// as well, and waited for.
func run(ctx context.Context, cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("running %s: %w", cmd.Path, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(os.Interrupt) })
	defer stop()
	return cmd.Wait()
}

// say prints for people; a stream that can't take it is no reason to fail.
func say(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, args...)
}
