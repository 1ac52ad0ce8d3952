package aws

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of AWSManagedControlPlane. That the control plane is gone is a resource of the report.
var (
	rowE4 = &walk.Row{
		ID: "aws.E4", Of: planeKind,
		Asks:      "the EKS control plane of its name",
		Refused:   "EKS control planes: where there is none CAPA creates an empty one",
		Condition: conditionAsked,
		Source:    "reconcileCluster: pkg/cloud/services/eks/cluster.go v2.0.0 to v2.13.0",
	}
	rowE5 = &walk.Row{
		ID: "aws.E5", Of: planeKind,
		Asks:    "the status of the control plane",
		Differs: walk.Halts.Says("it never becomes ready: CAPA writes neither endpoint nor kubeconfig, and its node groups wait"),
		Source:  "setStatus: pkg/cloud/services/eks/cluster.go v2.0.0 to v2.13.0",
	}
	rowE6 = &walk.Row{
		ID: "aws.E6", Of: planeKind,
		Asks:     "a Kubernetes version of EKS that is not newer than spec.version, where spec.upgradePolicy is standard",
		Differs:  walk.Halts.Says("it never becomes ready: CAPA writes neither endpoint nor kubeconfig, and its node groups wait"),
		Versions: "v2.10 and later",
		Source:   "setStatus: pkg/cloud/services/eks/cluster.go v2.10.3 to v2.13.0",
	}
	rowE7 = &walk.Row{
		ID: "aws.E7", Of: planeKind,
		Asks:    "the endpoint of EKS, which it writes into spec.controlPlaneEndpoint",
		Differs: walk.Halts.Says("EKS created another control plane of the name: nothing answers at the recorded endpoint, and what ran there is not in it"),
		Source:  "reconcileCluster: pkg/cloud/services/eks/cluster.go v2.0.0 to v2.13.0",
	}
	rowE11 = &walk.Row{
		ID: "aws.E11", Of: planeKind,
		Asks:    "a Kubernetes version of EKS that is not older than spec.version",
		Differs: walk.Does{Effect: walk.Writes, What: "CAPA upgrades the control plane, by one minor version after the other, and there is no way back", Code: code.ChangesUndone},
		Source:  "reconcileClusterVersion: pkg/cloud/services/eks/cluster.go v2.0.0 to v2.13.0",
	}
	rowE12 = &walk.Row{
		ID: "aws.E12", Of: planeKind,
		Asks:    "who may reach the endpoint, which is to be as spec.endpointAccess says",
		Differs: walk.Does{Effect: walk.Writes, What: "CAPA sets it back, and shuts out everyone who was let in since the backup", Code: code.ChangesUndone},
		Source:  "reconcileVpcConfig, publicAccessCIDRsEqual: pkg/cloud/services/eks/cluster.go v2.0.0 to v2.13.0",
	}
	rowE13 = &walk.Row{
		ID: "aws.E13", Of: planeKind,
		Asks:     "the authentication mode, which is to be that of spec.accessConfig",
		Differs:  walk.Does{Effect: walk.Writes, What: "CAPA sets it back; from API there is no way back, so that nothing that comes later is done", Code: code.ChangesUndone},
		Versions: "v2.10 and later",
		Source:   "reconcileAccessConfig: pkg/cloud/services/eks/cluster.go v2.10.0 to v2.13.0",
	}
	rowE16 = &walk.Row{
		ID: "aws.E16", Of: planeKind,
		Asks:    "the key with which EKS encrypts Secrets, which is to be that of spec.encryptionConfig",
		None:    walk.Does{Effect: walk.Writes, What: "CAPA turns encryption on, and there is no way back", Code: code.ChangesUndone},
		Differs: walk.Halts.Says("CAPA may not take it back, and fails in every pass before all that comes later: tags, OIDC provider and add-ons"),
		Source:  "reconcileEKSEncryptionConfig: pkg/cloud/services/eks/cluster.go v2.0.0 to v2.13.0",
	}
	planeRows = []*walk.Row{rowE4, rowE5, rowE6, rowE7, rowE11, rowE12, rowE13, rowE16}
)

// askPlane asks for the control plane of an EKS cluster, in CAPA's order, which ends at the
// first that it does not pass.
func (q *questions) askPlane(id backup.ClusterID, s *clusterLocation) {
	object := "EKS control plane " + s.tag
	q.look(rowE4, id, infra.ClusterTitle(id), func(p *place) walk.Answer {
		_, _, open := read[PlaneFact](p, FactPlane, s.tag, object)
		return orPass(open)
	})
	for _, ask := range []struct {
		row *walk.Row
		of  func(*clusterLocation, *PlaneFact) string // why it differs
	}{
		{rowE5, (*clusterLocation).failed},
		{rowE6, (*clusterLocation).outrun},
		{rowE7, (*clusterLocation).elsewhere},
		{rowE11, (*clusterLocation).behind},
		{rowE12, (*clusterLocation).opened},
		{rowE13, (*clusterLocation).authenticated},
		{rowE16, (*clusterLocation).encrypted},
	} {
		q.look(ask.row, id, infra.ClusterTitle(id), func(p *place) walk.Answer {
			f, there, _ := read[PlaneFact](p, FactPlane, s.tag, object)
			if !there {
				return walk.Answer{} // E4, or the resource, says it
			}
			if why := ask.of(s, &f); why != "" {
				found := walk.Differs
				if ask.row == rowE16 && f.Key == "" {
					found = walk.None
				}
				return answer(found, object, object+" "+why, "is as "+s.title()+" specifies it")
			}
			return pass
		})
	}
}

