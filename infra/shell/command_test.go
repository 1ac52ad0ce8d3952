package shell

import "testing"

// Whatever a line is put together of, a refused text stays refused, and no line is
// made of a part of it.
func TestRefusalSticks(t *testing.T) {
	good, bad := Line("echo", "a"), Line("echo", "a\nb")
	for name, c := range map[string]Command{
		"Then": good.Then(bad), "Then, first": bad.Then(good), "All": All(good, good, bad), "OrStop": bad.OrStop("no"), "OrStop, what was found": good.OrStop("no", "a\nb"),
		"OrSay": bad.OrSay("no"), "Keep": bad.Keep("X"), "Private": bad.Private(), "Prints": bad.Prints("a"), "Prints, what is wanted": good.Prints("a\nb"),
		"Pipe": good.Pipe(bad), "Pipe, first": bad.Pipe(good), "Lacks": Lacks("X", "a\nb"),
	} {
		if c.Text() != "" || c.Refused() != "a\nb" || c.IsZero() {
			t.Errorf("%s: %q, refused %q", name, c.Text(), c.Refused())
		}
	}
}

func TestNothingIsNoLine(t *testing.T) {
	var none Command
	line := Line("echo", "a")
	for _, c := range []Command{none.Then(line), line.Then(none), All(none, line, none)} {
		if !none.IsZero() || !none.Then(none).IsZero() || c.Text() != line.Text() {
			t.Errorf("no line changes the line beside it: %s", c.Text())
		}
	}
}

func TestLines(t *testing.T) {
	read := Line("get", Variable("ID"), "a b")
	for want, c := range map[string]Command{
		`get "${ID:?}" 'a b'`:                                           read,
		`get "${ID:?}" 'a b' && get "${ID:?}" 'a b'`:                    read.Then(read),
		`{ get "${ID:?}" 'a b' || { echo 'stop: no' >&2; false; }; }`:   read.OrStop("no"),
		`{ get "${ID:?}" 'a b' || { echo 'stop: no' c >&2; false; }; }`: read.OrStop("no", "c"),
		`get "${ID:?}" 'a b' || echo 'look' >&2`:                        read.OrSay("look"),
		`X=$(get "${ID:?}" 'a b')`:                                      read.Keep("X"),
		`(umask 077; get "${ID:?}" 'a b')`:                              read.Private(),
		`test "$(get "${ID:?}" 'a b')" = '*'`:                           read.Prints("*"),
		`get "${ID:?}" 'a b' | get "${ID:?}" 'a b'`:                     read.Pipe(read),
		`test -z "$X"`: Empty("X"),
		`case "$X" in *'*'"${ID:?}"*) false ;; esac`: Lacks("X", "*", Variable("ID")),
		`case "$X" in *a*) false ;; esac`:            Lacks("X", "a"),
		`X='' # a\x0atouch x`:                        Ask("X", "a\ntouch x"),
		`X='velero' # its namespace`:                 Set("X", "velero", "its namespace"),
	} {
		if c.Text() != want || c.Refused() != "" {
			t.Errorf("got %s, want %s", c.Text(), want)
		}
	}
}
