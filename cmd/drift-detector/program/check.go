package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/check"
	"drift-detector/detector/releases"
	"drift-detector/infra/store"
	"drift-detector/internal/cli"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/code"
	"drift-detector/report/formats"
	"drift-detector/report/ignore"
	"drift-detector/report/text"
)

type checkOptions struct {
	backupOptions
	velero      string
	failOn      string
	fails       failOn
	format      string
	outputs     []cli.Target
	ignoreFiles []string
	collected   []*releases.Collector // by backup; nil for one that can't be read again
}

func checkCommand(s *cli.Streams) *urfave.Command {
	var o checkOptions
	return &urfave.Command{
		Name:      "check",
		Usage:     "say whether a backup can be restored, from the backup alone",
		UsageText: "drift-detector check --backup FILE [options]",
		Description: `What the backup lacks, what the restored controllers would stumble over, and
what has expired since; for each why it matters at the restore, and what to do.
Nothing is contacted.

EXAMPLES:
   drift-detector check --backup mgmt-data.tar.gz
   drift-detector check --backup mgmt-data.tar.gz --velero-backup velero-backup.json
   drift-detector check --backup mgmt-data.tar.gz --cluster alpha-prod
   drift-detector check --backup bucket/backups/nightly --fail-on error -o check.json
   drift-detector check --backup nightly --ignore-file accepted.yaml -o junit.xml`,
		Flags: slices.Concat([]urfave.Flag{backupFlag()}, o.live.flags(), []urfave.Flag{o.bounds.flag(readWithin)}, o.stores.newest.flags(), o.stores.flags(), o.selectionFlags(), []urfave.Flag{
			&urfave.StringFlag{Name: "velero-backup", Usage: "`FILE` velero-backup.json, Velero's description; of the object store; found by itself beside the tarball", Destination: &o.velero},
			&urfave.StringFlag{Name: "fail-on", Usage: "end with status 1 on one of `KINDS`: " + strings.Join(checkKinds, ", ") + "; error, warning or worse, or a backup that is old or of unknown age; several are separated by commas", Destination: &o.failOn},
			&urfave.StringSliceFlag{Name: "ignore-file", Usage: "YAML `FILE` of rules that set findings aside; those with check: are applied, and what they set aside is still listed, but ignored by --fail-on; repeatable"},
			&urfave.StringFlag{Name: "format", Usage: "`FORMAT` of the findings: " + formats.Check.String(), Value: "text", Destination: &o.format},
			cli.OutputFlag("them", true),
		}),
		Action: func(c *urfave.Context) error {
			if err := o.read(c); err != nil {
				return err
			}
			o.ignoreFiles = c.StringSlice("ignore-file")
			var err error
			if o.outputs, err = cli.ReadTargets(c, o.format, formats.Check.Names()); err != nil {
				return err
			}
			if o.fails, err = parseFailOn(o.failOn, "check", checkKinds); err != nil {
				return err
			}
			if err := o.fails.fit(o.live.kubeconfig != "", "check"); err != nil {
				return err
			}
			switch {
			case o.velero != "" && len(o.backups) > 1:
				return &cli.UsageError{Message: "--velero-backup describes one backup, and --backup is given several times", Command: "check"}
			}
			return runCheck(c.Context, o, s)
		},
	}
}

func runCheck(ctx context.Context, o checkOptions, s *cli.Streams) error {
	rules, err := readRules(o.ignoreFiles)
	if err != nil {
		return err
	}
	out, err := cli.CreateOutputs(o.outputs, s, slices.Concat([]string{o.velero}, o.ignoreFiles, o.live.inputs(), o.backups)...)
	if err != nil {
		return err
	}
	defer out.Discard()
	if o.velero != "" {
		if o.described, err = readVelero(o.velero); err != nil {
			return err
		}
	}
	o.checkOnly, o.offline, o.ofStore = true, true, true
	if o.live.kubeconfig == "" { // else the releases command says it, with the rights that it needs
		o.beside = o.collect
	}
	bounded, stop := o.bounds.begin(ctx)
	defer stop()
	e, err := o.load(ctx, s)
	if err != nil {
		return err
	}
	now := s.Now()
	found := e.check(now)
	e.secrets.Drop()
	doc := build.Readiness(e.snapshot, e.expected.Absent, found, e.described(), report.Tool{Name: "drift-detector", Version: version, Commit: commit}, now)
	doc.Filter = o.filter()
	if doc.Releases, err = o.releases(bounded, e); err != nil {
		return o.bounds.explain(bounded, err)
	}
	for _, w := range ignore.ApplyToChecks(doc, rules, now) {
		s.Warn("%s", w)
	}
	if err := out.Fill(func(w io.Writer, to *cli.Output) error { return writeReadiness(w, doc, to, s) }); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	if err := o.verdict(doc); err != nil {
		return err
	}
	return unreadKinds(e.snapshot)
}

