// Package nodes reads the Node lists of the workload clusters, through the
// kubeconfigs that Cluster API keeps in Secrets and that the backup holds.
//
// It is one more provider whose listings hold Nodes instead of instances. They
// are evidence: a cluster whose API server cannot be read loses evidence and
// nothing else. A kubeconfig from a backup is data from outside, and so are the
// answers of the server that it names: kubeconfig.go says what is refused of
// the first, page.go what is accepted of the second.
package nodes

import (
	"cmp"
	"fmt"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// Name is the provider's name in listings and in the report.
const Name = "workload"

// States of a Node list, as Listing.NodeState and the report spell them.
const (
	stateRead         = "read"
	stateSkipped      = "skipped"
	stateNoKubeconfig = "noKubeconfig"
	stateUnreachable  = "unreachable"
	stateDenied       = "denied"
)

// secretKey is the key under which Cluster API stores a kubeconfig in the
// Secret <cluster>-kubeconfig (Cluster API util/secret/consts.go v1.14.0). The
// other keys that EKS adds (relative, token-file) are not asked for.
const secretKey = "value"

const hintKubeconfig = "give a kubeconfig with an embedded client certificate or token under endpoints: of a --credentials file ({endpoint: …, kubeconfig: FILE}), or leave the Node lists out with --skip-access-apiserver"

type provider struct {
	others *infra.Registry // of the instances that Nodes run on
	logins infra.Logins    // that failed
	bounds
}

// bounds are what reading one cluster may take. An API server's answer is data
// from outside, too.
type bounds struct {
	call    time.Duration // for one page
	connect time.Duration // for TCP and for TLS, each
	pages   int
	page    int64 // bytes
	nodes   int
	retry   infra.Retry
}

// pageBounds leave room for 2,000 names and values of each Node of a page, and ten times as
// much for one. An API server keeps no object of more than 1.5 MiB.
var pageBounds = infra.Bounds{Items: 1_000_000, Part: infra.Part{Levels: 3, Items: 20_000, Bytes: 4 << 20}}

// generous bounds leave room for any real cluster: Kubernetes supports 5,000
// Nodes (kubernetes.io "Considerations for large clusters").
var generous = bounds{
	call: 30 * time.Second, connect: 10 * time.Second, pages: 1000, page: 64 << 20, nodes: 100_000, retry: infra.Patient,
}

// New returns the provider of Node lists. The others turn the provider id of a Node
// into the keys of its instance, and say which controllers make kubeconfigs.
func New(others *infra.Registry) infra.Provider {
	return &provider{others: others, bounds: generous}
}

// Spec asks for the kubeconfig Secrets and for nothing else.
func (p *provider) Spec() infra.Spec {
	return infra.Spec{
		Name: Name, NodesOnly: true,
		Want:  backup.Want{Secrets: []backup.SecretRule{{Name: "*-kubeconfig", Optional: []string{secretKey}, Digest: digest, Login: true}}},
		Keys:  func(string) []infra.Key { return nil },
		Rules: []check.Rule{ruleKubeconfig, ruleKubeconfigMade, ruleUnreadable, ruleExpired, ruleExpiredMade, ruleExpiring},
	}
}

// Expected returns none: Nodes confirm what other providers claim.
func (p *provider) Expected(*backup.Snapshot) infra.Expected { return infra.Expected{} }

// Targets returns one Target for each cluster. Where nothing can be listed the
// Target says why, in Refused and NodeState.
func (p *provider) Targets(s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) []infra.Target {
	targets := make([]infra.Target, 0, len(s.Clusters))
	for i := range s.Clusters {
		targets = append(targets, target(s, &s.Clusters[i], secrets, a))
	}
	return targets
}

// clusterUID is that of a Cluster object; empty for one that is derived from others.
type clusterUID string

// Same reports whether the Cluster of another backup may be the same, not one that was made
// under its name after it had been deleted. Nodes of one are none of the other's.
func (u clusterUID) Same(detail any) bool {
	o, ok := detail.(clusterUID)
	return ok && (u == o || u == "" || o == "")
}

func target(s *backup.Snapshot, c *backup.Cluster, secrets *backup.Secrets, a infra.Access) infra.Target {
	id := c.ID()
	t := infra.Target{
		IDs:      []string{fmt.Sprintf("nodes/%d/%s/%s", id.Backup, id.Namespace, id.Name)},
		Provider: Name,
		Endpoint: c.Endpoint,
		Clusters: []backup.ClusterID{id},
		Detail:   clusterUID(c.Meta.UID),
	}
	if a.SkipNodes {
		t.NodeState = stateSkipped
		return t
	}
	found, source, operators, ok := kubeconfigOf(c, secrets, a)
	if !ok {
		t.NodeState = stateNoKubeconfig
		secret := fmt.Sprintf("Secret %s/%s-kubeconfig", id.Namespace, id.Name)
		lacks := s.Subject().The() + " holds no " + secret + " with a kubeconfig"
		if s.IsUnread(id.Backup, "Secret") {
			lacks = secret + " could not be read"
		}
		t.Refused = &infra.Fault{
			Reason:  code.NoKubeconfig,
			Message: lacks,
			Hint:    hintKubeconfig,
		}
		return t
	}
	t.Source = source
	login, err := found.login()
	if err != nil {
		t.NodeState = stateNoKubeconfig
		t.Refused = &infra.Fault{Reason: code.KubeconfigRefused, Message: fmt.Sprintf("the kubeconfig in %s is not used: %v", source, err), Hint: hintKubeconfig}
		return t
	}
	login.operators, login.kubeadm = operators, c.ControlPlane.Kind == "KubeadmControlPlane"
	t.Endpoint, t.Dial = login.endpoint.String(), a.DialAddress(login.endpoint)
	t.Account = login.account()
	for _, ignored := range login.ignored {
		t.Warnings = append(t.Warnings, fmt.Sprintf("cluster %s/%s: %s of the kubeconfig in %s is ignored", id.Namespace, id.Name, ignored, source))
	}
	t.Credential, t.Redaction = login, infra.NewRedaction(login.token, backup.NewSensitive(string(found.user.ClientKeyData)))
	t.NodeState = stateUnreachable // until List says otherwise
	t.Use = fmt.Sprintf("using %s for the API server %s of cluster %s/%s", source, t.Endpoint, id.Namespace, id.Name)
	return t
}

// kubeconfigOf returns the operator's kubeconfig for the cluster, else the
// backup's, and says where it comes from. The operator's is found by the server
// that the backup's kubeconfig names, or by the cluster's endpoint.
func kubeconfigOf(c *backup.Cluster, secrets *backup.Secrets, a infra.Access) (found kubeconfig, source string, operators, ok bool) {
	name := c.Meta.Name + code.KubeconfigSecret
	var text backup.Sensitive
	if secret := secrets.Named(c.Backup, c.Namespace, name); secret != nil {
		text = secret.Value(secretKey)
	}
	found = parse(text, maxKubeconfig)
	for _, endpoint := range []string{found.server(), c.Endpoint} {
		if own, given := a.CredentialFor(endpoint); given && !own.Kubeconfig.IsZero() {
			return parse(own.Kubeconfig, maxOperators), cmp.Or(own.Source, "the operator's kubeconfig"), true, true
		}
	}
	return found, fmt.Sprintf("Secret %s/%s", c.Namespace, name), false, !text.IsZero()
}
