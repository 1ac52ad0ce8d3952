package program

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/selection"
	"drift-detector/infra"
	"drift-detector/infra/all"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
)

type extractOptions struct {
	backupOptions
	what, folder string
	names        []string
	force        bool
	wanted       []secretData // of those names
}

// extracts are what can be taken out of a backup.
var extracts = []string{"kubeconfigs", "credentials", "manifests", "secret"}

func extractCommand(s *cli.Streams) *urfave.Command {
	var o extractOptions
	return &urfave.Command{
		Name:      "extract",
		Usage:     "write credentials of a backup to files, for a restore",
		UsageText: "drift-detector extract WHAT [NAMESPACE/NAME...] --backup BACKUP [options]",
		Description: `With the management cluster the way to the workload clusters is lost; the backup
has it. Files are for their owner alone (0600), none is replaced, and stderr
says what each of them is. Nothing is contacted. WHAT is
   kubeconfigs   of all workload clusters, or of those that are named, each with
                 the context NAMESPACE/NAME
   credentials   for the infrastructure of all clusters, or of those that are
                 named: variables of govc and the AWS CLI, clouds.yaml
   manifests     identities and Secrets that clusters log in with and that the
                 backup lacks, for kubectl apply; 'fill in' is what is not known
   secret        each value of the Secret NAMESPACE/NAME in a file of its own

Of a kubeconfig or clouds.yaml nothing is written but the server, its CA, and the
login: one that needs a program or a file of its own is refused. A Secret is written
as it is: read it before a program does.

EXAMPLES:
   drift-detector extract kubeconfigs --backup mgmt-data.tar.gz -o kubeconfigs
   drift-detector extract secret capv-system/vcenter --backup mgmt-data.tar.gz
   drift-detector extract kubeconfigs tenant-a/prod --backup s3://velero/mgmt/backups/nightly-1 --s3-profile dr`,
		BashComplete: func(c *urfave.Context) { fmt.Fprintln(s.Stdout, strings.Join(extracts, "\n")) },
		Flags: append(o.stores.flags(),
			backupFlag(),
			o.bounds.flag(readWithin),
			&urfave.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the files into `FOLDER`; it is created if there is none", Value: ".", Destination: &o.folder},
			&urfave.BoolFlag{Name: "force", Usage: "replace files that are there", Destination: &o.force},
		),
		Action: func(c *urfave.Context) error {
			if err := o.readExtract(c); err != nil {
				return err
			}
			return runExtract(c.Context, o, s)
		},
	}
}

func (o *extractOptions) readExtract(c *urfave.Context) error {
	fail := func(message string, args ...any) error {
		return &cli.UsageError{Message: fmt.Sprintf(message, args...), Command: "extract"}
	}
	o.what, o.names, o.backups = c.Args().First(), c.Args().Tail(), c.StringSlice("backup")
	switch {
	case !slices.Contains(extracts, o.what):
		return fail("say what to extract: %s", english.Choice(extracts))
	case len(o.backups) == 0:
		return fail("--backup is required")
	case len(o.backups) > 1:
		return fail("--backup is given several times; extract reads one")
	case o.what == "secret" && len(o.names) == 0:
		return fail("name the Secret: NAMESPACE/NAME")
	case cli.IsStdout(o.folder):
		return fail("--output names a folder: a secret is not written to a terminal or into a pipe")
	}
	if o.what != "secret" {
		return cmp.Or(o.bounds.read(c), o.stores.read(c))
	}
	for _, name := range o.names {
		namespace, object, ok := strings.Cut(name, "/")
		if !ok || namespace == "" || object == "" {
			return fail("%q is no NAMESPACE/NAME", name)
		}
		o.wanted = append(o.wanted, secretData{namespace: namespace, name: object})
	}
	o.beside = func(openedBackup) archive.Visitor {
		return archive.Visitor{Want: o.wantsSecret, Visit: func(i *archive.Item) error { o.secretOf(&i.Header).read(i.Body); return nil }}
	}
	return cmp.Or(o.bounds.read(c), o.stores.read(c))
}

// secretData is the data of a Secret of the backup, and what is wrong with it.
type secretData struct {
	namespace, name string
	found           bool
	data            map[string][]byte
	err             error
}

func (o *extractOptions) secretOf(h *archive.Header) *secretData {
	for i := range o.wanted {
		if w := &o.wanted[i]; h.Resource == "secrets" && h.Version == "" && w.namespace == string(h.Namespace) && w.name == string(h.Name) {
			return w
		}
	}
	return nil
}

