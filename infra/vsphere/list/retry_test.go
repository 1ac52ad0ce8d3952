package list

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// busyOnce answers 503 to the n-th call of a method, or cuts the connection after the
// vCenter has answered it, and counts the calls.
type busyOnce struct {
	method string
	nth    int
	lost   bool

	mu    sync.Mutex
	calls map[string]int
}

func (b *busyOnce) stand(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	method := ""
	if m := methodName.FindStringSubmatch(string(body)); m != nil {
		method = m[1]
	}
	b.mu.Lock()
	b.calls[method]++
	now := method == b.method && (b.calls[method] == b.nth || b.nth == always)
	b.mu.Unlock()
	switch {
	case now && b.lost:
		next.ServeHTTP(discarded{http.Header{}}, r)
		panic(http.ErrAbortHandler)
	case now:
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		next.ServeHTTP(w, r)
	}
}

const always = -1

// discarded is an answer that nobody reads.
type discarded struct{ header http.Header }

func (d discarded) Header() http.Header         { return d.header }
func (d discarded) Write(b []byte) (int, error) { return len(b), nil }
func (d discarded) WriteHeader(int)             {}

// TestAMomentOfTroubleCostsNothing: whichever call fails once, the listing is whole, and
// holds each VM once. After a lost page the pages begin again.
func TestAMomentOfTroubleCostsNothing(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	whole := one(t, t.Context(), fleet(t), reach(v))
	for _, lost := range []bool{false, true} {
		for _, c := range []struct {
			method string
			nth    int
		}{
			{"RetrieveServiceContent", 1},
			{"Login", 1},
			{"CreateContainerView", 1},
			{"CreateContainerView", 2},
			{"RetrievePropertiesEx", 1},
			{"RetrievePropertiesEx", 2},
			{"RetrievePropertiesEx", 4},
			{"ContinueRetrievePropertiesEx", 1},
			{"ContinueRetrievePropertiesEx", 2},
		} {
			b := &busyOnce{method: c.method, nth: c.nth, lost: lost, calls: map[string]int{}}
			v.Front(b.stand)
			p := small().(*provider)
			p.retry = infra.Retry{Attempts: 3, Pause: time.Millisecond}
			s, secrets := load(t, fleet(t))
			l := p.List(t.Context(), p.Targets(s, secrets, reach(v))[0])
			if l.State != code.ScopeComplete || l.Count() != whole.Count() || b.calls[c.method] < c.nth+1 {
				t.Errorf("%+v, lost %v: %s, %d of %d VMs, %d calls, %+v", c, lost, l.State, l.Count(), whole.Count(), b.calls[c.method], l.Fault)
			}
		}
	}
}

// TestAVMThatComesTwice: one that changes while pages are read may be in two of them.
func TestAVMThatComesTwice(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	whole := one(t, t.Context(), fleet(t), reach(v))
	l, _ := (&between{method: "ContinueRetrievePropertiesEx", n: 1, bend: instead(`(?s)(<objects>.*?</objects>)`, "$1$1")}).list(t, v)
	if l.State != code.ScopeComplete || l.Count() != whole.Count() {
		t.Errorf("%s, %d instances of %d VMs", l.State, l.Count(), whole.Count())
	}
}

// TestALostLoginCountsAsFailed: of two logins that may fail one was lost on the way, so
// one is left; a password that is refused is not tried again.
func TestALostLoginCountsAsFailed(t *testing.T) {
	for _, lost := range []bool{false, true} {
		v := serve(t, lab.VCenterOptions{Archive: fleetVCenter, Accounts: map[string]string{}})
		b := &busyOnce{method: "Login", lost: lost, calls: map[string]int{}}
		want := 1
		if lost {
			b.nth, want = 1, 2
		}
		v.Front(b.stand)
		p := small().(*provider)
		p.retry = infra.Retry{Attempts: 5, Pause: time.Millisecond}
		s, secrets := load(t, fleet(t))
		l := p.List(t.Context(), p.Targets(s, secrets, reach(v))[0])
		if got := v.Logins().Failed; got != want || faultOf(l).Reason != "AuthenticationFailed" {
			t.Errorf("lost %v: %d logins failed, want %d; %+v", lost, got, want, faultOf(l))
		}
	}
}

