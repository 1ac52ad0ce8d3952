package windows

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// console runs the program in a console of 80 columns. Once a text is on it, typed is pressed.
func console(t *testing.T, await, typed string, args ...string) outcome {
	t.Helper()
	controller, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer controller.Close()
	fd := int(controller.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 80}); err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var shown bytes.Buffer
	for buffer := make([]byte, 4096); ; {
		n, err := controller.Read(buffer) // an error when the program has ended
		shown.Write(buffer[:n])
		if typed != "" && bytes.Contains(shown.Bytes(), []byte(await)) {
			if _, err := controller.WriteString(typed); err != nil {
				t.Error(err)
			}
			typed = ""
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait()
	return outcome{stdout: shown.String(), code: cmd.ProcessState.ExitCode()}
}

// A console shows colours, and NO_COLOR turns them off.
func TestColours(t *testing.T) {
	args := []string{"detect", "--backup", fleet, "--inventory", "inventory.json", "-o", "console.json"}
	const red = "\x1b[31m"
	if o := console(t, "", "", args...); o.code != 3 || !strings.Contains(o.stdout, red) || strings.Contains(o.stdout, "←") {
		t.Errorf("%d: no colours:\n%q", o.code, o.stdout)
	}
	was := here.environment
	defer func() { here.environment = was }()
	here.environment = append(was[:len(was):len(was)], "NO_COLOR=1")
	if o := console(t, "", "", args...); o.code != 3 || strings.Contains(o.stdout, red) {
		t.Errorf("%d: colours:\n%q", o.code, o.stdout)
	}
}

// Ctrl-C while a vCenter is listed ends a run, and leaves nothing.
func TestInterrupted(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	begun := time.Now()
	o := console(t, "0 VMs", "\x03", "detect", "--backup", fleet, "--endpoint", vcenter(t)+"="+silent.Addr().String(), "--skip-access-apiserver", "-o", "late.json", "-o", "late.prom")
	if o.code != 130 || !strings.Contains(o.stdout, "interrupted; nothing was written") || time.Since(begun) > 30*time.Second {
		t.Errorf("%d after %s:\n%q", o.code, time.Since(begun), o.stdout)
	}
	if left, _ := filepath.Glob(filepath.Join(here.folder, "late.*")); len(left) > 0 {
		t.Errorf("written: %v", left)
	}
	demandNothingLeft(t)
}

// vcenter returns the endpoint that the backup names.
func vcenter(t *testing.T) string {
	t.Helper()
	o := run(nil, "detect", "--backup", fleet, "--dry-run")
	for line := range strings.Lines(o.stdout) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "vsphere" {
			return words[1]
		}
	}
	t.Fatalf("no vCenter:\n%s", o.stdout)
	return ""
}
