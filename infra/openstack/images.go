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
)

// imagesBlock says that several images are what an object asks for.
const imagesBlock = "several images are what it asks for by name and tags, and CAPO, which looks that up before it looks for the server, takes none of them (too many images were found): it does nothing for the machine until one image is left"

// imageOf reads how an object says which image it means: by id, or by a filter of name and
// tags (ImageFilterToListOpts in pkg/utils/filterconvert/convert.go v0.14.7). For people it
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
	for name, value := range fields.Filter {
		switch {
		case name == "name":
		case name != "tags" || json.Unmarshal(value, &tags) != nil:
			return p
		}
	}
	if len(tags) == 0 {
		p.vague = p.name == ""
		return p
	}
	query := url.Values{"tag": tags}
	if p.name != "" {
		query.Set("name", p.name)
		p.name += " "
	}
	p.vague, p.query = false, query.Encode()
	p.name += "with tags " + strings.Join(tags, ", ")
	p.called = p.name
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
	if name == "" || objs.images[capi.Object{Backup: m.cluster.Backup, Namespace: m.meta().Namespace, Name: name}] != nil {
		return ""
	}
	return fmt.Sprintf("Image %s/%s (images.openstack.k-orc.cloud), which its spec.image names, %s, and CAPO waits for it before it looks for the server", m.meta().Namespace, name, objs.snapshot.Lacks(m.cluster.Backup, "Image"))
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