func (o *extractOptions) wantsSecret(h *archive.Header) (bool, error) {
	return o.secretOf(h) != nil, nil
}

// read takes the data of a Secret. An error of the decoder may quote it.
func (d *secretData) read(body []byte) {
	var object struct {
		Data map[string][]byte `json:"data"`
	}
	d.found = true
	if json.Unmarshal(body, &object) != nil {
		d.err = errors.New("its data is no base64")
	}
	d.data = object.Data
}

// extracted are the files of one credential.
type extracted struct {
	what  string // and where it comes from
	files []infra.LoginFile
	use   string
	lacks []string
}

func runExtract(ctx context.Context, o extractOptions, s *cli.Streams) error {
	e, err := o.load(ctx, s)
	if err != nil {
		return err
	}
	defer e.secrets.Drop()
	names := o.fileNames()
	var found []extracted
	var failed []string
	if o.what == "secret" {
		found, failed = o.values(names)
	} else {
		asked := selection.Selection{Clusters: o.names}
		shows, err := asked.Of(e.snapshot)
		if err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "--cluster "))
		}
		if o.what == "manifests" {
			found, failed, err = o.manifests(e, shows, names)
		} else {
			found, failed = o.logins(e, shows, names)
		}
		if err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, f := range failed {
		s.Say("error: ", "%s", f)
	}
	if len(found)+len(failed) == 0 && o.what == "manifests" {
		s.Info("nothing to write: the backup lacks nothing that its clusters log in with, as far as they name it")
		return nil
	}
	if len(found) == 0 {
		return &backup.InputError{Name: o.backups[0], Problem: "nothing to extract was found in it: " + o.what, Next: "see which clusters it holds with 'drift-detector detect --dry-run'"}
	}
	if err := o.write(s, found); err != nil {
		return err
	}
	if len(failed) > 0 {
		what := "credential"
		if o.what == "manifests" {
			what = "manifest"
		}
		return &cli.IncompleteError{Message: fmt.Sprintf("%s not written; the others are", are(len(failed), what))}
	}
	return nil
}

func are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return english.Count(n, noun) + " are"
}

// values returns the values of the Secrets that were asked for.
func (o *extractOptions) values(name func(string) string) (found []extracted, failed []string) {
	for _, w := range o.wanted {
		what := "Secret " + w.namespace + "/" + w.name
		switch {
		case !w.found:
			failed = append(failed, what+" is not in the backup")
		case w.err != nil:
			failed = append(failed, what+": "+w.err.Error())
		case len(w.data) == 0:
			failed = append(failed, what+" holds no data")
		default:
			x := extracted{what: what}
			for _, key := range slices.Sorted(maps.Keys(w.data)) {
				x.files = append(x.files, infra.LoginFile{Name: name(w.namespace + "." + w.name + "." + key), Text: backup.NewSensitive(string(w.data[key]))})
			}
			found = append(found, x)
		}
	}
	return found, failed
}

// logins returns those that the places of the clusters, or their API servers, are listed with.
func (o *extractOptions) logins(e *loadedBackup, shows func(backup.ClusterID) bool, name func(string) string) (found []extracted, failed []string) {
	targets := infra.For(shows, e.registry.Targets(e.snapshot, e.secrets, infra.Access{}))
	specs := map[string]infra.Spec{}
	for _, spec := range all.Registry().Specs() {
		specs[spec.Name] = spec
	}
	for i := range targets {
		t := &targets[i]
		if specs[t.Provider].NodesOnly != (o.what == "kubeconfigs") {
			continue
		}
		named := map[string]string{}
		x, err := e.registry.Extract(*t, func(as string) string {
			if named[as] == "" {
				named[as] = name(as)
			}
			return absolute(filepath.Join(o.folder, named[as]))
		})
		if err != nil {
			failed = append(failed, cmp.Or(clusterNames(t.Clusters), t.Endpoint)+": "+err.Error())
			continue
		}
		for i := range x.Files {
			x.Files[i].Name = named[x.Files[i].Name]
		}
		found = append(found, extracted{fmt.Sprintf("%s of %s, from %s", credentialWord(t), clusterNames(t.Clusters), t.Source), x.Files, x.Use, x.Lacks})
	}
	return found, failed
}

