package lab

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// describeCluster answers for one control plane of EKS. Its service speaks JSON, and
// names what is asked for in the path.
func (e *EC2) describeCluster(c *apiCall) (answer any, bad *refusal) {
	known := e.visible(c, eksAction)
	i := slices.IndexFunc(known, func(p networkObject) bool { return p.id == c.name })
	if i < 0 {
		return nil, refuse(http.StatusNotFound, "ResourceNotFoundException", "No cluster found for name: %s.", c.name)
	}
	access := known[i].eks["access"]
	if access == nil {
		access = map[string]any{"vpcId": known[i].vpc, "endpointPublicAccess": true}
	}
	return map[string]any{"cluster": map[string]any{
		"name": known[i].id, "status": cmp.Or(known[i].state, "ACTIVE"), "endpoint": known[i].dns,
		"version": known[i].eks["version"], "resourcesVpcConfig": access,
	}}, nil
}

// EKSCall returns the call of EKS that a request is, and what it is about: "DescribeAddon" and
// "plane/addon". EKS names what is asked for in the path.
func EKSCall(r *http.Request) (action, of string) {
	name, ok := strings.CutPrefix(r.URL.Path, "/clusters/")
	if !ok || r.Method != http.MethodGet && !strings.HasSuffix(name, "/identity-provider-configs/describe") {
		return "", ""
	}
	for _, of := range [...]struct{ path, one, all string }{
		{"/node-groups", "DescribeNodegroup", ""},
		{"/fargate-profiles", "DescribeFargateProfile", ""},
		{"/addons", "DescribeAddon", "ListAddons"},
		{"/access-entries", "DescribeAccessEntry", "ListAccessEntries"},
		{"/identity-provider-configs", "DescribeIdentityProviderConfig", "ListIdentityProviderConfigs"},
	} {
		plane, rest, there := strings.Cut(name, of.path)
		part, single := strings.CutPrefix(rest, "/")
		entry, policies := strings.CutSuffix(part, "/access-policies")
		switch {
		case there && single && policies:
			return "ListAssociatedAccessPolicies", plane + "/" + entry
		case there && single:
			return of.one, plane + "/" + part
		case there:
			return of.all, plane
		}
	}
	return "DescribeCluster", name
}

// describePlaneParts answers for add-ons and access entries, which are those of the backup.
func (e *EC2) describePlaneParts(c *apiCall) (answer any, bad *refusal) {
	plane, part, _ := strings.Cut(c.name, "/")
	known := e.visible(c, eksAction)
	i := slices.IndexFunc(known, func(p networkObject) bool { return p.id == plane })
	if i < 0 {
		return nil, refuse(http.StatusNotFound, "ResourceNotFoundException", "No cluster found for name: %s.", plane)
	}
	member, id := "addons", "name"
	if !strings.HasSuffix(c.action, "Addons") && !strings.HasSuffix(c.action, "Addon") {
		member, id = "entries", "principalARN"
	}
	all, _ := known[i].eks[member].([]map[string]any)
	names := []any{}
	var one map[string]any
	for _, o := range all {
		if names = append(names, o[id]); o[id] == part {
			one = o
		}
	}
	oidc, _ := known[i].eks["oidc"].(map[string]any)
	switch {
	case c.action == "ListIdentityProviderConfigs":
		all := []any{}
		if oidc != nil {
			all = append(all, map[string]any{"type": "oidc", "name": oidc["identityProviderConfigName"]})
		}
		return map[string]any{"identityProviderConfigs": all}, nil
	case c.action == "DescribeIdentityProviderConfig":
		return map[string]any{"identityProviderConfig": map[string]any{"oidc": oidc}}, nil
	case c.action == "ListAddons":
		return map[string]any{"addons": names}, nil
	case c.action == "ListAccessEntries":
		return map[string]any{"accessEntries": names}, nil
	case one == nil:
		return nil, refuse(http.StatusNotFound, "ResourceNotFoundException", "No %s found.", part)
	case c.action == "DescribeAddon":
		return map[string]any{"addon": map[string]any{
			"addonName": part, "addonVersion": one["version"], "serviceAccountRoleArn": one["serviceAccountRoleARN"], "configurationValues": one["configuration"], "status": "ACTIVE",
		}}, nil
	case c.action == "DescribeAccessEntry":
		kind, _ := one["type"].(string)
		return map[string]any{"accessEntry": map[string]any{
			"principalArn": part, "type": cmp.Or(strings.ToUpper(kind), "STANDARD"), "username": one["username"], "kubernetesGroups": one["kubernetesGroups"],
			"tags": map[string]any{"kubernetes.io/cluster/" + known[i].eks["owner"].(string): "owned"},
		}}, nil
	}
	policies := []any{}
	given, _ := one["accessPolicies"].([]any)
	for _, g := range given {
		p, _ := g.(map[string]any)
		policies = append(policies, map[string]any{"policyArn": p["policyARN"], "accessScope": p["accessScope"]})
	}
	return map[string]any{"associatedAccessPolicies": policies}, nil
}

// writeJSON answers a call of EKS.
func writeJSON(w http.ResponseWriter, answer any, bad *refusal) {
	w.Header().Set("Content-Type", "application/json")
	if bad != nil {
		w.Header().Set("X-Amzn-Errortype", bad.code)
		w.WriteHeader(bad.status)
		answer = map[string]string{"message": bad.message}
	}
	_ = json.NewEncoder(w).Encode(answer)
}
