package text

import (
	"drift-detector/report"
	"drift-detector/report/terminal"
)

// look is the mark and the colour of a status. The mark says the same as the
// colour, and the word itself is always beside both.
type look struct {
	mark  string
	style terminal.Style
	rank  int
}

func lookOf(status report.Status) look {
	return look{report.Mark(status), Style(status), report.Urgency(status)}
}

// styles are the colours of statuses by their urgency.
var styles = [...]terminal.Style{terminal.Red, terminal.Yellow, terminal.Yellow, terminal.Green}

// Style returns the colour of a status; it stands beside [report.Mark].
func Style(status report.Status) terminal.Style { return styles[report.Urgency(status)] }

// CheckLook returns the mark and the colour of a check of a severity.
func CheckLook(severity report.Severity) (mark string, style terminal.Style) {
	switch severity {
	case report.CheckError:
		return "!", terminal.Red
	case report.CheckWarning:
		return "?", terminal.Yellow
	case report.CheckInfo:
		return "=", terminal.Plain
	}
	return "", ""
}

func checkLook(severity report.Severity) look {
	mark, style := CheckLook(severity)
	return look{mark: mark, style: style}
}
