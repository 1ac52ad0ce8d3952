package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"sync"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra"
)

// describing is how many descriptions are read at a time.
const describing = 8

// decoding is held by the one that makes an outline: large descriptions wait for each
// other on the way, and take the memory of one.
var decoding sync.Mutex

// Describe reads what Velero says of backups that Recent has left, once.
func (p *Place) Describe(ctx context.Context, some ...*Stored) {
	p.describe(ctx, slices.DeleteFunc(slices.Clone(some), func(s *Stored) bool { return s.Description != nil || s.Problem != nil }))
}

// describe reads what Velero says of each backup, in the time that a listing has. What
// can't be read is noted, and so is what there was no time for.
func (p *Place) describe(ctx context.Context, all []*Stored) {
	work := make(chan *Stored)
	var done sync.WaitGroup
	_ = within(ctx, p.Name(), func(bounded context.Context) error {
		for range describing {
			done.Go(func() {
				for s := range work {
					s.Description, s.Problem = p.outline(bounded, s)
					if s.Problem != nil && bounded.Err() != nil && ctx.Err() == nil {
						s.Problem = &backup.InputError{Name: s.Place, Problem: "not read: reading what Velero says of the backups of a place took more than " + infra.Brisk(listTime), Next: "give a place with fewer backups, or more time with --deadline"}
					}
				}
			})
		}
		for _, s := range all {
			if s.described && ctx.Err() == nil {
				work <- s
			}
		}
		close(work)
		done.Wait()
		return nil
	})
}

// outline returns what of a description is shown in a list of very many.
func (p *Place) outline(ctx context.Context, s *Stored) (*check.Outline, error) {
	key, text, err := p.text(ctx, s)
	if text == nil || err != nil {
		return nil, briefly(err)
	}
	decoding.Lock()
	o, err := check.ReadOutline(p.name(key), text)
	decoding.Unlock()
	if err != nil {
		return nil, err
	}
	if err := p.isOf(s, key, o.Name); err != nil {
		return nil, err
	}
	return o, nil
}

// Described returns all that Velero says of a backup that was found; nil when it is not in
// the store. What could not be read for the outline is not asked for again.
func (p *Place) Described(ctx context.Context, s *Stored) (*check.VeleroBackup, error) {
	if s.Description == nil {
		return nil, s.Problem
	}
	key, text, err := p.text(ctx, s)
	if text == nil || err != nil {
		return nil, err
	}
	v, err := check.ReadVelero(p.name(key), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if err := p.isOf(s, key, v.Name); err != nil {
		return nil, err
	}
	if !v.IsWhole() {
		v.Says(p.beside(ctx, path.Join(path.Dir(key), path.Base(v.Name))))
	}
	return v, ctx.Err()
}

// Contents returns what Velero's list of objects says of a backup; nil where there is none
// beside the tarball. The error is a [*backup.InputError], or of the context.
func (p *Place) Contents(ctx context.Context, s *Stored) (*check.Contents, error) {
	key := p.folderOf(s) + "/" + s.Name + check.ObjectsSuffix
	text, err := p.small(ctx, key, check.MaxBeside)
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, cmp.Or(ctx.Err(), briefly(err))
	}
	decoding.Lock()
	defer decoding.Unlock()
	return check.ReadContents(p.name(key), text, nil)
}

// folderOf returns the folder of a backup, as a key.
func (p *Place) folderOf(s *Stored) string {
	if s.key != "" {
		return path.Dir(s.key)
	}
	return path.Join(s.Root, folder, s.Name)
}

// Beside reads the files in a folder of this machine that say what went wrong with a backup.
func Beside(ctx context.Context, dir, name string) check.Beside {
	p := &Place{objects: files{whole: dir, shown: dir}}
	return p.beside(ctx, path.Base(name))
}

// beside reads the files beside a tarball that say what went wrong. at is their name without
// what each ends in. One that can't be read is noted.
func (p *Place) beside(ctx context.Context, at string) check.Beside {
	b := check.Beside{Name: p.name(at)}
	read := func(suffix string) (text []byte, why string) {
		text, err := p.small(ctx, at+suffix, check.MaxBeside)
		switch {
		case isMissing(err):
			return nil, ""
		case err != nil:
			return nil, briefly(err).Error()
		}
		return text, ""
	}
	b.Results, b.NoResults = read(check.ResultsSuffix)
	b.Operations, b.NoOperations = read(check.OperationsSuffix)
	b.Objects, _ = read(check.ObjectsSuffix)
	return b
}

// text reads the description of a backup; it is nil when there is none.
func (p *Place) text(ctx context.Context, s *Stored) (key string, text []byte, err error) {
	key = check.VeleroFile
	if dir := path.Dir(s.key); s.key != "" && dir != "." {
		key = dir + "/" + key
	} else if s.key == "" {
		key = path.Join(s.Root, folder, s.Name, key)
	}
	if ctx.Err() != nil {
		return key, nil, ctx.Err()
	}
	if text, err = p.small(ctx, key, check.MaxVelero); isMissing(err) {
		return key, nil, nil
	}
	return key, text, err
}

// isOf returns an error unless a description has the name of its folder.
func (p *Place) isOf(s *Stored, key, name string) error {
	if name == s.Name || path.Base(path.Dir(s.key)) != s.Name {
		return nil
	}
	return &backup.InputError{Name: p.name(key), Problem: "describes another backup than that of its folder", Next: "it was copied here, and is not used"}
}

// briefly returns an error without its cause, which may hold much of what a server says: there
// may be one for each backup of a place.
func briefly(err error) error {
	var known *backup.InputError
	if !errors.As(err, &known) {
		return err
	}
	return &backup.InputError{Name: known.Name, Problem: infra.Brief(known.Problem), Next: known.Next}
}
