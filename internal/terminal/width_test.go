package terminal

import (
	"bytes"
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "alpha-prod": 10, "機器": 4, "e\u0301": 1, "…": 1, "─├": 2, "Ünï": 3, "a機b": 4, "한국": 4} {
		if got := Width(text); got != want {
			t.Errorf("Width(%q) = %d, want %d", text, got, want)
		}
	}
	for _, text := range []string{"", "a", "alpha-prod-md-0", "機器機器機器機器", "a機b器c機", strings.Repeat("e\u0301", 20)} {
		for width := 1; width < 20; width++ {
			begin, end := Begin(text, width), End(text, width)
			if Width(begin) > width || Width(end) > width {
				t.Errorf("%q in %d columns: %q, %q", text, width, begin, end)
			}
			if Width(text) <= width && (begin != text || end != text) {
				t.Errorf("%q fits in %d columns: %q, %q", text, width, begin, end)
			}
			if !strings.HasPrefix(text, strings.TrimSuffix(begin, "…")) || !strings.HasSuffix(text, strings.TrimPrefix(end, "…")) {
				t.Errorf("%q in %d columns: %q, %q", text, width, begin, end)
			}
		}
	}
}

// Names of wide characters break a row where it ends.
func TestRowsOfWideCharacters(t *testing.T) {
	var b bytes.Buffer
	p := NewPrinter(&b, 40, false)
	p.Print(0, 2, Lead(Plain, "VM", 4).Prose(Plain, strings.Repeat("機器 ", 30)))
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(b.String()) {
		if Width(strings.TrimSuffix(row, "\n")) > 40 {
			t.Errorf("%d columns: %s", Width(row), row)
		}
	}
}

// What is counted here is what the library counts.
func TestLinesOfTreesAreAsWideAsTheLibrarySays(t *testing.T) {
	for r := '─'; r <= '╿'; r++ {
		if s := "a" + string(r) + "b"; Width(s) != 3 || columns.StringWidth(s) != 3 {
			t.Errorf("%q: %d columns, the library says %d", s, Width(s), columns.StringWidth(s))
		}
	}
	for _, s := range []string{"", "abc", "├─ 界", "─\u0301", "é", "…"} {
		if got, want := Width(s), columns.StringWidth(s); got != want {
			t.Errorf("%q: %d columns, the library says %d", s, got, want)
		}
	}
}
