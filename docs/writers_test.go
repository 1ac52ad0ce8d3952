package docs_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// writers are the ways in which what is linked could write to a stream of the process, and
// why no text of others goes there. Package log and klog are no such ways while the program
// holds them shut, see silence in internal/cli.
var writers = map[string]string{
	own + "internal/cli: os.Stderr":                  "owns the streams",
	own + "internal/cli: os.Stdout":                  "owns the streams",
	own + "internal/cli: log.SetOutput":              "shuts package log",
	own + "internal/cli: klog.SetLogger":             "shuts klog",
	"os: syscall.Stderr":                             "the streams themselves",
	"os: syscall.Stdout":                             "the streams themselves",
	"fmt: os.Stdout":                                 "Print and its like, whose callers are here",
	"log: os.Stderr":                                 "until it is shut",
	"log/slog: log.SetOutput":                        "SetDefault, which is not called",
	"flag: os.Stderr":                                "flags of programs that parse with it",
	"os/exec: os.Stderr":                             "for GODEBUG=execwait, with where a command was made",
	"runtime/debug: os.Stderr":                       "PrintStack, which is not called",
	"go/ast: os.Stdout":                              "Print, which is not called",
	"go/parser: fmt.Print":                           "a trace that is not asked for",
	"k8s.io/klog/v2: os.Stderr":                      "where no logger is set, and Fatal",
	"k8s.io/klog/v2: log.SetOutput":                  "CopyStandardLogTo, which is not called",
	"k8s.io/klog/v2/textlogger: os.Stderr":           "the default, beside which its one caller gives a buffer",
	"k8s.io/apimachinery/pkg/runtime: fmt.Print":     "makes documentation out of source, which is not called",
	"github.com/aws/aws-sdk-go-v2/config: os.Stderr": "the default, beside which aws and store give one that says nothing",
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds: os.Stderr": "the operator's own credential_process may ask for a second factor",
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds: fmt.Print":     "StdinTokenProvider, which is not given",
	"github.com/vmware/govmomi/vim25/debug: os.Stderr":                 "a trace, for which no provider is set",
	"github.com/vmware/govmomi/vapi/rest: os.Stdout":                   "a download to -, which is not asked for",
	"github.com/urfave/cli/v2: os.Stderr":                              "the default, beside which the program gives its own",
	"github.com/urfave/cli/v2: os.Stdout":                              "the default, beside which the program gives its own",
	"github.com/vbauerster/mpb/v8: os.Stdout":                          "the default, beside which the program gives its own",
	"github.com/cpuguy83/go-md2man/v2/md2man: os.Stderr":               "pages on the program's own flags",
	"github.com/russross/blackfriday/v2: fmt.Print":                    "pages on the program's own flags",
	"github.com/modern-go/concurrent: os.Stderr":                       "of an executor that is not used",
	"github.com/ulikunitz/xz/internal/xlog: os.Stderr":                 "no xz is read",
	"github.com/klauspost/compress/flate: fmt.Print":                   "constants turn it off",
	"github.com/klauspost/compress/fse: fmt.Print":                     "constants turn it off",
	"github.com/klauspost/compress/zstd: fmt.Print":                    "constants turn it off",
	"github.com/klauspost/compress/zstd: println":                      "constants turn it off",
	"go.yaml.in/yaml/v2: fmt.Print":                                    "constants turn it off",
	"go.yaml.in/yaml/v3: fmt.Print":                                    "constants turn it off",
}

// linkedPackage is what `go list` says of one.
type linkedPackage struct {
	ImportPath, Dir string
	GoFiles         []string
	Standard        bool
}

// TestNoLibraryWritesToAStreamByItself reads all that is linked for what writes past the
// program: there no text of a server is escaped, cut, or cleaned of secrets.
func TestNoLibraryWritesToAStreamByItself(t *testing.T) {
	list := exec.Command("go", "list", "-trimpath=false", "-deps", "-json=ImportPath,Dir,GoFiles,Standard", own+"cmd/drift-detector")
	out, err := list.StdoutPipe()
	if err == nil {
		err = list.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	n := 0
	for packages := json.NewDecoder(out); ; n++ {
		var p linkedPackage
		if err = packages.Decode(&p); err != nil {
			break
		}
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, way := range waysOut(f) {
				if !p.Standard || way != "println" { // the runtime's own
					found[p.ImportPath+": "+way] = true
				}
			}
		}
	}
	if !errors.Is(err, io.EOF) || list.Wait() != nil || n < 300 {
		t.Fatalf("%d packages: %v", n, err)
	}
	for way := range found {
		if writers[way] == "" {
			t.Errorf("%s: what comes there of others? Shut it in internal/cli, or say here why nothing does", way)
		}
	}
	for way := range writers {
		if !found[way] {
			t.Errorf("%s is not there any more", way)
		}
	}
}

// A program's ways to a stream, by the import path that they are of.
var ways = map[string]*regexp.Regexp{
	"os":                    regexp.MustCompile(`^(Stderr|Stdout)$`),
	"syscall":               regexp.MustCompile(`^(Stderr|Stdout)$`),
	"fmt":                   regexp.MustCompile(`^Print`),
	"log":                   regexp.MustCompile(`^(SetOutput|Default)$`),
	"k8s.io/klog/v2":        regexp.MustCompile(`^(SetOutput.*|SetLogger.*|ClearLogger|LogToStderr|InitFlags|CopyStandardLogTo|.*Exit.*)$`),
	"golang.org/x/sys/unix": regexp.MustCompile(`^(Stderr|Stdout)$`),
}

// waysOut returns the ways to a stream that a file takes.
func waysOut(f *ast.File) []string {
	imported := map[string]string{}
	for _, i := range f.Imports {
		at, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(strings.TrimSuffix(at, "/v2"))
		if i.Name != nil {
			name = i.Name.Name
		}
		imported[name] = at
	}
	var found []string
	ast.Inspect(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CallExpr:
			if called, ok := x.Fun.(*ast.Ident); ok && (called.Name == "println" || called.Name == "print") {
				found = append(found, "println")
			}
		case *ast.SelectorExpr:
			of, ok := x.X.(*ast.Ident)
			if !ok {
				break
			}
			if form := ways[imported[of.Name]]; form != nil && form.MatchString(x.Sel.Name) {
				way := path.Base(strings.TrimSuffix(imported[of.Name], "/v2")) + "." + x.Sel.Name
				if strings.HasPrefix(way, "fmt.Print") {
					way = "fmt.Print"
				}
				found = append(found, way)
			}
		}
		return true
	})
	slices.Sort(found)
	return slices.Compact(found)
}
