package openstack

import (
	"slices"
	"strings"
	"testing"
)

// What Neutron is asked is what CAPO asks.
func TestQueriesOfFilters(t *testing.T) {
	for filter, want := range map[string]string{
		`{"filter": {"name": "a"}}`:                         "name=a",
		`{"filter": {"name": "a", "tags": ["x", "y"]}}`:     "query=name=a&tags=x%2Cy",
		`{"filter": {"projectID": "p", "notTags": ["x"]}}`:  "query=not-tags=x&project_id=p",
		`{"name": "a", "tags": "x,y"}`:                      "query=name=a&tags=x%2Cy",
		`{"filter": {"ipVersion": 6, "cidr": "fd00::/64"}}`: "query=cidr=fd00%3A%3A%2F64&ip_version=6",
		`{"filter": {"colour": "red"}}`:                     "",
		`{"filter": {"name": "a", "colour": "red"}}`:        "",
		`{"id": "B"}`: "B",
	} {
		if k := paramOf(filter).key(KeyNetwork); k.Value != want {
			t.Errorf("%s: %q, want %q", filter, k.Value, want)
		}
	}
	if k := paramOf(`{"filter": {"name": "a"}}`).with("network_id", "n").key(KeySubnet); k.Value != "query=name=a&network_id=n" || strings.Contains(paramOf(`"x"`).with("a", "").query, "a") {
		t.Errorf("within a network: %q", k.Value)
	}
}

// Nova compares names with a regular expression, and as MySQL does. Of a machine's own server only its name counts.
func TestSoughtBy(t *testing.T) {
	r := Recorded{Names: map[string]bool{"a.b-1": true, "c-1": true}, dots: [][]int{{1}}, ids: map[string][]string{"c-1": {"own"}}}
	for _, c := range []struct {
		id, name string
		want     []string
	}{
		{"other", "c-1", nil},
		{"other", "C-1", []string{"c-1"}},
		{"own", "C-1", nil},
		{"other", "a.b-1", nil},
		{"other", "A.B-1", []string{"a.b-1"}},
		{"other", "axb-1", []string{"a.b-1"}},
		{"other", "aéB-1", []string{"a.b-1"}},
		{"other", "axxb-1", nil},
		{"other", "axb-12", nil},
		{"other", "ab-1", nil},
	} {
		if got := r.soughtBy(c.id, c.name); !slices.Equal(got, c.want) {
			t.Errorf("%s called %s: %q, want %q", c.id, c.name, got, c.want)
		}
	}
}
