package detector

import (
	"testing"
	"time"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// A VM that only lies where machines of a cluster lie is nobody's concern where it is older
// than the backup and all Nodes of the cluster are known.
func TestUnlinked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*scene, *infra.Instance)
		want   bool
	}{
		"older than the backup":  {func(*scene, *infra.Instance) {}, true},
		"made since":             {func(_ *scene, v *infra.Instance) { v.Created = written.Add(time.Hour) }, false},
		"made when it ended":     {func(_ *scene, v *infra.Instance) { v.Created = written.Add(-clockSkew) }, false},
		"nobody knows when":      {func(_ *scene, v *infra.Instance) { v.Created = time.Time{} }, false},
		"a backup without dates": {func(s *scene, _ *infra.Instance) { s.snap.Backups[0].Undated = true }, false},
		"Nodes that were asked for and not read": {func(s *scene, _ *infra.Instance) {
			s.listings[1].NodeState, s.listings[1].Nodes, s.listings[1].State = "unreachable", nil, code.ScopeFailed
			s.listings[1].Fault = &infra.Fault{Message: "no route to host"}
		}, false},
		"Nodes that nobody asked for": {func(s *scene, _ *infra.Instance) { s.listings = s.listings[:1] }, false},
		"it cannot be read":           {func(_ *scene, v *infra.Instance) { v.Unreadable = true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			byFolder(s)
			s.worker("m")
			s.vmOf("m")
			s.node(prod, bios("b-m"), "m")
			v := s.vm("jump", key("folder", "f"))
			v.Created = written.Add(-time.Hour)
			c.change(s, v)
			r := s.detect()
			if len(r.Unattributed) != 1 || r.Unattributed[0].Unlinked != c.want {
				t.Errorf("%+v, want unlinked: %v", r.Unattributed, c.want)
			}
		})
	}
}
