package plantest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Changing are the words of calls that change something.
var Changing = []string{" delete ", " apply ", " drain ", " patch ", " scale ", "member remove", "vm.power", "vm.destroy", "vm.change", "device.remove", "terminate-", "stop-", "start-", "detach-", "deregister-", "restore create", "create configmap", " annotate ", "clusterctl init"}

// Answers is what the stand-ins of programs print. SAMPLE is the name that everything has.
const Answers = `case "$*" in
*" cksum "*) echo "$(cksum </dev/null | cut -d ' ' -f 1,2) /file" ;;
*status.phase*) echo Completed ;;
*mutatingwebhookconfigurations*--output=name) echo hook ;;
*annotate*--dry-run=server*) echo asked ;;
*backupstoragelocations*) echo default ;;
*"get deployments.apps "*) echo '["/velero"]["server"]' ;;
esac
`

// programs are what commands call.
var programs = []string{"kubectl", "govc", "aws", "velero", "drift-detector", "clusterctl"}

// Install puts a stand-in of each program in a folder.
func Install(t *testing.T, text string) string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range programs {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// Filled sets the variables that are at the top of a runbook, and those that
// another fence of the same item asks for.
var Filled = func() string {
	text := ""
	for _, name := range []string{"REPORT", "MGMT", "OLD_MGMT", "BACKUP", "RESTORE", "VELERO_NAMESPACE", "ETCD_POD", "VCENTER_1", "VCENTER_2", "AWS_1", "CTX_ALPHA_ALPHA", "CTX_ALPHA_ALPHA2", "CTX_BETA_BETA", "NODE"} {
		text += name + "=filled\n"
	}
	return text
}()

// Outcome is what became of one line.
type Outcome struct {
	OK      bool
	Calls   []string
	Printed string
}

// Did reports whether a call holds a piece.
func (o Outcome) Did(piece string) bool {
	return slices.ContainsFunc(o.Calls, func(c string) bool { return strings.Contains(c, piece) })
}

// Changed reports whether a call changes something, for longer than it takes.
func (o Outcome) Changed() bool {
	return slices.ContainsFunc(o.Calls, func(call string) bool {
		return !strings.Contains(call, "delete pod/") && !strings.Contains(call, "--dry-run=server") &&
			slices.ContainsFunc(Changing, func(w string) bool { return strings.Contains(call, w) })
	})
}

// Try runs a line with stand-ins of all programs. What they answer is that of Answers,
// unless one of the cases given here comes first.
func Try(t *testing.T, line string, cases ...string) Outcome {
	t.Helper()
	text := "#!/bin/sh\necho \"${0##*/} $*\" >>\"$RECORD\"\n"
	if len(cases) > 0 {
		text += "case \"${0##*/} $*\" in\n" + strings.Join(cases, "\n") + "\nesac\n"
	}
	bin := Install(t, text+Answers)
	record := filepath.Join(t.TempDir(), "record")
	cmd := exec.Command("sh", "-c", Filled+"MEMBER_ID=filled TARGET_GROUP=filled DISK=filled VOLUME=filled GROUP=filled NEW_UUID=filled\n"+line)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "RECORD="+record, "SAMPLE=alpha")
	out, err := cmd.CombinedOutput()
	calls, _ := os.ReadFile(record) // absent when nothing was called
	return Outcome{err == nil, strings.Split(strings.TrimSpace(string(calls)), "\n"), string(out)}
}

// Stops returns the line of drift-detector recheck where it lets nothing go on, or not what has a piece.
func Stops(piece string) string { return `"drift-detector recheck "*"` + piece + `"*) exit 1 ;;` }

// WrongPlace are answers at another place and of another cluster.
var WrongPlace = []string{Stops("")}
