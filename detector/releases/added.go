package releases

import (
	"strings"

	"github.com/wI2L/jsondiff"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// added lists what live has of managers other than the release's, and nobody declares,
// without what is to be removed, and is in the changes.
func (m *merger) added(changes []Change) []Added {
	var removed []string
	for _, c := range changes {
		if c.Op == jsondiff.OperationRemove {
			removed = append(removed, c.Pointer)
		}
	}
	own := fieldpath.NewSet()
	for _, e := range m.owners {
		if e.own {
			own = own.Union(e.set)
		}
	}
	var out []Added
	for _, e := range m.owners {
		if e.own || e.Subresource == "status" {
			continue
		}
		for path := range e.set.Difference(own).All() {
			if len(path) == 0 || path[0].FieldName == nil || *path[0].FieldName == "status" || m.declared(path) || under(path, out) {
				continue
			}
			v, lives := find(m.live, path)
			if !lives || empty(v) || m.ignores(path, removed) || isContainer(v) && path[len(path)-1].FieldName != nil && inside(e.set, path) {
				continue
			}
			out = append(out, Added{Path: readablePath(path), Value: v, Owner: e.Owner, Benign: m.benign(path), path: path.Copy()})
		}
	}
	return out
}

// declared reports whether the manifest has the field, or something inside of it.
func (m *merger) declared(path fieldpath.Path) bool {
	_, found := find(m.full, path)
	return found
}

// under reports whether a field is inside of one that is listed.
func under(path fieldpath.Path, listed []Added) bool {
	for _, a := range listed {
		if len(a.path) <= len(path) && a.path.Equals(path[:len(a.path)]) {
			return true
		}
	}
	return false
}

// inside reports whether a set names parts of what is at a path.
func inside(s *fieldpath.Set, path fieldpath.Path) bool {
	for _, pe := range path {
		child, ok := s.Children.Get(pe)
		if !ok {
			return false
		}
		s = child
	}
	return true
}

func isContainer(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return v == nil
}

// benign says why an added field does not count, or returns "".
func (m *merger) benign(path fieldpath.Path) string {
	name := path.String()
	last := path[len(path)-1]
	switch {
	case last.FieldName != nil && *last.FieldName == "kubectl.kubernetes.io/restartedAt":
		return "a restart by hand"
	case last.FieldName != nil && *last.FieldName == "deployment.kubernetes.io/revision":
		return "written by the controller"
	case strings.HasPrefix(name, ".metadata.labels"):
		return "a label"
	case strings.HasPrefix(name, ".metadata"):
		return "an annotation"
	case strings.HasSuffix(name, ".template.metadata.annotations"):
		return "annotations"
	case name == ".spec.replicas" && m.scaled:
		return byAutoscaler
	case name == ".rules" && m.kind == "ClusterRole" && at(m.live, "aggregationRule") != nil:
		return "aggregated by the controller"
	case name == ".spec.volumeName" && m.kind == "PersistentVolumeClaim":
		return "bound by the controller"
	}
	return ""
}

// byAutoscaler says why replicas that an autoscaler sets do not count.
const byAutoscaler = "set by the HorizontalPodAutoscaler"
