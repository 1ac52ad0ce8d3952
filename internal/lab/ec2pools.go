package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// pools are the machine pools of a backup, for which AWS holds launch templates and node
// groups.
type pools struct {
	clusters []placement
	all      []poolObject
	versions map[string]string // of MachinePools, by namespace and name of what they refer to
}

// poolObject is what an AWSMachinePool or an AWSManagedMachinePool says.
type poolObject struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Namespace string            `json:"namespace"`
		Name      string            `json:"name"`
		Labels    map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Nodegroup string            `json:"eksNodegroupName"`
		Fargate   string            `json:"profileName"`
		Role      string            `json:"roleName"`
		AMI       string            `json:"amiVersion"`
		Labels    map[string]string `json:"labels"`
		Taints    []struct {
			Effect string `json:"effect"`
			Key    string `json:"key"`
			Value  string `json:"value"`
		} `json:"taints"`
		Min       *int           `json:"minSize"`
		Max       *int           `json:"maxSize"`
		Rebalance bool           `json:"capacityRebalance"`
		Scaling   map[string]int `json:"scaling"`
		Update    map[string]int `json:"updateConfig"`
		Repair    map[string]any `json:"nodeRepairConfig"`
		Template  *struct {
			AMI struct {
				ID string `json:"id"`
			} `json:"ami"`
			Type     string `json:"instanceType"`
			Profile  string `json:"iamInstanceProfile"`
			Key      string `json:"sshKeyName"`
			Metadata *struct {
				Endpoint string `json:"httpEndpoint"`
				Tokens   string `json:"httpTokens"`
				Tags     string `json:"instanceMetadataTags"`
				Hops     int64  `json:"httpPutResponseHopLimit"`
			} `json:"instanceMetadataOptions"`
			Groups []struct {
				ID string `json:"id"`
			} `json:"additionalSecurityGroups"`
		} `json:"awsLaunchTemplate"`
	} `json:"spec"`
}

// read keeps an object of a tarball, if it is of a pool.
func (p *pools) read(parts []string, body io.Reader) error {
	switch {
	case strings.HasPrefix(parts[1], "awsmachinepools."), strings.HasPrefix(parts[1], "awsmanagedmachinepools."), strings.HasPrefix(parts[1], "awsfargateprofiles."):
		var o poolObject
		if err := json.NewDecoder(body).Decode(&o); err != nil {
			return fmt.Errorf("reading a pool: %w", err)
		}
		p.all = append(p.all, o)
	case strings.HasPrefix(parts[1], "machinepools."):
		var o struct {
			Metadata struct {
				Namespace string `json:"namespace"`
			} `json:"metadata"`
			Spec struct {
				Template struct {
					Spec struct {
						Version string `json:"version"`
						Ref     struct {
							Name string `json:"name"`
						} `json:"infrastructureRef"`
					} `json:"spec"`
				} `json:"template"`
			} `json:"spec"`
		}
		if err := json.NewDecoder(body).Decode(&o); err != nil {
			return fmt.Errorf("reading a pool: %w", err)
		}
		if p.versions == nil {
			p.versions = map[string]string{}
		}
		p.versions[o.Metadata.Namespace+"/"+o.Spec.Template.Spec.Ref.Name] = strings.TrimPrefix(o.Spec.Template.Spec.Version, "v")
	}
	return nil
}

// parts returns what CAPA made for the pools.
func (p *pools) parts() []networkObject {
	var all []networkObject
	seen := map[string]bool{} // a backup may hold an object in several versions
	for i := range p.all {
		o := &p.all[i]
		if key := o.Kind + " " + o.Metadata.Namespace + "/" + o.Metadata.Name; seen[key] {
			continue
		} else {
			seen[key] = true
		}
		cluster := o.Metadata.Labels["cluster.x-k8s.io/cluster-name"]
		at := slices.IndexFunc(p.clusters, func(c placement) bool {
			return c.Metadata.Namespace == o.Metadata.Namespace && cmp.Or(c.Metadata.Labels["cluster.x-k8s.io/cluster-name"], c.Metadata.Name) == cluster
		})
		if at < 0 {
			continue
		}
		c := &p.clusters[at]
		if t := o.template(c); t != nil {
			all = append(all, networkObject{kind: templatesAction, region: c.Spec.Region, id: t["name"].(string), eks: t})
		}
		all = append(all, networkObject{kind: roleAction, region: c.Spec.Region, id: o.Spec.Role})
		if o.Kind == "AWSFargateProfile" {
			all = append(all, networkObject{kind: profileAction, region: c.Spec.Region, id: cmp.Or(c.Spec.EKS, c.Metadata.Namespace+"_"+c.Metadata.Name) + "/" + o.Spec.Fargate, eks: map[string]any{
				"fargateProfileName": o.Spec.Fargate, "status": "ACTIVE", "tags": map[string]string{"kubernetes.io/cluster/" + cluster: "owned"},
			}})
		}
		if o.Spec.Min != nil && o.Spec.Max != nil {
			all = append(all, networkObject{kind: boundsOfGroup, region: c.Spec.Region, id: o.Metadata.Name, eks: map[string]any{
				"MinSize": *o.Spec.Min, "MaxSize": *o.Spec.Max, "CapacityRebalance": o.Spec.Rebalance,
			}})
		}
		if o.Kind == "AWSManagedMachinePool" {
			name := cmp.Or(o.Spec.Nodegroup, o.Metadata.Namespace+"_"+strings.ReplaceAll(o.Metadata.Name, ".", "_"))
			plane := cmp.Or(c.Spec.EKS, c.Metadata.Namespace+"_"+c.Metadata.Name)
			group := map[string]any{
				"nodegroupName": name, "clusterName": plane, "status": "ACTIVE", "releaseVersion": cmp.Or(o.Spec.AMI, "1.34.2-20261001"), "labels": o.Spec.Labels,
				"version": cmp.Or(p.versions[o.Metadata.Namespace+"/"+o.Metadata.Name], "1.34"), "tags": map[string]string{"kubernetes.io/cluster/" + cluster: "owned"},
			}
			var taints []map[string]string
			for _, t := range o.Spec.Taints {
				taints = append(taints, map[string]string{"key": t.Key, "value": t.Value, "effect": strings.ToUpper(strings.ReplaceAll(t.Effect, "-", "_"))})
			}
			group["taints"], group["updateConfig"], group["nodeRepairConfig"] = taints, o.Spec.Update, o.Spec.Repair
			if group["scalingConfig"] = o.Spec.Scaling; o.Spec.Scaling == nil {
				group["scalingConfig"] = map[string]int{"minSize": 1, "maxSize": 1}
			}
			if o.Spec.Template != nil {
				group["launchTemplate"] = map[string]any{"version": "1"}
			}
			all = append(all, networkObject{kind: nodegroupAction, region: c.Spec.Region, id: plane + "/" + name, eks: group})
		}
	}
	return all
}

