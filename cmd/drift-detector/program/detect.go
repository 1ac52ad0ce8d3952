package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup/archive"
	"drift-detector/backup/check"
	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra"
	"drift-detector/infra/store"
	"drift-detector/internal/cli"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/code"
	"drift-detector/report/confirm"
	"drift-detector/report/formats"
	"drift-detector/report/ignore"
	"drift-detector/report/message"
	"drift-detector/report/plan"
	"drift-detector/report/screen"
	"drift-detector/report/text"
)

type detectOptions struct {
	backupOptions
	format        string
	outputs       []cli.Target
	summary       bool
	inventory     string
	ignoreHealthy bool
	failOn        string
	fails         failOn
	ignoreFiles   []string
	confirmFiles  []string
	confirmed     []confirm.Confirmation
	emptyFolders  []string
	sends         sendOptions
	again         string          // the command that saves the report, see lineAgain
	choices       *choices        // of the place whose backups are compared
	candidates    []*store.Stored // there, which may be newer than one of them
	left          []*store.Stored // there, and not described
}

func detectCommand(s *cli.Streams) *urfave.Command {
	var o detectOptions
	return &urfave.Command{
		Name:      "detect",
		Usage:     "compare a backup with the real infrastructure and write a report",
		UsageText: "drift-detector detect --backup FILE [-o FILE]... [options]",
		Description: `Every machine is Healthy, Stale (object without VM), Ghost (VM without object)
or Unknown. Endpoints and credentials are the backup's. Nothing is ever changed.

A terminal shows the answer on one screen; render shows the whole report.

EXAMPLES:
   drift-detector detect --backup mgmt-data.tar.gz
   drift-detector detect --backup mgmt-data.tar.gz -o report.json -o report.html
   drift-detector detect --backup mgmt-data.tar.gz --dry-run
   drift-detector detect --backup mgmt-data.tar.gz --inventory inventory.json -o report.json
   drift-detector detect --backup mgmt-data.tar.gz --endpoint vc.corp=10.0.0.5 --format text
   drift-detector detect --backup mgmt-data.tar.gz --cluster alpha-prod -o alpha.html
   drift-detector detect --backup mgmt-data.tar.gz -o report.json --quiet --fail-on no,ghost,check,error --ignore-file accepted.yaml`,
		Flags: append(append(o.flags(), o.sends.flags()...),
			cli.OutputFlag("the report", true),
			formatFlag("json", &o.format),
			&urfave.BoolFlag{Name: "summary", Usage: "print the one screen in logs, too", Destination: &o.summary},
			&urfave.BoolFlag{Name: "ignore-healthy-resources", Usage: "leave Healthy machines out of the lists; they are still counted", Destination: &o.ignoreHealthy},
			&urfave.StringSliceFlag{Name: "ignore-file", Usage: "YAML `FILE` of rules that set findings aside; they are still counted and listed, but ignored by statuses and --fail-on; repeatable"},
			&urfave.StringFlag{Name: "fail-on", Usage: "end with status 1 on one of `KINDS`: " + strings.Join(failNames(), ", ") + "; several are separated by commas", Destination: &o.failOn},
			&urfave.StringSliceFlag{Name: "confirmations", Usage: "`FILE` that confirm wrote; what people say counts and is a condition of the answer; repeatable"},
			&urfave.StringSliceFlag{Name: "empty-folder", Usage: "folder at inventory `PATH` is empty or gone; your word is taken where the account cannot tell (/DC0/vm/prod, or vcenter/DC0/vm/prod); repeatable"},
			&urfave.StringFlag{Name: "inventory", Usage: "decide from a saved inventory `FILE`, offline; the inventory command writes it", Destination: &o.inventory},
		),
		Before: func(c *urfave.Context) error {
			empty := refuseEmpty(c)
			if empty != nil {
				_ = o.sends.read(c, s) // what can be used says it
			}
			return o.sendFailure(c, s, empty)
		},
		Action: func(c *urfave.Context) error {
			err := o.sends.read(c, s)
			if err == nil {
				err = o.start(c, s)
			}
			return o.sendFailure(c, s, err)
		},
	}
}

// sendFailure sends that a run ends without a report, and returns its error. --dry-run sends nothing.
func (o *detectOptions) sendFailure(c *urfave.Context, s *cli.Streams, err error) error {
	if o.dryRun {
		return err
	}
	return o.sends.failed(c.Context, s, o.failure(c, s), err)
}

