// Package junit writes a report as JUnit XML, for the test views of Jenkins,
// GitLab and others. A machine is a test of the suite of its cluster:
//
//   - Ghost and Stale are failures of that type, Unknown is an error.
//   - Healthy passes. What it has of warnings is its output. A warning that is a danger,
//     such as DuplicateID, makes it a failure of that type.
//   - A finding that an ignore rule sets aside is skipped, with the rule's reason.
//   - Machines of the management cluster itself are skipped: it is lost anyway,
//     and they are no findings.
//
// So are its pools and the things that a restore depends on: one that is gone
// is a failure, one that could not be decided an error. A suite before the
// clusters holds the answer as one test, so that nothing that makes a restore
// unsafe leaves all green, and the counts of the report as properties; suites
// after them hold the checks of the backup, where an error fails; the VMs to
// confirm, which are skipped unless --fail-on of the run named them; and the places
// that were listed with the errors of the run. The counts of a suite are of its tests: a report that was
// shortened has none for its healthy machines, and a property says of how many.
package junit

import (
	"fmt"
	"io"

	"drift-detector/report"
	"drift-detector/report/junit/document"
)

// Write writes the report as one XML document, see [document]. Every message
// is in the text too, and no two tests are called the same. It returns the
// first error of the writer.
func Write(w io.Writer, r *report.Report) error {
	if err := document.Write(w, "drift-detector", suites(r)); err != nil {
		return fmt.Errorf("writing the report as JUnit XML: %w", err)
	}
	return nil
}