// checkKinds are what --fail-on of check can name: a severity, which a worse one is, too, or the age.
var checkKinds = []string{string(code.CheckError), string(code.CheckWarning), staleBackup}

// verdict returns an error when there is a finding that --fail-on names.
func (o *checkOptions) verdict(doc *report.Readiness) error {
	open := report.OpenChecks(doc.Checks)
	warning := slices.Contains(o.fails, string(code.CheckWarning))
	var says []string
	if open.Errors > 0 && (warning || slices.Contains(o.fails, string(code.CheckError))) || open.Warnings > 0 && warning {
		says = append(says, fmt.Sprintf("found %s", doc.Summary))
	}
	if slices.Contains(o.fails, staleBackup) {
		says = append(says, staleBackups(doc.Checks))
	}
	return o.fails.found(says...)
}

// collect takes the records of Helm's releases in the pass that reads a backup anyway. A
// backup that can't be read again for the objects of the releases is left alone.
func (o *checkOptions) collect(b openedBackup) archive.Visitor {
	if b.once {
		o.collected = append(o.collected, nil)
		return archive.Visitor{}
	}
	c := releases.New(releases.Options{Server: serverOf(b.velero)})
	o.collected = append(o.collected, c)
	return archive.Visitor{
		Want: func(h *archive.Header) (bool, error) {
			return c.Note(h.Resource, h.Version, h.Namespace, h.Name), nil
		},
		Visit: func(i *archive.Item) error {
			c.Meet(i.Resource, i.Namespace, i.Name, i.Body)
			return nil
		},
	}
}

// releases counts the Helm releases of the backups that need action. A backup is read
// again where not all objects of releases were kept, and no further than they are in it.
func (o *checkOptions) releases(ctx context.Context, e *loadedBackup) (*report.HelmReleases, error) {
	n := report.HelmReleases{}
	for i, c := range o.collected {
		if c == nil {
			continue
		}
		c.Plan(filtersOf(e.velero[i], e.snapshot.Backups[i]))
		if c.Left() > 0 {
			if err := compareReleases(ctx, e.opened[i].source, c, func(h *archive.Header) (bool, error) {
				if c.Left() == 0 {
					return false, errEnough
				}
				return c.Names(h.Resource, h.Namespace, h.Name), nil
			}); err != nil {
				return nil, err
			}
		}
		for _, r := range c.Result().Releases {
			n.Total++
			if r.Stalled {
				n.Stalled++
			}
		}
	}
	if n.Stalled == 0 {
		return nil, nil
	}
	return &n, nil
}

func writeReadiness(w io.Writer, doc *report.Readiness, to *cli.Output, s *cli.Streams) error {
	if to.Format == "text" && to.Path == "" {
		look := textOptions(s)
		if cli.IsTerminal(s.Stdout) && !s.Debug {
			look.Most = several
			look.AnswerLast = s.Taller(func(w io.Writer) error { return text.Readiness(w, doc, look) })
		}
		return text.Readiness(w, doc, look)
	}
	write, err := formats.Check.Named(to.Format)
	if err != nil {
		return err
	}
	return write(w, doc)
}

// check returns what is to be known of the backups before a restore. It must come
// before the credentials are dropped.
func (e *loadedBackup) check(now time.Time) []check.Finding {
	return check.Check(e.snapshot, e.secrets, check.Options{
		Now: now, MaxAge: e.maxAge, Velero: e.velero, Unread: e.unread, Newer: e.newer, Absent: e.expected.Absent, Only: e.shows,
		Findings:    e.registry.Check(e.snapshot, e.secrets, e.expected, now),
		Controllers: e.registry.Makers(e.expected),
	})
}

// readVelero reads what Velero says about a backup.
func readVelero(path string) (*check.VeleroBackup, error) {
	f, err := os.Open(path)
	if err != nil {
		problem := "can't be opened"
		switch {
		case errors.Is(err, fs.ErrNotExist):
			problem = "does not exist"
		case errors.Is(err, fs.ErrPermission):
			problem = "may not be read by this user"
		}
		return nil, &backup.InputError{Name: path, Problem: problem, Next: "give the " + check.VeleroFile + " from the backup's folder in the object store", Err: err}
	}
	defer f.Close()
	v, err := check.ReadVelero(path, f)
	if err == nil && !v.IsWhole() {
		v.Says(store.Beside(context.Background(), filepath.Dir(path), v.Name))
	}
	return v, err
}
