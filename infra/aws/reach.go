package aws

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

// Reach leads to the account and region that the AWS CLI is at with a profile.
func (p *provider) Reach(at string, s infra.Sought) infra.Target {
	t := infra.Target{Provider: Name, Endpoint: "AWS", Location: s.Location}
	if !regionForm.MatchString(s.Location) || strings.TrimSpace(at) == "" {
		t.Refused = &infra.Fault{Reason: code.BadEndpoint, Message: "profile or region is not the name of one", Hint: "give the profile that the AWS CLI gets with --profile"}
		return t
	}
	t.Endpoint, t.Dial = p.endpoint(s.Location)
	d := &detail{region: s.Location, groups: map[string][]string{}}
	for _, id := range s.IDs {
		if id = instanceIDOf(id); id != "" {
			d.ids = append(d.ids, id)
		}
	}
	slices.Sort(d.ids)
	d.ids = slices.Compact(d.ids)
	if s.Member != "" {
		t.Probes = append(t.Probes, memberKey(s.Member))
	}
	for name, kind := range s.Present {
		if kind == vpcResource {
			t.Probes = append(t.Probes, infra.Key{Kind: keyVPC, Value: name})
		}
	}
	slices.SortFunc(t.Probes, capi.CompareKeys)
	f := ofOperator(infra.Access{Options: map[string]string{flagProfile: at}})
	t.Detail, t.Credential, t.Source, t.Redaction = d, f.credential, f.source, infra.NewRedaction()
	t.Own = []infra.Own{{}} // it is the operator's
	t.Use = fmt.Sprintf("AWS region %s: %s", s.Location, f.source)
	return t
}

// memberKey returns the probe of the autoscaling group that has a member.
func memberKey(id string) infra.Key { return infra.Key{Kind: keyASG, Value: "member/" + id} }
