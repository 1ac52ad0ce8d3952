package list

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
)

// lookUpImages looks up images as CAPO does. It takes one that is not active, too: what
// runs of it is taken over, and a new server is refused.
func (l *listing) lookUpImages(ctx context.Context, service *gophercloud.ServiceClient, look *lookup, base, asked string) error {
	query, ok := strings.CutPrefix(asked, openstack.ByQuery)
	name := strings.TrimPrefix(asked, openstack.ByName)
	if !ok {
		query = url.Values{"name": {name}}.Encode()
	}
	found := map[string]string{} // status by id
	err := l.pages(ctx, service, look, base+"?"+query, func(t *thingAnswer) { found[strings.ToLower(t.ID)] = t.Status })
	if err != nil {
		return err
	}
	people := l.target.Redaction.Brief(strings.TrimPrefix(strings.TrimPrefix(asked, openstack.ByName), openstack.ByQuery))
	switch len(found) {
	case 0:
	case 1:
		l.found(openstack.KeyImage, asked)
		for _, status := range found {
			if status != "active" {
				l.Facts = append(l.Facts, infra.Fact{Name: openstack.FactInactive + "/" + asked, Value: infra.Brief(status)})
				l.Warnings = append(l.Warnings, fmt.Sprintf("%s: image %s is %s: CAPO takes over what runs of it, and no new server can be created", where(l.target), people, infra.Brief(status)))
			}
		}
	default:
		l.found(openstack.KeyTwinImages, asked)
		l.several(infra.Key{Kind: openstack.KeyImage, Value: asked})
	}
	return nil
}