// TestLostLoginsOfTwoTargetsCountTogether: targets of one account share what was lost, and
// one whose password is wrong is not locked by a server whose answers get lost.
func TestLostLoginsOfTwoTargetsCountTogether(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter, Accounts: map[string]string{}})
	v.Front((&busyOnce{method: "Login", nth: always, lost: true, calls: map[string]int{}}).stand)
	p := small().(*provider)
	p.retry = infra.Retry{Attempts: 5, Pause: time.Millisecond}
	s, secrets := load(t, fleet(t))
	target := p.Targets(s, secrets, reach(v))[0]
	for range 3 {
		if l := p.List(t.Context(), target); l.State != code.ScopeFailed {
			t.Errorf("it is %s without a login", l.State)
		}
	}
	if got := v.Logins().Failed; got != infra.MaxFailedLogins {
		t.Errorf("%d logins failed, want %d", got, infra.MaxFailedLogins)
	}
}

// TestTroubleWhileAnswersAreKept: pages that begin again are asked for again, and so is
// what the view holds once a VM is gone.
func TestTroubleWhileAnswersAreKept(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	list := func(stand lab.Front) infra.Listing {
		v.Front(stand)
		p := small().(*provider)
		p.retry = infra.Retry{Attempts: 3, Pause: time.Millisecond}
		s, secrets := load(t, fleet(t))
		var m infra.Memo
		defer m.Close(t.Context())
		return infra.NewRegistry(p).Collect(m.With(t.Context()), p.Targets(s, secrets, reach(v)), nil).Listings[0]
	}
	lost := &busyOnce{method: "ContinueRetrievePropertiesEx", nth: 1, lost: true, calls: map[string]int{}}
	if l := list(lost.stand); l.State != code.ScopeComplete || l.Count() != fleetVMs {
		t.Errorf("a page was lost: %s, %d VMs, %+v", l.State, l.Count(), l.Fault)
	}
	before := &busyOnce{calls: map[string]int{}}
	l := list(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		before.stand(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if before.calls["RetrievePropertiesEx"] == 4 && before.calls["ContinueRetrievePropertiesEx"] == 0 {
				_ = v.Remove("alpha-prod-kcn2q") // the next time it is gone
			}
			next.ServeHTTP(w, r)
		}))
	})
	if l.State != code.ScopeComplete || l.Count() != fleetVMs-1 {
		t.Errorf("a VM was deleted: %s, %d VMs, %+v", l.State, l.Count(), l.Fault)
	}
}

// TestAVMThatIsRegisteredAgain: one that is taken out of the inventory and put back while
// pages are read has another managed object id, which no page has.
func TestAVMThatIsRegisteredAgain(t *testing.T) {
	const name = "alpha-prod-kcn2q"
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	id := instance(t, one(t, t.Context(), fleet(t), reach(v)), name).ID
	calls := &busyOnce{calls: map[string]int{}}
	v.Front(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		calls.stand(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			page := calls.calls["RetrievePropertiesEx"] == 4 && calls.calls["ContinueRetrievePropertiesEx"] == 0
			if page {
				must(t, v.Remove(name))
			}
			next.ServeHTTP(w, r)
			if page {
				back, err := v.Clone("alpha-prod-nnxbq", lab.CloneSpec{Name: name, BIOSUUID: id})
				must(t, err)
				all := v.Service.Context.Map
				all.Put(all.Get(types.ManagedObjectReference{Type: vmType, Value: back.Ref})) // the simulator's view missed it
			}
		}))
	})
	l := one(t, t.Context(), fleet(t), reach(v))
	if l.State != code.ScopeComplete || l.Count() != fleetVMs || !slices.ContainsFunc(l.Instances, func(i infra.Instance) bool { return i.ID == id }) {
		t.Errorf("%s, %d VMs: %+v", l.State, l.Count(), l.Fault)
	}
}
