package backup

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"

	"github.com/mholt/archiver/v3"
)

// sniffed is how much of an input decides what it is.
const sniffed = tarBlock

// readSource makes the pass over one source.
func (l *loading) readSource(ctx context.Context, backup int, source Source) (Info, error) {
	p := &pass{load: l, backup: backup, info: Info{Path: source.Name}, resources: map[string]*resource{}}
	file, err := source.Open()
	if err != nil {
		return p.info, openError(source.Name, err)
	}
	defer file.Close()

	hash := sha256.New()
	input := bufio.NewReaderSize(io.TeeReader(file, io.MultiWriter(hash, counter{&l.input})), 256<<10)
	walker := &tarWalker{visitor: p}
	if err := stream(ctx, input, walker); err != nil {
		return p.info, l.refuse(ctx, source.Name, walker, err)
	}
	if err := p.check(source.Name); err != nil {
		return p.info, err
	}
	p.date()
	p.info.SHA256 = hex.EncodeToString(hash.Sum(nil))
	l.holds = append(l.holds, p.held())
	return p.info, nil
}

// counter counts what is written to it.
type counter struct{ bytes *int64 }

func (c counter) Write(p []byte) (int, error) {
	*c.bytes += int64(len(p))
	return len(p), nil
}

// stream pushes the tar inside the input through the walker, to the very end of
// the input: gzip's checksum and length stand there.
func stream(ctx context.Context, input *bufio.Reader, walker *tarWalker) error {
	head, err := input.Peek(sniffed)
	if err != nil && err != io.EOF {
		return readError{err}
	}
	to := guarded{ctx, walker}
	switch {
	case len(head) == 0:
		return errEmpty
	case len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b:
		err = (&archiver.Gz{SingleThreaded: true}).Decompress(input, to)
	case len(head) == tarBlock && checkTarHeader(head) == nil:
		_, err = io.Copy(to, input)
	default:
		return foreignError{nameOf(head)}
	}
	if err != nil {
		return err
	}
	if walker.headers == 0 {
		return errNotTar
	}
	return walker.end()
}

var errEmpty = errors.New("the file is empty")

// readError is an error of the input itself, not of its content.
type readError struct{ err error }

func (e readError) Error() string { return e.err.Error() }

// foreignError says that an input is something else altogether.
type foreignError struct{ what string }

func (e foreignError) Error() string { return e.what }

func openError(name string, err error) error {
	var known *InputError
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return &InputError{name, "no such file or folder", "check the path", err}
	case errors.Is(err, fs.ErrPermission):
		return &InputError{name, "no permission to read it", "run as a user who may read the file, or copy it", err}
	}
	return &InputError{name, "can't be opened: " + cause(err), "check the path", err}
}

// cause is an error of the file system without the path, which is said already.
func cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// Next steps that several problems share.
const (
	nextDownload = "fetch it again: backups/NAME/NAME.tar.gz in the object store, or `velero backup download NAME`"
	nextTarball  = "give backups/NAME/NAME.tar.gz of the object store, or the NAME-data.tar.gz that `velero backup download NAME` writes"
)

// refuse turns the error that ended a pass into one for the operator.
func (l *loading) refuse(ctx context.Context, name string, walker *tarWalker, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	refusal := func(problem, next string) error { return &InputError{name, problem, next, err} }
	var foreign foreignError
	var over breach
	var read readError
	switch {
	case errors.Is(err, errEmpty):
		return refusal("the file is empty", nextDownload)
	case errors.As(err, &foreign):
		return wrongFile(name, foreign.what, err)
	case errors.Is(err, errNotTar):
		return wrongFile(name, "gzip of "+nameOf(walker.first()), err)
	case errors.As(err, &over):
		return refusal(over.problem, over.next)
	case errors.Is(err, gzip.ErrChecksum):
		return refusal("the file is damaged: its checksum is wrong", nextDownload)
	case errors.Is(err, gzip.ErrHeader) && walker.end() == nil, errors.Is(err, errTarTrailing):
		return refusal("the file is damaged: foreign data follows the backup", nextDownload)
	case errors.Is(err, io.ErrUnexpectedEOF) && walker.end() == nil:
		return refusal("the file is cut short at its very end, or foreign data follows the backup", nextDownload)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errTarTruncated), errors.Is(err, io.EOF):
		return refusal("the file is cut short", nextDownload)
	case errors.As(err, &read), isFileError(err):
		return refusal("can't be read: "+cause(err), "check the disk, or copy the file again")
	}
	return refusal("the file is damaged: "+err.Error(), nextDownload)
}

func isFileError(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path)
}

// check refuses what could be read but is no backup to decide from.
func (p *pass) check(name string) error {
	if len(p.resources) == 0 && p.info.FormatVersion == "" {
		return &InputError{name, "a tar archive, but not a Velero backup: it holds no " + resourcesPrefix, nextTarball, nil}
	}
	for resource := range p.resources {
		if isClusterAPI(groupOfResource(resource)) {
			if p.info.FormatVersion == "" {
				p.problem([]byte(versionPath), "missing; the backup is read as one of format 1.1.0")
			}
			return nil
		}
	}
	return &InputError{
		name, "a Velero backup without Cluster API objects",
		"give a backup of the management cluster that includes the namespaces of its clusters", nil,
	}
}

// held is the set of resources that the backup has items of.
func (p *pass) held() map[string]bool {
	held := make(map[string]bool, len(p.resources))
	for name := range p.resources {
		held[name] = true
	}
	return held
}