// start reads the other flags, and does what they say.
func (o *detectOptions) start(c *urfave.Context, s *cli.Streams) error {
	if err := o.read(c); err != nil {
		return err
	}
	o.again = lineAgain(c, s)
	o.ignoreFiles, o.emptyFolders, o.confirmFiles = c.StringSlice("ignore-file"), c.StringSlice("empty-folder"), c.StringSlice("confirmations")
	var err error
	if o.fails, err = parseFailOn(o.failOn, "detect", failNames()); err != nil {
		return err
	}
	if o.outputs, err = cli.ReadTargets(c, o.format, formats.Report.Names()); err != nil {
		return err
	}
	if !c.IsSet("output") && !c.IsSet("format") {
		o.outputs = nil // the screen alone
	}
	if err := readLink(c, o.sends.link, len(o.sends.notices) > 0 || writesMessage(o.outputs)); err != nil {
		return err
	}
	if err := o.fails.fit(o.live.kubeconfig != "", "detect"); err != nil {
		return err
	}
	switch {
	case o.dryRun && o.inventory != "":
		return &cli.UsageError{Message: "--dry-run and --inventory exclude each other: an inventory contacts nothing", Command: "detect"}
	case o.summary && o.quiet:
		return &cli.UsageError{Message: "--summary and --quiet exclude each other", Command: "detect"}
	case o.summary && cli.OnStdout(o.outputs):
		return &cli.UsageError{Message: "--summary would be mixed with the report on stdout: write the report to a file", Command: "detect"}
	}
	rules, err := readRules(o.ignoreFiles)
	if err != nil {
		return err
	}
	o.confirmed, err = readConfirmations(o.confirmFiles)
	switch {
	case err != nil:
		return err
	case o.dryRun:
		return o.preview(c.Context, s)
	}
	return runDetect(c.Context, o, rules, s)
}

// failure returns a run that ended without a report, so far as that is known before it began.
func (o *detectOptions) failure(c *urfave.Context, s *cli.Streams) *message.Failure {
	f := &message.Failure{Live: o.live.kubeconfig != "", At: s.Now()}
	for _, name := range c.StringSlice("backup") {
		f.Of = append(f.Of, s.Redacted(archive.WithoutSecrets(name)))
	}
	if f.Live {
		f.Of = []string{"the management cluster of " + o.live.kubeconfig}
	}
	return f
}

func runDetect(ctx context.Context, o *detectOptions, rules []ignore.Rule, s *cli.Streams) error {
	access, err := o.access(s)
	if err != nil {
		return err
	}
	out, err := cli.CreateOutputs(o.outputs, s, slices.Concat([]string{o.inventory, o.credentials}, o.ignoreFiles, o.confirmFiles, o.live.inputs(), o.backups)...)
	if err != nil {
		return err
	}
	defer out.Discard()
	o.offline, o.ofStore = o.inventory != "", true
	e, err := o.load(ctx, s)
	if err != nil {
		return err
	}
	rep, incomplete, err := o.decide(ctx, s, e, access)
	if err != nil {
		return err
	}
	warnings, err := ignore.Apply(rep, rules, rep.GeneratedAt)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		s.Warn("%s", w)
	}
	about := message.About{Fails: o.fails.matches(rep), Link: o.sends.link}
	if err := out.Fill(sealedWriter(rep, about, s)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	if len(o.outputs) == 0 { // the screen is the report: without it nothing of it is sent
		if err := o.show(s, rep); err != nil {
			return fmt.Errorf("writing to stdout: %w", err)
		}
	}
	o.sends.send(ctx, s, rep, about)
	if err := o.shownToo(s, rep); err != nil {
		s.Warn("%s is written; it could not be printed here as well: %v", o.outputs[0].Path, err)
	}
	said := new(cli.IncompleteError)
	if errors.As(incomplete, &said) {
		said.Said = cli.IsTerminal(s.Stdout) && cli.IsTerminal(s.Stderr) && !o.quiet && !cli.OnStdout(o.outputs)
	}
	if err := o.fails.verdict(rep); err != nil {
		if incomplete != nil && !said.Said {
			s.Warn("%s", incomplete)
		}
		return err
	}
	return incomplete
}

// show prints what is for the person who started the run, after the report has been
// written: one screen, and where a script reads it the whole text.
func (o *detectOptions) show(s *cli.Streams, rep *report.Report) error {
	if o.quiet || cli.OnStdout(o.outputs) {
		return nil
	}
	enter(printing)
	collectNow() // what the plan was made with
	switch {
	case o.summary || len(o.outputs) == 0 || cli.IsTerminal(s.Stdout):
		look := screenOptions(s, o.outputs)
		look.Again = o.again
		return screen.Write(s.Stdout, rep, look)
	default:
		return text.Write(s.Stdout, rep, textOptions(s))
	}
}

// shownToo prints it beside files.
func (o *detectOptions) shownToo(s *cli.Streams, rep *report.Report) error {
	if len(o.outputs) == 0 {
		return nil
	}
	return o.show(s, rep)
}

