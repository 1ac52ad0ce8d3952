package list

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"drift-detector/infra/vsphere"

	"github.com/vmware/govmomi/view"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// pageSize bounds how many objects one answer holds. maxPages bounds a vCenter
// that never stops.
const (
	pageSize = 1250 // 40 calls for 50,000 VMs
	maxPages = 2000
)

// vmProperties are leaves: whole config or guest objects cost ten times as much
// on both sides. The summary repeats what config lacks for VMs whose
// configuration vCenter holds only in its database.
var vmProperties = []string{
	propName, propParent, propVApp,
	propUUID, propInstanceUUID, propTemplate, propCreated, propManagedBy,
	propSummaryUUID, propSummaryInstanceUUID, propSummaryTemplate, propVMX,
	propCPUs, propMemory, propDisk, propThinDisk,
	propConnection, propPower, propAddress,
}

// provider adds List to [vsphere.Provider]. Its own state is the count of failed logins, which must outlive a
// single listing.
type provider struct {
	vsphere.Provider
	logins *infra.Logins
	page   int32 // objects in one answer
	limits limits
	retry  infra.Retry
}

// New returns the vSphere provider. One value serves one run: it counts the
// logins that failed, so that no account is locked.
func New() infra.Provider {
	return &provider{logins: &infra.Logins{}, page: pageSize, limits: standard, retry: infra.Patient}
}

// List reads all VMs that the account can see, in all datacenters.
func (p *provider) List(ctx context.Context, t infra.Target) infra.Listing {
	d, made := t.Detail.(*vsphere.Detail)
	l, ok := t.Begin(vsphere.Name, made)
	if !ok {
		if t.Refused != nil && t.Refused.Reason == "NoCredential" {
			l.Facts = infra.Facts{{Name: infra.FactOwn, Value: infra.OwnAbsent}}
		}
		return l
	}
	var seen shown
	v, err := p.connect(ctx, t, d, &seen)
	p.noteAccess(ctx, t, d, v, err, &seen, &l)
	if err != nil {
		l.Fault = connectFault(ctx, t, err)
		return l
	}
	l.Identity = vsphere.UUID(v.ServiceContent.About.InstanceUuid)
	v.read(ctx, t, d, &l)
	if err := v.logout(ctx); err != nil {
		l.Warnings = append(l.Warnings, fmt.Sprintf("logging out of vCenter %s failed, so its session stays until it times out: %s", t.Endpoint, t.Redaction.Brief(err.Error())))
	}
	return l
}

// read fills the listing. What was read before something broke stays in it.
func (v *vcenter) read(ctx context.Context, t infra.Target, d *vsphere.Detail, l *infra.Listing) {
	if c := &v.ServiceContent; c.ViewManager == nil || c.RootFolder.Value == "" || c.PropertyCollector.Value == "" {
		l.Fault = listFault(ctx, t, "looking for its inventory", errors.New("this is no vCenter"))
		return
	}
	tree := newTree(v.ServiceContent.RootFolder.Value)
	err := v.eachObject(ctx, treeKinds, v.limits.things, tree.add)
	if err != nil {
		l.Fault = listFault(ctx, t, "listing folders", err)
	}
	folders := newFinder(tree)
	asked := folders.resolve(t.Endpoint, t.Probes)
	in := &inventory{identity: v.identity, endpoint: t.Endpoint, folders: folders, asked: asked}
	g := newGathering(in, d.Recorded, &t, l)
	g.text = v.limits.text
	err = v.eachUntil(ctx, []string{vmType}, []types.PropertySpec{{Type: vmType, PathSet: vmProperties}}, v.limits.vms, func(o types.ObjectContent) error {
		err := g.add(o)
		t.Found(l.Count())
		return err
	})
	if err != nil {
		l.Fault = listFault(ctx, t, fmt.Sprintf("listing VMs broke off after %d", l.Count()), err)
	}
	if n := len(g.lacking); n > 0 && l.Fault == nil {
		l.Fault = listFault(ctx, t, "listing VMs", fmt.Errorf("it left out properties of %d that it never leaves out, first of %s", n, g.lacking[0]))
	}
	g.followRenamed()
	unread := v.readGuestinfo(ctx, g.candidates, l.Instances)
	if len(unread) > 0 {
		l.Warnings = append(l.Warnings, fmt.Sprintf("the metadata of %d of the unknown VMs in vCenter %s could not be read: less evidence on which cluster they belong to", len(unread), t.Endpoint))
	}
	l.Facts = append(l.Facts, folders.datacenterFacts()...)
	v.readMachineVMs(ctx, t, d, g, l)
	if l.Count() > 0 { // who sees no VM at all has seen nothing
		l.ProbesFound = g.readProbes(unread, func(folder string) bool { return v.seesInto(ctx, folder) })
		g.templates.answer(t, l)
		l.Ambiguous = append(l.Ambiguous, folders.ambiguous(t.Endpoint, t.Probes)...)
		v.readNeeded(ctx, t, folders, l)
	}
	// What was cut off here is whole in its VMs, but must not look as if all of it had
	// been asked for.
	if l.Fault == nil {
		l.Fault = infra.CutOff(ctx, "vCenter "+t.Endpoint)
	}
	sorting.By(l.Instances, func(a, b infra.Instance) int { return cmp.Compare(a.Identity, b.Identity) })
	switch {
	case l.Fault == nil:
		l.State = code.ScopeComplete
	case l.Count() > 0:
		l.State = code.ScopePartial
	}
}

