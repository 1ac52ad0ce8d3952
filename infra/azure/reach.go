package azure

import (
	"slices"
	"time"

	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

// Reach leads to the subscription that the az command is told with --subscription.
func (p *Provider) Reach(at string, s infra.Sought) infra.Target {
	public := clouds[publicCloud]
	t := infra.Target{Provider: Name, Endpoint: public.manager.String(), Account: uuidOf(at)}
	if t.Account == "" {
		t.Refused = &infra.Fault{Reason: code.NoCredential, Message: "what leads to the place is no id of a subscription", Hint: "give the id that az account show prints"}
		return t
	}
	f, err := p.ofOperator(home{cloud: publicCloud, subscription: t.Account}, infra.Access{Options: map[string]string{flagCLI: "true"}})
	if err != nil {
		t.Refused = &infra.Fault{Reason: code.NoCredential, Message: err.Error(), Hint: "log in with az login"}
		return t
	}
	d := &detail{seek: newSeek()}
	for _, id := range s.IDs {
		if vm := vmOf(id); vm != "" {
			arm, _ := parseID(vm)
			d.seek.note(vm, time.Time{})
			d.seek.groups[arm.groupID()] = true
			if set := setOf(vm); set != "" {
				d.seek.sets[set] = true
				t.Probes = append(t.Probes, infra.Key{Kind: keyPool, Value: set})
			}
			t.Probes = append(t.Probes, answered(arm.groupID()))
		}
	}
	slices.SortFunc(t.Probes, capi.CompareKeys)
	t.Probes = slices.Compact(t.Probes)
	t.Detail, t.Credential, t.Source, t.Redaction = d, f.credential, f.source, infra.NewRedaction()
	t.Own = []infra.Own{{IDs: t.IDs}} // it is the operator's
	t.Use = "Azure subscription " + t.Account + ": " + f.source
	return t
}
