package openstack

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// imagesBlock says that several images are what an object asks for.
const imagesBlock = "several images are what it asks for by name and tags, and CAPO, which looks that up before it looks for the server, takes none of them (too many images were found): it does nothing for the machine until one image is left"

// imageOf reads how an object says which image it means: by id, or by a filter of name and
// tags (ImageFilterToListOpts in pkg/utils/filterconvert/convert.go v0.14.7), to which ORC adds
// visibility (ListOSResourcesForImport in internal/controllers/image/actuator.go v2.6.0). For people it
// is called by its name.
func imageOf(raw string) param {
	p := paramOf(raw)
	var fields struct {
		Filter map[string]json.RawMessage
	}
	if !p.given || json.Unmarshal([]byte(raw), &fields) != nil || fields.Filter == nil {
		return p
	}
	var tags []string
	var visibility string
	for name, value := range fields.Filter {
		switch {
		case name == "name", name == "tags" && json.Unmarshal(value, &tags) == nil, name == "visibility" && json.Unmarshal(value, &visibility) == nil:
		default:
			return p
		}
	}
	query := url.Values{}
	var also []string
	if len(tags) > 0 {
		query["tag"], also = tags, append(also, "tags "+strings.Join(tags, ", "))
	}
	if visibility != "" {
		query["visibility"], also = []string{visibility}, append(also, "visibility "+visibility)
	}
	if p.vague = p.name == "" && also == nil; also == nil {
		return p
	}
	if p.name != "" {
		query.Set("name", p.name)
	}
	p.query = query.Encode()
	p.called = strings.TrimSpace(p.name + " with " + strings.Join(also, " and "))
	p.name = p.called
	return p
}

// imageObject returns the name of the Image object that a machine names, or empty.
func (m *member) imageObject() string {
	w := m.resolved()
	if w == nil || !strings.Contains(w.Image, "imageRef") {
		return ""
	}
	var image struct{ ImageRef struct{ Name string } }
	_ = json.Unmarshal([]byte(w.Image), &image) // in another form it names none
	return image.ImageRef.Name
}

// imageLacks says that the backup lacks the Image object that a machine names. CAPO waits
// for it before it looks for the server (getImageIDByReference in
// pkg/cloud/services/compute/instance.go v0.11.0 to v0.15.0-beta.0).
func (objs *objects) imageLacks(m *member) string {
	name := m.imageObject()
	if name == "" || objs.imageRecord(m) != nil {
		return ""
	}
	return fmt.Sprintf("Image %s/%s (images.openstack.k-orc.cloud), which its spec.image names, %s, and CAPO waits for it before it looks for the server", m.meta().Namespace, name, objs.snapshot.Lacks(m.cluster.Backup, "Image"))
}

// imageRecord returns the Image object that a machine names; nil where the backup lacks it, or there is none.
func (objs *objects) imageRecord(m *member) *backup.Record[referredImage] {
	if m.imageObject() == "" {
		return nil
	}
	return objs.images[capi.Object{Backup: m.cluster.Backup, Namespace: m.meta().Namespace, Name: m.imageObject()}]
}

// Rows of ORC's controller of Images, which a restore leaves without the id that it found before.
var (
	rowO4 = &walk.Row{
		ID: "openstack.O4", Of: "Image",
		Asks:    "Glance for the one image that spec.import names, by its id or a filter",
		None:    walk.Waits.Says("ORC gives CAPO no image, and CAPO goes no further before it looks for the server"),
		Several: walk.Waits.Says("ORC takes none of several and gives CAPO no image, and CAPO goes no further before it looks for the server"),
		Differs: walk.Waits.Says("ORC waits until it is active and gives CAPO no image, and CAPO goes no further before it looks for the server"),
		Refused: imagesRefused,
		Source:  "GetOrCreateOSResource: internal/controllers/generic/reconciler/resource_actions.go, ResourceAvailableStatus: internal/controllers/image/status.go of k-orc/openstack-resource-controller v2.6.0; reconcile.go v1.0.0",
	}
	rowO4b = &walk.Row{
		ID: "openstack.O4b", Of: "Image",
		Asks:    "Glance for the one image with the name and tags of spec.resource",
		None:    walk.Does{Effect: walk.Writes, Code: code.ResourceMade, What: "ORC uploads it again, and CAPO waits for it before it looks for the server"},
		Several: walk.Waits.Says("ORC takes none of several and gives CAPO no image, and CAPO goes no further before it looks for the server"),
		Refused: imagesRefused,
		Source:  "GetOrCreateOSResource: internal/controllers/generic/reconciler/resource_actions.go, ListOSResourcesForAdoption: internal/controllers/image/actuator.go of k-orc/openstack-resource-controller v2.6.0; reconcile.go v1.0.0",
	}
	rowO5 = &walk.Row{
		ID: "openstack.O5", Of: "Image",
		Asks:      "Keystone for a token, with the login that spec.cloudCredentialsRef names",
		None:      walk.Waits.Says("ORC has no credential and gives CAPO no image, and CAPO goes no further before it looks for the server"),
		Differs:   walk.Waits.Says("ORC cannot log in and gives CAPO no image, and CAPO goes no further before it looks for the server"),
		Condition: code.CredentialUntried,
		Source:    "getCloudFromSecret: internal/scope/provider.go of k-orc/openstack-resource-controller v1.0.0 to v2.6.0",
	}
)

