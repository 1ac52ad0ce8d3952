package program

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/check"
	"drift-detector/backup/selection"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra"
	"drift-detector/infra/all"
	"drift-detector/infra/store"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/internal/lazyregexp"
	"drift-detector/internal/terminal"
)

// backupOptions say which backups to read and how to reach what they name.
// detect and inventory share them.
type backupOptions struct {
	backups     []string
	endpoints   []string
	credentials string
	options     map[string]string // of providers, see infra.Access.Options
	insecure    bool
	skipNodes   bool
	dryRun      bool
	quiet       bool
	selection   selection.Selection
	bounds      bounds
	checkOnly   bool                               // nothing but checks needs what is expected
	offline     bool                               // no place is listed
	beside      func(openedBackup) archive.Visitor // see backup.Want
	described   *check.VeleroBackup                // by a file that was given
	stores      storeOptions
	live        liveOptions
	ofStore     bool           // whether its store has a newer backup matters
	shared      *sharedListing // with the backups that it is compared with; nil for none
}

func (o *backupOptions) flags() []urfave.Flag {
	return slices.Concat([]urfave.Flag{backupFlag()}, o.stores.newest.flags(), o.live.flags(), o.listingFlags())
}

// listingFlags returns those about the infrastructure that backups name.
func (o *backupOptions) listingFlags() []urfave.Flag {
	return slices.Concat([]urfave.Flag{
		&urfave.BoolFlag{Name: "skip-access-apiserver", Usage: "do not read the Node lists of workload clusters; without them the answer is never YES", Destination: &o.skipNodes},
	}, o.placeFlags(), o.stores.flags(), providerFlags(), o.selectionFlags(), []urfave.Flag{
		quietFlag(&o.quiet),
		&urfave.BoolFlag{Name: "dry-run", Usage: "only print what would be contacted, and how; which endpoints, as which accounts, with which Secrets", Destination: &o.dryRun},
	})
}

// placeFlags returns those that say how places are reached.
func (o *backupOptions) placeFlags() []urfave.Flag {
	return []urfave.Flag{
		&urfave.BoolFlag{Name: "insecure-skip-verify", Usage: "do not verify certificates of infrastructure; those of API servers are always verified", Destination: &o.insecure},
		&urfave.StringSliceFlag{Name: "endpoint", Usage: "reach the backup's FROM at TO: `FROM=TO`; each is host:port or a URL; repeatable"},
		&urfave.StringFlag{Name: "timeout", Usage: "list each place within `TIME`; a " + placesOr("Node list of a cluster") + "; such as 90s or 1h30m; what is cut off is incomplete (exit status 3)", Value: infra.Brisk(infra.DefaultTimeout), Destination: &o.bounds.timeout},
		o.bounds.flag("read the backup and list all places within `TIME`; then the report is written of what was listed, incomplete (exit status 3)"),
		&urfave.StringFlag{Name: "credentials", Usage: "YAML `FILE` of credentials to use instead; its entries override those of the backup per endpoint: endpoints: [{endpoint: vc.corp, username: …, password: …}], or passwordFile, thumbprint, caFile, kubeconfig", Destination: &o.credentials},
	}
}

func quietFlag(to *bool) urfave.Flag {
	return &urfave.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print warnings and errors only; no progress, summary or credential notices", Destination: to}
}

func backupFlag() urfave.Flag {
	return &urfave.StringSliceFlag{Name: "backup", Usage: "Velero backup: a `FILE`, folder, s3://…/NAME or -; the file is NAME-data.tar.gz, the folder that of the object store, or one that clusterctl move --to-directory wrote, - is standard input, an https:// URL one that the store has signed; repeatable"}
}

// stdinName is the --backup that is piped in.
const stdinName = "-"

func (o *backupOptions) read(c *urfave.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	o.backups = c.StringSlice("backup")
	if err := o.live.read(c, o.backups); err != nil {
		return err
	}
	if first := slices.Index(o.backups, stdinName); first >= 0 && slices.Contains(o.backups[first+1:], stdinName) {
		return &cli.UsageError{Message: "--backup - is given twice: standard input can be read once only", Command: c.Command.Name}
	}
	return cmp.Or(o.stores.newest.read(c, o.backups), o.readListing(c))
}

