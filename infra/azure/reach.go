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
	public := Clouds[publicCloud]
	t := infra.Target{Provider: Name, Endpoint: public.Manager.String(), Account: UUIDOf(at)}
	if t.Account == "" {
		t.Refused = &infra.Fault{Reason: code.NoCredential, Message: "what leads to the place is no id of a subscription", Hint: "give the id that az account show prints"}
		return t
	}
	f, err := p.ofOperator(home{cloud: publicCloud, subscription: t.Account}, infra.Access{Options: map[string]string{flagCLI: "true"}})
	if err != nil {
		t.Refused = &infra.Fault{Reason: code.NoCredential, Message: err.Error(), Hint: "log in with az login"}
		return t
	}
	d := &Detail{Seek: newSeek()}
	for _, id := range s.IDs {
		if vm := vmOf(id); vm != "" {
			arm, _ := ParseID(vm)
			d.Seek.note(vm, time.Time{})
			d.Seek.Groups[arm.GroupID()] = true
			if set := SetOf(vm); set != "" {
				d.Seek.Sets[set] = true
				t.Probes = append(t.Probes, infra.Key{Kind: KeyPool, Value: set})
			}
			t.Probes = append(t.Probes, Answered(arm.GroupID()))
		}
	}
	slices.SortFunc(t.Probes, capi.CompareKeys)
	t.Probes = slices.Compact(t.Probes)
	t.Detail, t.Credential, t.Source, t.Redaction = d, f.Credential, f.source, infra.NewRedaction()
	t.Own = []infra.Own{{IDs: t.IDs}} // it is the operator's
	t.Use = "Azure subscription " + t.Account + ": " + f.source
	return t
}
