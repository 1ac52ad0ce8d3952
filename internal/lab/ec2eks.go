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

// parseEKS reads what is asked for out of the path of a call.
func (c *apiCall) parseEKS(r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, "/clusters/")
	if !ok || r.Method != http.MethodGet {
		return
	}
	c.action, c.name = "DescribeCluster", name
	if cluster, group, of := strings.Cut(name, "/node-groups/"); of {
		c.action, c.name = "DescribeNodegroup", cluster+"/"+group
	}
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
