package list

import (
	"strings"
	"testing"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
)

// TestMoreServersThanAnyCloudHas: a cloud that makes them up has an end.
func TestMoreServersThanAnyCloudHas(t *testing.T) {
	l := &listing{Listing: &infra.Listing{Instances: make([]infra.Instance, maxServers, maxServers+10)}, cloud: &cloud{}, seen: map[[16]byte]bool{}, recorded: &openstack.Recorded{}}
	err := l.take([]serverAnswer{{ID: "00000000-0000-4000-8000-000000000001", Status: "ACTIVE"}})
	if err == nil || !strings.Contains(err.Error(), "more than 500000 servers") {
		t.Error(err)
	}
}
