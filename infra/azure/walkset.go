package azure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of the scale set of an AzureMachinePool. Whether it exists and its size are the pool's.
var (
	rowP5 = &walk.Row{
		ID: "azure.P5", Of: poolKind,
		Asks:      "size, zones and image of its scale set, which are to be those of spec.template.vmSize and image and of its MachinePool's failureDomains, and the image of each member, which is to be that of the scale set",
		Differs:   walk.Replaces.Says("CAPZ sets the scale set back, adds a member, and deletes those that run another image, or as many as it added"),
		Condition: code.PoolsUncompared,
		Source:    "existingParameters, hasModelModifyingDifferences: azure/services/scalesets/spec.go; HasModelChanges: azure/types.go; SelectMachinesToDelete: azure/scope/strategies/machinepool_deployments v1.13.0 to v1.26.0",
	}
	rowP10 = &walk.Row{
		ID: "azure.P10", Of: poolKind,
		Asks:    "members that Azure calls failed, unless an autoscaler has the replicas",
		Differs: walk.Replaces.Says("CAPZ deletes their Machines with their VMs, and the scale set makes others"),
		Source:  "SelectMachinesToDelete, getFailedMachines: azure/scope/strategies/machinepool_deployments v1.13.0 to v1.26.0",
	}
	setRows = []*walk.Row{rowP5, rowP10}
)

// askSet asks P5, P10 and P11.
func (q *questions) askSet(p *pool, title string) {
	key := q.objs.poolKey(p)
	asks := func(r *walk.Row, ask func(*ScaleSet) walk.Answer) {
		q.look(of(r, p.cluster, title), func(l *infra.Lookup) walk.Answer {
			if l.Lacks(key) || l.State == code.ScopeComplete && !l.Holds(key) {
				return pass // there is none to change
			}
			set, seen := readFact[ScaleSet](l, FactSet, key.Value)
			if !seen {
				return unseen(title)
			}
			return ask(&set)
		})
	}
	owner := machinePools.In(q.objs.snapshot).Named(p.cluster.Backup, p.cluster.Namespace, p.name) // the backup is let go of
	asks(rowP5, func(set *ScaleSet) walk.Answer {
		switch why, known := p.unlike(owner, set); {
		case why != "":
			return answer(walk.Differs, title, why, "is as its scale set, or that as it")
		case !known:
			return unseen(title)
		}
		return pass
	})
	asks(rowP11, func(set *ScaleSet) walk.Answer {
		return q.objs.retagged(p.cluster, p.record, "scale set "+p.setName(), set.Tags)
	})
	if p.managedBy != "" {
		q.Note(rowP10, p.cluster, pass)
		return
	}
	q.look(of(rowP10, p.cluster, title), func(l *infra.Lookup) walk.Answer {
		for i := range l.Instances {
			if m := &l.Instances[i]; !m.Gone && m.HasKey(key) && slices.Contains(m.Warnings, code.ErrorState) {
				return answer(walk.Differs, title, "Azure calls VM "+m.Name+" of it failed", "has no such member")
			}
		}
		return pass
	})
}

// unlike says in what a scale set is not as its pool and the MachinePool say, which may be nil; known
// is false where the objects do not say of what image it is to be, or in which case.
func (p *pool) unlike(owner *backup.Record[object], set *ScaleSet) (why string, known bool) {
	d := &p.record.Data
	if d.VMSize != set.SKU {
		return fmt.Sprintf("its VMs are to be of size %s, and the scale set has %s", d.VMSize, set.SKU), true
	}
	if owner != nil && !slices.Equal(owner.Data.Zones, set.Zones) {
		return fmt.Sprintf("it is to be in zones %q, and the scale set is in %q", owner.Data.Zones, set.Zones), true
	}
	if set.Others > 0 {
		return fmt.Sprintf("members run another image than the scale set has now: %d", set.Others), true
	}
	want, ok := imageOf(d.Image)
	switch {
	case !ok, want != set.Image && strings.EqualFold(fmt.Sprint(want), fmt.Sprint(set.Image)):
		return "", false
	case want != set.Image:
		return "the scale set has another image than spec.template.image", true
	}
	return "", true
}

// image is spec.image or spec.template.image.
type image struct {
	ID          string
	Marketplace *struct {
		Publisher, Offer, SKU, Version string
		ThirdPartyImage                bool
	}
	SharedGallery, ComputeGallery *struct {
		SubscriptionID, ResourceGroup, Gallery, Name, Version string
	}
}

// imageOf returns what CAPZ writes into a scale set for an image, and whether one is specified
// (ImageToSDK in azure/converters/image.go v1.26.0).
func imageOf(text string) (Image, bool) {
	var i image
	if json.Unmarshal([]byte(text), &i) != nil {
		return Image{}, false
	}
	gallery := cmp.Or(i.SharedGallery, i.ComputeGallery)
	switch {
	case i.ID != "":
		return Image{ID: i.ID}, true
	case i.Marketplace != nil:
		m := i.Marketplace
		return Image{Publisher: m.Publisher, Offer: m.Offer, SKU: m.SKU, Version: m.Version, Plan: m.ThirdPartyImage}, true
	case gallery == nil:
		return Image{}, false
	case i.SharedGallery == nil && (gallery.SubscriptionID == "" || gallery.ResourceGroup == ""):
		return Image{CommunityGalleryImageID: fmt.Sprintf("/CommunityGalleries/%s/Images/%s/Versions/%s", gallery.Gallery, gallery.Name, gallery.Version)}, true
	}
	return Image{ID: fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/galleries/%s/images/%s/versions/%s",
		gallery.SubscriptionID, gallery.ResourceGroup, gallery.Gallery, gallery.Name, gallery.Version)}, true
}
