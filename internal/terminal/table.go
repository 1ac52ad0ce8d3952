package terminal

import "strings"

// Table lines up the cells of rows in columns, two spaces apart, one line for each row.
// Cells may be foreign text; they are escaped.
func Table(rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for i := range row {
			if row[i] = Escape(row[i]); i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(row[i]))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-Width(cell)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}
