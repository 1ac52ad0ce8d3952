// Package shelltest holds names that attack whoever puts them into a shell.
package shelltest

// Hostile are names that a backup may hold and that no command may obey.
var Hostile = []string{
	"$(touch x)", "`touch x`", "a;b", "a;touch x", "-rf", "--all", "'", "'; touch x; '", `"`, `"; touch x; "`, "a b", " ", "*", "?", "~", "!!",
	`\`, `a\`, `\'`, "# shellcheck disable=all", "$HOME", "${IFS}", "$'\\n'touch x", "a|touch x", "a&touch x", "a>x", "<x", "{a,b}", "[a]", "=ls", "x=y", "%1",
	"```", "<script>", "[a](http://b)", "| a |", "ünïcödé", "",
}

// Unprintable are names that no command is made for.
var Unprintable = []string{"a\nb", "a\n# touch x", "a\ntouch x\n", "a\rb", "a\x00b", "\x1b[31mred", "a\tb", "\u202eabc", "a\u2028b", "\xff\xfe"}
