package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/check"
	"drift-detector/detector/releases"
	"drift-detector/infra/live"
	"drift-detector/internal/cli"
	"drift-detector/report"
	releasereport "drift-detector/report/releases"
)

type releasesOptions struct {
	backup, namespace, status, velero, format string
	ignoreFiles                               []string
	diff                                      bool
	fails                                     failOn
	outputs                                   []cli.Target
	stores                                    storeOptions
	live                                      liveOptions
	bounds                                    bounds
}

// releasesKinds are what --fail-on of releases can name.
var releasesKinds = append(slices.Clone(releasereport.Kinds), staleBackup)

var releasesFormats = []string{"text", "json"}

func releasesCommand(s *cli.Streams) *urfave.Command {
	var o releasesOptions
	var fails string
	return &urfave.Command{
		Name:      "releases",
		Usage:     "say what becomes of every Helm release after the restore",
		UsageText: "drift-detector releases --backup FILE [options]",
		Description: `What has drifted from the manifests of Helm's releases, who changed it and when,
and what the next upgrade makes of it: a restore brings the drifted state back.
Nothing is contacted.

EXAMPLES:
   drift-detector releases --backup mgmt-data.tar.gz
   drift-detector releases --backup mgmt-data.tar.gz --status stalled=true --diff
   drift-detector releases --backup mgmt-data.tar.gz --fail-on drifted -o releases.json`,
		Flags: append(slices.Concat(o.stores.flags(), o.live.flags(), o.stores.newest.flags()),
			backupFlag(),
			o.bounds.flag(readWithin),
			&urfave.StringFlag{Name: "namespace", Usage: "only releases of the namespace `NAME`", Destination: &o.namespace},
			&urfave.StringFlag{Name: "status", Usage: "only releases of a `STATUS`: " + strings.Join(releasereport.Statuses, ", "), Destination: &o.status},
			&urfave.StringFlag{Name: "velero-backup", Usage: "`FILE` velero-backup.json, Velero's description; of the object store; found by itself beside the tarball", Destination: &o.velero},
			&urfave.StringSliceFlag{Name: "ignore-file", Usage: "YAML `FILE` of rules that set drift aside; a list ignore of paths and target, as in a HelmRelease's driftDetection; repeatable"},
			&urfave.BoolFlag{Name: "diff", Usage: "show live and desired values whole; values of Secrets, and what is named like one, are masked", Destination: &o.diff},
			&urfave.StringFlag{Name: "fail-on", Usage: "end with status 1 on one of `KINDS`: " + strings.Join(releasesKinds, ", ") + "; several are separated by commas", Destination: &fails},
			&urfave.StringFlag{Name: "format", Usage: "`FORMAT` of the result: text or json", Value: "text", Destination: &o.format},
			cli.OutputFlag("it", true),
		),
		Action: func(c *urfave.Context) error {
			if err := o.read(c); err != nil {
				return err
			}
			var err error
			if o.fails, err = parseFailOn(fails, "releases", releasesKinds); err != nil {
				return err
			}
			if err := o.fails.fit(o.live.kubeconfig != "", "releases"); err != nil {
				return err
			}
			if o.outputs, err = cli.ReadTargets(c, o.format, releasesFormats); err != nil {
				return err
			}
			return runReleases(c.Context, o, s)
		},
	}
}

func (o *releasesOptions) read(c *urfave.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	backups := c.StringSlice("backup")
	o.ignoreFiles = c.StringSlice("ignore-file")
	if err := cmp.Or(o.live.read(c, backups), o.bounds.read(c), o.stores.read(c), o.stores.newest.read(c, backups)); err != nil {
		return err
	}
	switch {
	case len(backups) > 1:
		return &cli.UsageError{Message: "--backup is given several times; releases reads one", Command: "releases"}
	case slices.Contains(backups, stdinName):
		return &cli.UsageError{Message: "--backup - can be read once only, and releases reads a backup twice: save it to a file", Command: "releases"}
	case o.status != "" && !slices.Contains(releasereport.Statuses, o.status):
		return &cli.UsageError{Message: "--status " + o.status + " is not known; it is one of " + strings.Join(releasereport.Statuses, ", "), Command: "releases"}
	}
	o.backup = strings.Join(backups, "")
	return nil
}

