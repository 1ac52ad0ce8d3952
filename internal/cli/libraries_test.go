package cli

import (
	"strings"
	"testing"
)

// What a server sends behind its answer is said to have been there, and is no line of a log.
func TestSurplusIsSaid(t *testing.T) {
	t.Parallel()
	var stderr strings.Builder
	s := &Streams{Stderr: &stderr}
	for _, line := range []string{"http2: Framer read DATA secret", `Unsolicited response received on idle HTTP channel starting with "secret"; err=<nil>`} {
		if n, err := (unasked{s}).Write([]byte(line)); n != len(line) || err != nil {
			t.Error(n, err)
		}
		s.surplusSaid()
	}
	if got := stderr.String(); got != "drift-detector: warning: a server sent more than its answer; nothing of that was used, or is shown\n" {
		t.Errorf("%q", got)
	}
}
