package terminal

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "alpha-prod_1/Ünïcode 机器 ✓", "alpha-prod_1/Ünïcode 机器 ✓"},
		{"backslash", `C:\vm`, `C:\vm`},
		{"newline", "a\nb\r\n", `a\x0ab\x0d\x0a`},
		{"tab and NUL", "a\tb\x00", `a\x09b\x00`},
		{"colour", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"title of the window", "\x1b]0;owned\x07", `\x1b]0;owned\x07`},
		{"DEL", "a\x7f", `a\x7f`},
		{"C1 as a rune", "a\u009b31m", `a\xc2\x9b31m`},
		{"C1 as a byte", "a\x9b31m", `a\x9b31m`},
		{"NEL", "a\u0085b", `a\xc2\x85b`},
		{"line separator", "a\u2028b\u2029", `a\xe2\x80\xa8b\xe2\x80\xa9`},
		{"right-to-left override", "a\u202egnp.exe", `a\xe2\x80\xaegnp.exe`},
		{"isolates", "\u2066a\u2069", `\xe2\x81\xa6a\xe2\x81\xa9`},
		{"marks", "\u200e\u200f\u061c", `\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c`},
		{"zero width", "a\u200bb\ufeff", `a\xe2\x80\x8bb\xef\xbb\xbf`},
		{"tag characters", "a\U000e0041", `a\xf3\xa0\x81\x81`},
		{"cut UTF-8", "a\xe2\x80", `a\xe2\x80`},
		{"overlong", "\xc0\xaf", `\xc0\xaf`},
		{"surrogate", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"commands of GitHub", "a ::error file=x::y ::Set-Output name=x::y", `a \x3a:error file=x::y \x3a:Set-Output name=x::y`},
		{"commands of other CI", "a##vso[task.complete]###[error]##teamcity[x]", `a\x23\x23vso[task.complete]\x23\x23\x23[error]\x23\x23teamcity[x]`},
		{"colons and hashes of others", "fe80::1 ::1 arn:aws:iam::1:role/x arn:aws:s3:::bucket #1 ## x", "fe80::1 ::1 arn:aws:iam::1:role/x arn:aws:s3:::bucket #1 ## x"},
		{"replacement character itself", "a\ufffdb", "a\ufffdb"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Escape(tt.in); got != tt.want {
				t.Errorf("Escape(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// TestEscapeLeavesNothing tries every character up to U+E0FFF, which is beyond
// the last one that has a meaning for layout, and every byte.
func TestEscapeLeavesNothing(t *testing.T) {
	harmless := func(s string) bool {
		return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool {
			return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Cf, unicode.Zl, unicode.Zp)
		}) < 0
	}
	for r := range rune(0xe1000) {
		if 0x20000 <= r && r < 0xe0000 { // ideographs and nothing
			continue
		}
		if s := Escape("a" + string(r) + "b"); !harmless(s) {
			t.Fatalf("%U is left as %q", r, s)
		}
	}
	for b := range 256 {
		if s := Escape(string([]byte{'a', byte(b), 'b'})); !harmless(s) {
			t.Fatalf("byte %#x is left as %q", b, s)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("a\x1b[31m\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		once := Escape(s)
		if !utf8.ValidString(once) || Escape(once) != once {
			t.Errorf("Escape(%q) = %q: not valid, or not the same when escaped again", s, once)
		}
	})
}