// gathering makes instances of VMs as their pages come in.
type gathering struct {
	in         *inventory
	known      *vsphere.RecordedMachines
	target     *infra.Target
	listing    *infra.Listing
	candidates map[string]int // for a look at their metadata: index into the listing's Instances, by managed object id
	templates  *catalogue
	resolved   []infra.Key         // folders of the backup that exist
	found      map[string][]string // folders of the VMs that have BIOS UUIDs of the backup, by those
	folders    map[string]string   // folders of the candidates, by managed object id
	inhabited  map[string]bool     // managed object ids of folders of which VMs were read
	text       int                 // how much more is kept
	lacking    []string            // managed object ids of VMs without what vCenter never leaves out
}

func newGathering(in *inventory, known *vsphere.RecordedMachines, t *infra.Target, l *infra.Listing) *gathering {
	return &gathering{
		in: in, known: known, target: t, listing: l, resolved: foundAmong(t.Probes, in.asked),
		candidates: map[string]int{}, found: map[string][]string{}, folders: map[string]string{}, inhabited: map[string]bool{},
		templates: newTemplates(t.Probes, in.folders), text: standard.text,
	}
}

func (g *gathering) add(o types.ObjectContent) error {
	m := readVM(o)
	if m.lacking && (m.uuid != "" || len(o.PropSet)+len(o.MissingSet) == 0) {
		g.lacking = append(g.lacking, m.ref)
	}
	return g.addVM(m)
}

func (g *gathering) addVM(m vm) error {
	i := g.in.instance(m)
	if g.text -= textOf(&i); g.text < 0 {
		return errManyText
	}
	folder := g.in.folders.tree.folderOf(m.parent, m.vapp)
	if _, ours := g.known.Servers[i.ID]; ours && !slices.Contains(g.found[i.ID], folder) {
		g.found[i.ID] = append(g.found[i.ID], folder)
	}
	if i.Exclude == "" && !i.Unreadable {
		g.inhabited[folder] = true
	}
	g.templates.addVM(m)
	g.file(i, folder)
	return nil
}

// file puts an instance into the listing, and on the list of those whose metadata is
// worth a look.
func (g *gathering) file(i infra.Instance, folder string) {
	candidate := g.in.candidate(folder, &i, g.known)
	switch server, ours := g.known.Servers[i.ID]; {
	case ours && server == g.target.Endpoint:
		g.listing.Instances = append(g.listing.Instances, i) // it has Facts yet to come
		return
	case !candidate:
		g.listing.File(g.target, i)
		return
	}
	g.candidates[i.Ref], g.folders[i.Ref] = len(g.listing.Instances), folder
	g.listing.Instances = append(g.listing.Instances, i)
}

