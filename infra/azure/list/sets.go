package list

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"drift-detector/infra"
	"drift-detector/infra/azure"
	"drift-detector/infra/capi"
)

// setAnswer is what is read of a scale set.
type setAnswer struct {
	ID    string
	Tags  map[string]string
	Zones []string
	Plan  *struct{}
	SKU   *struct {
		Name     string
		Capacity *int64
	}
	Properties *struct {
		OrchestrationMode string
		Profile           *struct{ StorageProfile storageAnswer } `json:"virtualMachineProfile"`
	}
}

type storageAnswer struct{ ImageReference *azure.Image }

// image returns the image of a scale set or a member as CAPZ compares it, nil where Azure does not say
// (SDKImageToImage in azure/converters/vmss.go v1.26.0).
func (a storageAnswer) image(plan *struct{}) *azure.Image {
	i := a.ImageReference
	if i != nil && i.ID == "" && i.CommunityGalleryImageID == "" && i.SharedGalleryImageID == "" {
		i.Plan = plan != nil
	}
	return i
}

// model returns what CAPZ compares of a scale set, nil where Azure does not say.
func (v *setAnswer) model() *azure.ScaleSet {
	if v.SKU == nil || v.Properties == nil || v.Properties.Profile == nil {
		return nil
	}
	i := v.Properties.Profile.StorageProfile.image(v.Plan)
	if i == nil {
		return nil
	}
	return &azure.ScaleSet{SKU: v.SKU.Name, Zones: v.Zones, Image: *i, Tags: v.Tags}
}

// readSets reads the scale sets that the backup names, those that have the tags of one of
// its clusters, and their members.
func (l *listing) readSets(ctx context.Context, subscription string) error {
	var known []string // with members to be read
	note := func(v *setAnswer) error {
		id, ok := azure.ParseID(v.ID)
		if !ok || id.Subscription != subscription || id.Kind != azure.KindSet {
			return answerError("the answer holds something that is no scale set of the subscription")
		}
		ours := slices.ContainsFunc(azure.ClustersIn(v.Tags), func(c string) bool { return l.seek.Marks[c] })
		if !ours && !l.seek.Sets[id.Text] || slices.Contains(known, id.Text) {
			return nil
		}
		known = append(known, id.Text)
		l.flexible[id.Text] = v.Properties != nil && v.Properties.OrchestrationMode == "Flexible"
		l.models[id.Text] = v.model()
		l.sets[id.Text] = nil
		if v.SKU != nil && v.SKU.Capacity != nil && *v.SKU.Capacity >= 0 {
			l.sets[id.Text] = v.SKU.Capacity
		}
		return nil
	}
	if err := l.listSets(ctx, subscription, note); err != nil {
		return err
	}
	for _, set := range slices.Sorted(maps.Keys(l.seek.Sets)) {
		if id, ok := azure.ParseID(set); !ok || slices.Contains(known, set) || l.absent[id.GroupID()] || id.Subscription != subscription {
			continue
		}
		v, err := one[setAnswer](ctx, l.session, set, computeVersion, "")
		switch {
		case nowhere(err):
			continue
		case err != nil:
			return err
		}
		if of, ok := azure.ParseID(v.ID); !ok || of.Text != set {
			return answerError("the answer is about another scale set than the one that was asked for")
		}
		if err := note(v); err != nil {
			return err
		}
	}
	slices.Sort(known)
	for _, set := range known {
		if err := l.readMembers(ctx, set, subscription); err != nil {
			return err
		}
		if m := l.models[set]; m != nil && l.wanted[infra.Key{Kind: azure.KeyPool, Value: set}] {
			l.Facts = append(l.Facts, azure.FactOf(azure.FactSet, set, m))
		}
	}
	return nil
}

// listSets lists the scale sets of the subscription, and, where that is refused, those of each
// resource group. Of a group that refuses it, too, nothing is concluded.
func (l *listing) listSets(ctx context.Context, subscription string, note func(*setAnswer) error) error {
	const of, query = "/providers/Microsoft.Compute/virtualMachineScaleSets", "api-version=" + computeVersion
	err := list(ctx, l.session, "/subscriptions/"+subscription+of, query, note)
	if codeOf(err) != http.StatusForbidden {
		return err
	}
	l.Warnings = append(l.Warnings, where(l.target)+": the account may not list the subscription: scale sets outside of the clusters' resource groups are not seen, except those that "+l.target.Subject.The()+" names")
	for _, g := range slices.Sorted(maps.Keys(l.seek.Groups)) {
		if l.absent[g] {
			continue
		}
		switch err := list(ctx, l.session, g+of, query, note); {
		case groupNowhere(err) || codeOf(err) == http.StatusForbidden:
			l.unanswered(g)
		case err != nil:
			return err
		}
	}
	return nil
}

