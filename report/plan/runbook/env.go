package runbook

import (
	"bufio"
	"fmt"
	"io"

	"drift-detector/infra/shell"
	"drift-detector/internal/terminal"
	"drift-detector/report/plan"
)

// Env writes the variables of the plan as a file for a shell to read, in which people fill in
// what nobody else knows: as long as that is not done, a line sets nothing. It returns the
// first error of the writer.
func Env(w io.Writer, p plan.Plan) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "# Variables of the plan. Fill a line in, and take its first '#' away. Then in each shell:\n#   . ./plan.env\n")
	for _, v := range p.Variables {
		line := "export " + v.Name + "="
		if value, ok := shell.Quote(v.Value); ok && v.Value != "" {
			line += value
		} else {
			line = "#" + line + "''"
		}
		fmt.Fprintf(b, "\n# %s\n%s\n", terminal.Escape(v.Meaning), line)
	}
	return b.Flush()
}
