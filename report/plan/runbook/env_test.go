package runbook

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"drift-detector/infra/shell/shelltest"
	"drift-detector/report/plan"
)

// A file of variables, and the block of a runbook, leave what is set as it is; what is known is
// filled in, and no name of the report does anything.
func TestVariablesEmptyNothing(t *testing.T) {
	for _, name := range append([]string{"alpha"}, append(shelltest.Hostile, shelltest.Unprintable...)...) {
		p := plan.New(sample(name), providerTools)
		var b bytes.Buffer
		if err := Env(&b, p); err != nil {
			t.Fatal(err)
		}
		for form, text := range map[string]string{"file": b.String(), "block": strings.Join(variableLines(p.Variables), "\n") + "\n"} {
			file := writeScript(t, text)
			for _, v := range p.Variables {
				if form == "file" && v.Value != "" {
					continue // the file is where it is changed
				}
				cmd := exec.Command("sh", "-euc", `. "$0"; printf %s "$`+v.Name+`"`, file)
				cmd.Env = append(cmd.Environ(), v.Name+"=mine")
				if out := inEmptyFolder(t, cmd); out != "mine" {
					t.Errorf("%q, %s: %s is %q", name, form, v.Name, out)
				}
			}
			for _, v := range p.Variables {
				cmd := exec.Command("sh", "-c", `. "$0"; printf %s "$`+v.Name+`"`, file)
				if out := inEmptyFolder(t, cmd); out != v.Value && (out != "" || name == "alpha") {
					t.Errorf("%q, %s: %s is %q, not %q", name, form, v.Name, out, v.Value)
				}
			}
		}
	}
}