// readMembers lists the members of a scale set: those of a uniform one are in no other list,
// and of a flexible one it says which of the VMs are its members, as CAPZ asks it.
func (l *listing) readMembers(ctx context.Context, set, subscription string) error {
	err := list(ctx, l.session, set+"/virtualMachines", "api-version="+computeVersion+"&$expand=instanceView", func(v *vmAnswer) error {
		id, ok := azure.ParseID(v.ID)
		if !ok || id.Kind != azure.KindMember || !strings.HasPrefix(id.Text, set+"/") || len(v.Name) > maxName {
			return answerError("the answer holds something that is no member of the scale set")
		}
		if m := l.models[set]; m != nil && v.Properties != nil {
			if i := v.Properties.StorageProfile.image(v.Plan); i != nil && *i != m.Image {
				m.Others++
			}
		}
		if l.flexible[set] || strings.Trim(id.Name, "0123456789") != "" { // a VM of its own
			vm := id.GroupID() + "/providers/" + azure.KindVM + "/" + id.Name
			l.members[vm] = append(l.members[vm], set)
			return nil
		}
		if !l.seen[short(id.Text)] {
			l.file(v, id, v.power(), []string{set})
		}
		return nil
	})
	if nowhere(err) { // deleted meanwhile
		delete(l.sets, set)
		return nil
	}
	return err
}

// readThings looks up what the clusters need beside VMs: the list of each type holds nearly
// all of it, and what it lacks is asked for by its id.
func (l *listing) readThings(ctx context.Context, subscription string) error {
	const few = 4
	byType := map[string][]azure.ID{}
	for _, k := range capi.SortedKeys(l.wanted) {
		id, ok := azure.ParseID(k.Value)
		if k.Kind != azure.KeyResource || !ok || id.Kind == azure.KindGroup && l.seek.Groups[id.Text] || l.absent[id.GroupID()] {
			continue
		}
		of := strings.TrimSuffix(id.Kind, "/subnets")
		byType[of] = append(byType[of], id)
	}
	for _, of := range slices.Sorted(maps.Keys(byType)) {
		listed := map[string]bool{}
		if len(byType[of]) > few {
			err := list(ctx, l.session, "/subscriptions/"+subscription+"/providers/"+of, "api-version="+versionOf(of), func(v *thingAnswer) error {
				v.note(listed)
				l.noteFact(v)
				return nil
			})
			if err != nil && codeOf(err) != http.StatusForbidden && !nowhere(err) {
				return err
			}
		}
		for _, id := range byType[of] {
			if !listed[id.Text] {
				if err := l.lookUp(ctx, id, listed); err != nil {
					return err
				}
			}
			if listed[id.Text] {
				l.found(infra.Key{Kind: azure.KeyResource, Value: id.Text})
			}
		}
	}
	return nil
}

// thingAnswer is a resource, with what CAPZ compares of some.
type thingAnswer struct {
	ID         string
	Tags       map[string]string
	Properties *struct {
		Subnets []struct {
			ID, Name   string
			Properties *azure.NetworkPart
		}
		Peerings      []azure.Named `json:"virtualNetworkPeerings"`
		SecurityRules []azure.SecurityRule
		azure.NetworkPart
		azure.Balancer
	}
}

// network returns what CAPZ and ASO compare of a virtual network.
func (v *thingAnswer) network() *azure.Network {
	p := v.Properties
	n := &azure.Network{Peerings: p.Peerings, Words: p.Words(v.Tags), Subnets: map[string][]string{}}
	for i := range p.Subnets {
		if part := p.Subnets[i].Properties; part != nil {
			n.Subnets[strings.ToLower(p.Subnets[i].Name)] = part.Words(nil)
		}
	}
	return n
}

// noteFact keeps what CAPZ compares of something that is wanted.
func (l *listing) noteFact(v *thingAnswer) {
	id, ok := azure.ParseID(v.ID)
	p := v.Properties
	if !ok || p == nil || !l.wanted[infra.Key{Kind: azure.KeyResource, Value: id.Text}] {
		return
	}
	switch {
	case p.SecurityRules != nil:
		l.Facts = append(l.Facts, azure.FactOf(azure.FactSecurity, id.Text, p.SecurityRules))
	case p.AddressSpace != nil:
		l.Facts = append(l.Facts, azure.FactOf(azure.FactNetwork, id.Text, v.network()))
	case p.BackendAddressPools != nil:
		l.Facts = append(l.Facts, azure.FactOf(azure.FactBalancer, id.Text, p.Balancer))
	}
}

func (v *thingAnswer) note(listed map[string]bool) {
	if id, ok := azure.ParseID(v.ID); ok {
		listed[id.Text] = true
	}
	if v.Properties != nil {
		for _, s := range v.Properties.Subnets {
			if id, ok := azure.ParseID(s.ID); ok {
				listed[id.Text] = true
			}
		}
	}
}

// lookUp asks for one resource by its id.
func (l *listing) lookUp(ctx context.Context, id azure.ID, listed map[string]bool) error {
	v, err := one[thingAnswer](ctx, l.session, id.Text, versionOf(id.Kind), "")
	switch {
	case nowhere(err):
		return nil
	case codeOf(err) == http.StatusForbidden:
		l.Unread = append(l.Unread, azure.KeyResource)
		if says := fmt.Sprintf("%s: whether %s exists is not shown to the account", where(l.target), id.Text); !slices.Contains(l.Warnings, says) {
			l.Warnings = append(l.Warnings, says)
		}
		return nil
	case err != nil:
		return err
	}
	if of, ok := azure.ParseID(v.ID); !ok || of.Text != id.Text {
		return answerError("the answer is about something else than what was asked for")
	}
	v.note(listed)
	l.noteFact(v)
	return nil
}
