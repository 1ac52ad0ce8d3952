package backup

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// selfFields are what kubeadm leaves in a cluster about its own endpoint:
// ConfigMap kube-public/cluster-info holds a kubeconfig, ConfigMap
// kube-system/kubeadm-config the ClusterConfiguration.
type selfFields struct {
	Kubeconfig, Configuration string
}

var selfKind = func() *Kind[selfFields] {
	k := NewKind("configmaps",
		Text(func(t *selfFields) *string { return &t.Kubeconfig }, "data.kubeconfig"),
		Text(func(t *selfFields) *string { return &t.Configuration }, "data.ClusterConfiguration"),
	)
	k.only = func(namespace, name []byte) bool {
		return slices.ContainsFunc(SelfConfigMaps, func(o struct{ Namespace, Name string }) bool {
			return string(namespace) == o.Namespace && string(name) == o.Name
		})
	}
	return k
}()

// SelfConfigMaps are the ConfigMaps that are read, and no others.
var SelfConfigMaps = []struct{ Namespace, Name string }{{"kube-public", "cluster-info"}, {"kube-system", "kubeadm-config"}}

// What a backup holds of the management cluster's own Nodes, beside its Clusters: the Nodes, and where Pods run.
type (
	nodeFields struct{ ProviderID string }
	podFields  struct{ Node string }
)

var (
	nodeKind = NewKind("nodes", Text(func(n *nodeFields) *string { return &n.ProviderID }, "spec.providerID"))
	podKind  = func() *Kind[podFields] {
		k := NewKind("pods", Text(func(p *podFields) *string { return &p.Node }, "spec.nodeName"))
		k.only = func(namespace, _ []byte) bool {
			return string(namespace) == "kube-system" || string(namespace) == "capi-system"
		}
		return k
	}()
	// selfKinds are those that a management cluster that runs is not asked for.
	selfKinds = []AnyKind{selfKind, nodeKind, podKind}
)

// tkgSystem is where Tanzu Kubernetes Grid keeps the objects of the management
// cluster itself (vmware-tanzu/tanzu-framework tkg/constants/cluster_internal.go v0.28.1).
const tkgSystem = "tkg-system"

// markSelf marks the management cluster among the clusters.
func (a *assembly) markSelf() {
	own := make([]map[string]bool, len(a.snapshot.Backups))
	for r := range selfKind.In(a.snapshot).All() {
		for _, at := range []string{
			serverOf(r.Data.Kubeconfig, "server:"),
			serverOf(r.Data.Configuration, "controlPlaneEndpoint:"),
		} {
			if at == "" {
				continue
			}
			if own[r.Backup] == nil {
				own[r.Backup] = map[string]bool{}
			}
			own[r.Backup][at] = true
		}
	}
	runs := a.ownMachines()
	for i := range a.snapshot.Clusters {
		c := &a.snapshot.Clusters[i]
		c.Self = c.Namespace == tkgSystem || c.Endpoint != "" && own[c.Backup][strings.ToLower(c.Endpoint)] || runs[c.ID()]
	}
}

// ownMachines returns the clusters with a Machine whose Node is in the backup, or on whose Node of the same
// name a Pod runs that is: what a cluster's backup holds of both is its own. Other names of Nodes
// may be those of several clusters.
func (a *assembly) ownMachines() map[ClusterID]bool {
	type node struct {
		backup int
		name   string
	}
	nodes := map[node]bool{}
	for r := range nodeKind.In(a.snapshot).All() {
		nodes[node{r.Backup, r.Data.ProviderID}] = r.Data.ProviderID != ""
	}
	for r := range podKind.In(a.snapshot).All() {
		nodes[node{r.Backup, r.Data.Node}] = r.Data.Node != ""
	}
	runs := map[ClusterID]bool{}
	for i := range a.snapshot.Machines {
		m := &a.snapshot.Machines[i]
		if len(nodes) > 0 && (nodes[node{m.Backup, m.ProviderID}] || nodes[node{m.Backup, m.Name}]) {
			runs[m.Cluster] = true
		}
	}
	return runs
}

// serverOf finds the line of a YAML document that sets a member, and returns
// the host:port there. One line is all that is of interest, so that a document
// from outside needs no YAML parser.
func serverOf(document, member string) string {
	for line := range strings.Lines(document) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "- "))
		at, ok := strings.CutPrefix(line, member)
		if !ok {
			continue
		}
		at = strings.Trim(strings.TrimSpace(at), `"'`)
		if u, err := url.Parse(at); err == nil && u.Host != "" {
			at = u.Host
			if u.Port() == "" && u.Scheme == "https" {
				at = net.JoinHostPort(u.Hostname(), "443")
			}
		}
		if host, port, err := net.SplitHostPort(at); err == nil && host != "" {
			return strings.ToLower(net.JoinHostPort(host, port))
		}
	}
	return ""
}
