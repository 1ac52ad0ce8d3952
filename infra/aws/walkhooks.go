package aws

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

var rowP12 = &walk.Row{
	ID: "aws.P12", Of: poolKind,
	Asks:      "the lifecycle hooks of the group, which are to be spec.lifecycleHooks",
	None:      walk.Does{Effect: walk.Writes, What: "CAPA creates the hook, for which members that start or end wait", Code: code.ChangesUndone},
	Differs:   walk.Does{Effect: walk.Writes, What: "CAPA deletes every other hook, such as one that drains Nodes, and sets changed ones back", Code: code.ChangesUndone},
	Refused:   "the lifecycle hooks of autoscaling groups",
	Condition: conditionAsked,
	Versions:  "v2.9 and later",
	Source:    "ReconcileLifecycleHooks: pkg/cloud/services/autoscaling/lifecyclehook.go v2.9.0 to v2.13.0",
}

// hooked asks P12. What the object leaves out is AWS's default.
func (p *pool) hooked(have []HookFact, object string) walk.Answer {
	var spec []struct {
		Name, LifecycleTransition, DefaultResult, HeartbeatTimeout string
		NotificationTargetARN, RoleARN, NotificationMetadata       string
	}
	_ = json.Unmarshal([]byte(p.record.Data.Hooks), &spec)
	var want []HookFact
	for _, h := range spec {
		seconds := int64(3600)
		if of, err := time.ParseDuration(h.HeartbeatTimeout); err == nil {
			seconds = int64(of.Seconds())
		}
		if h.DefaultResult == "" {
			h.DefaultResult = "ABANDON"
		}
		want = append(want, HookFact{h.Name, h.LifecycleTransition, h.DefaultResult, seconds, h.NotificationTargetARN, h.RoleARN, ConfigHash(h.NotificationMetadata)})
	}
	named := func(all []HookFact, name string) int {
		return slices.IndexFunc(all, func(h HookFact) bool { return h.Name == name })
	}
	for _, h := range have {
		hook := fmt.Sprintf("lifecycle hook %s of %s", h.Name, object)
		switch i := named(want, h.Name); {
		case i < 0:
			return answer(walk.Differs, object, p.object()+" has no "+hook, "has it no more, or spec.lifecycleHooks does")
		case want[i] != h:
			return answer(walk.Differs, object, hook+" is not as "+p.object()+" has it", "is as the object has it")
		}
	}
	for _, h := range want {
		if named(have, h.Name) < 0 {
			return answer(walk.None, object, fmt.Sprintf("%s lacks lifecycle hook %s", object, h.Name), "has it")
		}
	}
	return pass
}
