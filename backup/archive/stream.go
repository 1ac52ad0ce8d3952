package archive

import (
	"bufio"
	"context"
	"errors"
	"io"

	"drift-detector/backup/archive/inflate"
)

// sniffed is how much of an input decides what it is.
const sniffed = tarBlock

// guarded ends the pass when the context ends.
type guarded struct {
	ctx    context.Context
	walker *tarWalker
}

func (g guarded) Write(p []byte) (int, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	return g.walker.Write(p)
}

// stream pushes the tar inside the input through the walker, to the very end of
// the input: gzip's checksum and length are there.
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
		err = inflate.Gunzip(to, input)
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
