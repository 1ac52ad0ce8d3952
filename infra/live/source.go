package live

import (
	"archive/tar"
	"cmp"
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"drift-detector/backup/archive"
	"drift-detector/infra"
)

// atOnce is how many resources are listed at a time. API servers give a user a share of what
// they do at once (API Priority and Fairness), of which this takes little.
const atOnce = 4

// Object names an object.
type Object struct{ Namespace, Name string }

// Wants is what a pass reads.
type Wants struct {
	// Resource reports whether the objects of a resource are listed, as it is in the paths of
	// a backup; nil lists all.
	Resource func(id string) bool
	// ConfigMaps are those that are read instead of all.
	ConfigMaps []Object
}

// configMaps is their resource.
const configMaps = "configmaps"

func (w *Wants) lists(id string) bool {
	// Events come and go, and no controller acts by them.
	return w.Resource == nil && id != "events" && id != "events.events.k8s.io" || w.Resource != nil && w.Resource(id)
}

// Source returns the cluster as a backup. Each pass lists again.
func (c *Cluster) Source(ctx context.Context, wants Wants) archive.Source {
	var last *pass
	return archive.Source{
		Name: c.Name, Live: true,
		Open: func() (io.ReadCloser, error) {
			limit := cmp.Or(c.Timeout, infra.DefaultTimeout)
			within, cancel := context.WithTimeoutCause(ctx, limit, &infra.TimeOver{Flag: infra.TimeoutFlag, Limit: limit})
			p := &pass{cluster: c, ctx: within, wants: wants, unread: map[string]string{}}
			if err := p.begin(); err != nil {
				cancel()
				return nil, c.refusal(ctx, err)
			}
			last = p
			out, in := io.Pipe()
			go func() { in.CloseWithError(p.write(ctx, in)) }()
			return &stream{out, cancel}, nil
		},
		Unread: func() map[string]string {
			if last == nil {
				return nil
			}
			last.mu.Lock()
			defer last.mu.Unlock()
			return maps.Clone(last.unread)
		},
	}
}

// stream ends the pass when nobody reads on.
type stream struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (s *stream) Close() error {
	s.cancel()
	return s.PipeReader.Close()
}

// pass is one reading of a cluster.
type pass struct {
	cluster *Cluster
	ctx     context.Context
	wants   Wants
	begun   time.Time // by the server's clock
	list    []resource

	mu     sync.Mutex
	unread map[string]string
}

func (p *pass) leave(id, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unread[id] = why
}

// begin finds out what there is to list. Its error is that of a server of which nothing is known.
func (p *pass) begin() error {
	served, at, err := p.cluster.discover(p.ctx)
	if err != nil {
		return err
	}
	p.begun = at
	defined, err := p.definitions()
	if err != nil {
		if gone := p.cluster.gone(); gone != nil || p.ctx.Err() != nil {
			return err
		}
		p.leave(definitions.id(), p.cluster.why(err))
	}
	for _, r := range define(served, defined) {
		if id := r.id(); p.wants.lists(id) || id == configMaps && len(p.wants.ConfigMaps) > 0 {
			p.list = append(p.list, r)
		}
	}
	slices.SortFunc(p.list, func(a, b resource) int { return strings.Compare(a.id(), b.id()) })
	return nil
}

// definitions reads the CustomResourceDefinitions.
func (p *pass) definitions() ([]definition, error) {
	all, err := p.cluster.list(p.ctx, &definitions)
	if err != nil {
		return nil, err
	}
	out, in := io.Pipe()
	go func() { in.CloseWithError(all.write(in)) }()
	defer out.Close()
	var found []definition
	for t := tar.NewReader(out); ; {
		if _, err := t.Next(); err == io.EOF {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		var d definition
		if err := json.UnmarshalRead(t, &d); err != nil {
			return nil, described(err, errForeign)
		}
		found = append(found, d)
	}
}

// outcome is a resource that was listed, or why it was not.
type outcome struct {
	spool
	why string
}

// write writes the stream: a few resources are listed at once, and written in their order. ctx
// is the caller's, whose end is the stream's; the end of the time for the pass is not.
func (p *pass) write(ctx context.Context, to io.Writer) error {
	w := tar.NewWriter(to)
	version := []byte("1.1.0\n")
	if err := w.WriteHeader(&tar.Header{Name: "metadata/version", Mode: 0o755, Size: int64(len(version)), Typeflag: tar.TypeReg, ModTime: p.begun}); err != nil {
		return err
	}
	if _, err := w.Write(version); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	done := make([]chan outcome, len(p.list))
	for i := range done {
		done[i] = make(chan outcome, 1)
	}
	free := make(chan struct{}, atOnce) // of what is being listed, or waits to be written
	var workers sync.WaitGroup
	defer workers.Wait()
	stop := make(chan struct{})
	defer close(stop)
	workers.Go(func() {
		for i := range p.list {
			select {
			case free <- struct{}{}:
			case <-stop:
				return
			}
			workers.Go(func() { done[i] <- p.read(&p.list[i]) })
		}
	})
	for i := range p.list {
		o := <-done[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		if o.why != "" {
			p.leave(p.list[i].id(), o.why)
		} else if err := o.write(to); err != nil {
			return err
		}
		<-free
	}
	return w.Close()
}

// errSlow says that a resource took more than its part of the time.
type errSlow struct{ limit time.Duration }

func (e *errSlow) Error() string {
	return "it was not listed in time: it takes more than " + infra.Brisk(e.limit) + ", half of what was left of --timeout"
}

// part returns the time of one resource: half of what is left, so that one whose list does not end
// leaves the others theirs.
func (p *pass) part() (context.Context, context.CancelFunc) {
	end, bounded := p.ctx.Deadline()
	if !bounded {
		return context.WithCancel(p.ctx)
	}
	half := time.Until(end) / 2
	limit := half.Round(time.Second)
	if limit == 0 {
		limit = half.Round(time.Millisecond)
	}
	return context.WithTimeoutCause(p.ctx, half, &errSlow{limit})
}

// read lists one resource.
func (p *pass) read(r *resource) outcome {
	if r.unread != "" {
		return outcome{why: r.unread}
	}
	ctx, cancel := p.part()
	defer cancel()
	var all spool
	var err error
	if r.id() == configMaps && len(p.wants.ConfigMaps) > 0 {
		for _, o := range p.wants.ConfigMaps {
			var one spool
			if one, err = p.cluster.one(ctx, r, o.Namespace, o.Name); err != nil {
				break
			}
			all = append(all, one...)
		}
	} else {
		all, err = p.cluster.list(ctx, r)
	}
	if err == nil {
		return outcome{spool: all}
	}
	if ctx.Err() != nil { // of the whole pass, or of this resource
		err = context.Cause(ctx)
	}
	return outcome{why: p.cluster.why(err)}
}