// readListing takes the values of listingFlags.
func (o *backupOptions) readListing(c *urfave.Context) error {
	o.endpoints = c.StringSlice("endpoint")
	o.selection.Clusters, o.selection.Namespaces = c.StringSlice("cluster"), c.StringSlice("namespace")
	err := cmp.Or(o.bounds.read(c), o.stores.read(c))
	if err != nil {
		return err
	}
	o.options, err = readProviderFlags(c)
	return err
}

// access turns the options into what providers get. It fails on a bad
// --endpoint or --credentials.
func (o *backupOptions) access(s *cli.Streams) (infra.Access, error) {
	a := infra.Access{InsecureSkipVerify: o.insecure, SkipNodes: o.skipNodes, Options: o.options}
	where := map[string]string{} // what the backup says is there
	for _, e := range o.endpoints {
		r, err := infra.ParseReroute(e)
		if err != nil {
			return a, fmt.Errorf("--endpoint%s: %w", quotable(e), err)
		}
		if to, given := where[r.From]; given && to != r.To {
			return a, fmt.Errorf("--endpoint says twice where %s is: give one place", r.From)
		}
		where[r.From] = r.To
		a.Reroutes = append(a.Reroutes, r)
	}
	if o.credentials != "" {
		creds, warnings, err := infra.ReadCredentials(o.credentials)
		if err != nil {
			return a, err
		}
		for _, w := range warnings {
			s.Warn("%s", w)
		}
		a.Credentials, o.stores.given = creds, creds
	}
	a.Credentials = append(a.Credentials, environmentCredentials(s.Getenv)...)
	return a, nil
}

// harmless is what cannot hold a password: names, ports and paths, without a user.
var harmless = lazyregexp.New(`^(https?://)?[A-Za-z0-9._/-]*(:[0-9]{0,5})?(=(https?://)?[A-Za-z0-9._/-]*(:[0-9]{0,5})?)?$`)

// quotable returns the value of a flag for a message about it; empty when it may hold a secret.
func quotable(value string) string {
	if !harmless.MatchString(value) {
		return ""
	}
	return fmt.Sprintf(" %q", value)
}

// loadedBackup is what one or several backups say, ready to be listed and decided.
type loadedBackup struct {
	registry *infra.Registry
	compared bool // it is one of several that are decided in turns
	snapshot *backup.Snapshot
	secrets  *backup.Secrets
	expected infra.Expected
	shows    func(backup.ClusterID) bool // the clusters that are shown; nil is all
	opened   []openedBackup
	store    string // endpoint of the object store that a backup is read from; empty for none
	newer    []*check.NewerBackup
	velero   []*check.VeleroBackup // by backup; nil where Velero's file is not beside the tarball, or unread
	unread   []string              // by backup: why Velero's file can't be read
	runs     []check.Runs          // by backup
	maxAge   time.Duration         // of a backup; zero is the usual
}

// load finds the backups that --backup names, and reads them.
func (o *backupOptions) load(ctx context.Context, s *cli.Streams) (*loadedBackup, error) {
	bounded, stop := o.bounds.begin(ctx)
	defer stop()
	var opened []openedBackup
	for _, name := range o.backups {
		b, err := o.stores.open(bounded, s, name, o.quiet)
		if err != nil {
			return nil, o.bounds.explain(bounded, err)
		}
		opened = append(opened, b)
	}
	if o.live.kubeconfig != "" {
		c, err := o.live.open(s, &o.bounds, o.quiet)
		if err != nil {
			return nil, err
		}
		opened = append(opened, openedBackup{live: c})
	}
	e, err := o.loadOpened(bounded, s, all.Registry(), opened)
	if err == nil && o.ofStore {
		e.findNewer(bounded, s)
		err = bounded.Err()
	}
	return e, o.bounds.explain(bounded, err)
}

