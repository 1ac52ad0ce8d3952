package shell

import (
	"strings"
	"testing"
)

// Lines are one where only words differ, or the variables that they read.
func TestTemplate(t *testing.T) {
	name := func(values []string, variables bool) (string, bool) {
		if variables {
			return "CTX", true
		}
		return "WORD", !strings.Contains(strings.Join(values, ""), "unnamed")
	}
	get := func(context, object string) Command {
		return Line(Raw("get --context"), Variable(context), Pieces{"node/", Raw("$X")}, "machines/"+object, "a b")
	}
	for what, c := range map[string]struct {
		lines []Command
		want  string // empty: they are not one
	}{
		"one":              {[]Command{get("A", "x")}, `get --context "${A:?}" node/$X machines/x 'a b'`},
		"a word":           {[]Command{get("A", "x"), get("A", "y z")}, `get --context "${A:?}" node/$X machines/"${WORD:?}" 'a b'`},
		"a variable":       {[]Command{get("A", "x"), get("B", "x")}, `get --context "${CTX:?}" node/$X machines/x 'a b'`},
		"within a word":    {[]Command{Line("get", "of/a/end'"), Line("get", "of/b/end'")}, `get of/"${WORD:?}"'/end'\'''`},
		"no name":          {[]Command{get("A", "x"), get("A", "unnamed")}, ""},
		"program text":     {[]Command{Line(Raw("get")), Line(Raw("set"))}, ""},
		"a word, a Raw":    {[]Command{Line("get"), Line(Raw("get"))}, ""},
		"how many":         {[]Command{Line("get", "a"), Line("get", "a", "b")}, ""},
		"a check":          {[]Command{Line("get", "a").OrStop("no a"), Line("get", "b").OrStop("no b")}, `{ get "${WORD:?}" || { echo 'stop: no '"${WORD:?}" >&2; false; }; }`},
		"asks":             {[]Command{Ask("X", "of a"), Ask("X", "of b")}, `X='' # said`},
		"the same ask":     {[]Command{Ask("X", "of a"), Ask("X", "of a")}, `X='' # of a`},
		"asks for others":  {[]Command{Ask("X", "of a"), Ask("Y", "of a")}, ""},
		"an ask, a line":   {[]Command{Ask("X", "of a"), Line(Raw("X='' # "), Raw("of a"))}, ""},
		"an ask, and less": {[]Command{Ask("X", "of a"), {}}, ""},
	} {
		got, ok := Template(c.lines, "said", name)
		if ok != (c.want != "") || ok && (got.Text() != c.want || got.IsAsk() != c.lines[0].IsAsk()) {
			t.Errorf("%s: %v, %s", what, ok, got.Text())
		}
	}
}

// What is put together of a line that waits for its turn waits, too.
func TestTurnsStay(t *testing.T) {
	scale, look := Line("scale").InTurn(), Line("look")
	for _, c := range []Command{scale, look.Then(scale), scale.Then(look), All(look, look, scale), scale.OrStop("no"), Ask("X", "what")} {
		if !c.IsInTurn() {
			t.Errorf("%s", c.Text())
		}
	}
	if look.Then(look).IsInTurn() {
		t.Error("a look waits")
	}
}
