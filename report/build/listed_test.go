package build_test

import (
	"testing"
	"time"

	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/code"
)

// All that was listed is there, what nothing refers to as well, in the place that has its name.
func TestListedHasWhatNothingRefersTo(t *testing.T) {
	l := infra.Listing{IDs: []string{"t"}, Provider: "aws", Endpoint: "aws", Location: "eu-1", Account: "1", Identity: "1", State: code.ScopeComplete, Instances: []infra.Instance{{ID: "i-1"}}}
	l.Unrelated.Add(infra.Instance{ID: "i-2", Name: "other"})
	all, places := build.Listed(infra.Inventory{Listings: []infra.Listing{l, {NodeState: "read"}}}, []report.Scope{{Provider: "aws", Endpoint: "aws", Location: "eu-1", Account: "1", State: code.ScopeComplete}})
	if len(all) != 2 || all[0].ID != "i-1" || all[1].Name != "other" || len(places) != 1 || places[0].Identity != "1" {
		t.Fatalf("%+v, %+v", all, places)
	}
	for i := range all {
		if !places[0].Holds(&all[i]) {
			t.Errorf("%+v is not in %+v", all[i], places[0])
		}
	}
}

// A place is as old as its oldest listing; of one that nobody listed there is no time.
func TestAPlaceSaysWhenItWasListed(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	l := infra.Listing{IDs: []string{"t"}, Provider: "aws", Endpoint: "aws", State: code.ScopeComplete, ListedAt: at.Add(time.Hour)}
	older := l
	older.ListedAt = at
	_, places := build.Listed(infra.Inventory{Listings: []infra.Listing{l, older}}, []report.Scope{{Provider: "aws", Endpoint: "aws"}, {Provider: "vsphere", Endpoint: "vc"}})
	if !places[0].ListedAt.Equal(at) || !places[1].ListedAt.IsZero() {
		t.Errorf("%+v", places)
	}
}