// manifests returns the objects that clusters log in with and that the backup lacks.
func (o *extractOptions) manifests(e *loadedBackup, shows func(backup.ClusterID) bool, name func(string) string) (found []extracted, failed []string, err error) {
	for _, m := range e.registry.Identities(e.snapshot, e.secrets) {
		if !slices.ContainsFunc(m.Clusters, shows) {
			continue
		}
		if problem := m.Problem(); problem != "" {
			failed = append(failed, fmt.Sprintf("%s %q of %s: %s", m.Kind, english.Join("/", m.Namespace, m.Name), clusterNames(m.Clusters), problem))
			continue
		}
		text, err := m.YAML()
		if err != nil {
			return nil, nil, err
		}
		of := strings.ReplaceAll(strings.TrimPrefix(m.Title(), m.Kind+" "), "/", ".")
		file := infra.LoginFile{Name: name(m.Kind + "." + of + ".yaml"), Text: backup.NewSensitive(string(text))}
		found = append(found, extracted{what: m.Title(), files: []infra.LoginFile{file}, use: m.When(), lacks: m.Lacks()})
	}
	return found, failed, nil
}

// credentialWord says what a credential is for.
func credentialWord(t *infra.Target) string {
	if t.NodeState != "" {
		return "the kubeconfig"
	}
	return "the login to " + t.Endpoint
}

func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// fileNames returns what makes names of files of the words of a backup: each once, none with
// a sign that leads to another folder.
func (o *extractOptions) fileNames() func(string) string {
	const most = 200 // bytes; file systems allow 255
	given := map[string]int{}
	return func(words string) string {
		name := strings.Map(func(r rune) rune {
			if r < 0x80 && (r == '.' || r == '-' || r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') {
				return r
			}
			return '_'
		}, words)
		name = name[max(0, len(name)-most):]
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") {
			name = "_" + name[1:]
		}
		key := strings.ToLower(name) // which some file systems take for the same
		if given[key]++; given[key] > 1 {
			return fmt.Sprintf("%d.%s", given[key], name)
		}
		return name
	}
}

// write writes all files, or none of them, and says what they are.
func (o *extractOptions) write(s *cli.Streams, found []extracted) error {
	if err := os.Mkdir(o.folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("making the folder %s: %w", o.folder, err)
	}
	var targets []cli.Target
	texts := map[string]string{}
	for _, x := range found {
		for _, f := range x.files {
			path := filepath.Join(o.folder, f.Name)
			info, err := os.Lstat(path)
			switch {
			case err == nil && !o.force:
				return fmt.Errorf("%s is there already, and nothing was written: give another --output, or --force to replace it", path)
			case err == nil && !info.Mode().IsRegular():
				return fmt.Errorf("%s is no regular file, and nothing was written: a secret is not written through it", path)
			}
			targets = append(targets, cli.TargetOf(path)) // no form of a report
			texts[path] = f.Text.Reveal()
		}
	}
	all, err := cli.CreateOutputs(targets, s, o.backups...)
	if err != nil {
		return err
	}
	defer all.Discard()
	for i, out := range all {
		if _, err := io.WriteString(out, texts[targets[i].Path]); err != nil {
			return out.Failed(err)
		}
	}
	if err := all.Commit(); err != nil {
		return err
	}
	for _, x := range found {
		for _, f := range x.files {
			as := ": a credential, keep it as one"
			if o.what == "manifests" {
				as = ", which holds no secret"
			}
			s.Info("wrote %s%s: %s", filepath.Join(o.folder, f.Name), as, x.what)
		}
		for _, l := range x.lacks {
			s.Warn("%s: %s", x.what, l)
		}
	}
	o.sayUse(s, found)
	return nil
}

// allAtOnce returns how kubectl takes all kubeconfigs of the folder %s: in the words of a POSIX shell, and of
// PowerShell on Windows, where other marks are between the files.
func allAtOnce(system string) string {
	if system == "windows" {
		return `all at once, in PowerShell: $env:KUBECONFIG = (Get-ChildItem %s/*.kubeconfig).FullName -join ';'`
	}
	return `all at once: export KUBECONFIG="${KUBECONFIG:-$HOME/.kube/config}$(printf ':%%s' %s/*.kubeconfig)"`
}

// sayUse says how the files are used.
func (o *extractOptions) sayUse(s *cli.Streams, found []extracted) {
	if o.what == "manifests" {
		for _, x := range found[:min(len(found), few)] {
			s.Hint("%s: after the restore, %s: kubectl apply -f %s", x.what, x.use, cli.Quoted(filepath.Join(o.folder, x.files[0].Name)))
		}
		return
	}
	if o.what == "kubeconfigs" && len(found) > 1 {
		s.Hint(allAtOnce(runtime.GOOS)+"; the contexts are NAMESPACE/NAME", cli.Quoted(absolute(o.folder)))
		return
	}
	for _, x := range found[:min(len(found), few)] {
		if x.use != "" {
			s.Hint("use it with: %s", x.use)
		}
	}
}
