package windows

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"drift-detector/internal/lab"
)

var programs = flag.String("programs", "", "folder with drift-detector.exe and drift-detector")

const testdata = "../"

// here is what all tests share: a Windows of wine's, and what the program listed there of the lab.
var here struct {
	wine, folder, inventory string
	environment             []string
}

func TestMain(m *testing.M) {
	flag.Parse()
	status := 1
	if err := begin(); err != nil {
		fmt.Fprintln(os.Stderr, "windows:", err)
	} else {
		status = m.Run()
	}
	if err := end(); err != nil {
		fmt.Fprintln(os.Stderr, "windows:", err)
		status = 1
	}
	os.Exit(status)
}

// begin makes a Windows, in a folder of its own.
func begin() (err error) {
	if here.wine, err = exec.LookPath("wine64"); err != nil {
		here.wine, err = exec.LookPath("/usr/lib/wine/wine64") // Debian's wine64, which has no other name
	}
	if err != nil {
		return errors.New("there is no wine64; on Debian: apt-get install --no-install-recommends wine64")
	}
	if here.folder, err = os.MkdirTemp("", "windows "); err != nil {
		return err
	}
	prefix := filepath.Join(here.folder, "prefix")
	here.environment = append(os.Environ(), "WINEPREFIX="+prefix, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml,winemenubuilder.exe=", "HOME="+here.folder, "TERM=xterm", "NO_COLOR=")
	boot := exec.Command(here.wine, "wineboot", "-i")
	boot.Env = here.environment
	if out, err := boot.CombinedOutput(); err != nil {
		return fmt.Errorf("wineboot: %w: %s", err, out)
	}
	const dll = "bcryptprimitives.dll"
	lacking := filepath.Join(prefix, "drive_c/windows/system32", dll)
	if _, err := os.Stat(lacking); err != nil {
		if err := os.WriteFile(lacking, forwarding(dll, "ProcessPrng", "ADVAPI32.SystemFunction036"), 0o644); err != nil {
			return err
		}
	}
	here.inventory = filepath.Join(here.folder, "inventory.json")
	return list()
}

// list has the program list the lab's vCenter and Node lists, over TLS.
func list() error {
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: testdata + "vcenter-after.tar.gz"})
	if err != nil {
		return err
	}
	defer v.Close()
	n, err := lab.StartAPIServers(testdata+"fleet-data.tar.gz", testdata+"nodes")
	if err != nil {
		return err
	}
	defer n.Close()
	credentials, err := v.WriteCredentials(here.folder)
	if err != nil {
		return err
	}
	args := []string{"inventory", "--backup", fleet, "-o", on(here.inventory), "--credentials", on(credentials), "--endpoint", v.Reroute()}
	for _, r := range n.Reroutes() {
		args = append(args, "--endpoint", r)
	}
	if o := run(nil, args...); o.code != 3 || strings.Contains(o.stderr, "vsphere") { // of AWS there is no server
		return fmt.Errorf("inventory: exit status %d\n%s", o.code, o.stderr)
	}
	return nil
}

// end ends wine's own server, which would stay for a while.
func end() error {
	if here.folder == "" {
		return nil
	}
	server, err := exec.LookPath("wineserver")
	if err != nil {
		server = "/usr/lib/wine/wineserver64"
	}
	stop := exec.Command(server, "-k", "-w")
	stop.Env = here.environment
	_ = stop.Run() // it may have ended
	return os.RemoveAll(here.folder)
}

// on returns a path of this machine as Windows has it.
func on(path string) string {
	whole, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return `Z:` + strings.ReplaceAll(whole, "/", `\`)
}

var fleet = on(testdata + "fleet-data.tar.gz")

// outcome is what a run printed, and its exit status.
type outcome struct {
	stdout, stderr string
	code           int
}

func command(args ...string) *exec.Cmd {
	cmd := exec.Command(here.wine, append([]string{filepath.Join(*programs, "drift-detector.exe")}, args...)...)
	cmd.Env, cmd.Dir = here.environment, here.folder
	return cmd
}

func run(stdin io.Reader, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	cmd := command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return outcome{stderr: err.Error(), code: -1}
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// decide looks at the lab's fleet by what was listed. One of its places was not.
func decide(args ...string) outcome {
	return run(nil, append([]string{"detect", "--backup", fleet, "--inventory", "inventory.json", "--quiet"}, args...)...)
}

// demand demands an exit status, and texts of stderr.
func (o outcome) demand(t *testing.T, code int, texts ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit status %d, want %d\n%s", o.code, code, o.stderr)
	}
	for _, text := range texts {
		if !strings.Contains(o.stderr, text) {
			t.Errorf("stderr lacks %q:\n%s", text, o.stderr)
		}
	}
}

// demandNothingLeft demands that no run left a temporary file.
func demandNothingLeft(t *testing.T) {
	t.Helper()
	for _, folder := range []string{here.folder, filepath.Join(here.folder, "a b"), filepath.Join(here.folder, "prefix/drive_c")} {
		if left, _ := filepath.Glob(filepath.Join(folder, ".*.tmp*")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}
