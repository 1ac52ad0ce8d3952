package detector

import (
	"testing"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// What is only where machines of a cluster are is no question once all Nodes of the cluster are
// known to run elsewhere, or where somebody else made it. Findings of the third round, AWS I and
// vSphere 25.
func TestNobodysInstancesAreNoQuestion(t *testing.T) {
	lists := func(s *scene) *infra.Node { return s.node(prod, bios("b-m"), "m") }
	for name, c := range map[string]struct {
		change    func(*scene, *infra.Instance)
		untouched bool
	}{
		"its Nodes are elsewhere":                {func(s *scene, _ *infra.Instance) { lists(s) }, true},
		"its Node list was skipped":              {func(*scene, *infra.Instance) {}, false},
		"its Node list was not read":             {func(s *scene, _ *infra.Instance) { s.unread(prod) }, false},
		"nothing says where one of its Nodes is": {func(s *scene, _ *infra.Instance) { lists(s).Keys = nil }, false},
		"its tags name another cluster": {func(s *scene, v *infra.Instance) {
			lists(s)
			v.Keys = append(v.Keys, infra.Key{Kind: infra.OwnerTag, Value: "theirs"})
		}, false},
		"it cannot be read": {func(s *scene, v *infra.Instance) { lists(s); v.Unreadable = true }, false},
		"Karpenter made it": {func(_ *scene, v *infra.Instance) { v.Maker = "Karpenter" }, true},
		"Karpenter made it, and it is a Node": {func(s *scene, v *infra.Instance) {
			v.Maker, v.Keys = "Karpenter", append(v.Keys, bios("b-k"))
			s.node(prod, bios("b-k"), "")
		}, true},
		"a Node that somebody joined": {func(s *scene, v *infra.Instance) {
			v.Keys = append(v.Keys, bios("b-k"))
			s.node(prod, bios("b-k"), "")
		}, false},
		"a Node of the control plane": {func(s *scene, v *infra.Instance) {
			v.Maker, v.Keys = "Karpenter", append(v.Keys, bios("b-k"))
			s.node(prod, bios("b-k"), "").ControlPlane = true
		}, false},
	} {
		s := newScene()
		s.worker("m")
		s.vmOf("m")
		byFolder(s)
		c.change(s, s.vm("jump", key("folder", "f")))
		r := s.detect()
		if len(r.Unattributed) != 1 {
			t.Fatalf("%s: %d instances to confirm", name, len(r.Unattributed))
		}
		if is := r.Unattributed[0].Untouched != ""; is != c.untouched || (r.Status == code.Healthy) != c.untouched {
			t.Errorf("%s: untouched is %q, status %s", name, r.Unattributed[0].Untouched, r.Status)
		}
	}
}
