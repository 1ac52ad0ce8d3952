package infra

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"drift-detector/report/code"
)

// DefaultTimeout is how long listing one Target may take. The largest vCenter, of
// 40,000 VMs, takes a minute.
const DefaultTimeout = 5 * time.Minute

// Flags that say how long listing may take.
const (
	TimeoutFlag  = "--timeout"  // one Target
	DeadlineFlag = "--deadline" // the whole run
)

// TimeOver is the cause of a context that ended because the time that a flag gives is
// over.
type TimeOver struct {
	Flag  string
	Limit time.Duration
}

func (e *TimeOver) Error() string {
	return fmt.Sprintf("the %s of %s are over", Brisk(e.Limit), e.Flag)
}

// Brisk returns a duration without the zeros at its end: 5m, not 5m0s.
func Brisk(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// CutOff returns the Fault of a listing whose context has ended: because the time that a flag
// gives is over, or the run was interrupted. It is nil as long as the context goes on.
// where is what was listed, in words: "vCenter vc.example:443".
func CutOff(ctx context.Context, where string) *Fault {
	if ctx.Err() == nil {
		return nil
	}
	var over *TimeOver
	if !errors.As(context.Cause(ctx), &over) {
		return &Fault{Reason: code.Interrupted, Message: fmt.Sprintf("%s: interrupted: %v", where, context.Cause(ctx)), Hint: "run again"}
	}
	f := &Fault{
		Reason: code.TimedOut, Message: fmt.Sprintf("%s was not read in full: %v", where, over),
		Hint: "run again with more time, for example --timeout " + Brisk(3*over.Limit),
	}
	if over.Flag == DeadlineFlag {
		f.Hint = "run again with more time (--deadline), or for fewer clusters (--cluster)"
	}
	return f
}
