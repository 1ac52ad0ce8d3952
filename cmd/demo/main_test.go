package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/lab"
)

// TestMain lets the test binary play the program that the demo runs.
func TestMain(m *testing.M) {
	if os.Getenv("DEMO_PLAYS_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	for i, arg := range os.Args {
		switch {
		case arg == "--credentials":
			info, err := os.Stat(os.Args[i+1])
			if err != nil || info.Mode().Perm() != 0o600 {
				fmt.Println("credentials:", info, err)
			}
		case i > 0 && os.Args[i-1] == "--endpoint":
			_, to, _ := strings.Cut(arg, "=")
			if c, err := net.Dial("tcp", to); err == nil {
				_ = c.Close()
				fmt.Println("served:", arg[:strings.Index(arg, "=")])
			}
		}
	}
	fmt.Println("arguments:", os.Args[1:min(10, len(os.Args))])
	if address, ok := strings.CutPrefix(os.Getenv("AWS_ENDPOINT_URL"), "http://"); ok && slices.Contains(os.Args, "--aws-ambient") {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			fmt.Println("AWS is served for", os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_ROLE_ARN"))
		}
	}
	if os.Getenv("DEMO_PLAYS_PROGRAM") == "fail" {
		os.Exit(3)
	}
	os.Exit(0)
}

func play(t *testing.T, how string) (stdout string, err error) {
	t.Helper()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("DEMO_PLAYS_PROGRAM", how)
	t.Setenv("AWS_ACCESS_KEY_ID", "of whoever runs the demo")
	t.Setenv("AWS_ROLE_ARN", "of whoever runs the demo")
	var out, errs bytes.Buffer
	err = demo(context.Background(), self, &out, &errs)
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if errs.Len() > 0 {
		t.Errorf("stderr: %s", errs.String())
	}
	return out.String(), err
}

func TestDemoRunsTheProgramAgainstTheFleet(t *testing.T) {
	out, err := play(t, "succeed")
	if err != nil {
		t.Fatal(err)
	}
	// One vCenter and the API servers of the three clusters that still run.
	if n := strings.Count(out, "served: 127.0.0.1:"); n != 4 || !strings.Contains(out, "served: 127.0.0.1:36459\n") {
		t.Errorf("%d endpoints are served:\n%s", n, out)
	}
	if !strings.Contains(out, "AWS is served for "+lab.EC2KeyID+" \n") {
		t.Errorf("AWS is not served for the demo's own key:\n%s", out)
	}
	if !strings.Contains(out, "arguments: [detect --backup "+filepath.Join(filepath.Dir(os.Args[0]), filepath.Base(backup))+" -o "+report+" -o "+page+" --summary --credentials]") || strings.Contains(out, "credentials: ") {
		t.Errorf("the program said:\n%s", out)
	}
	if !strings.Contains(out, " file:///") {
		t.Errorf("where the page is, is not said:\n%s", out)
	}
	if n := strings.Count(out, "\n"); n > 35 { // with the program's own, fewer than 60
		t.Errorf("%d lines:\n%s", n, out)
	}
	before, after, _ := strings.Cut(out, "arguments:")
	if !strings.Contains(before, "--credentials") || !strings.Contains(after, "Try, too:") {
		t.Errorf("the command is not before, or the next step not after the program's words:\n%s", out)
	}
}

func TestDemoEndsAsTheProgramDoes(t *testing.T) {
	out, err := play(t, "fail")
	var failed *exec.ExitError
	if !errors.As(err, &failed) || failed.ExitCode() != 3 || strings.Contains(out, "Try, too:") {
		t.Errorf("error %v after:\n%s", err, out)
	}
}

func TestDemoWithoutTheProgram(t *testing.T) {
	var out bytes.Buffer
	err := demo(context.Background(), filepath.Join(t.TempDir(), "none"), &out, &out)
	if err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("error %v does not say what to do", err)
	}
}
