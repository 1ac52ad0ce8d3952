package program

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra/all"
	"drift-detector/infra/live"
)

// What --kubeconfig reads is in the ClusterRole that is printed for it: what is refused leaves a run
// incomplete.
func TestRoleListsWhatIsRead(t *testing.T) {
	text, _, _ := strings.Cut(live.Role, "\n---\n")
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict([]byte(text), &role); err != nil {
		t.Fatal(err)
	}
	kinds := all.Registry().Want().Kinds
	for _, w := range []backup.Want{check.Want(), rehearsal.Want()} {
		kinds = append(kinds, w.Kinds...)
	}
	for _, k := range kinds {
		resource, group, _ := strings.Cut(k.Resource(), ".")
		if !slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.Verbs, "list") && slices.Contains(r.APIGroups, group) && (slices.Contains(r.Resources, "*") || slices.Contains(r.Resources, resource))
		}) {
			t.Errorf("the role does not list %s", k.Resource())
		}
	}
}
