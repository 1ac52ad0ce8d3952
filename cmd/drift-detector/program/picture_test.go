package program

import (
	"encoding/xml"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report/screen"
)

// The picture that the README shows is what detect prints of the lab on a terminal of 80 columns.
func TestDocumentedPicture(t *testing.T) {
	t.Parallel()
	o := runs.Fleet(t).Detect()
	o.Demand(t, cli.ExitOK)
	o.Report.GeneratedAt = time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC) // which says how old the backup is
	var printed strings.Builder
	if err := screen.Write(&printed, o.Report, screen.Options{Color: true, Report: "report.json"}); err != nil {
		t.Fatal(err)
	}
	want, file := picture(printed.String(), 80), "../../../docs/screen.svg"
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("docs/screen.svg is not the screen of the lab (%v): make update", err)
	}
	if !strings.Contains(runs.Readme(t), "](docs/screen.svg)") {
		t.Error("the README does not show docs/screen.svg")
	}
}

// styled is a piece of a line in one style: the number of a terminal's sequence, and the text.
var styled = regexp.MustCompile("(?:\x1b\\[([0-9]+)m)?([^\x1b\n]*)")

// styles are the sequences that the program sends, as SVG draws them on a dark ground.
var styles = map[string]string{
	"": "", "0": "", "1": ` font-weight="bold"`, "2": ` fill="#8b949e"`, "31": ` fill="#ff7b72"`, "32": ` fill="#7ee787"`, "33": ` fill="#e3b341"`,
}

// picture draws the text of a terminal as SVG, with its colours.
func picture(text string, columns int) string {
	const width, height = 8, 17 // of a character, in pixels
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" role="img">`+"\n<title>The screen of detect</title>\n", (columns+4)*width, (len(lines)+2)*height)
	b.WriteString(`<rect width="100%" height="100%" rx="6" fill="#0d1117"/>` + "\n")
	b.WriteString(`<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13" fill="#e6edf3">` + "\n")
	for i, line := range lines {
		fmt.Fprintf(&b, `<text x="%d" y="%d">`, 2*width, (i+2)*height)
		at := 0
		for _, piece := range styled.FindAllStringSubmatch(line, -1) {
			n := len([]rune(piece[2]))
			if n == 0 {
				continue
			}
			// Where a piece begins and how long it is does not depend on the reader's font.
			fmt.Fprintf(&b, `<tspan x="%d" textLength="%d"%s>`, (2+at)*width, n*width, styles[piece[1]])
			_ = xml.EscapeText(&b, []byte(strings.ReplaceAll(piece[2], " ", "\u00a0"))) // readers drop others
			b.WriteString("</tspan>")
			at += n
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}
