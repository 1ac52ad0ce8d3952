package aws

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

// Detail is what a listing needs beside the credential. It holds no secret.
type Detail struct {
	Region   string
	IDs      []string // instance ids that the backup records, sorted
	All      []string // those of all targets, of which two may see the same account
	Insecure bool
	// Groups are the names of the security groups that CAPA looks for, by VPC.
	Groups map[string][]string
	// Templates and Nodegroups are those of the pools, as AWS calls them.
	Templates  []string
	Nodegroups []NodegroupName
	// Access and OIDC are control planes whose access entries and identity providers are read,
	// Roles are IAM roles, Profiles are Fargate profiles.
	Access, OIDC, Roles []string
	Profiles            []NodegroupName
}

// Targets returns which regions to list, with which credential. Places that share
// region and credential are one target.
func (p *Provider) Targets(s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) []infra.Target {
	objs := newObjects(s)
	var targets []infra.Target
	known := map[caller]int{}
	for _, h := range objs.homeScopes() {
		t := p.target(objs, h, secrets, a)
		if c, ok := t.Credential.(Credential); ok && t.Refused == nil {
			of := c.caller(t.Location)
			if i, ok := known[of]; ok {
				merge(&targets[i], t)
				continue
			}
			known[of] = len(targets)
		}
		targets = append(targets, t)
	}
	var all []string
	for i := range targets {
		finish(&targets[i])
		if d, ok := targets[i].Detail.(*Detail); ok {
			all = append(all, d.IDs...)
		}
	}
	slices.Sort(all)
	for i := range targets {
		if d, ok := targets[i].Detail.(*Detail); ok {
			d.All = all
		}
	}
	return targets
}

func (p *Provider) target(objs *objects, h *homeScope, secrets *backup.Secrets, a infra.Access) infra.Target {
	t := infra.Target{
		IDs: []string{h.id}, Provider: Name, Location: regionName(h.region), Clusters: h.clusters,
		Probes: capi.SortedKeys(h.probes),
	}
	if !regionForm.MatchString(h.region) {
		t.Endpoint = "AWS"
		t.Refused = objs.refusedRegion(h)
		return t
	}
	t.Endpoint, t.Dial = p.endpoint(h.region)
	t.Detail = &Detail{Region: h.region, IDs: slices.Sorted(maps.Keys(h.ids)), Insecure: a.InsecureSkipVerify, Groups: h.groups, Templates: h.templates, Nodegroups: h.nodegroups, Access: h.access, OIDC: h.oidc, Roles: h.roles, Profiles: h.profiles}
	f, fault := objs.credentialOf(h, secrets, a)
	if fault != nil {
		fault.Message = fmt.Sprintf("no credential for AWS region %s: %s", h.region, fault.Message)
		t.Refused = fault
		return t
	}
	t.Credential, t.Source, t.Warnings = f.Credential, f.source, f.warnings
	t.Redaction = infra.NewRedaction(f.ID, f.Secret, f.Token)
	if f.Operator {
		own := infra.Own{IDs: t.IDs, Source: h.identity.String()}
		if of, fault := objs.credentialOf(h, secrets, infra.Access{}); fault == nil {
			own.Source, own.Credential = of.source, of.Credential
			t.Redaction.Add(of.ID, of.Secret, of.Token)
		}
		t.Own = []infra.Own{own}
	}
	if n := len(f.Roles); n > 0 {
		t.Account = roleForm.FindStringSubmatch(f.Roles[n-1].ARN)[1]
	}
	return t
}

// endpoint returns EC2's host in the region, and where the operator's environment
// says to reach it instead.
func (p *Provider) endpoint(region string) (host, dial string) {
	suffix := "amazonaws.com"
	switch {
	case strings.HasPrefix(region, "cn-"):
		suffix = "amazonaws.com.cn"
	case strings.HasPrefix(region, "eusc-"):
		suffix = "amazonaws.eu"
	}
	own := cmp.Or(p.Getenv("AWS_ENDPOINT_URL_EC2"), p.Getenv("AWS_ENDPOINT_URL"))
	if strings.EqualFold(p.Getenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"), "true") {
		own = ""
	}
	if _, after, ok := strings.Cut(own, "://"); ok {
		own = after
	}
	if at := strings.LastIndex(own, "@"); at >= 0 {
		own = own[at+1:]
	}
	own, _, _ = strings.Cut(own, "/")
	return "ec2." + region + "." + suffix, own
}

func (objs *objects) refusedRegion(h *homeScope) *infra.Fault {
	the := objs.snapshot.Subject().The()
	f := &infra.Fault{
		Reason: code.BadEndpoint, Message: fmt.Sprintf("region %q in %s is not the name of an AWS region", strings.TrimPrefix(regionName(h.region), "invalid:"), the),
		Hint: "correct spec.region of its AWSCluster or AWSManagedControlPlane",
	}
	if h.region == "" {
		f.Message = fmt.Sprintf("%s names no AWS region for %d of its clusters", the, len(h.clusters))
		f.Hint = "see which AWSCluster or AWSManagedControlPlane " + the + " lacks, or which of them has no spec.region"
	}
	return f
}

// merge adds a place to the target that is listed with the same credential.
func merge(into *infra.Target, t infra.Target) {
	into.Join(t)
	to := into.Detail.(*Detail)
	to.IDs = append(to.IDs, t.Detail.(*Detail).IDs...)
	to.Templates = append(to.Templates, t.Detail.(*Detail).Templates...)
	to.Nodegroups = append(to.Nodegroups, t.Detail.(*Detail).Nodegroups...)
	to.Access = append(to.Access, t.Detail.(*Detail).Access...)
	to.OIDC = append(to.OIDC, t.Detail.(*Detail).OIDC...)
	to.Roles = append(to.Roles, t.Detail.(*Detail).Roles...)
	to.Profiles = append(to.Profiles, t.Detail.(*Detail).Profiles...)
	for vpc, names := range t.Detail.(*Detail).Groups {
		to.Groups[vpc] = append(to.Groups[vpc], names...)
	}
}

// eachOnce joins what is the same credential, so that it is tried once.
func eachOnce(all []infra.Own) []infra.Own {
	var out []infra.Own
	at := map[caller]int{}
	for _, own := range all {
		c, there := own.Credential.(Credential)
		if i, known := at[c.caller("")]; known && there {
			out[i].IDs = append(slices.Clip(out[i].IDs), own.IDs...)
			continue
		}
		if there {
			at[c.caller("")] = len(out)
		}
		out = append(out, own)
	}
	return out
}

func finish(t *infra.Target) {
	capi.Tidy(t)
	d, ok := t.Detail.(*Detail)
	if !ok {
		return
	}
	slices.Sort(d.IDs)
	d.IDs = slices.Compact(d.IDs)
	d.Nodegroups = slices.Compact(d.Nodegroups)
	slices.Sort(d.Roles)
	d.Roles = slices.Compact(d.Roles)
	t.Own = eachOnce(t.Own)
	if t.Refused != nil {
		return
	}
	where := "AWS region " + t.Location
	if t.Dial != "" {
		where += " (reached at " + t.Dial + ")"
	}
	t.Use = where + ": " + t.Source
	if c, ok := t.Credential.(Credential); ok && c.Instead != nil {
		t.Use += "; if AWS refuses that key, " + c.insteadSource
	}
}
