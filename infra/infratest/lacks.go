package infratest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"drift-detector/infra"
)

// Lacks returns what the description of a provider lacks, each with what to do about
// it: what the program, its plans and its documents need of a provider, and the
// compiler does not ask for. The module is its root folder, in which folder is the
// provider's: "infra/aws". Of a provider that lists Nodes alone it asks for less.
func Lacks(p infra.Provider, module fs.FS, folder string) []string {
	l := &lacks{spec: p.Spec(), module: module, folder: folder}
	if _, ok := p.(infra.Checker); !ok {
		l.add("has no Check: infra.Checker, for what will not work after a restore")
	}
	if l.spec.NodesOnly {
		l.inFolder()
		return l.all
	}
	if _, ok := p.(infra.Reacher); !ok {
		l.add("has no Reach: infra.Reacher, for who looks once more before a line of a plan changes something")
	}
	l.fields()
	l.kinds()
	l.permissions()
	l.flags()
	l.inFolder()
	if readme, err := fs.ReadFile(module, "README.md"); err != nil || !strings.Contains(string(readme), Row(&l.spec, folder)) {
		l.add("has no row in README.md: make update")
	}
	return l.all
}

// listFolder is the folder, below that of a provider, of the package with its List, where that is one
// of its own.
const listFolder = "list"

// Folder returns the folder of a provider in the module: "infra/aws". The package that makes its
// value may be list below it.
func Folder(p infra.Provider) string {
	t := reflect.TypeOf(p)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, folder, _ := strings.Cut(t.PkgPath(), "/")
	return strings.TrimSuffix(folder, "/"+listFolder)
}

// Row returns the line of the README's table of providers.
func Row(s *infra.Spec, folder string) string {
	return fmt.Sprintf("| %s | %s | %s | [%s](%s) |\n", s.Title, s.Supports, s.Scope, s.Permissions.File, path.Join(folder, s.Permissions.File))
}

type lacks struct {
	spec   infra.Spec
	module fs.FS
	folder string
	all    []string
}

func (l *lacks) add(format string, args ...any) {
	l.all = append(l.all, fmt.Sprintf("%s: ", l.folder)+fmt.Sprintf(format, args...))
}

// fields demands those of the Spec that are needed and empty.
func (l *lacks) fields() {
	s := &l.spec
	for _, f := range []struct {
		given bool
		name  string
		what  string
	}{
		{s.Title != "", "Title", "what people call the infrastructure"},
		{s.Supports != "", "Supports", "which API versions it reads, for the README"},
		{s.Scope != "", "Scope", "what one place is called that is listed"},
		{s.Keys != nil, "Keys", "the keys of a provider id: without them no Node is of an instance"},
		{len(s.Want.Kinds) > 0, "Want.Kinds", "what it reads of a backup"},
		{len(s.MachineKinds) > 0, "MachineKinds", "its infrastructure machines"},
		{s.ClusterKind != (infra.Kind{}), "ClusterKind", "its infrastructure cluster"},
		{s.Controller.Name != "", "Controller.Name", "without it nothing is foretold of a restore"},
		{s.Controller.Makes != "", "Controller.Makes", "how its controller creates an instance"},
		{s.Controller.ID != "", "Controller.ID", "where its controller finds the id of an instance after a restore"},
		{s.Tool != nil, "Tool", "the lines of its own command line, for plans"},
		{s.OnDelete != "", "OnDelete", "what its controller does to instances when a Machine is deleted"},
		{s.Permissions.Text != "", "Permissions", "what an account must be allowed, for the command permissions"},
	} {
		if !f.given {
			l.add("Spec has no %s: %s", f.name, f.what)
		}
	}
	if strings.HasSuffix(s.OnDelete, ".") || s.OnDelete != "" && !strings.Contains(s.OnDelete, "deleting a Machine") {
		l.add("Spec.OnDelete does not read on behind a colon: %q", s.OnDelete)
	}
}

// kinds demands that kinds are consistent: what the Spec names is read of a backup, under that name.
func (l *lacks) kinds() {
	s := &l.spec
	for _, k := range slices.Concat(s.MachineKinds, s.ManagedPlanes, s.IdentityKinds, []infra.Kind{s.ClusterKind}) {
		if k != (infra.Kind{}) && (k.Group == "" || k.Kind == "" || k.Plural == "" || strings.ToLower(k.Plural) != k.Plural) {
			l.add("Spec names a kind without group, kind and plural: %+v", k)
		}
	}
	var read []string
	for _, k := range s.Want.Kinds {
		read = append(read, k.Resource())
	}
	for _, k := range slices.Concat(s.MachineKinds, s.IdentityKinds, []infra.Kind{s.ClusterKind}) {
		if k != (infra.Kind{}) && !slices.Contains(read, k.Resource()) {
			l.add("Spec.Want does not read %s, which the Spec names", k.Resource())
		}
	}
}

