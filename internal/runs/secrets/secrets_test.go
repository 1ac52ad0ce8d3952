package secrets_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
)

// No secret of the backup occurs in any output, log, error or saved inventory,
// at any debug level, whether things work or fail.
func TestNoSecretEverShows(t *testing.T) {
	t.Parallel()
	var m runs.Markers
	w := runs.Fleet(t)
	w.Mark(&m)
	if len(m) < 50 {
		t.Fatalf("only %d markers were placed", len(m))
	}
	refusing, err := lab.StartVCenter(lab.VCenterOptions{Archive: runs.Testdata + "vcenter-after.tar.gz", Accounts: map[string]string{"user": "other"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(refusing.Close)

	var everything strings.Builder
	record := func(what string, o runs.Outcome) {
		fmt.Fprintf(&everything, "\n== %s: exit %d\n%s\n%s\n%s\n", what, o.Code, o.Stdout, o.Stderr, o.JSON)
	}
	debug := func(command string, extra ...string) runs.Outcome {
		return runs.Run(t, slices.Concat([]string{"-D", command}, w.Sources(), w.Reach(), extra)...)
	}
	saved := filepath.Join(w.Dir, "inventory.json")
	o := w.Detect()
	o.Demand(t, cli.ExitOK)
	record("detect", o)
	record("detect, debug", debug("detect", "-o", "-"))
	record("text", debug("detect", "-o", "-", "--format", "text"))
	record("dry run", debug("detect", "--dry-run"))
	record("inventory", debug("inventory", "-o", saved))
	check := func(format string) runs.Outcome {
		return runs.Run(t, slices.Concat([]string{"-D", "check", "--format", format}, w.Sources())...)
	}
	record("check", check("text"))
	record("check as JSON", check("json"))
	for _, how := range []string{"--diff", "--format=json"} {
		record("releases", runs.Run(t, slices.Concat([]string{"-D", "releases", how}, w.Sources())...))
	}
	inventory, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	everything.Write(inventory)
	w.VCenter, w.Creds = refusing, mustCredentials(t, refusing, w.Dir)
	record("login refused", debug("detect", "-o", "-"))
	refusing.Close()
	record("vCenter down", debug("detect", "-o", "-"))
	w.Edited("no-json", func(item string, body []byte) ([]byte, bool) {
		if resource, _ := runs.ItemOf(item); resource == "secrets" {
			return append(body[:len(body)-1], 'x'), true
		}
		return body, true
	})
	record("Secrets that are no JSON", debug("detect", "-o", "-"))
	record("check of Secrets that are no JSON", check("text"))

	if found := m.In(everything.String()); len(found) > 0 {
		t.Errorf("%d secrets show, for example %s", len(found), found[0])
	}
	for _, form := range []func(string) string{
		func(v string) string { return v },
		func(v string) string { return base64.StdEncoding.EncodeToString([]byte("password: " + v)) },
		url.QueryEscape,
		func(v string) string { q, _ := json.Marshal(v); return string(q) },
	} {
		planted := everything.String() + form(m[7])
		if found := m.In(planted); !slices.Equal(found, m[7:8]) {
			t.Errorf("the search did not find a planted secret: %q", found)
		}
	}
}

func mustCredentials(t *testing.T, v *lab.VCenter, dir string) string {
	t.Helper()
	path, err := v.WriteCredentials(dir)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
