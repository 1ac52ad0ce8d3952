package infratest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// promptly is how long a listing may take once its context has ended.
const promptly = 15 * time.Second

func broken(t *testing.T, h Harness, w World) {
	all := start(t, h, w).list(t.Context())
	whole := true
	for _, l := range all {
		whole = whole && l.State == infra.Complete
		if l.State != infra.Complete && l.Fault == nil {
			t.Errorf("%v is %s and does not say why", l.IDs, l.State)
		}
	}
	if whole {
		t.Error("a broken listing calls itself complete")
	}
	if n := count(all); n == 0 || n >= w.Count {
		t.Errorf("%d of %d were kept", n, w.Count)
	}
}

func unreadable(t *testing.T, h Harness, w World) {
	all := start(t, h, w).list(t.Context())
	blind := 0
	for _, l := range all {
		if l.State != infra.Complete {
			t.Errorf("one unreadable instance makes %v %s: %+v", l.IDs, l.State, l.Fault)
		}
		for _, i := range l.Instances {
			if i.Unreadable {
				blind++
			}
		}
	}
	if n := count(all); n != w.Count || blind != 1 {
		t.Errorf("%d of %d are listed, %d as unreadable", n, w.Count, blind)
	}
}

func wrongPassword(t *testing.T, h Harness, w World) {
	r := start(t, h, w)
	for _, l := range append(r.list(t.Context()), r.list(t.Context())...) {
		if l.State != infra.Failed || l.Fault == nil || l.Fault.Hint == "" {
			t.Errorf("%v is %s: %+v", l.IDs, l.State, l.Fault)
		}
		if l.Fault != nil && l.Fault.Reason != code.AuthenticationFailed {
			t.Errorf("the reason is %s: %s", l.Fault.Reason, l.Fault.Message)
		}
		shown := fmt.Sprintf("%+v", l.Fault)
		for _, m := range w.Markers {
			if strings.Contains(shown, m) {
				t.Error("the fault holds a secret")
			}
		}
	}
	if _, failed := w.Sessions(); failed == 0 || failed > 2 {
		t.Errorf("%d logins failed, at most two may", failed)
	}
}

func down(t *testing.T, h Harness, w World) {
	for _, l := range start(t, h, w).list(t.Context()) {
		if l.State != infra.Failed || l.Fault == nil || l.Fault.Hint == "" {
			t.Errorf("%v is %s: %+v", l.IDs, l.State, l.Fault)
		}
	}
}

func hanging(t *testing.T, h Harness, w World) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	endsPromptly(t, start(t, h, w), ctx)
}

func endsPromptly(t *testing.T, r *run, ctx context.Context) {
	t.Helper()
	began := time.Now()
	for _, l := range r.list(ctx) {
		if l.State == infra.Complete {
			t.Errorf("%v calls itself complete", l.IDs)
		}
	}
	if took := time.Since(began); took > promptly {
		t.Errorf("it took %s after the end", took)
	}
}

func plainHTTP(t *testing.T, h Harness, w World) {
	r := start(t, h, w)
	for _, target := range r.targets {
		if target.Refused == nil {
			t.Errorf("%v is not refused", target.IDs)
		}
	}
	for _, l := range r.list(t.Context()) {
		if l.State != infra.Failed {
			t.Errorf("%v is %s", l.IDs, l.State)
		}
	}
	if n := w.Contacts(); n != 0 {
		t.Errorf("it was contacted %d times", n)
	}
	hidden(t, r, nil, w)
}
