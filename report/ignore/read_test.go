package ignore

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

// Every error is one line that begins with file:line:column and says what to do.
func TestReadRefuses(t *testing.T) {
	const rule = "rules:\n- match: {name: a}\n  reason: r\n"
	for name, c := range map[string]struct{ text, at, says string }{
		"an empty file":                     {"", "1:1", "empty"},
		"comments alone":                    {"# nothing\n", "1:1", "empty"},
		"null":                              {"~\n", "1:1", "expected keys"},
		"a list at the top":                 {"- match: {name: a}\n", "1:1", "(rules)"},
		"a text at the top":                 {"rules\n", "1:1", "(rules)"},
		"another key at the top":            {"rules: []\nignore: []\n", "2:1", `key "ignore" is not known`},
		"no rules":                          {"{}\n", "1:1", "must be a list"},
		"rules that are no list":            {"rules:\n  match: {name: a}\n", "2:3", "must be a list"},
		"rules without a value":             {"rules:\n", "1:7", "must be a list"},
		"rules twice":                       {"rules: []\nrules: []\n", "2:1", "given twice"},
		"a rule that is a text":             {"rules:\n- alpha\n", "2:3", "match, !match, reason, expires"},
		"a rule without match":              {"rules:\n- reason: r\n", "2:3", "no match:"},
		"both matches":                      {"rules:\n- match: {name: a}\n  \"!match\": {name: b}\n  reason: r\n", "2:3", "make two rules"},
		"no reason":                         {"rules:\n- match: {name: a}\n", "2:3", "no reason:"},
		"a blank reason":                    {"rules:\n- match: {name: a}\n  reason: \"  \"\n", "3:11", "no reason:"},
		"a reason that is null":             {"rules:\n- match: {name: a}\n  reason:\n", "3:10", "must be a text"},
		"a reason that is a list":           {"rules:\n- match: {name: a}\n  reason: [r]\n", "3:11", "must be a text"},
		"an unknown key of a rule":          {"rules:\n- match: {name: a}\n  reson: r\n", "3:3", `key "reson" is not known here; there are match, !match, reason, expires`},
		"a key of a rule twice":             {"rules:\n- match: {name: a}\n  reason: r\n  match: {name: b}\n", "4:3", "given twice"},
		"an empty selector":                 {"rules:\n- match: {}\n  reason: r\n", "2:10", "would match every finding"},
		"an empty selector of !match":       {"rules:\n- \"!match\": {}\n", "2:13", "would match every finding"},
		"a selector that is null":           {"rules:\n- match:\n  reason: r\n", "2:9", "expected keys"},
		"a selector that is a text":         {"rules:\n- match: alpha\n  reason: r\n", "2:10", "expected keys"},
		"an unknown key of a selector":      {"rules:\n- match: {nmae: a}\n  reason: r\n", "2:11", `key "nmae" is not known here; there are check, cluster,`},
		"a hostile key":                     {"rules:\n- match: {\"a\\n\\e[31m\": a}\n  reason: r\n", "2:11", `key "a\n\x1b[31m" is not known`},
		"a key of a selector twice":         {"rules:\n- match: {name: a, name: b}\n  reason: r\n", "2:20", "given twice"},
		"a key that is a list":              {"rules:\n- match: {[a]: b}\n  reason: r\n", "2:11", "a key must be a text"},
		"a merge key":                       {"rules:\n- match: {<<: {name: a}}\n  reason: r\n", "2:11", `key "<<" is not known`},
		"a glob that is null":               {"rules:\n- match:\n    cluster:\n  reason: r\n", "3:13", "cluster: must be a text"},
		"a glob that is a mapping":          {"rules:\n- match: {name: {a,b}}\n  reason: r\n", "2:17", "name: must be a text"},
		"a list in a list":                  {"rules:\n- match: {name: [a, [b]]}\n  reason: r\n", "2:21", "name: must be a text"},
		"an empty list":                     {"rules:\n- match: {name: []}\n  reason: r\n", "2:17", "would match nothing"},
		"a glob that is not closed":         {"rules:\n- match: {name: [ok, \"a[b\"]}\n  reason: r\n", "2:22", `name: "a[b" is no glob`},
		"a brace that is not closed":        {"rules:\n- match: {cluster: \"a{b,c\"}\n  reason: r\n", "2:20", "is no glob"},
		"a backslash at the end":            {"rules:\n- match: {cluster: 'a\\'}\n  reason: r\n", "2:20", "is no glob"},
		"a status that is none":             {"rules:\n- match: {status: [Ghost, stale]}\n  reason: r\n", "2:27", `"stale" matches none of Healthy, Stale, Ghost, Unknown, Unattributed`},
		"a role that is none":               {"rules:\n- match: {role: master}\n  reason: r\n", "2:17", "matches none of control-plane, worker"},
		"a tag that is a text":              {"rules:\n- match: {tag: team}\n  reason: r\n", "2:16", "expected keys"},
		"no tag":                            {"rules:\n- match: {tag: {}}\n  reason: r\n", "2:16", "names no tag"},
		"a tag twice":                       {"rules:\n- match: {tag: {a: b, a: c}}\n  reason: r\n", "2:23", "given twice"},
		"a bad glob of a tag":               {"rules:\n- match: {tag: {a: \"[\"}}\n  reason: r\n", "2:20", "is no glob"},
		"a date that is none":               {rule + "  expires: soon\n", "4:12", `"soon" is no date`},
		"the 31st of February":              {rule + "  expires: 2027-02-31\n", "4:12", "is no date"},
		"a date with a time":                {rule + "  expires: 2027-01-31T00:00:00Z\n", "4:12", "is no date"},
		"a date with one digit":             {rule + "  expires: 2027-1-31\n", "4:12", "is no date"},
		"a date that is null":               {rule + "  expires:\n", "4:11", "must be a text"},
		"an unquoted !match":                {"rules:\n- !match: {name: a}\n", "2:3", `write "!match": in quotes`},
		"an unquoted !match with a reason":  {"rules:\n- !match: {name: a}\n  reason: r\n", "2:3", `write "!match": in quotes`},
		"an unquoted !match over two lines": {"rules:\n- !match:\n    name: a\n", "2:3", `write "!match": in quotes`},
		"an unquoted !match further down":   {"rules:\n- reason: r\n  !match: {name: a}\n", "3:3", `write "!match": in quotes`},
		"another tag":                       {"rules:\n- match: {name: !x a}\n  reason: r\n", "2:17", "as a tag"},
		"a date with its tag":               {rule + "  expires: !!timestamp 2027-01-31\n", "4:12", "as a tag"},
		"an anchor":                         {"rules:\n- match: &m {name: a}\n  reason: r\n", "2:10", "as an anchor"},
		"an alias":                          {"rules:\n- match: {name: a}\n  reason: &r r\n- match: {name: b}\n  reason: *r\n", "3:11", "as an anchor"},
		"a glob that reads as an alias":     {"rules:\n- match: {name: *prod}\n  reason: r\n", "2:17", "quote a glob that begins with *"},
		"two documents":                     {rule + "---\n" + rule, "4:1", "second YAML document"},
		"a second document that is broken":  {rule + "---\n[\n", "6:1", "not valid YAML"},
		"a star without quotes":             {"rules:\n- match: {name: *}\n  reason: r\n", "2:1", "quote texts that begin with *"},
		"a class without quotes":            {"rules:\n- match: {cluster: b, name: [a-z]*}\n  reason: r\n", "2:1", "not valid YAML"},
		"a mapping that is not closed":      {"rules:\n- match: {name: a\n  reason: r\n", "2:1", "not valid YAML"},
		"a tab as indentation":              {"rules:\n\t- match: {name: a}\n", "2:2", "look at the indentation"},
		"bad indentation":                   {"rules:\n- match:\n    name: a\n   reason: r\n", "2:1", "look at the indentation"},
		"a broken first line":               {"a: b: c\n", "1:1", "not valid YAML"},
		"a control character":               {"rules:\n- match: {name: \"a\x1b\"}\n", "2:19", "there is a control character here"},
		"no UTF-8":                          {"rules:\n- match: {name: é\xff}\n", "2:18", "not UTF-8"},
		"UTF-16":                            {"\xff\xfer\x00u\x00", "1:1", "save the file as UTF-8"},
		"too much":                          {rule + strings.Repeat("#", maxSize), "1:1", "larger than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := Read("ignore.yaml", strings.NewReader(c.text))
			if err == nil {
				t.Fatalf("accepted: %+v", rules)
			}
			got := err.Error()
			if !strings.HasPrefix(got, "ignore.yaml:"+c.at+": ") || !strings.Contains(got, c.says) || strings.ContainsAny(got, "\n\x1b") {
				t.Errorf("says\n%s\nwant it at %s with %q", got, c.at, c.says)
			}
		})
	}
}