func (s *clusterLocation) failed(f *PlaneFact) string {
	if f.Status == "FAILED" || f.Status == "PENDING" || f.Status == "DELETING" {
		return "is " + f.Status
	}
	return ""
}

func (s *clusterLocation) outrun(f *PlaneFact) string {
	// No version is one of 0.0.0 to CAPA (parseClusterVersionString in pkg/cloud/services/eks/cluster.go v2.10.3 to v2.11.1).
	if d := &s.record.Data.EKS; d.UpgradePolicy == "standard" && older(cmp.Or(d.Version, "0.0.0"), f.Version) {
		return fmt.Sprintf("has version %s, and %s says %s", f.Version, s.title(), said(d.Version))
	}
	return ""
}

func (s *clusterLocation) elsewhere(f *PlaneFact) string {
	host := HostOf(s.record.Data.Endpoint)
	if host == "" || f.Endpoint == "" || host == f.Endpoint {
		return ""
	}
	return fmt.Sprintf("answers at %s, and %s says %s", f.Endpoint, s.title(), host)
}

func (s *clusterLocation) behind(f *PlaneFact) string {
	if want := s.record.Data.EKS.Version; want != "" && older(f.Version, want) {
		return fmt.Sprintf("has version %s, and %s specifies %s", f.Version, s.title(), want)
	}
	return ""
}

// opened asks E12 as CAPA does: public by default, from everywhere where no networks are
// named.
func (s *clusterLocation) opened(f *PlaneFact) string {
	want := struct {
		Public      *bool
		Private     bool
		PublicCIDRs []string
	}{}
	_ = json.Unmarshal([]byte(s.record.Data.EKS.EndpointAccess), &want)
	public := want.Public == nil || *want.Public
	switch {
	case public != f.Public || want.Private != f.Private:
		return fmt.Sprintf("has public access %t and private access %t, and %s specifies %t and %t", f.Public, f.Private, s.title(), public, want.Private)
	case public && networks(f.CIDRs) != networks(want.PublicCIDRs):
		return fmt.Sprintf("may be reached from %s, and %s specifies %s", networks(f.CIDRs), s.title(), networks(want.PublicCIDRs))
	}
	return ""
}

const everywhere = "everywhere"

func networks(all []string) string {
	all = slices.Sorted(slices.Values(all))
	all = slices.Compact(all)
	if rest := slices.DeleteFunc(slices.Clone(all), func(c string) bool { return c == "0.0.0.0/0" || c == "::/0" }); len(rest) == 0 {
		return everywhere
	}
	return strings.Join(all, ", ")
}

var modes = map[string]string{"config_map": "CONFIG_MAP", "api": "API", "api_and_config_map": "API_AND_CONFIG_MAP"}

func (s *clusterLocation) authenticated(f *PlaneFact) string {
	want := s.record.Data.EKS.Mode
	if known := modes[strings.ToLower(want)]; known != "" {
		want = known
	}
	if want == "" || f.Mode == "" || want == f.Mode {
		return ""
	}
	return fmt.Sprintf("has authentication mode %s, and %s specifies %s", f.Mode, s.title(), want)
}

// encrypted asks E16.
func (s *clusterLocation) encrypted(f *PlaneFact) string {
	var want struct {
		Provider  string
		Resources []string
	}
	_ = json.Unmarshal([]byte(s.record.Data.EKS.Encryption), &want)
	if len(want.Resources) == 0 {
		want.Provider = ""
	}
	if f.Key == want.Provider {
		return ""
	}
	return fmt.Sprintf("encrypts Secrets with %s, and %s specifies %s", said(f.Key), s.title(), said(want.Provider))
}

// older reports whether a Kubernetes version is older than another by its major and minor
// number; EKS has no others. It is false of what is no version.
func older(a, b string) bool {
	x, y := minor(a), minor(b)
	return x >= 0 && y >= 0 && x < y
}

// minor returns a version as one number; -1 when it is none.
func minor(version string) int {
	parts := strings.SplitN(strings.TrimPrefix(strings.TrimSpace(version), "v"), ".", 3)
	if len(parts) < 2 {
		return -1
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil || n >= 1000 {
		return -1
	}
	return major*1000 + n
}
