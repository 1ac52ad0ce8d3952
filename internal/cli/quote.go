package cli

import (
	"fmt"
	"runtime"
	"strings"

	"drift-detector/infra/shell"
)

// Quoted returns a word of a shell; of one that a terminal would not show, what printf makes of it.
func Quoted(word string) string {
	if q, ok := Pasteable(word); ok {
		return q
	}
	var b strings.Builder
	for _, c := range []byte(word) {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("_./:", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	return `"$(printf '` + b.String() + `')"`
}

// Pasteable returns a word of the shells of this system, unless there is none that a terminal would show.
func Pasteable(word string) (string, bool) { return pasteableOn(runtime.GOOS, word) }

// pasteableOn does what pasteable does, on a system. A path of Windows has slashes and, where it needs quotes, double
// ones: cmd, PowerShell and a POSIX shell take that, and cmd takes neither single ones nor the others a
// backslash.
func pasteableOn(system, word string) (string, bool) {
	if system == "windows" {
		word = strings.ReplaceAll(word, `\`, "/")
	}
	q, ok := shell.Quote(word)
	if ok && system == "windows" && q != word && !strings.ContainsAny(word, "\"$`%!") {
		q = `"` + word + `"`
	}
	return q, ok
}

// calledAs returns how lines for a shell name the program: as it was called. On Windows that is its name
// without the folder, because PowerShell runs no path in quotes.
func calledAs(system, name string) string {
	if system != "windows" {
		return name
	}
	return strings.TrimSuffix(name[strings.LastIndexAny(name, `\/:`)+1:], ".exe")
}