func runReleases(ctx context.Context, o releasesOptions, s *cli.Streams) error {
	rules, err := readDriftRules(o.ignoreFiles)
	if err != nil {
		return err
	}
	out, err := cli.CreateOutputs(o.outputs, s, slices.Concat(o.ignoreFiles, o.live.inputs(), []string{o.velero, o.backup})...)
	if err != nil {
		return err
	}
	defer out.Discard()
	bounded, stop := o.bounds.begin(ctx)
	defer stop()
	b, err := o.open(bounded, s)
	if err != nil {
		return o.bounds.explain(bounded, err)
	}
	if b.once {
		return &backup.InputError{Name: b.source.Name, Problem: "can be read once only, and releases reads a backup twice", Next: "save it to a file, and give that"}
	}
	if o.velero != "" {
		if b.velero, err = readVelero(o.velero); err != nil {
			return err
		}
	}
	unread := map[string]string{}
	found, info, err := readReleases(bounded, b.source, b.velero, unread, releases.Options{Namespace: o.namespace, Rules: rules, Server: serverOf(b.velero)})
	if err != nil {
		return o.bounds.explain(bounded, err)
	}
	doc := releasereport.New(found, releasereport.Backup{
		Path: b.source.Name, SHA256: info.SHA256, WrittenFrom: info.WrittenFrom, WrittenTo: info.WrittenTo, Items: info.Items,
	}, report.Tool{Name: "drift-detector", Version: version, Commit: commit}, s.Now())
	if b.live == nil {
		doc.Backup.Stale = check.Stale(ageOf(info, found), s.Now(), o.stores.newest.older)
	}
	if o.namespace != "" {
		doc.Only = "in namespace " + o.namespace
	}
	if o.status != "" {
		doc.Narrow(o.status)
	}
	if err := out.Fill(func(w io.Writer, to *cli.Output) error {
		if to.Format == "json" {
			return releasereport.JSON(w, doc)
		}
		return releasereport.Text(w, doc, o.diff)
	}); err != nil {
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
	var kinds []string
	for resource, why := range unread {
		kinds = append(kinds, resource+" (not read: "+why+")")
	}
	return notRead(kinds, "the management cluster", new(backup.Snapshot).UnreadHint(0))
}

// verdict returns an error when there is what --fail-on names.
func (o *releasesOptions) verdict(doc *releasereport.Document) error {
	var says []string
	for _, kind := range o.fails {
		if n := doc.Count(kind); n > 0 {
			says = append(says, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if len(says) > 0 {
		says[0] = "found " + says[0]
	}
	if slices.Contains(o.fails, staleBackup) && doc.Backup.Stale != "" {
		says = append(says, "the backup is stale: "+doc.Backup.Stale)
	}
	return o.fails.found(says...)
}

// ageOf returns when a backup was written, and whether that is known: no record of a release is younger.
func ageOf(info archive.Info, found *releases.Result) backup.Info {
	b := backup.Info{WrittenFrom: info.WrittenFrom, WrittenTo: info.WrittenTo}
	for _, r := range found.Releases {
		b.Undated = b.Undated || r.IsYoungerThan(info.WrittenTo.Add(backup.ClockSkew))
	}
	return b
}

// open finds the backup, or the management cluster that runs.
func (o *releasesOptions) open(ctx context.Context, s *cli.Streams) (openedBackup, error) {
	if o.live.kubeconfig == "" {
		return o.stores.open(ctx, s, o.backup, false)
	}
	c, err := o.live.open(s, &o.bounds, false)
	if err != nil {
		return openedBackup{}, err
	}
	return openedBackup{source: c.Source(ctx, live.Wants{}), live: c}, nil
}

// serverOf returns the version of the API server that was backed up, as Velero noted it; empty where
// that is not known.
func serverOf(velero *check.VeleroBackup) string {
	if velero == nil {
		return ""
	}
	return velero.Kubernetes
}

// readReleases walks a backup twice. In unread it notes what a management cluster could not be
// asked for in either pass.
func readReleases(ctx context.Context, source backup.Source, velero *check.VeleroBackup, unread map[string]string, o releases.Options) (*releases.Result, archive.Info, error) {
	// Each object is garbage once it is compared: a sixth of the time for a third more memory.
	defer debug.SetGCPercent(debug.SetGCPercent(200))
	c := releases.New(o)
	info, err := archive.Walk(ctx, source, archive.DefaultBounds, archive.Visitor{
		Want: func(h *archive.Header) (bool, error) {
			return c.First(h.Resource, string(h.Namespace)) && h.Version == "", nil
		},
		Visit: func(i *archive.Item) error {
			c.Read(i.Resource, i.Body)
			return nil
		},
		Problem: c.Problem,
	})
	if err != nil {
		return nil, info, err
	}
	leftOut := filtersOf(velero, backup.Info{WrittenFrom: info.WrittenFrom, WrittenTo: info.WrittenTo})
	if source.Unread != nil {
		maps.Copy(unread, source.Unread())
		leftOut = func(resource, _ string) string {
			_, group, _ := strings.Cut(resource, ".")
			return cmp.Or(unread[resource], unread["*."+group])
		}
	}
	c.Plan(leftOut)
	if err := compareReleases(ctx, source, c, func(h *archive.Header) (bool, error) {
		return c.Second(h.Resource, h.Version, h.Namespace, h.Name), nil
	}); err != nil {
		return nil, info, err
	}
	if source.Unread != nil {
		maps.Copy(unread, source.Unread())
	}
	return c.Result(), info, nil
}

// filtersOf returns what Velero says of the filters of a backup; nil when that is not known.
func filtersOf(velero *check.VeleroBackup, of backup.Info) releases.Scope {
	if velero != nil && velero.Of(of) {
		return velero.LeavesOut
	}
	return nil
}

// errEnough ends a pass early.
var errEnough = errors.New("nothing more is to be read")

// compareReleases makes the second pass, over what is wanted.
func compareReleases(ctx context.Context, source backup.Source, c *releases.Collector, want func(*archive.Header) (bool, error)) error {
	_, err := archive.Walk(ctx, source, archive.DefaultBounds, archive.Visitor{
		Want: want,
		Visit: func(i *archive.Item) error {
			c.See(i.Resource, i.Version, string(i.Namespace), string(i.Name), i.Body)
			return nil
		},
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// maxRules bounds a file of rules.
const maxRules = 1 << 20

// readBounded reads a file, and one byte more than the most that it may have.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

func readDriftRules(paths []string) ([]*releases.Rule, error) {
	var out []*releases.Rule
	for _, path := range paths {
		body, err := readBounded(path, maxRules)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = errors.New("does not exist")
		case err == nil && len(body) > maxRules:
			err = fmt.Errorf("larger than %d bytes", maxRules)
		}
		if err != nil {
			return nil, &backup.InputError{Name: path, Problem: err.Error(), Next: "give a file of ignore rules"}
		}
		rules, err := releases.ReadRules(path, body)
		if err != nil {
			return nil, &backup.InputError{Name: path, Problem: err.Error(), Next: "write rules as in a HelmRelease's spec.driftDetection"}
		}
		out = append(out, rules...)
	}
	return out, nil
}
