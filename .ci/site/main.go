// Command site makes a static site of README.md and docs/: pages that need no server, no script and no
// network. Usage: site ROOT FOLDER.
package main

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: site ROOT FOLDER")
		os.Exit(2)
	}
	if err := site(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// order is that of the navigation: what people need first. Pages that it lacks follow by name.
var order = []string{
	"README.md", "docs/install.md", "docs/3am.md", "docs/faq.md", "docs/report.md", "docs/backups.md", "docs/verify.md", "docs/releases.md", "docs/ci.md",
	"docs/commands.md", "docs/codes.md", "docs/verdicts.md", "docs/walks.md", "docs/formats.md", "docs/promises.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md",
}

// page is one Markdown file: its path below the root, its first heading, and its text as HTML.
type page struct {
	File, Title string
	Body        template.HTML
}

// Address returns where the page is on the site.
func (p page) Address() string { return address(p.File) }

func address(file string) string {
	if file == "README.md" {
		return "index.html"
	}
	return strings.TrimSuffix(file, ".md") + ".html"
}

// site writes the pages, the pictures that they show, and the files to copy. It fails at a link that leads nowhere.
func site(root, folder string) error {
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return err
	}
	all := slices.Clone(order)
	for _, f := range files {
		if name := "docs/" + filepath.Base(f); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	var pages []page
	for _, file := range all {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err
		}
		p, err := render(file, text, root, all)
		if err != nil {
			return err
		}
		pages = append(pages, p)
	}
	for _, p := range pages {
		var b bytes.Buffer
		up := strings.Repeat("../", strings.Count(p.File, "/"))
		if err := frame.Execute(&b, map[string]any{"Page": p, "Pages": pages, "Up": up}); err != nil {
			return err
		}
		if err := write(filepath.Join(folder, p.Address()), b.Bytes()); err != nil {
			return err
		}
	}
	return copied(root, folder)
}

// plain are the files that pages show or lead to as they are.
var plain = []string{"docs/*.svg", "examples/*", "examples/*/*"}

// copied writes them.
func copied(root, folder string) error {
	on := os.DirFS(root)
	for _, pattern := range plain {
		files, err := fs.Glob(on, pattern)
		if err != nil {
			return err
		}
		for _, name := range files {
			if info, err := fs.Stat(on, name); err != nil || info.IsDir() {
				continue
			}
			data, err := fs.ReadFile(on, name)
			if err != nil {
				return err
			}
			if err := write(filepath.Join(folder, filepath.FromSlash(name)), data); err != nil {
				return err
			}
		}
	}
	return nil
}

func isPlain(name string) bool {
	return slices.ContainsFunc(plain, func(pattern string) bool { fits, _ := path.Match(pattern, name); return fits })
}

func write(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

var (
	markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()))
	heading  = regexp.MustCompile(`(?m)^# (.+)$`)
	link     = regexp.MustCompile(`(href|src)="([^":#]+)(#[^"]*)?"`)
)

// render returns a page. Links to other pages lead to these on the site; those to other files of the
// repository lose their address, except those that the site has.
func render(file string, text []byte, root string, pages []string) (page, error) {
	var b bytes.Buffer
	if err := markdown.Convert(text, &b); err != nil {
		return page{}, fmt.Errorf("%s: %w", file, err)
	}
	p := page{File: file, Title: file}
	if m := heading.FindSubmatch(text); m != nil {
		p.Title = string(m[1])
	}
	var lost error
	body := link.ReplaceAllStringFunc(b.String(), func(l string) string {
		m := link.FindStringSubmatch(l)
		to := path.Join(path.Dir(file), m[2])
		switch info, err := fs.Stat(os.DirFS(root), to); {
		case err != nil:
			lost = fmt.Errorf("%s links to %s: %w", file, m[2], err)
		case slices.Contains(pages, to):
			up := strings.Repeat("../", strings.Count(file, "/"))
			return fmt.Sprintf(`%s="%s%s"`, m[1], up+address(to), m[3])
		case m[1] == "href" && (info.IsDir() || !isPlain(to)):
			return `title="` + to + ` of the repository"`
		}
		return l
	})
	p.Body = template.HTML(body) // of this repository
	return p, lost
}

var frame = template.Must(template.New("frame").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Page.Title}}{{if ne .Page.Title "drift-detector"}} - drift-detector{{end}}</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; display: flex; flex-wrap: wrap; }
nav { flex: 0 0 15em; padding: 1em; font-size: 90%; }
nav ul { list-style: none; padding: 0; }
main { flex: 1 1 30em; max-width: 52em; padding: 0 1.5em 3em; overflow-wrap: break-word; min-width: 0; }
pre { overflow-x: auto; padding: .8em; background: #8881; border-radius: 4px; }
code { font-size: 90%; } table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border: 1px solid #8886; padding: .2em .6em; text-align: left; vertical-align: top; } img { max-width: 100%; }
</style>
<nav aria-label="Pages"><ul>
{{range .Pages}}<li><a href="{{$.Up}}{{.Address}}"{{if eq .File $.Page.File}} aria-current="page"{{end}}>{{.Title}}</a>
{{end}}</ul></nav>
<main>
{{.Page.Body}}
</main>
</html>
`))