// loadOpened reads backups that were found.
func (o *backupOptions) loadOpened(ctx context.Context, s *cli.Streams, registry *infra.Registry, opened []openedBackup) (*loadedBackup, error) {
	if o.live.kubeconfig == "" { // of a server's answers most is garbage
		enter(reading)
	}
	defer enter(deciding)
	e := &loadedBackup{registry: registry, opened: opened, maxAge: o.stores.newest.older, newer: make([]*check.NewerBackup, len(opened))}
	registry.Timeout = o.bounds.place
	if slices.ContainsFunc(o.backups, store.IsAddress) {
		e.store = o.stores.host()
	}
	want := join(e.registry.Want(), check.Want(), rehearsal.Want())
	want.Offline = o.offline
	var sources []backup.Source
	for _, b := range opened {
		if b.live != nil {
			b.source = b.live.Source(ctx, wanted(want))
		}
		sources, e.velero, e.unread = append(sources, b.source), append(e.velero, b.velero), append(e.unread, b.unread)
	}
	var err error
	if o.described != nil {
		e.velero, e.unread = []*check.VeleroBackup{o.described}, nil
	}
	e.runs = make([]check.Runs, len(opened))
	want.Beside = func(i int) archive.Visitor {
		var asked archive.Visitor
		if o.beside != nil {
			asked = o.beside(opened[i])
		}
		e.runs[i] = check.Runs{}
		return asked.And(e.velero[i].Referrers()).And(e.runs[i].Visitor())
	}
	if e.snapshot, e.secrets, err = backup.Load(ctx, sources, want); err != nil {
		return nil, err
	}
	if !o.selection.IsZero() {
		if e.shows, err = o.selection.Of(e.snapshot); err != nil {
			return nil, err
		}
	}
	for _, b := range e.snapshot.Backups {
		s.Debugf("read %s: %s, written %s to %s", b.Path, english.Count(int(b.Items), "object"), b.WrittenFrom, b.WrittenTo)
	}
	expect := e.registry.Expected
	if o.checkOnly {
		expect = e.registry.Survey
	}
	e.warnOfClocks(s)
	e.expected = expect(e.snapshot)
	e.doubtEmpty()
	e.narrow()
	return e, nil
}

// described returns what Velero says of each backup.
func (e *loadedBackup) described() []*check.Outline {
	out := make([]*check.Outline, len(e.snapshot.Backups))
	for i, b := range e.snapshot.Backups {
		out[i] = check.Described(b, e.velero[i], &e.runs[i])
	}
	return out
}

// join returns what several packages ask of a backup.
func join(wants ...backup.Want) backup.Want {
	var w backup.Want
	for _, part := range wants {
		w.Kinds = append(w.Kinds, part.Kinds...)
		w.Secrets = append(w.Secrets, part.Secrets...)
	}
	return w
}

// targets returns the places that the clusters that were asked for need.
func (e *loadedBackup) targets(s *cli.Streams, a infra.Access) []infra.Target {
	all := e.registry.Targets(e.snapshot, e.secrets, a)
	for _, given := range e.unused(a, all) {
		if e.compared {
			break // it may be for another backup
		}
		s.Warn("%s", given+" matches nothing: "+e.snapshot.Subject().The()+" names no such endpoint")
	}
	if e.shows == nil {
		return all
	}
	return infra.For(e.shows, all)
}

// unused returns what the operator gave for endpoints that the backup does not name:
// most likely a slip, which would show as a missing credential only.
func (e *loadedBackup) unused(a infra.Access, all []infra.Target) []string {
	if a.SkipNodes {
		return nil // what is for API servers is of no use this time
	}
	named := map[infra.Endpoint]bool{}
	name := func(endpoint string) {
		if at, err := infra.ParseEndpoint(endpoint); err == nil {
			named[at] = true
		}
	}
	for i := range all {
		name(all[i].Endpoint)
		name(all[i].Authority)
	}
	for i := range e.snapshot.Clusters {
		name(e.snapshot.Clusters[i].Endpoint)
	}
	if e.store != "" {
		name(e.store)
	}
	var out []string
	check := func(endpoint, source string) {
		if at, err := infra.ParseEndpoint(endpoint); err == nil && !named[at] {
			out = append(out, source+" for "+at.String())
		}
	}
	for _, r := range a.Reroutes {
		check(r.From, "--endpoint")
	}
	for _, c := range a.Credentials {
		if strings.HasPrefix(c.Source, "--credentials") { // variables may be set for other work
			check(c.Endpoint, c.Source)
		}
	}
	return out
}