func TestReadAccepts(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		rules int
	}{
		"no rule":                   {"rules: []\n", 0},
		"the example":               {"rules:\n- match: {cluster: alpha-prod, namespace: tenant-alpha, name: \"alpha-prod-md-*\"}\n  reason: \"kept for forensics, OPS-1234\"\n  expires: 2027-01-31\n- \"!match\": {status: Ghost}\n", 2},
		"JSON":                      {`{"rules": [{"match": {"name": ["a", "b"]}, "reason": "r"}]}`, 1},
		"a byte order mark":         {"\ufeffrules: []\n", 0},
		"Windows lines":             {"rules:\r\n- match: {name: a}\r\n  reason: r\r\n", 1},
		"the end marked":            {"---\nrules: []\n...\n", 0},
		"a tag that is called so":   {"rules:\n- match: {tag: {\"!match\": a}}\n  reason: |\n    !match is\n    fine here\n", 1},
		"numbers, truths and dates": {"rules:\n- match: {name: [0123, true, 2027-01-31, 1e3]}\n  reason: 7\n", 1},
	} {
		rules, err := Read("i", strings.NewReader(c.text))
		if err != nil || len(rules) != c.rules {
			t.Errorf("%s: %d rules, %v", name, len(rules), err)
		}
	}
	rules := read(t, "i", "rules:\n- match: {name: [0123, true, 2027-01-31, 1e3]}\n  reason: 7\n")
	for i, want := range []string{"0123", "true", "2027-01-31", "1e3"} {
		if got := rules[0].Match[0].globs[i].text; got != want {
			t.Errorf("%s is read as %s", want, got)
		}
	}
}

