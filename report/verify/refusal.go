package verify

import (
	"strings"
	"time"
)

// refusal returns nil unless the infrastructure's controller says of one of its objects that something
// failed. What it tries again is not yet as foretold for the time that a Node has; a failure that no
// controller takes back is none that passes.
func (f *subject) refusal() *finding {
	for _, o := range f.objects {
		if o.Failure != "" {
			return not(o.Kind + " " + o.Name + " has failed: " + o.Failure)
		}
		if c := failed(o.Conditions); c != nil {
			says := "its controller reports " + c.Reason + " (" + c.Type + " of its " + o.Kind + ")"
			since := c.Since
			if since.IsZero() {
				since = f.start()
			}
			if !since.IsZero() && f.seen.At.Sub(since) > startup {
				return not(says).at(c.Since)
			}
			out := notYet(says)
			out.since, out.until = c.Since, since.Add(startup)
			if since.IsZero() {
				out.until = time.Time{}
			}
			return out
		}
	}
	return nil
}

// failed returns a condition that says that something failed: by its severity, or by its reason where
// it has none (v1beta2); nil where none does.
func failed(list []Condition) *Condition {
	for i := range list {
		c := &list[i]
		if c.Status == "False" && (c.Severity == "Error" || c.Severity == "" && (strings.HasSuffix(c.Reason, "Failed") || strings.HasSuffix(c.Reason, "Error"))) {
			return c
		}
	}
	return nil
}