// eachObject visits the objects of some types below the root folder page by page.
func (v *vcenter) eachObject(ctx context.Context, specs []types.PropertySpec, most int, visit func(types.ObjectContent)) error {
	var kinds []string
	for _, s := range specs {
		kinds = append(kinds, s.Type)
	}
	return v.eachOf(ctx, kinds, specs, most, visit)
}

// eachOf does what eachObject does, for types that share properties of a common base.
func (v *vcenter) eachOf(ctx context.Context, kinds []string, specs []types.PropertySpec, most int, visit func(types.ObjectContent)) error {
	return v.eachUntil(ctx, kinds, specs, most, func(o types.ObjectContent) error {
		visit(o)
		return nil
	})
}

// eachUntil does what eachOf does, but ends with the first error of visit. Nothing in a page says that
// it lacks an object or the way to the next page, so what the view itself counts is
// compared: what it has before and after, and no page had, was left out. Where something
// went meanwhile, what came is read, too.
func (v *vcenter) eachUntil(ctx context.Context, kinds []string, specs []types.PropertySpec, most int, visit func(types.ObjectContent) error) error {
	var cv *view.ContainerView // an object of the session alone
	err := v.retry.Do(ctx, func() (err error) {
		cv, err = view.NewManager(v.Client).CreateContainerView(ctx, v.ServiceContent.RootFolder, kinds, true)
		return err
	})
	if err != nil {
		return fmt.Errorf("creating a view: %w", err)
	}
	visited, uncounted := v.viewed(ctx, cv)
	all, seen := 0, 0
	for _, ids := range visited {
		all += len(ids)
	}
	take := func(o types.ObjectContent) error {
		if seen++; seen > most {
			return fmt.Errorf("there are more than %d", most)
		}
		if err := checkTexts(o); err != nil {
			return err
		}
		return visit(o)
	}
	err = v.pagesUntil(ctx, []types.PropertyFilterSpec{{
		ObjectSet: []types.ObjectSpec{{
			Obj: cv.Reference(), Skip: types.NewBool(true),
			SelectSet: []types.BaseSelectionSpec{&types.TraversalSpec{Type: cv.Reference().Type, Path: "view"}},
		}},
		PropSet: specs,
	}}, visited, take)
	if err = cmp.Or(err, uncounted); err != nil || !leftOut(visited) {
		return err
	}
	still, err := v.viewed(ctx, cv)
	if err != nil {
		return err
	}
	n, fresh := visited.missed(still)
	if n > 0 {
		return fmt.Errorf("it left out %d of %d", n, all)
	}
	if len(fresh) == 0 {
		return nil
	}
	// What went may have come back: a VM that is registered again has another id.
	return v.pagesUntil(ctx, []types.PropertyFilterSpec{{
		ObjectSet: fresh, PropSet: specs, ReportMissingObjectsInResults: types.NewBool(true),
	}}, visited, func(o types.ObjectContent) error {
		if isGone(o) {
			return nil
		}
		return take(o)
	})
}

// visits are objects by type and managed object id, and whether a page had them: there may
// be very many.
type visits map[string]map[string]bool

func (v visits) note(o types.ManagedObjectReference, had bool) {
	if v[o.Type] == nil {
		v[o.Type] = map[string]bool{}
	}
	v[o.Type][o.Value] = had
}

// leftOut reports whether no page had some object of a view.
func leftOut(all visits) bool {
	for _, ids := range all {
		for _, had := range ids {
			if !had {
				return true
			}
		}
	}
	return false
}

// missed compares what a view has now: how many objects it had before, too, and no page
// had, and those that came meanwhile and no page had.
func (v visits) missed(still visits) (n int, fresh []types.ObjectSpec) {
	for kind, ids := range still {
		for id := range ids {
			if was, before := v[kind][id]; !before {
				fresh = append(fresh, types.ObjectSpec{Obj: types.ManagedObjectReference{Type: kind, Value: id}})
			} else if !was {
				n++
			}
		}
	}
	return n, fresh
}

