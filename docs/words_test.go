package docs_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// banned are words and turns that readers stumbled over, each with what to say. They
// are regular expressions, without regard to case.
var banned = []struct{ word, say string }{
	{`anew`, "again"},
	{`bears?`, "has"},
	{`besides`, "also, other than"},
	{`but for`, "except"},
	{`estates?`, "fleet, infrastructure"},
	{`fits|fit (?:all|every|none|no|several|it|them)|fitted by`, "matches"},
	{`heeds?|heeded`, "obeys, applies"},
	{`lies|lay (?:in|at|on)|lie (?:in|at|on|elsewhere)`, "is in"},
	{`fit to be`, "can be"},
	{`living`, "running"},
	{`nobody's business`, "leave it out"},
	{`of which`, "whose, a sentence of its own"},
	{`of theirs`, "their own"},
	{`quarrels?`, "contradicts"},
	{`settle[ds]?`, "resolve"},
	{`somebody`, "you, an account, or what is done"},
	{`stands?|stood|standing`, "is, is not reconciled"},
	{`strangers?`, "other VMs"},
	{`told`, "said, distinguished"},
	{`unbeknownst`, "without the knowledge of"},
	{`doubled|doubles`, "duplicated"},
	{`(?:ends?|ended) (?:an? |one |every |its |the |that |\d+ )?(?:running |old |existing )?(?:VMs?|instances?|machines?|workers?|members?|servers?)`, "terminates"},
	{`(?:VMs?|instances?|machines?|workers?|members?|servers?) (?:is |are )?end(?:s|ed)?`, "is terminated"},
	{`made again|(?:is|are|be) made (?:for|beside)|(?:can|cannot|may|would) make (?:an?|another|no|none|others?|one)`, "created"},
	{`makes? (?:an? |another |the )?(?:new |second )(?:Machines?|MachineSets?|VMs?|instances?|servers?|one)|makes (?:another|none)`, "creates"},
	{`wants|wanted`, "the replicas are, the spec has, you do not want"},
	{`whatever|whoever|whichever`, "what, everyone who"},
}

// permitted are turns with a banned word that say nothing else: a placeholder stands
// for something, Stands is a value of the report, and pages have marks where a generated part ends.
var permitted = regexp.MustCompile(`(?i)stands? for\b|\bStands:|<!-- end .*-->`)

// notYet are files and folders whose words are not held yet, each with the reason.
var notYet = map[string]string{}

// said is a text that users read, with its place.
type said struct{ where, text string }

// userText returns all text that users read: the strings of the program that hold a
// sentence, the comments of packages, which docs/architecture.md repeats, the docs, the
// schemas, the page with its script.
func userText(t *testing.T) []said {
	t.Helper()
	var all []said
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "testdata" || name == "bin" || name == "dist" || name == "internal" || strings.HasPrefix(name, ".") && file != root {
				return filepath.SkipDir
			}
			return nil
		}
		if exempted(strings.TrimPrefix(filepath.ToSlash(file), root+"/")) {
			return nil
		}
		switch {
		case strings.HasSuffix(name, "_test.go"), strings.Contains(file, "test/"): // test support
		case filepath.Dir(file) == root && strings.HasPrefix(name, "report."): // what the demo writes
		case strings.HasSuffix(name, ".go"):
			all = append(all, literals(t, file)...)
		case strings.HasSuffix(name, ".json"):
			all = append(all, descriptions(t, file)...)
		case strings.HasSuffix(name, ".md"), name == "codes.txt", name == "rules.txt", strings.HasSuffix(name, ".html"), strings.HasSuffix(name, ".js"), name == "Makefile", name == "action.yml":
			all = append(all, lines(t, file)...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// exempted reports whether the words of a file are not held yet.
func exempted(file string) bool {
	for prefix := range notYet {
		if strings.HasPrefix(file, prefix) {
			return true
		}
	}
	return false
}

// literals returns the string literals of a Go file that have a space in them, and the
// comment of its package.
func literals(t *testing.T, file string) []said {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	all := []said{{files.Position(f.Package).String(), f.Doc.Text()}}
	ast.Inspect(f, func(n ast.Node) bool {
		l, ok := n.(*ast.BasicLit)
		if !ok || l.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(l.Value); err == nil && strings.Contains(text, " ") {
			all = append(all, said{files.Position(l.Pos()).String(), text})
		}
		return true
	})
	return all
}

// descriptions returns the strings of a JSON document that have a space in them.
func descriptions(t *testing.T, file string) []said {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var all []said
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				walk(path+"."+k, e)
			}
		case []any:
			for _, e := range v {
				walk(path, e)
			}
		case string:
			if strings.Contains(v, " ") {
				all = append(all, said{file + " " + path, v})
			}
		}
	}
	walk("", doc)
	return all
}

func lines(t *testing.T, file string) []said {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []said
	for i, line := range strings.Split(string(data), "\n") {
		all = append(all, said{file + ":" + strconv.Itoa(i+1), line})
	}
	return all
}

// Nothing that users read has a word that they stumbled over.
func TestUsersReadPlainEnglish(t *testing.T) {
	texts := userText(t)
	if len(texts) < 3000 {
		t.Fatalf("only %d texts were found", len(texts))
	}
	for _, b := range banned {
		word := regexp.MustCompile(`(?i)\b(?:` + b.word + `)\b`)
		for _, s := range texts {
			if found := word.FindString(permitted.ReplaceAllString(s.text, "")); found != "" {
				t.Errorf("%s: say %s, not %q: %.160s", s.where, b.say, found, s.text)
			}
		}
	}
	for file := range notYet {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Errorf("%s is exempted and does not exist", file)
		}
	}
}

// Each word is found in a sentence that has it, and in none that only has its letters.
func TestBannedWordsAreFound(t *testing.T) {
	for sentence, want := range map[string]bool{
		"the VM lies where machines lie": true, "its cluster stands still": true, "Whatever fails": true, "it fits several": true,
		"the restored backup": false, "a Node understands it": false, "credentials are bearers": false, "is the backup fit to be restored": true, "the living VM": true, "LivingReplaced": false,
		"1 running instance ends, undrained": true, "the controller ends every running worker": true, "it wants 2": true, "you do not want that": false, "the file ends": false,
		"a new one is made for it": true, "its owner makes another": true, "the report was made without a forecast": false, "a failure makes machines Unknown": false, "it doubles the VM": true,
	} {
		found := false
		for _, b := range banned {
			found = found || regexp.MustCompile(`(?i)\b(?:`+b.word+`)\b`).MatchString(sentence)
		}
		if found != want {
			t.Errorf("%q: found %v, want %v", sentence, found, want)
		}
	}
}

// A number that may be one has no plural behind it: what writes reports and talks to users
// has english.Count. A limit is never one.
func TestOneIsNoPlural(t *testing.T) {
	plural := regexp.MustCompile(`(?:\w+ )?%d (?:\w+ )?\w+s\b`)
	verb := regexp.MustCompile(`^than |%d (?:is|takes)$`)
	for _, s := range userText(t) {
		if dir, _, _ := strings.Cut(strings.TrimPrefix(filepath.ToSlash(s.where), root+"/"), "/"); dir != "cmd" && dir != "report" {
			continue
		}
		for _, found := range plural.FindAllString(s.text, -1) {
			if !verb.MatchString(found) {
				t.Errorf("%s: %q: %.160s", s.where, found, s.text)
			}
		}
	}
}
