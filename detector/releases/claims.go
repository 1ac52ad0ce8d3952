package releases

import (
	"cmp"
	"fmt"
	"slices"
)

// claims notes an object that has the annotations of a release.
func (c *Collector) claims(resource string, live Object) {
	marks := stringMap(live, "metadata", "annotations")
	name, namespace := marks[releaseAnnotation], marks[namespaceAnnotation]
	if name == "" || ownedByController(live) {
		return
	}
	namespace = cmp.Or(namespace, text(live, "metadata", "namespace"))
	id := namespace + "/" + name
	if r := cmp.Or(c.byTarget[id], c.byID[id]); r != nil && r.Storage != "" {
		declared := slices.ContainsFunc(c.wanted[resource+"\x00"+text(live, "metadata", "namespace")+"\x00"+text(live, "metadata", "name")], func(w *wanted) bool {
			return w.release.Name == r.Name && w.release.target == r.target // of the other storage, too
		})
		if r.Reason != Unreadable && len(r.faults) == 0 && !declared && !r.hooks[text(live, "kind")+"/"+text(live, "metadata", "name")] {
			r.Extra = append(r.Extra, describe(live))
		}
		return
	}
	if c.options.Namespace != "" && c.options.Namespace != namespace {
		return
	}
	l := c.lost[id]
	if l == nil {
		l = &WithoutRecord{Name: name, Namespace: namespace, Do: Step{
			"without a record Helm installs, and adopts objects that have its annotations",
			fmt.Sprintf("helm upgrade --install %s CHART --namespace %s", quote(name), quote(namespace)),
		}}
		c.lost[id] = l
	}
	if l.Count++; len(l.Objects) < 10 {
		l.Objects = append(l.Objects, describe(live))
	}
}

func ownedByController(o Object) bool {
	return slices.ContainsFunc(list(o, "metadata", "ownerReferences"), func(r any) bool { return at(r, "controller") == true })
}
