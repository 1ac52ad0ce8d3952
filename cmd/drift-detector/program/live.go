package program

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/live"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/report"
)

// liveOptions say which management cluster that runs is read instead of a backup.
type liveOptions struct {
	kubeconfig, context string
	opened              *live.Cluster // which is read once more, with the same login; nil for none
}

func (o *liveOptions) flags() []urfave.Flag {
	return []urfave.Flag{
		&urfave.StringFlag{Name: "kubeconfig", Usage: "or read the running cluster with this `FILE`; the management cluster as it is now, by a kubeconfig of yours, instead of a backup; in-cluster is the account of the Pod that the program runs in", Destination: &o.kubeconfig},
		&urfave.StringFlag{Name: "context", Usage: "use the context `NAME` of --kubeconfig; the current one if not given", Destination: &o.context},
	}
}

// read refuses both a backup and a management cluster, and neither.
func (o *liveOptions) read(c *urfave.Context, backups []string) error {
	fail := func(message string) error { return &cli.UsageError{Message: message, Command: c.Command.Name} }
	switch {
	case len(backups) == 0 && o.kubeconfig == "":
		return fail("--backup or --kubeconfig is required")
	case len(backups) > 0 && o.kubeconfig != "":
		return fail("--backup and --kubeconfig exclude each other: give one")
	case o.context != "" && o.kubeconfig == "":
		return fail("--context is of --kubeconfig, which is not given")
	case o.kubeconfig != "" && slices.ContainsFunc(newestFlagNames, c.IsSet):
		given := newestFlagNames[slices.IndexFunc(newestFlagNames, c.IsSet)]
		return fail("--" + given + " chooses a backup or judges its age, and --kubeconfig reads none")
	case o.kubeconfig != "" && c.String("velero-backup") != "":
		return fail("--velero-backup describes a backup, and --kubeconfig reads none")
	}
	return nil
}

// inputs returns the files that it reads, which no output may be.
func (o *liveOptions) inputs() []string {
	if o.kubeconfig == live.InCluster {
		return nil
	}
	return []string{o.kubeconfig}
}

// open reads the kubeconfig, and says where it leads. Nothing is contacted.
func (o *liveOptions) open(s *cli.Streams, b *bounds, quiet bool) (*live.Cluster, error) {
	if o.opened != nil {
		return o.opened, nil
	}
	c, err := live.Open(o.kubeconfig, o.context, s.Getenv)
	if err != nil {
		return nil, err
	}
	c.Timeout = b.place
	if !quiet {
		s.Info("reading the management cluster at %s with %s", c.Name, o.kubeconfig)
	}
	for _, w := range c.Warnings {
		s.Warn("%s", w)
	}
	return c, nil
}

// refuseLive refuses a report of a management cluster that runs, where a command is about a
// restore.
func refuseLive(file string, r *report.Report) error {
	if !r.IsLive() {
		return nil
	}
	return &backup.InputError{Name: file, Problem: "it is of a management cluster that runs: nothing is restored", Next: "give the report of a backup; 'drift-detector render' shows this one"}
}

// wanted returns what a pass for w reads of a management cluster.
func wanted(w backup.Want) live.Wants {
	of := live.Wants{Resource: w.Needs()}
	for _, o := range backup.SelfConfigMaps {
		of.ConfigMaps = append(of.ConfigMaps, live.Object(o))
	}
	return of
}

// unreadKinds returns the error for kinds of a management cluster, or of a folder of 'clusterctl move',
// that could not be read; nil where all were.
func unreadKinds(s *backup.Snapshot) error {
	var kinds []string
	of, hint := "the management cluster", s.UnreadHint(0)
	for _, p := range s.Problems {
		if _, unread := s.Backups[p.Backup].Unread[p.Item]; unread && p.Decisive {
			kinds = append(kinds, p.Item+" ("+p.Reason+")")
			if s.Moved(p.Backup) {
				of, hint = "the folder", s.UnreadHint(p.Backup)
			}
		}
	}
	return notRead(kinds, of, hint)
}

func notRead(kinds []string, of, hint string) error {
	if len(kinds) == 0 {
		return nil
	}
	slices.Sort(kinds)
	n := len(kinds)
	return &cli.IncompleteError{
		Message: "incomplete: could not read " + english.Count(n, "kind") + " of " + of + ": " + strings.Join(kinds[:min(n, few)], "; ") + more(n-few),
		Hints:   []string{hint},
	}
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return "; and " + english.Count(n, "other")
}

// warnOfClocks says where the clock of a management cluster that runs is far from this machine's:
// its times say how old things are, and since when they are being deleted.
func (e *loadedBackup) warnOfClocks(s *cli.Streams) {
	const most = 10 * time.Minute
	for n, b := range e.opened {
		if b.live == nil {
			continue
		}
		off := s.Now().Sub(e.snapshot.Backups[n].WrittenFrom)
		is := "behind"
		if off < 0 {
			off, is = -off, "ahead of"
		}
		by := infra.Brisk(off.Round(time.Minute))
		if days := off.Round(24*time.Hour) / (24 * time.Hour); days > 1 {
			by = english.Count(int(days), "day")
		}
		if off > most {
			s.Warn("the clock of %s is %s %s that of this machine: one of them is wrong, and so are ages and how long something is being deleted", b.live.Name, by, is)
		}
	}
}

// doubtEmpty takes an empty list of Machines for unread where infrastructure machines are there.
func (e *loadedBackup) doubtEmpty() {
	for n, b := range e.opened {
		if b.live == nil {
			continue
		}
		info := &e.snapshot.Backups[n]
		if _, unread := info.Unread[machineResource]; unread {
			continue
		}
		why := e.expected.Machineless(n, e.snapshot)
		if why == "" {
			continue
		}
		if info.Unread == nil {
			info.Unread = map[string]string{}
		}
		info.Unread[machineResource] = why
		e.snapshot.Problems = append(e.snapshot.Problems, backup.Problem{Backup: n, Item: machineResource, Reason: "not read: " + why, Decisive: true})
	}
}

const machineResource = "machines.cluster.x-k8s.io"

// again reads the Machines of a management cluster once more, after all places were listed: a
// Machine that was deleted meanwhile, or made, must look neither lost nor like a VM without one.
func (e *loadedBackup) again(ctx context.Context, o *detectOptions) error {
	for n, b := range e.opened {
		if b.live == nil {
			continue
		}
		if unread, _ := e.snapshot.Unread(n, nil); unread != "" { // all machines are Unknown
			continue
		}
		bounded, stop := o.bounds.begin(ctx)
		defer stop()
		source := b.live.Source(bounded, live.Wants{Resource: func(id string) bool { return id == machineResource }})
		after, _, err := backup.Load(bounded, []backup.Source{source}, backup.Want{})
		why := ""
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, backup.ErrNoClusterAPI) && len(source.Unread()) == 0: // all of them are gone
			after = &backup.Snapshot{}
		case err != nil:
			why = err.Error()
		default:
			_, why = after.Unread(0, nil)
		}
		if why != "" {
			e.snapshot.Problems = append(e.snapshot.Problems, backup.Problem{Backup: n, Item: machineResource, Reason: "not read again: " + why, Decisive: true})
		}
		e.expected.Meanwhile(n, e.snapshot, after, why)
	}
	return nil
}