// list contacts every target and forgets the credentials. near is that of the
// targets: nil keeps everything as it is.
func (o *backupOptions) list(ctx context.Context, s *cli.Streams, e *loadedBackup, a infra.Access, isRelated func(*infra.Instance) bool) (infra.Inventory, error) {
	targets := e.targets(s, a)
	for i := range targets {
		targets[i].IsRelated = isRelated
	}
	o.shared.adopt(targets)
	var places, lists, warnings []string
	for _, t := range targets {
		switch {
		case t.Use == "" || t.Refused != nil || o.quiet || o.shared.knows(&t):
		case t.NodeState == "":
			places = append(places, t.Use)
		default:
			lists = append(lists, t.Use)
		}
		warnings = append(warnings, t.Warnings...)
	}
	some(s, s.Info, places)
	some(s, s.Info, lists)
	some(s, s.Warn, warnings)
	watch := &infra.Watch{
		Found: func(int, int) {},
		Done:  func(_ int, l infra.Listing) { s.Debugf("%s", describeListing(l)) },
	}
	stop := func() {}
	if !o.quiet && !s.Debug && cli.IsTerminal(s.Stderr) && s.Getenv("TERM") != "dumb" {
		p := showProgress(ctx, s, targets)
		watch, stop = &infra.Watch{Found: p.found, Done: p.done}, p.Stop
	}
	bounded, free := o.bounds.begin(ctx)
	defer free()
	enter(listing)
	collectNow()
	inv := o.shared.collect(bounded, e.registry, targets, watch)
	stop()
	e.secrets.Drop()
	warnings = nil
	for i, l := range inv.Listings {
		warnings = append(warnings, l.Warnings[len(targets[i].Warnings):]...) // those of the target were said
	}
	some(s, s.Warn, warnings)
	return inv, ctx.Err()
}

func describeListing(l infra.Listing) string {
	what := english.Count(l.Count(), "instance")
	if l.NodeState != "" {
		what = english.Count(len(l.Nodes), "Node")
	}
	return fmt.Sprintf("listed %s %s: %s, %s", l.Provider, l.Endpoint, what, l.State)
}

// preview runs --dry-run: it says what would be contacted, and contacts nothing.
func (o *backupOptions) preview(ctx context.Context, s *cli.Streams) error {
	access, err := o.access(s)
	if err != nil {
		return err
	}
	e, err := o.load(ctx, s)
	if err != nil {
		return err
	}
	return o.plan(s, e, access)
}

// plan prints what would be contacted, with which credential: for a backup that is
// compared, what the newer ones do not contact.
func (o *backupOptions) plan(s *cli.Streams, e *loadedBackup, a infra.Access) error {
	targets := e.targets(s, a)
	o.shared.adopt(targets)
	out := &cli.FirstError{Writer: s.Stdout}
	for _, t := range targets {
		if o.shared.knows(&t) {
			continue
		}
		line := t.Provider + " " + t.Endpoint
		if t.Dial != "" && t.Dial != t.Endpoint {
			line += " at " + t.Dial
		}
		if t.Location != "" {
			line += " " + t.Location
		}
		for _, part := range []struct{ word, value string }{{"as", t.Account}, {"with", t.Source}, {"for", clusterNames(t.Clusters)}} {
			if part.value != "" {
				line += " " + part.word + " " + part.value
			}
		}
		if t.Refused != nil {
			line += ": not possible: " + t.Refused.Message
		}
		fmt.Fprintln(out, terminal.Escape(line))
		if t.Refused != nil && t.Refused.Hint != "" {
			fmt.Fprintln(out, terminal.Escape("  "+t.Refused.Hint))
		}
		for _, w := range t.Warnings {
			fmt.Fprintln(out, terminal.Escape("  warning: "+w))
		}
	}
	e.secrets.Drop()
	if out.Err != nil {
		return fmt.Errorf("writing to stdout: %w", out.Err)
	}
	return nil
}

// clusterNames names the first of clusters and counts the others.
func clusterNames(ids []backup.ClusterID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.Namespace + "/" + id.Name
	}
	return english.First(few, names)
}

func readInventory(path string) (infra.Inventory, error) {
	f, err := os.Open(path)
	if err != nil {
		return infra.Inventory{}, fmt.Errorf("reading the inventory: %w", err)
	}
	defer f.Close()
	inv, err := infra.ReadInventory(f)
	if err != nil {
		return infra.Inventory{}, fmt.Errorf("reading %s: %w", path, err)
	}
	return inv, nil
}