// decide lists what there is, or reads what was listed, and makes the report.
// incomplete is an error when the report does not hold everything.
func (o *detectOptions) decide(ctx context.Context, s *cli.Streams, e *loadedBackup, a infra.Access) (rep *report.Report, incomplete, err error) {
	now := s.Now()
	for _, f := range o.emptyFolders {
		if !e.registry.StateEmpty(&e.expected, f, "the operator says that the folder is empty or gone: --empty-folder "+f) {
			s.Warn("--empty-folder %s is no folder that the backup's machines are in", f)
		}
	}
	// Before the credentials are forgotten.
	checks, held := e.check(now), rehearsal.ReadSecrets(e.snapshot, e.secrets)
	inv, err := o.obtain(ctx, s, e, a)
	if err != nil {
		return nil, nil, err
	}
	if err := e.again(ctx, o); err != nil {
		return nil, nil, err
	}
	result := detector.Detect(e.snapshot, e.expected, inv, detector.Options{Now: now, Only: e.shows})
	e.expected.Decided()
	e.expected.Look(&inv)
	for i := range inv.Listings {
		inv.Listings[i].Instances, inv.Listings[i].Unrelated = nil, infra.Unrelated{}
	}
	collectNow()
	var future rehearsal.Rehearsal
	if o.live.kubeconfig != "" {
		checks = nil // of what a restore lacks
	} else {
		future = rehearsal.Rehearse(rehearsal.Inputs{
			Snapshot: e.snapshot, Expected: e.expected, Inventory: inv, Result: result, Controllers: e.registry.Controllers(), Secrets: held, Now: now,
		})
	}
	future.Trace, e.expected.Steps, e.expected.OnInstance = rehearsal.Trace{}, nil, nil
	for i := range inv.Listings {
		inv.Listings[i].Nodes = nil
	}
	rep = build.New(build.Parts{
		Result:        result,
		Forecast:      future.Forecast,
		ByPlan:        future.ByPlan,
		Snapshot:      e.snapshot,
		Inventory:     inv,
		Absent:        e.expected.Absent,
		Described:     e.described(),
		LoadBalancers: e.expected.LoadBalancers,
		Checks:        checks,
		Providers:     e.registry.Specs(),
		Tool:          report.Tool{Name: "drift-detector", Version: version, Commit: commit},
		GeneratedAt:   now,
		Options:       report.Options{IgnoreHealthy: o.ignoreHealthy, SkipNodes: o.skipNodes, Filter: o.filter(), FailOn: o.fails, Confirmations: o.confirmFiles},
	})
	tools, incomplete := e.registry.Tools(), verdictOnRun(result, o.live.kubeconfig != "")
	collectNow() // the report is all that is needed from here
	for _, w := range confirm.Apply(rep, o.confirmed, now) {
		s.Warn("%s", w)
	}
	if !rep.IsLive() {
		plan.Fill(rep, tools)
	}
	return rep, incomplete, nil
}

func (o *detectOptions) obtain(ctx context.Context, s *cli.Streams, e *loadedBackup, a infra.Access) (infra.Inventory, error) {
	if o.inventory == "" {
		defer e.forget()
		return o.list(ctx, s, e, a, e.expected.IsRelated())
	}
	e.forget()
	inv, err := readInventory(o.inventory)
	if err != nil {
		return inv, err
	}
	if o.skipNodes {
		for i := range inv.Listings {
			if l := &inv.Listings[i]; l.NodeState != "" {
				l.NodeState, l.Nodes, l.Fault = "skipped", nil, nil
			}
		}
	}
	return inv, nil
}

// forget lets go of what nothing reads once it is known what to expect and how it is
// listed: the credentials, and most of the objects of the backup.
func (e *loadedBackup) forget() {
	e.secrets.Drop()
	e.snapshot.Keep(append(rehearsal.Needs(e.snapshot), check.InstalledKinds()...)...)
	collectNow()
}

// verdictOnRun says whether the report, which is written by now, holds everything.
func verdictOnRun(result detector.Result, live bool) error {
	if result.Complete {
		return nil
	}
	var places []unseen
	for _, scope := range result.Scopes {
		if scope.State != code.ScopeComplete {
			places = append(places, unseen{scope.Endpoint, scope.Error})
		}
	}
	items, hint := itemsUnread(result.Errors, live)
	if err := missed(incomplete(places, items, hint), result.UnreadNodeLists()); err != nil {
		return err
	}
	for _, e := range result.Errors {
		if e.Scope == "" && e.Object == "" {
			return &cli.IncompleteError{Message: "incomplete: " + e.Message, Hints: []string{e.Hint}}
		}
	}
	return &cli.IncompleteError{Message: "incomplete: the report does not hold everything", Hints: []string{"see its scopes and errors"}}
}
