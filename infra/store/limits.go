package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
)

// Times of a place, whatever its store answers. 20,000 backups of twelve objects each are
// 240 pages, and 2,500 times the time of one description.
const (
	listTime    = 10 * time.Minute // for its keys, and again for its descriptions
	youngerTime = 2 * time.Minute  // for both, where nothing waits for the answer
)

// endlessError is a listing that was given up.
type endlessError struct{ what string }

func (e *endlessError) Error() string { return "the store's listing does not end: " + e.what }

// beyond returns the error for a place that holds more than is read of one.
func beyond(name string, most int, what, next string) error {
	problem := fmt.Sprintf("holds more than %d %s", most, what)
	return &backup.InputError{Name: name, Problem: problem, Next: next, Err: &endlessError{problem}}
}

// IsEndless reports whether a listing was given up at a bound.
func IsEndless(err error) bool {
	var e *endlessError
	return errors.As(err, &e)
}

// within gives a listing its time, unless the context has one already, which --deadline
// gives. An error says so when it was over.
func within(ctx context.Context, name string, list func(context.Context) error) error {
	if _, ok := ctx.Deadline(); ok {
		return list(ctx)
	}
	return atMost(ctx, listTime, name, list)
}

func atMost(ctx context.Context, limit time.Duration, name string, list func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := list(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		e := &endlessError{"it took more than " + infra.Brisk(limit.Round(time.Millisecond))}
		return &backup.InputError{Name: name, Problem: e.Error(), Next: "give the place as far as backups/NAME, or more time with --deadline", Err: e}
	}
	return err
}