func (l *lacks) permissions() {
	p := l.spec.Permissions
	if p.Text == "" {
		return
	}
	if p.About == "" {
		l.add("Spec.Permissions does not say in About what the document is")
	}
	if text, err := fs.ReadFile(l.module, path.Join(l.folder, p.File)); err != nil || string(text) != p.Text {
		l.add("the document of Spec.Permissions is not file %q of its folder", p.File)
	}
}

func (l *lacks) flags() {
	for _, f := range l.spec.Flags {
		if !regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`).MatchString(f.Name) || f.Usage == "" {
			l.add("flag %q has no name of several words or no usage", f.Name)
		}
		if f.Excludes != "" && !slices.ContainsFunc(l.spec.Flags, func(o infra.Flag) bool { return o.Name == f.Excludes }) {
			l.add("flag %q excludes %q, which is no flag of it", f.Name, f.Excludes)
		}
	}
	if (l.spec.Environment.Read == nil) != (l.spec.Environment.About == "") {
		l.add("Spec.Environment has either no Read or no About")
	}
}

// room is the source of one package.
type room struct {
	doc     string // of doc.go
	names   []string
	sources []*ast.File
	suite   bool // a test runs this suite
}

// inFolder looks at the source: the test that runs this suite, and doc.go, which
// names each file and each kind of key.
func (l *lacks) inFolder() {
	r, err := l.room(l.folder)
	if err != nil {
		l.add("its folder cannot be read: %v", err)
		return
	}
	rooms := []*room{r}
	if list, err := l.room(path.Join(l.folder, listFolder)); err == nil {
		rooms = append(rooms, list)
	}
	if !slices.ContainsFunc(rooms, func(r *room) bool { return r.suite }) {
		l.add("no test runs infratest.Run")
	}
	if l.spec.NodesOnly {
		return
	}
	for _, r := range rooms {
		l.documented(r)
	}
	l.tabled(r.doc, r.sources)
}

// room reads a package.
func (l *lacks) room(folder string) (*room, error) {
	files, err := fs.ReadDir(l.module, folder)
	if err != nil {
		return nil, err
	}
	r := &room{}
	for _, f := range files {
		if path.Ext(f.Name()) != ".go" {
			continue
		}
		text, err := fs.ReadFile(l.module, path.Join(folder, f.Name()))
		if err != nil {
			l.add("%v", err)
			continue
		}
		if strings.HasSuffix(f.Name(), "_test.go") {
			r.suite = r.suite || strings.Contains(string(text), "infratest.Run(")
			continue
		}
		source, err := parser.ParseFile(token.NewFileSet(), f.Name(), text, parser.ParseComments)
		if err != nil {
			l.add("%v", err)
			continue
		}
		if f.Name() == "doc.go" {
			r.doc = source.Doc.Text()
			continue
		}
		r.names, r.sources = append(r.names, f.Name()), append(r.sources, source)
	}
	return r, nil
}

var fileName = regexp.MustCompile(`\b[a-z]+\.go\b`)

// documented compares a package's comment with its files.
func (l *lacks) documented(r *room) {
	if r.doc == "" {
		l.add("has no doc.go that says what each file is for")
		return
	}
	shown := fileName.FindAllString(r.doc, -1)
	for _, n := range r.names {
		if !slices.Contains(shown, n) {
			l.add("doc.go does not say what %s is for", n)
		}
	}
	for _, n := range shown {
		if !slices.Contains(r.names, n) {
			l.add("doc.go names %s, which does not exist", n)
		}
	}
}

// tabled compares the table of keys in a package's comment with its kinds of keys.
func (l *lacks) tabled(doc string, sources []*ast.File) {
	keys := slices.Concat(keysOf(sources), wordsOfKeys(l.spec.Words))
	_, table, ok := strings.Cut(doc, "Keys of instances")
	if !ok {
		l.add("doc.go has no table \"Keys of instances\": each kind of key, and what its value is made of")
		return
	}
	for _, k := range keys {
		for part := range strings.SplitSeq(k, "+") {
			if !strings.Contains(table, part) {
				l.add("the table of keys in doc.go lacks %s", k)
				break
			}
		}
	}
}

// keysOf returns the values of the constants that name kinds of keys: keyInstance.
func keysOf(sources []*ast.File) []string {
	var keys []string
	for _, f := range sources {
		ast.Inspect(f, func(n ast.Node) bool {
			c, ok := n.(*ast.ValueSpec)
			if !ok || len(c.Names) != 1 || len(c.Values) != 1 || !regexp.MustCompile(`^key[A-Z]`).MatchString(c.Names[0].Name) {
				return true
			}
			if value, ok := c.Values[0].(*ast.BasicLit); ok {
				if text, err := strconv.Unquote(value.Value); err == nil {
					keys = append(keys, text)
				}
			}
			return true
		})
	}
	return keys
}

// wordsOfKeys returns the kinds of keys among the words; reasons begin with a capital.
func wordsOfKeys(words map[string]string) []string {
	var keys []string
	for k := range words {
		if k != "" && strings.ToLower(k[:1]) == k[:1] {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}
