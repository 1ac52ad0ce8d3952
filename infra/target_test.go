package infra

import (
	"testing"

	"drift-detector/backup"
)

type madeAs string

func (m madeAs) Same(o any) bool { return o == any(m) }

// TestBorrowIsForTheSame: a credential goes where it belongs.
func TestBorrowIsForTheSame(t *testing.T) {
	a, b := backup.ClusterID{Namespace: "ns", Name: "a"}, backup.ClusterID{Namespace: "ns", Name: "b"}
	newest := func() Target {
		return Target{IDs: []string{"x"}, Endpoint: "one:443", Clusters: []backup.ClusterID{a}, Credential: "new", Detail: madeAs("uid-1")}
	}
	for what, c := range map[string]struct {
		change func(t, o *Target)
		want   bool
	}{
		"rotated":                         {func(*Target, *Target) {}, true},
		"lacking":                         {func(t, _ *Target) { t.Refused, t.Endpoint = &Fault{}, "as the cluster says" }, true},
		"another server":                  {func(t, _ *Target) { t.Endpoint = "two:443" }, false},
		"another cluster":                 {func(t, _ *Target) { t.Clusters = []backup.ClusterID{b} }, false},
		"another scope":                   {func(t, _ *Target) { t.IDs = []string{"y"} }, false},
		"another of the name":             {func(t, _ *Target) { t.Detail = madeAs("uid-2") }, false},
		"another of the name, and nobody": {func(t, _ *Target) { t.Refused, t.Detail = &Fault{}, madeAs("uid-2") }, false},
		"none":                            {func(_, o *Target) { o.Refused = &Fault{} }, false},
	} {
		old, from := newest(), newest()
		old.Credential = "old"
		c.change(&old, &from)
		if got := old.Borrow(&from); got != c.want || got != (old.Credential == "new") {
			t.Errorf("%s: %v, %v", what, got, old.Credential)
		}
	}
}
