package backups

import (
	"fmt"
	"strconv"

	"drift-detector/internal/english"
	"drift-detector/internal/lazyregexp"
)

// Stream says which backups of a place follow each other: those of one Velero, for one of its
// locations, made by one schedule, and of one management cluster as far as Velero's files tell
// that.
type Stream struct {
	Root     string // the address before backups/
	Velero   string // its namespace
	Location string // the name of the BackupStorageLocation
	Schedule string
	// Cluster stands for the management cluster: the first of those that lists of objects have
	// together. It is empty where no list was read.
	Cluster string
}

// MayBeOf reports whether a backup of one may be one of the other, by what is known of both.
func (s Stream) MayBeOf(o Stream) bool {
	agree := func(a, b string) bool { return a == b || a == "" || b == "" }
	return s.Root == o.Root && s.Schedule == o.Schedule && agree(s.Velero, o.Velero) && agree(s.Location, o.Location) && agree(s.Cluster, o.Cluster)
}

// RootStream is a stream of a prefix, with its newest backup.
type RootStream struct {
	Schedule string   `json:"schedule,omitempty"`
	Velero   string   `json:"veleroNamespace,omitempty"`
	Location string   `json:"storageLocation,omitempty"`
	Clusters []string `json:"clusters,omitempty"` // of the newest, as Velero's list of objects names them
	Newest   string   `json:"newestRestorable"`

	stream Stream
	newest *Backup
}

// fill sorts the backups of a root, the newest of which come first, and notes the newest of each
// stream, and what was left out. One that is misdated is the newest only where there is no other.
func (r *Root) fill(all []*Backup) {
	for _, b := range all {
		if b.Root != r.Place || b.Empty || b.Unlooked || !b.Restorable {
			continue
		}
		i := 0
		for i < len(r.streams) && !r.streams[i].has(b) {
			i++
		}
		if i == len(r.streams) {
			r.streams = append(r.streams, &RootStream{stream: b.Stream, newest: b})
		} else if s := r.streams[i]; s.newest.Misdated && !b.Misdated {
			s.newest = b
		}
		if r.newest == nil || r.newest.Misdated && !b.Misdated {
			r.newest = b
		}
	}
	for _, s := range r.streams {
		s.Schedule, s.Velero, s.Location, s.Clusters, s.Newest = s.stream.Schedule, s.stream.Velero, s.stream.Location, s.newest.Clusters, s.newest.Name
		r.Streams = append(r.Streams, *s)
	}
	if r.newest != nil {
		r.Newest = r.newest.Name
	}
	said := map[Stream]bool{} // those of which Velero offers none
	for _, b := range all {
		if b.Root == r.Place && !b.Empty && !b.Unlooked && !b.Restorable && b.Started != nil {
			r.skip(b, said)
		}
	}
}

// has reports whether a backup is of the stream; one of which no list was read is of the first
// that it may be of.
func (s *RootStream) has(b *Backup) bool {
	return s.stream == b.Stream || b.Stream.Cluster == "" && s.stream.MayBeOf(b.Stream)
}

// skip notes a backup that Velero does not offer, and that is newer than those of its stream that
// it does, or than all. Of a stream of which it offers none, the newest is.
func (r *Root) skip(b *Backup, said map[Stream]bool) {
	if r.newest == nil && r.read == nil && b.Size > 0 {
		r.read = b
	}
	newer, matches := r.newest == nil || b.isNewer(r.newest), false
	for _, s := range r.streams {
		if s.stream.MayBeOf(b.Stream) {
			matches = true
			newer = newer || b.isNewer(s.newest)
		}
	}
	only := !matches && !said[b.Stream] && (b.Stream.Schedule != "" || b.Stream.Cluster != "")
	said[b.Stream] = true
	if newer || only {
		r.Skipped = append(r.Skipped, b.skipped(newer))
	}
}

// isNewer reports whether a backup is said to have begun after another one.
func (b *Backup) isNewer(than *Backup) bool {
	return than.Started == nil || than.Misdated || b.Started.After(*than.Started)
}

// managementClusters returns the streams of which at least two have clusters, and none in common:
// the newest of each that may be another management cluster.
func (r *Root) managementClusters() []*RootStream {
	var of []*RootStream
	for _, s := range r.streams {
		known := s.stream.Cluster == ""
		for _, have := range of {
			known = known || have.stream.Cluster == s.stream.Cluster
		}
		if !known {
			of = append(of, s)
		}
	}
	return of
}

// sign says what of a root looks as if its backups were of several management clusters: nobody
// takes a Kubernetes back to an older minor version.
func (d *Document) sign(r *Root) string {
	of, in := map[string]bool{}, map[string]bool{}
	var newer *Backup
	for _, b := range d.Backups { // the newest first
		if b.Root != r.Place || b.Phase == "" || b.Misdated {
			continue
		}
		of[b.Velero], in[b.Location] = true, true
		if newer != nil && minorOf(b.Kubernetes) > minorOf(newer.Kubernetes) {
			return fmt.Sprintf("Kubernetes was %s in %s, and %s in %s before", newer.Kubernetes, newer.Name, b.Kubernetes, b.Name)
		}
		if minorOf(b.Kubernetes) > 0 {
			newer = b
		}
	}
	switch {
	case len(of) > 1:
		return "The backups are of Veleros in " + english.Count(len(of), "namespace")
	case len(in) > 1:
		return "The backups were made for " + english.Count(len(in), "storage location")
	}
	return ""
}

var minorForm = lazyregexp.New(`^v?1\.(\d{1,3})\b`)

// minorOf returns the minor version of a Kubernetes version; 0 where it is not known.
func minorOf(version string) int {
	if m := minorForm.FindStringSubmatch(version); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 0
}
