package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every page of the repository is on the site, every link of it leads to a page, a heading, a picture
// or a file to copy that is there, and nothing is fetched from elsewhere.
func TestSiteIsWholeWithoutANetwork(t *testing.T) {
	folder := t.TempDir()
	if err := site("../..", folder); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(folder, "docs", "*.html"))
	sources, _ := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) != len(sources) {
		t.Errorf("%d pages of %d (%v)", len(pages), len(sources), err)
	}
	links := 0
	for _, file := range append(pages, filepath.Join(folder, "index.html")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(href|src)="([^"]*)"`).FindAllStringSubmatch(string(text), -1) {
			to, id, _ := strings.Cut(m[2], "#")
			if strings.Contains(to, ":") {
				if m[1] == "src" {
					t.Errorf("%s fetches %s", file, to)
				}
				continue
			}
			links++
			target := file
			if to != "" {
				target = filepath.Join(filepath.Dir(file), to)
			}
			if data, err := os.ReadFile(target); err != nil {
				t.Errorf("%s links to %s: %v", file, m[2], err)
			} else if id != "" && !strings.Contains(string(data), ` id="`+id+`"`) {
				t.Errorf("%s links to heading %s, which is not there", file, m[2])
			}
		}
	}
	ci, _ := os.ReadFile(filepath.Join(folder, "docs", "ci.html"))
	if !strings.Contains(string(ci), `href="../examples/Jenkinsfile"`) {
		t.Error("the files to copy are not on the site")
	}
	if links < 300 {
		t.Errorf("%d links", links)
	}
}

// A link that leads nowhere fails.
func TestLostLink(t *testing.T) {
	if _, err := render("docs/a.md", []byte("# A\n[x](nowhere.md)"), "../..", nil); err == nil || !strings.Contains(err.Error(), "nowhere.md") {
		t.Errorf("%v", err)
	}
}
