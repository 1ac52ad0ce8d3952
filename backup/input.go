package backup

import "io"

// Source is one backup to load: a tarball as Velero wrote it, gzip-compressed
// or plain.
type Source struct {
	// Name is what the operator calls it, a path in most cases.
	Name string
	Open func() (io.ReadCloser, error)
}

// InputError says that an input can't be used at all, and what to do about it.
type InputError struct {
	Name    string // the input, as the operator gave it
	Problem string // what is wrong with it
	Next    string // what to do next
	Err     error  // cause, or nil
}

func (e *InputError) Error() string { return e.Name + ": " + e.Problem + ": " + e.Next }

func (e *InputError) Unwrap() error { return e.Err }
