package backup_test

import (
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

func TestStandsKnowsTheGeneration(t *testing.T) {
	type thing struct{ Ready backup.Standing }
	kind := backup.NewKind(things, backup.Stands(func(t *thing) *backup.Standing { return &t.Ready }, "status.conditions", "Ready"))
	ready := func(status string, generation ...any) object {
		c := object{"type": "Ready", "status": status}
		if len(generation) > 0 {
			c["observedGeneration"] = generation[0]
		}
		return c
	}
	other := object{"type": "Other", "status": "True", "observedGeneration": 7}
	for name, c := range map[string]struct {
		generation any
		conditions []any
		want       backup.Standing
	}{
		"absent":             {7, []any{other}, backup.Unsaid},
		"no conditions":      {7, []any{}, backup.Unsaid},
		"False":              {7, []any{other, ready("False", 7)}, backup.Unsaid},
		"True":               {7, []any{ready("True"), other}, backup.Holds},
		"True now":           {7, []any{other, ready("True", 7)}, backup.HoldsNow},
		"True before":        {7, []any{other, ready("True", 6)}, backup.Unsaid},
		"generation unknown": {nil, []any{ready("True", 7)}, backup.Unsaid},
		"twice":              {7, []any{ready("False", 7), ready("True", 7)}, backup.Unsaid},
	} {
		t.Run(name, func(t *testing.T) {
			o := newThing("t", object{})
			o["metadata"].(object)["generation"] = c.generation
			o["status"] = object{"conditions": c.conditions}
			b := withCluster()
			b.Add(things, o)
			s, _ := loadAll(t, backup.Want{Kinds: []backup.AnyKind{kind}}, backuptest.Source("b", b.Bytes()))
			for r := range kind.In(s).All() {
				if r.Data.Ready != c.want {
					t.Errorf("read %d, want %d", r.Data.Ready, c.want)
				}
			}
			if kind.In(s).Len() != 1 {
				t.Errorf("problems %v", s.Problems)
			}
		})
	}
}
