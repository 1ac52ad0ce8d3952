package injection

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
)

// inert says what is wrong with an output, read as its format.
func inert(t *testing.T, o said) []string {
	t.Helper()
	if o.stdout == "" {
		return nil
	}
	var wrong []string
	switch o.format {
	case "json":
		wrong = isJSON(o.stdout)
	case "html":
		wrong = isHTML(o.stdout)
	case "junit":
		wrong = isXML(o.stdout)
	case "markdown":
		wrong = append(terminal(o.stdout), isMarkdown(o.stdout)...)
	case "prometheus":
		wrong = isMetrics(o.stdout)
	case "shell":
		wrong = append(terminal(o.stdout), isScript(t, o.stdout)...)
	default:
		wrong = terminal(o.stdout)
	}
	return wrong
}

// terminal says what of a text does something to a terminal, or to a CI that reads logs.
func terminal(s string) []string {
	var wrong []string
	if !utf8.ValidString(s) {
		wrong = append(wrong, "it is no UTF-8")
	}
	for _, r := range s {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r == 0x61c || r == 0xfeff {
			wrong = append(wrong, fmt.Sprintf("it holds %U", r))
			break
		}
	}
	for line := range strings.Lines(s) {
		start := strings.TrimLeft(line, " \t")
		if strings.HasPrefix(start, "::") || strings.Contains(line, "##[") && strings.HasPrefix(start, "##[") || strings.Contains(line, "##vso[") {
			wrong = append(wrong, "a line is a command of a CI: "+line)
			break
		}
	}
	return wrong
}

func isJSON(s string) []string {
	if !json.Valid([]byte(s)) || !utf8.ValidString(s) {
		return []string{"it is no JSON"}
	}
	for line := range strings.Lines(s) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			return []string{"a line is a command of a CI"}
		}
	}
	return nil
}

func isXML(s string) []string {
	var wrong []string
	for d := xml.NewDecoder(strings.NewReader(s)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return wrong
		}
		if err != nil {
			return append(wrong, err.Error())
		}
		if e, ok := token.(xml.StartElement); ok {
			if !slices.Contains([]string{"testsuites", "testsuite", "testcase", "properties", "property", "failure", "error", "skipped", "system-out", "system-err"}, e.Name.Local) {
				wrong = append(wrong, "an element "+e.Name.Local)
			}
			for _, a := range e.Attr {
				if a.Name.Local == "name" && a.Value == "evil" {
					wrong = append(wrong, "a test of its own")
				}
			}
		}
	}
}

func isHTML(s string) []string {
	root, err := html.Parse(strings.NewReader(s))
	if err != nil {
		return []string{err.Error()}
	}
	var wrong []string
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if strings.Contains(n.Data, "evil") || n.Data == "img" || n.Data == "iframe" {
			wrong = append(wrong, "an element "+n.Data)
		}
		if n.Data == "script" && n.FirstChild != nil && strings.Contains(n.FirstChild.Data, "evil()") {
			wrong = append(wrong, "a script")
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || (a.Key == "href" || a.Key == "src") && strings.Contains(a.Val, "evil.example") || strings.HasPrefix(a.Val, "javascript:") {
				wrong = append(wrong, "an attribute "+a.Key+"="+a.Val)
			}
		}
	}
	return append(wrong, slices.DeleteFunc(terminal(s), func(w string) bool { return strings.Contains(w, "CI") })...)
}

func isMetrics(s string) []string {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(s))
	if err != nil {
		return []string{err.Error()}
	}
	for name := range families {
		if !strings.HasPrefix(name, "drift_detector_") {
			return []string{"a metric " + name}
		}
	}
	return terminal(s)
}

func isMarkdown(s string) []string {
	var wrong []string
	doc := []byte(s)
	_ = ast.Walk(goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(doc)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.FencedCodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Image:
			wrong = append(wrong, "an image")
		case *ast.Link:
			if bytes.Contains(n.Destination, []byte("evil")) {
				wrong = append(wrong, "a link to "+string(n.Destination))
			}
		case *ast.AutoLink:
			if bytes.Contains(n.URL(doc), []byte("evil")) {
				wrong = append(wrong, "a link to "+string(n.URL(doc)))
			}
		case *ast.RawHTML:
			wrong = append(wrong, "HTML in a line")
		case *ast.HTMLBlock:
			if block := string(n.Lines().Value(doc)); strings.Contains(block, "evil") {
				wrong = append(wrong, "HTML "+block)
			}
		case *ast.Heading:
			if strings.TrimSpace(string(n.Lines().Value(doc))) == "evil" {
				wrong = append(wrong, "a heading")
			}
		case *ast.Text:
			if at := string(n.Segment.Value(doc)); strings.Contains(at, "@evil") || strings.Contains(at, "GH-1") {
				wrong = append(wrong, "it calls somebody: "+at)
			}
		case *tables.Table:
			for row := n.FirstChild(); row != nil; row = row.NextSibling() {
				if row.ChildCount() != len(n.Alignments) {
					wrong = append(wrong, "a row that is not as its table")
				}
				if c := row.FirstChild(); c != nil && strings.TrimSpace(string(c.Lines().Value(doc))) == "evil" {
					wrong = append(wrong, "a table")
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return wrong
}

// isScript lets the script run, which does nothing before somebody has taken lines of it
// out of their comments.
func isScript(t *testing.T, s string) []string {
	dir := t.TempDir()
	file := filepath.Join(dir, "plan.sh")
	if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("bash", "-n", file).CombinedOutput(); err != nil {
		return []string{"bash does not read it: " + string(out)}
	}
	cmd := exec.Command("bash", file)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/nowhere"}
	_ = cmd.Run()
	if made, _ := os.ReadDir(dir); len(made) != 1 {
		return []string{fmt.Sprintf("it made files: %v", made)}
	}
	return nil
}