func TestReadErrors(t *testing.T) {
	if _, err := Read("a\x1b", iotest.ErrReader(errors.New("gone"))); err == nil || err.Error() != `reading ignore rules from a\x1b: gone` {
		t.Error(err)
	}
	if _, err := Read("a\nb", strings.NewReader("x")); err == nil || !strings.HasPrefix(err.Error(), `a\x0ab:1:1: `) {
		t.Error(err)
	}
}

func TestFromReportRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		which           Which
		reason, expires string
		says            string
	}{
		"no finding":      {Which{Cluster: "nobody"}, "r", "", "no finding of the report matches"},
		"no reason":       {Which{}, " ", "", "no reason given"},
		"no date":         {Which{}, "r", "31.1.2027", "is no date"},
		"a bad glob":      {Which{Name: "["}, "r", "", "is no glob"},
		"an unknown word": {Which{Status: "gone"}, "r", "", "matches none of"},
	} {
		if _, err := FromReport(fleet(), c.which, c.reason, c.expires); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A rule that was made of a finding does not hide a later, different one.
func TestRulesFromReportsAreNarrow(t *testing.T) {
	r := fleet()
	rules, err := FromReport(r, Which{}, "seen", "")
	if err != nil {
		t.Fatal(err)
	}
	later := fleet()
	md := later.Clusters[0].Workers.Groups[0].Machines
	md[1].Instance.ID = "another VM of that name"
	md[2].Reason = "InstanceTerminated"
	md[3].Status = "Stale"
	off := &later.Clusters[0].ControlPlane.Machines[0]
	off.Warnings = append(off.Warnings, later.Clusters[0].ControlPlane.Machines[1].Warnings[0])
	later.InfraMachines[1].Instance.Ref = "vm-77"
	slowly(later)
	if _, err := Apply(later, rules, today); err != nil {
		t.Fatal(err)
	}
	want := "cp-twice dev-stale dev/ghost dev-lone jump[1]"
	if got := strings.Join(ignored(later), " "); got != want {
		t.Errorf("sets aside %s, want %s", got, want)
	}
}

func TestWrite(t *testing.T) {
	rules := read(t, "i", `{rules: [{match: {tag: {"a: b": x, c: ["y*", "\U0001f600"]}, name: "\0\t\x85\u202e\"\\\n"}, reason: "r"}, {"!match": {cluster: ""}, expires: 2027-01-31}]}`)
	var b bytes.Buffer
	if err := Write(&b, rules); err != nil {
		t.Fatal(err)
	}
	want := `rules:
- match:
    name: "\U00000000\U00000009\U00000085\U0000202e\"\\\n"
    tag:
      "a: b": "x"
      "c": ["y*", "😀"]
  reason: "r"
- "!match":
    cluster: ""
  expires: 2027-01-31
`
	// The backslash before the newline escapes it in the glob and is kept.
	if b.String() != want {
		t.Errorf("wrote\n%s", b.String())
	}
	if again := read(t, "i", b.String()); again[0].Match[0].globs[0].text != rules[0].Match[2].globs[0].text {
		t.Errorf("read back as %q", again[0].Match[0].globs[0].text)
	}
	if err := Write(&bytes.Buffer{}, nil); err != nil {
		t.Error(err)
	}
	full := &bytes.Buffer{}
	if err := Write(full, []Rule{{Reason: strings.Repeat("r", maxSize)}}); err == nil || !strings.Contains(err.Error(), "more than 1 MiB") || full.Len() > 0 {
		t.Errorf("%v after %d bytes", err, full.Len())
	}
	if err := Write(failing{}, rules); err == nil || err.Error() != "writing ignore rules: full" {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

// What Read accepts, Write writes so that Read reads the same; errors are one line.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"", "rules: []", "rules:\n- match: {cluster: a, name: [b, \"c*\"]}\n  reason: r\n  expires: 2027-01-31\n- \"!match\": {status: Ghost}\n",
		"rules:\n- !match: {name: a}\n", "rules:\n- match: {tag: {a: b}}\n  reason: \"\\u202e\\0\"\n", "rules: *a", "a: &a [*a]", "rules: []\n---\n", "[[[[", "{? {}: x}", "\t", "\xff",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rules, err := Read("i", bytes.NewReader(text))
		if err != nil {
			if s := err.Error(); !strings.HasPrefix(s, "i:") || strings.ContainsAny(s, "\n\r\x1b") {
				t.Fatalf("%q", s)
			}
			return
		}
		var first, second bytes.Buffer
		if err := Write(&first, rules); err != nil {
			return // more than a file may hold, since quotes and escapes take room
		}
		again, err := Read("i", bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, first.String())
		}
		if err := Write(&second, again); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("%v\n%s\n%s", err, first.String(), second.String())
		}
		if _, err := Apply(fleet(), rules, today); err != nil {
			t.Fatal(err)
		}
	})
}