// template returns the launch template of a pool, or nil. What is looked up is not in it.
func (o *poolObject) template(c *placement) map[string]any {
	t := o.Spec.Template
	if t == nil {
		return nil
	}
	name, groups := o.Metadata.Name, []string{"node", "lb"}
	if c.Kind == "AWSManagedControlPlane" {
		groups = []string{"cluster", "node-eks-additional"}
		if o.Kind == "AWSManagedMachinePool" {
			name = c.Metadata.Name + "-" + name
		}
	}
	var ids []string
	for _, role := range groups {
		ids = append(ids, cmp.Or(c.Spec.Network.Overrides[role], c.Status.Network.SecurityGroups[role].ID))
	}
	for _, g := range t.Groups {
		ids = append(ids, g.ID)
	}
	return map[string]any{"name": name, "of": t, "groups": ids}
}

// describeTemplates answers with the newest versions of all launch templates.
func (e *EC2) describeTemplates(c *apiCall) (element, *refusal) {
	if versions := c.list("LaunchTemplateVersion"); len(versions) != 1 || versions[0] != "$Latest" || c.form.Has("LaunchTemplateName") {
		return element{}, refuse(http.StatusBadRequest, "InvalidParameterCombination", "the lab describes the newest versions of all templates alone")
	}
	set := branch("launchTemplateVersionSet")
	for _, p := range e.visible(c, templatesAction) {
		text, _ := json.Marshal(p.eks["of"])
		var o poolObject
		_ = json.Unmarshal(text, &o.Spec.Template)
		t := o.Spec.Template
		data := branch("launchTemplateData", leaf("instanceType", t.Type))
		add := func(name, value string) {
			if value != "" {
				data.Children = append(data.Children, leaf(name, value))
			}
		}
		add("imageId", t.AMI.ID)
		add("keyName", t.Key)
		if t.Profile != "" {
			data.Children = append(data.Children, branch("iamInstanceProfile", leaf("name", t.Profile)))
		}
		if m := t.Metadata; m != nil {
			data.Children = append(data.Children, branch("metadataOptions", leaf("httpEndpoint", cmp.Or(m.Endpoint, "enabled")), leaf("httpTokens", cmp.Or(m.Tokens, "optional")),
				leaf("instanceMetadataTags", cmp.Or(m.Tags, "disabled")), leaf("httpPutResponseHopLimit", fmt.Sprint(cmp.Or(m.Hops, 1)))))
		}
		ids := branch("securityGroupIdSet")
		for _, id := range textsOf(p.eks["groups"]) {
			ids.Children = append(ids.Children, leaf("item", id))
		}
		data.Children = append(data.Children, ids)
		set.Children = append(set.Children, branch("item", leaf("launchTemplateName", p.id), leaf("launchTemplateId", "lt-"+p.id), leaf("versionNumber", "1"), data))
	}
	return branch(c.action+"Response", leaf("requestId", "lab"), set), nil
}

func textsOf(list any) (out []string) {
	text, _ := json.Marshal(list)
	_ = json.Unmarshal(text, &out)
	return out
}

// describeOfPlane answers for one node group or Fargate profile of EKS.
func (e *EC2) describeOfPlane(c *apiCall) (answer any, bad *refusal) {
	member := map[string]string{nodegroupAction: "nodegroup", profileAction: "fargateProfile"}[c.iam()]
	for _, p := range e.visible(c, c.iam()) {
		if p.id == c.name {
			return map[string]any{member: p.eks}, nil
		}
	}
	return nil, refuse(http.StatusNotFound, "ResourceNotFoundException", "No %s found for name: %s.", member, c.name)
}