// viewed returns the objects of a view, in one answer, none of them visited. The map is there
// beside an error, too.
func (v *vcenter) viewed(ctx context.Context, cv *view.ContainerView) (visits, error) {
	all := visits{}
	var res *types.RetrievePropertiesExResponse
	err := v.retry.Do(ctx, func() (err error) {
		res, err = methods.RetrievePropertiesEx(ctx, v.Client, &types.RetrievePropertiesEx{
			This: v.ServiceContent.PropertyCollector,
			SpecSet: []types.PropertyFilterSpec{{
				ObjectSet: []types.ObjectSpec{{Obj: cv.Reference()}},
				PropSet:   []types.PropertySpec{{Type: cv.Reference().Type, PathSet: []string{"view"}}},
			}},
		})
		return err
	})
	if err != nil {
		return all, fmt.Errorf("counting a view: %w", err)
	}
	if r := res.Returnval; r != nil && len(r.Objects) == 1 && r.Objects[0].Obj == cv.Reference() && len(r.Objects[0].PropSet) == 1 {
		if refs, ok := r.Objects[0].PropSet[0].Val.(types.ArrayOfManagedObjectReference); ok {
			for _, r := range refs.ManagedObjectReference {
				all.note(r, false)
			}
			return all, nil
		}
	}
	return all, errors.New("counting a view: it does not say what it holds")
}

// pages retrieves properties until vCenter says that there is no more.
func (v *vcenter) pages(ctx context.Context, specs []types.PropertyFilterSpec, visit func(types.ObjectContent)) error {
	return v.pagesUntil(ctx, specs, visits{}, func(o types.ObjectContent) error {
		visit(o)
		return nil
	})
}

// pagesUntil does what pages does, but ends with the first error of visit, which gets each object
// once, and notes it: one that changes while pages are read can come twice. After a page
// that was lost on the way nobody knows which one the token is for, so the listing begins
// again.
func (v *vcenter) pagesUntil(ctx context.Context, specs []types.PropertyFilterSpec, visited visits, visit func(types.ObjectContent) error) error {
	return v.retry.Do(ctx, func() error {
		return v.pagesOnce(ctx, specs, func(o types.ObjectContent) (fresh bool, err error) {
			if visited[o.Obj.Type][o.Obj.Value] {
				return false, nil
			}
			visited.note(o.Obj, true)
			return true, visit(o)
		})
	})
}

// pagesOnce reads one listing. The property collector of govmomi returns nothing at all
// when a page fails (property/collector.go v0.56.0), so this asks for each page itself.
// visit says of an object whether it is the first time that it came.
func (v *vcenter) pagesOnce(ctx context.Context, specs []types.PropertyFilterSpec, visit func(types.ObjectContent) (fresh bool, err error)) error {
	collector := v.ServiceContent.PropertyCollector
	first, err := methods.RetrievePropertiesEx(ctx, v.Client, &types.RetrievePropertiesEx{
		This: collector, SpecSet: specs, Options: types.RetrieveOptions{MaxObjects: v.page},
	})
	if err != nil {
		return fmt.Errorf("reading page 1: %w", err)
	}
	page := first.Returnval
	var quiet infra.Quiet
	for n := 1; page != nil; n++ {
		news := false
		for _, o := range page.Objects {
			if o.Obj.Type == "" || o.Obj.Value == "" {
				return fmt.Errorf("page %d holds an object without its id", n)
			}
			fresh, err := visit(o)
			if err != nil {
				return err
			}
			news = news || fresh
		}
		// Only the first page may be empty: then there is nothing at all.
		if n > 1 && len(page.Objects) == 0 {
			return fmt.Errorf("page %d is empty", n)
		}
		if page.Token == "" {
			return nil
		}
		if err := quiet.Page(news); err != nil {
			return err
		}
		if n == maxPages {
			return fmt.Errorf("there are more than %d pages", maxPages)
		}
		next, err := methods.ContinueRetrievePropertiesEx(ctx, v.Client, &types.ContinueRetrievePropertiesEx{This: collector, Token: page.Token})
		if err != nil {
			return fmt.Errorf("reading page %d: %w", n+1, err)
		}
		page = &next.Returnval
	}
	return nil
}
