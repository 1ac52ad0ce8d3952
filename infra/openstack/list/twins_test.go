package list

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
	"drift-detector/internal/lab/openstacklab"
)

// CAPO searches by a regular expression, which MySQL compares without case: what it may find beside the
// machine's own server is noted. Of its own server another name counts for none.
func TestServersSoughtByAnotherName(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	const id = "11111111-1111-4111-8111-111111111111"
	s.Like(living, strings.ToUpper(living), id, false)
	l := only(t, data, infra.Access{})
	i := slices.IndexFunc(l.Instances, func(i infra.Instance) bool { return i.ID == id })
	if i < 0 || !l.Instances[i].HasKey(infra.Key{Kind: openstack.KeySought, Value: living}) || !slices.ContainsFunc(l.Warnings, func(w string) bool { return strings.Contains(w, living) }) {
		t.Errorf("CAPO may find %s: %q", id, l.Warnings)
	}
	own := idOfServer(t, s, living)
	s.Rename(own, strings.ToUpper(living))
	for _, i := range only(t, data, infra.Access{}).Instances {
		if i.ID == own && i.HasKey(infra.Key{Kind: openstack.KeySought, Value: living}) {
			t.Error("nothing says that the database is MySQL")
		}
	}
}

// Where an object names a network by no id, the listing says in which one its server has the port.
func TestNetworksOfPorts(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	data = openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
		if meta := object["metadata"].(map[string]any); strings.HasPrefix(resource, "openstackservers.") && meta["name"] == living {
			object["spec"].(map[string]any)["ports"] = []any{map[string]any{"network": map[string]any{"filter": map[string]any{"name": "corp-shared"}}}}
		}
		return true
	})
	in, _ := only(t, data, infra.Access{}).Facts.Get(openstack.FactPortIn + "/" + living + "-0")
	if network, device, _ := strings.Cut(in, " "); openstack.UUIDOf(network) == "" || device != idOfServer(t, s, living) {
		t.Errorf("the port of %s is in %q", living, in)
	}
}
