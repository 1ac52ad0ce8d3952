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
func (p *Provider) Reach(at string, s infra.Sought) infra.Target {
	t := infra.Target{Provider: Name, Endpoint: "AWS", Location: s.Location}
	if !regionForm.MatchString(s.Location) || strings.TrimSpace(at) == "" {
		t.Refused = &infra.Fault{Reason: code.BadEndpoint, Message: "profile or region is not the name of one", Hint: "give the profile that the AWS CLI gets with --profile"}
		return t
	}
	t.Endpoint, t.Dial = p.endpoint(s.Location)
	d := &Detail{Region: s.Location, Groups: map[string][]string{}}
	for _, id := range s.IDs {
		if id = instanceIDOf(id); id != "" {
			d.IDs = append(d.IDs, id)
		}
	}
	slices.Sort(d.IDs)
	d.IDs = slices.Compact(d.IDs)
	if s.Member != "" {
		t.Probes = append(t.Probes, MemberKey(s.Member))
	}
	for name, kind := range s.Present {
		if kind == vpcResource {
			t.Probes = append(t.Probes, infra.Key{Kind: KeyVPC, Value: name})
		}
	}
	slices.SortFunc(t.Probes, capi.CompareKeys)
	f := ofOperator(infra.Access{Options: map[string]string{flagProfile: at}})
	t.Detail, t.Credential, t.Source, t.Redaction = d, f.Credential, f.source, infra.NewRedaction()
	t.Own = []infra.Own{{}} // it is the operator's
	t.Use = fmt.Sprintf("AWS region %s: %s", s.Location, f.source)
	return t
}

// MemberKey returns the probe of the autoscaling group that has a member.
func MemberKey(id string) infra.Key { return infra.Key{Kind: KeyASG, Value: "member/" + id} }
