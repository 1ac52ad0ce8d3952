package live

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// A management cluster that really serves the objects of a backup. What a show changes it takes
// back, but for the last one, after which there is no server.
func TestLive(t *testing.T) {
	w := newWorld(t)
	s := startAPIServer(t, w.backup)
	for _, show := range []struct {
		name string
		run  func(*testing.T, *world, *apiserver)
	}{
		{"verdicts are those of the backup", verdicts},
		{"check, inventory", others},
		{"users and clusters that are not the right ones", refused},
		{"the printed role is enough", minimal},
		{"a Machine that is being deleted", deleting},
		{"faults", faults},
		{"a definition that is being deleted", removing},
		{"releases, and another API server", releases},
		{"between two pages", pages},
	} {
		t.Run(show.name, func(t *testing.T) { show.run(t, w, s) })
	}
}

// verdicts holds every machine and VM of the report against that of the tarball. Times are the
// server's.
func verdicts(t *testing.T, w *world, s *apiserver) {
	tarball := w.detect(t, "--backup", w.backup)
	tarball.demand(t, 0)
	begun := time.Now().Truncate(time.Second)
	live := w.detect(t, "--kubeconfig", s.kubeconfig(t, admin))
	live.demand(t, 0)
	if b := live.Backups[0]; b.WrittenFrom.Before(begun) || b.WrittenTo.Before(b.WrittenFrom) || b.WrittenTo.After(time.Now()) || !b.Live {
		t.Errorf("read from %s to %s, begun %s", b.WrittenFrom, b.WrittenTo, begun)
	}
	running(t, live.Report)
	want, _ := machines(t, tarball.Report)
	got, _ := machines(t, live.Report)
	differ(t, want, got)
}

// running takes away what only a management cluster that runs can show: Machines that have not
// come to run for long, in the lab all of AWS.
func running(t *testing.T, r *report.Report) {
	t.Helper()
	n := 0
	take := func(cluster string, list []report.Machine) {
		for i := range list {
			before := len(list[i].Warnings)
			list[i].Warnings = slices.DeleteFunc(list[i].Warnings, func(w report.Warning) bool { return w.Reason == code.NotRunning && cluster == "aws-prod" })
			n += before - len(list[i].Warnings)
		}
	}
	for _, c := range r.Clusters {
		take(c.Name, c.ControlPlane.Machines)
		for _, g := range c.Workers.Groups {
			take(c.Name, g.Machines)
		}
	}
	if n != 4 {
		t.Errorf("%d machines of AWS do not run, want 4", n)
	}
}

// others holds what check and inventory say against what they say of the tarball.
func others(t *testing.T, w *world, s *apiserver) {
	kubeconfig := s.kubeconfig(t, admin)
	want, got := findings(t, runTo(t, "check.json", nil, "check", "--backup", w.backup)), findings(t, runTo(t, "check.json", nil, "check", "--kubeconfig", kubeconfig))
	want = slices.DeleteFunc(want, func(s string) bool { return strings.HasPrefix(s, "BootstrapTokenExpired ") }) // by the age of the backup
	if !slices.Equal(want, got) {
		t.Errorf("check finds\n%s\nand of the backup\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	places := func(args ...string) string {
		o := runTo(t, "inventory.json", w.env, slices.Concat([]string{"inventory"}, args, w.reach)...)
		o.demand(t, 0)
		return listedAt.ReplaceAllString(string(o.file), "T")
	}
	if a, b := places("--backup", w.backup), places("--kubeconfig", kubeconfig); a != b || len(a) < 10_000 {
		t.Errorf("inventory %s", difference(a, b))
	}
}

// refused tests a token that the server does not know, a user who may do nothing, and the management
// cluster of the report itself, which nobody has restored.
func refused(t *testing.T, w *world, s *apiserver) {
	_, nobody := user(users - 1)
	report := runTo(t, "report.json", w.env, slices.Concat([]string{"detect", "--backup", w.backup}, w.reach)...)
	report.demand(t, 0)
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, report.file, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"does not accept the user of the kubeconfig (401)":  {"check", "--kubeconfig", s.kubeconfig(t, "unknown-token")},
		"nothing of Cluster API could be read":              {"check", "--kubeconfig", s.kubeconfig(t, nobody)},
		"this is the management cluster that was backed up": slices.Concat([]string{"verify", file, "--kubeconfig", s.kubeconfig(t, admin)}, w.reach),
	} {
		o := run(t, w.env, args...)
		if o.code != 2 || !strings.Contains(o.stderr, want) || strings.Contains(o.stdout+o.stderr, "-token") {
			t.Errorf("%s: exit status %d, %s", args[0], o.code, o.stderr)
		}
	}
}

// listedAt are times of today.
var listedAt = regexp.MustCompile(time.Now().UTC().Format("2006-01-02") + `T[0-9:.]*Z`)

// differ names what two reports say of different machines.
func differ(t *testing.T, want, got map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s %s", name, difference(text, got[name]))
		}
	}
	for name := range got {
		if want[name] == "" {
			t.Errorf("%s is new", name)
		}
	}
	if len(want) < 50 {
		t.Errorf("only %d machines and VMs", len(want))
	}
}

// difference shows where two texts begin to differ.
func difference(want, got string) string {
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	show := func(s string) string { return s[max(0, at-100):min(len(s), at+300)] }
	return "is\n…" + show(got) + "\nand was\n…" + show(want)
}
