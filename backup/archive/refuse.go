package archive

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
)

// InputError is an input that cannot be used at all, with what to do about it.
type InputError struct {
	Name    string // the input, as the operator gave it
	Problem string // what is wrong with it
	Next    string // what to do next
	Err     error  // cause, or nil
}

func (e *InputError) Error() string { return e.Name + ": " + e.Problem + ": " + e.Next }

func (e *InputError) Unwrap() error { return e.Err }

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

// cause returns an error of the file system without the path, which is said already.
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
func refuse(ctx context.Context, name string, walker *tarWalker, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	refusal := func(problem, next string) error { return &InputError{name, problem, next, err} }
	var foreign foreignError
	var over breach
	var own visitError
	var read readError
	var known *InputError
	switch {
	case errors.As(err, &own):
		return own.err
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
	case errors.As(err, &read) && errors.As(read.err, &known), errors.As(err, &known): // of [opening], of a folder
		return known
	case errors.As(err, &read), isFileError(err):
		return refusal("can't be read: "+cause(err), "check the disk, or copy the file again")
	}
	return refusal("the file is damaged: "+err.Error(), nextDownload)
}

func isFileError(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path)
}
