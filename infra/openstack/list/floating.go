package list

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"drift-detector/infra/openstack"
)

// followFloating looks up the ports that floating IPs of API servers are attached to.
func (l *listing) followFloating(ctx context.Context, service *gophercloud.ServiceClient) error {
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(l.floating)), idBatch) {
		query := url.Values{"id": batch, "fields": append([]string{"device_owner"}, portFields...)}
		page, err := readPage[portAnswer](ctx, l, service, v2(service.Endpoint)+"ports?"+query.Encode(), "ports")
		switch {
		case err != nil:
			return err
		case len(page.items) < len(batch):
			return answerError("the port that a floating IP is attached to is not shown")
		}
		for i := range page.items {
			p := &page.items[i]
			if ip := l.floating[strings.ToLower(p.ID)]; ip != "" && !l.recorded.LeadTo(&p.Port, ip) {
				l.found(openstack.KeyElsewhere, ip)
			}
		}
	}
	return nil
}
