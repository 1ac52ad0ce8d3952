package backup_test

import (
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

func TestStandsKnowsTheGeneration(t *testing.T) {
	type thing struct{ Ready backup.ConditionState }
	kind := backup.NewKind(things, backup.HasCondition(func(t *thing) *backup.ConditionState { return &t.Ready }, "Ready", "status.v1beta2.conditions", "status.conditions"))
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
		newer      []any
		want       backup.ConditionState
	}{
		"absent":                 {7, []any{other}, nil, backup.Unsaid},
		"no conditions":          {7, []any{}, nil, backup.Unsaid},
		"False":                  {7, []any{other, ready("False", 7)}, nil, backup.Unsaid},
		"True":                   {7, []any{ready("True"), other}, nil, backup.Holds},
		"True now":               {7, []any{other, ready("True", 7)}, nil, backup.HoldsNow},
		"True before":            {7, []any{other, ready("True", 6)}, nil, backup.Unsaid},
		"generation unknown":     {nil, []any{ready("True", 7)}, nil, backup.Unsaid},
		"twice":                  {7, []any{ready("False", 7), ready("True", 7)}, nil, backup.Unsaid},
		"newer list only":        {7, nil, []any{ready("True", 7)}, backup.HoldsNow},
		"both lists":             {7, []any{ready("True")}, []any{other, ready("True", 7)}, backup.HoldsNow},
		"newer list lacks it":    {7, []any{ready("True")}, []any{other}, backup.Holds},
		"newer list says before": {7, []any{ready("True")}, []any{ready("True", 6)}, backup.Unsaid},
		"newer list says False":  {7, []any{ready("True")}, []any{ready("False", 7)}, backup.Unsaid},
	} {
		t.Run(name, func(t *testing.T) {
			o := newThing("t", object{})
			o["metadata"].(object)["generation"] = c.generation
			o["status"] = object{"conditions": c.conditions, "v1beta2": object{"conditions": c.newer}}
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
