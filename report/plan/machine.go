package plan

import (
	"slices"

	"drift-detector/report"
	"drift-detector/report/code"
)

func warned(m *report.Machine, reason code.Reason) bool {
	return slices.ContainsFunc(m.Warnings, func(w report.Warning) bool { return w.Reason == reason })
}

// outcome returns the forecast of a machine, "" when the report has none.
func outcome(m *report.Machine) code.Outcome {
	if m.Forecast == nil {
		return ""
	}
	return m.Forecast.Outcome
}

// runningStates are the words of infrastructures for an instance that runs: of vSphere,
// EC2 and Nova. An older report may have none.
var runningStates = []string{"", "poweredOn", "running", "ACTIVE"}

// runs reports whether a machine is known to run.
func runs(m *report.Machine) bool {
	if m.Status != code.Healthy || warned(m, code.PoweredOff) || warned(m, code.Disconnected) {
		return false
	}
	return m.Instance == nil || slices.Contains(runningStates, m.Instance.State)
}