const imagesRefused = "images, to an account that is not the backup's, or because nobody answered"

// FactInactive names, with the value of a probe of an image behind it, the status of the one that answers it and
// is not active.
const FactInactive = "inactive"

// askedImage is what ORC asks Glance for.
type askedImage struct {
	home
	row    *walk.Row
	key    infra.Key
	object string
}

// orcImage returns what ORC asks for the Image object of a machine; its row is nil where it asks for none
// that can be followed.
func (objs *objects) orcImage(m *member) (a askedImage) {
	r := objs.imageRecord(m)
	if r == nil || r.Data.Secret == "" || r.Data.Cloud == "" {
		return a
	}
	a.home, a.row = objs.homeBy(m.cluster, &identityRef{Name: r.Data.Secret, Cloud: r.Data.Cloud}), rowO4
	raw := r.Data.Import
	if !given(raw) {
		filter := map[string]json.RawMessage{}
		_ = json.Unmarshal([]byte(r.Data.Resource), &filter) // in another form it has none of them
		if filter["name"] == nil {
			filter["name"], _ = json.Marshal(r.Name)
		}
		text, _ := json.Marshal(map[string]any{"filter": filter}) // of JSON
		a.row, raw = rowO4b, string(text)
	}
	p := imageOf(raw)
	if a.key, a.object = p.key(KeyImage), "image "+p.people(); a.key.IsZero() {
		a.row = nil
	}
	return a
}

// askImage asks O4 and O4b.
func (q *questions) askImage(m *member) {
	a := q.objs.orcImage(m)
	if m.index < 0 || a.row == nil {
		return
	}
	q.Steps = append(q.Steps, infra.Step{
		Step: walk.Step{Row: a.row, Cluster: m.cluster, Subject: q.objs.titleOf(m), Machine: m.index},
		Look: func(inv *infra.Inventory) walk.Answer {
			p := q.place(inv, a.id())
			if p == nil {
				return walk.Answer{}
			}
			if status, inactive := p.Fact(FactInactive + "/" + a.key.Value); inactive && a.row == rowO4 {
				return answer(walk.Differs, a.object, a.object+" is "+status, "is active")
			}
			return p.thingRead(a.key, a.object)
		},
	})
}

// made returns the objects of a backup that ORC makes again where what they describe is gone,
// without the Images that machines name.
func (objs *objects) made(in int) (list []string) {
	named := map[capi.Object]bool{}
	for i := range objs.members {
		if m := &objs.members[i]; m.imageObject() != "" {
			named[capi.Object{Backup: m.cluster.Backup, Namespace: m.meta().Namespace, Name: m.imageObject()}] = true
		}
	}
	add := func(kind string, r *backup.Record[orcObject]) {
		if r.Backup == in && r.Data.Policy != unmanaged {
			list = append(list, kind+" "+r.Namespace+"/"+r.Name)
		}
	}
	for r := range referredImages.In(objs.snapshot).All() {
		if !named[capi.Object{Backup: r.Backup, Namespace: r.Namespace, Name: r.Name}] {
			add("Image", r)
		}
	}
	for _, kind := range sortedNames(orcKinds) {
		for r := range orcKinds[kind].In(objs.snapshot).All() {
			add(kind, r)
		}
	}
	return list
}

// askMade asks O3 once for each backup that holds clusters of CAPO's.
func (q *questions) askMade() {
	asked := map[int]bool{}
	for _, id := range q.objs.order() {
		if asked[id.Backup] {
			continue
		}
		asked[id.Backup] = true
		list := q.objs.made(id.Backup)
		if len(list) == 0 {
			q.Note(rowO3, id, pass)
		}
		for _, object := range list {
			q.Keep(walk.Step{Row: rowO3, Cluster: id, Subject: object, Machine: -1, Answer: walk.Answer{Found: walk.Unseen, Objects: []string{object}}})
		}
	}
}

// twinImages returns what blocks a machine whose image is looked up by a filter.
func (m *member) twinImages() infra.Key {
	w := m.resolved()
	if w == nil {
		return infra.Key{}
	}
	if k := imageOf(w.Image).key(KeyImage); strings.HasPrefix(k.Value, ByName) || strings.HasPrefix(k.Value, ByQuery) {
		return infra.Key{Kind: KeyTwinImages, Value: k.Value}
	}
	return infra.Key{}
}
