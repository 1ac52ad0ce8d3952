package archive

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Source is one backup: a tarball as Velero wrote it, gzip-compressed or plain.
type Source struct {
	// Name is what the operator calls it, a path in most cases.
	Name string
	// Open returns a reader at the beginning. It is called once for each pass.
	Open func() (io.ReadCloser, error)
	// Mode is what it is restored with; empty is Velero.
	Mode Mode
	// Live says that it is a management cluster that runs: what it holds is its objects now.
	Live bool
	// Unread returns the resources that the last pass could not read whole, and why: nothing
	// of them is in the stream. Nil where a stream is whole or is none.
	Unread func() map[string]string
}

// FileSource returns the backup at a path: a tarball, or a folder of the object
// store as Velero lays it out, "…/backups/<name>" where "<name>.tar.gz" is
// beside "velero-backup.json" (Velero pkg/persistence/object_store_layout.go
// v1.18.1). A folder above is accepted when there is one backup below it; and a folder
// that 'clusterctl move --to-directory' wrote. The
// error is an [*InputError]. Nothing is read before Open.
func FileSource(name string) (Source, error) {
	if err := remote(name); err != nil {
		return Source{}, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return Source{}, openError(name, err)
	}
	file := name
	if info.IsDir() {
		if m, err := asMoveFolder(name); m != nil {
			return m.source(), nil
		} else if err != nil {
			return Source{}, err
		}
		if file, err = inFolder(name); err != nil {
			return Source{}, err
		}
	}
	return Source{Name: file, Open: func() (io.ReadCloser, error) { return os.Open(file) }}, nil
}

// StreamSource returns the backup that a stream holds, such as standard input. It is read as
// it comes and kept nowhere, so that a second Open fails. A read that waits for more ends
// when the context does.
func StreamSource(ctx context.Context, name string, r io.Reader) Source {
	read := false
	return Source{Name: name, Open: func() (io.ReadCloser, error) {
		if read {
			return nil, &InputError{name, "can be read once only", "save it to a file, and give that", nil}
		}
		read = true
		out, in := io.Pipe()
		context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
		go func() {
			_, err := io.Copy(in, r)
			in.CloseWithError(err)
		}()
		return out, nil
	}}
}

// Waiting returns a source whose file waits for a writer, such as a FIFO or what a
// shell makes of <(…): to open it waits already, and it can be read once only.
func Waiting(ctx context.Context, s Source) Source {
	return StreamSource(ctx, s.Name, &opening{Source: s})
}

// opening opens a source with the first read.
type opening struct {
	Source
	file io.ReadCloser
}

func (o *opening) Read(p []byte) (int, error) {
	if o.file == nil {
		file, err := o.Open()
		if err != nil {
			return 0, openError(o.Name, err)
		}
		o.file = file
	}
	return o.file.Read(p)
}

// descriptorPlaces are where a backup's description is, seen from its own
// folder, from backups/, from the bucket's prefix and from above that.
var descriptorPlaces = []string{
	descriptor,
	"*/" + descriptor,
	"backups/*/" + descriptor,
	"*/backups/*/" + descriptor,
}

// inFolder finds the one tarball in a folder of the object store.
func inFolder(dir string) (string, error) {
	files := os.DirFS(dir)
	if _, err := fs.ReadDir(files, "."); err != nil {
		return "", openError(dir, err)
	}
	var found []string
	for _, place := range descriptorPlaces {
		matches, err := fs.Glob(files, place)
		if err != nil {
			return "", &InputError{dir, "can't be searched: " + cause(err), "give the .tar.gz file itself", err}
		}
		for _, m := range matches {
			found = append(found, path.Dir(m))
		}
		if len(found) > 0 {
			break
		}
	}
	switch len(found) {
	case 0:
		if moves := movesIn(dir); len(moves) > 0 {
			const few = 3
			text := strings.Join(moves[:min(len(moves), few)], ", ")
			if n := len(moves) - few; n > 0 {
				text += fmt.Sprintf(" and %d more", n)
			}
			return "", &InputError{dir, "holds folders that 'clusterctl move --to-directory' wrote: " + text, "give one of them", nil}
		}
		return "", &InputError{dir, "a folder without a Velero backup", "give the .tar.gz file, the folder that holds " + descriptor + ", or that of 'clusterctl move --to-directory'", nil}
	case 1:
		return tarballIn(dir, found[0])
	}
	slices.Sort(found)
	return "", &InputError{dir, fmt.Sprintf("holds %d backups: %s", len(found), strings.Join(found, ", ")), "give the folder of one of them", nil}
}

// tarballIn returns the tarball in the folder of one backup: it is named like the
// folder, unless somebody has renamed that.
func tarballIn(dir, folder string) (string, error) {
	own := filepath.Join(dir, filepath.FromSlash(folder))
	whole, err := filepath.Abs(own)
	if err != nil {
		return "", openError(own, err)
	}
	named := filepath.Join(own, filepath.Base(whole)+".tar.gz")
	if _, err := os.Stat(named); err == nil {
		return named, nil
	}
	found, err := fs.Glob(os.DirFS(own), "*.tar.gz")
	if err != nil || len(found) == 0 {
		return "", &InputError{own, "the folder of a backup, but its .tar.gz file is missing", "fetch that file from the object store, too", err}
	}
	if len(found) > 1 {
		return "", &InputError{own, "holds several .tar.gz files: " + strings.Join(found, ", "), "give one of them", nil}
	}
	return filepath.Join(own, found[0]), nil
}
