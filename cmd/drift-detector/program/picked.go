package program

import (
	"context"
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra/store"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	backupreport "drift-detector/report/backups"
)

// spare are how many of each stream there are beyond those that are to be compared, should a tarball
// hold no cluster.
const spare = 8

// picked are the backups that are to be compared.
type picked struct {
	stored  []*store.Stored           // the newest first
	skipped []*store.Stored           // those of them that Velero does not offer
	older   map[dated][]*store.Stored // that take the place of one that is empty
	bounded bool                      // there were too many
	each    int                       // how many of each stream are compared
	choices *choices
}

func (p *picked) isSkipped(b *store.Stored) bool { return slices.Contains(p.skipped, b) }

// isFull reports whether as many of a stream are compared as may be of each.
func (p *picked) isFull() bool {
	have := map[dated]int{}
	for _, b := range p.stored {
		if have[p.choices.datedStream(b)]++; have[p.choices.datedStream(b)] >= p.each {
			return true
		}
	}
	return false
}

// replace adds the next of the stream of a backup that is empty.
func (p *picked) replace(i int) {
	s := p.choices.datedStream(p.stored[i])
	next := p.older[s]
	if len(next) == 0 || p.isSkipped(p.stored[i]) {
		return
	}
	p.insert(next[0])
	p.older[s] = next[1:]
}

// insert adds one in its place.
func (p *picked) insert(b *store.Stored) {
	at, _ := slices.BinarySearchFunc(p.stored, b, p.choices.inOrder)
	p.stored = slices.Insert(p.stored, at, b)
}

// take picks the first n of each stream, or fewer where those are too many: then of each schedule
// as many, so that a bound costs older backups before it costs a schedule.
func (p *picked) take(streams []*streamed, n, most int) (bound string) {
	total := func(n int) (sum int) {
		for _, s := range streams {
			sum += min(n, len(s.backups))
		}
		return sum
	}
	wanted := total(n)
	for n > 1 && total(n) > most {
		n--
	}
	p.each = n
	for _, s := range streams[:min(len(streams), most)] {
		n := min(n, len(s.backups))
		p.stored, p.older[s.dated] = append(p.stored, s.backups[:n]...), s.backups[n:]
	}
	slices.SortStableFunc(p.stored, p.choices.inOrder)
	if wanted > len(p.stored) {
		p.bounded = len(streams) > most
		bound = fmt.Sprintf("%s left out: %d are compared at most where --last is not given, of each schedule %d. --last N compares as many of each, --schedule those of one", english.Count(wanted-len(p.stored), "backup"), maxCompared, n)
	}
	return bound
}

// pick chooses the backups that are to be compared; none without --compare.
func (o *backupsOptions) pick(ctx context.Context, place *store.Place, l *shownBackups) (*picked, error) {
	if !o.compares {
		return nil, nil
	}
	var roots []string
	byRoot(l.stored, func(_ string, of []*store.Stored) { roots = append(roots, rootOf(of[0])) })
	if len(roots) > 1 {
		lines := make([]string, 0, len(roots))
		for _, root := range roots {
			lines = append(lines, o.flags.Compare(backupreport.Alone(root, place.Name())))
		}
		return nil, &backup.InputError{Name: place.Name(), Problem: "holds the backups of several clusters or locations: " + english.Count(len(roots), "place") + " with backups/", Next: "compare those of one: " + english.First(5, lines)}
	}
	p := &picked{choices: l.choices, older: map[dated][]*store.Stored{}}
	streams, most := l.choices.streams(l.choices.holding(ctx, l.choices.offered(l.stored, nil), o.last+spare)), maxCompared
	if o.asked {
		most = max(most, o.last*len(streams))
	}
	if bound := p.take(streams, o.last, most); bound != "" {
		l.doc.Bound(bound)
	}
	p.skip(l, o.last)
	if len(p.stored) == 0 {
		return nil, &backup.InputError{Name: place.Name(), Problem: "no backup that is shown can be restored", Next: "see why without --compare"}
	}
	isMeant := func(b *store.Stored) bool { return b.Name == o.report }
	if i := slices.IndexFunc(l.stored, isMeant); i >= 0 && l.stored[i].Size > 0 && !slices.Contains(p.stored, l.stored[i]) {
		p.insert(l.stored[i]) // whichever it is
		if can, _, _ := restorable(l.stored[i]); !can {
			p.skipped = append(p.skipped, l.stored[i])
		}
	}
	if o.report != "" && !slices.ContainsFunc(p.stored, isMeant) {
		return nil, &cli.UsageError{Message: fmt.Sprintf("--report %q is none of those that are compared (%s)", o.report, english.Count(len(p.stored), "backup")), Command: "backups"}
	}
	return p, ctx.Err()
}

// skip adds what Velero does not offer: the newest of each stream, or some where it offers none.
func (p *picked) skip(l *shownBackups, n int) {
	none, of := len(p.stored) == 0, map[stream]bool{}
	for _, r := range l.doc.Summary.Roots {
		for _, skipped := range r.Skipped {
			b := l.stored[slices.IndexFunc(l.stored, func(b *store.Stored) bool { return b.Place == skipped.Place })]
			if s := l.choices.streamOf(b); b.Size > 0 && len(p.skipped) < n && (none || !of[s]) {
				p.skipped, of[s] = append(p.skipped, b), true
			}
		}
	}
	p.stored = append(p.stored, p.skipped...)
	slices.SortStableFunc(p.stored, p.choices.inOrder)
}
