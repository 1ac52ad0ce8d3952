package openstack

import (
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
