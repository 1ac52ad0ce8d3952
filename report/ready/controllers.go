package ready

import (
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report"
)

// providerLabel is on all that a provider's manifests have, however they were installed (Cluster
// API core/config/default/kustomization.yaml v1.14.2).
const providerLabel = "cluster.x-k8s.io/provider"

// webhookKinds are those of which Cluster API itself has one each (its config/webhook/manifests.yaml
// v1.14.0): where one is lacking, nothing shows that kubectl printed those of others. kubectl that
// may not list one kind of several prints the rest.
var webhookKinds = []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}

// controllers sees that those of Cluster API and of the infrastructure run: their webhooks are
// asked about each object that Velero creates, and where nobody answers it creates none.
func (l *looking) controllers(s *seen) {
	var stopped, lacking, dangling []string
	hooked, there := map[string]bool{}, map[string]bool{}
	var unprinted []string
	for _, kind := range webhookKinds {
		printed := s.lists[kind]
		for _, o := range s.of(webhookGroup, kind) {
			of := o.Metadata.Labels[providerLabel]
			hooked[of] = true
			printed = printed || of == "cluster-api"
		}
		if !printed {
			unprinted = append(unprinted, kind+"s")
		}
	}
	if len(unprinted) > 0 {
		l.unseen("webhooks", "whether all webhook configurations are answered", "of "+strings.Join(unprinted, " and ")+" none of Cluster API was piped in, which has some of each kind: it has been deleted, or kubectl did not print them", "webhooks")
	}
	l.answered(s)
	asked := false
	for _, o := range s.of("apps", "Deployment") {
		of := o.Metadata.Labels[providerLabel]
		if of == "" {
			continue
		}
		there[of] = true
		if !o.runs() {
			stopped = append(stopped, o.title())
			asked = asked || hooked[of]
		}
	}
	for of := range hooked {
		if of != "" && !there[of] {
			dangling = append(dangling, of)
		}
	}
	slices.Sort(dangling)
	for _, of := range l.providers() {
		if !there[of] && !hooked[of] && !slices.Contains(lacking, of) {
			lacking = append(lacking, of)
		}
	}
	const why = "where their webhooks are there and nobody answers, Velero can restore no Cluster, Machine or infrastructure machine"
	if len(stopped) > 0 {
		what := strings.TrimSuffix(about(stopped), ": ")
		if asked {
			l.add(Item{Check: "controllers", State: Missing, What: "no replica runs of " + what, Why: why, Next: "start them, or delete their webhook configurations: " + l.step(l.restore), Step: l.restore, Objects: stopped})
		} else {
			l.unseen("controllers", "whether the webhooks are gone of "+what+": no replica runs", why, "controllers")
		}
	}
	if len(dangling) > 0 {
		l.add(Item{Check: "controllers", State: Missing, What: "webhook configurations without a Deployment: " + strings.TrimSuffix(about(dangling), ": "), Why: why, Next: "install what answers them, or delete them: " + l.step(l.restore), Step: l.restore, Objects: dangling})
	}
	if len(lacking) > 0 {
		l.unseen("controllers", "that the controllers run of "+strings.TrimSuffix(about(lacking), ": "), "no Deployment with the label "+providerLabel+" of them was piped in", "controllers")
	}
	if len(stopped)+len(lacking)+len(dangling) == 0 {
		l.add(Item{Check: "controllers", State: Holds, What: english.Count(len(there), "provider") + " with controllers that run"})
	}
}

// answered sees that something runs in the namespace of the Service of each webhook that is asked
// about objects of Cluster API, whoever has installed it. It may be no Deployment: a person sees.
func (l *looking) answered(s *seen) {
	running := map[string]bool{}
	for _, o := range s.of("apps", "Deployment") {
		running[o.Metadata.Namespace] = running[o.Metadata.Namespace] || o.runs()
	}
	var silent []string
	for _, kind := range webhookKinds {
		for _, o := range s.of(webhookGroup, kind) {
			for i := range o.Webhooks {
				w := &o.Webhooks[i]
				if what := o.title() + " (namespace " + w.Client.Service.Namespace + ")"; w.isAsked() && !running[w.Client.Service.Namespace] && !slices.Contains(silent, what) {
					silent = append(silent, what)
				}
			}
		}
	}
	if len(silent) > 0 {
		l.unseen("webhookServices", "who answers the webhook configurations "+strings.TrimSuffix(about(silent), ": "), "no Deployment runs in the namespace of the Service, and where nobody answers Velero can restore no object that it is asked about", "webhookServices")
	}
}

// appliers are what applies Clusters again that were applied once: by the last part of the name of a
// Deployment, which Helm puts that of a release before. The controller of Argo CD itself is a
// StatefulSet, and its repo-server is in every installation of it.
var appliers = []string{
	"kustomize-controller", "helm-controller", // Flux v2
	"argocd-server", "argocd-repo-server", "argocd-applicationset-controller", // Argo CD v3 manifests/
	"kcm-controller-manager", "hmc-controller-manager", "addon-controller", // k0rdent, by its former name, and Sveltos
	"fleet-controller", "fleet-agent", // of Rancher
}

// applied sees that nothing else applies the Clusters meanwhile, which the plan keeps off until all
// is restored and unpaused.
func (l *looking) applied(s *seen) {
	var on []string
	deployments := s.of("apps", "Deployment")
	for _, o := range deployments {
		of := o.Metadata.Labels["app.kubernetes.io/part-of"] + "-" + o.Metadata.Labels["app.kubernetes.io/component"]
		if !o.off() && slices.ContainsFunc(appliers, func(a string) bool {
			return o.Metadata.Name == a || strings.HasSuffix(o.Metadata.Name, "-"+a) || of == a
		}) {
			on = append(on, o.title())
		}
	}
	switch {
	case len(deployments) == 0:
		l.unseen("applied", "that Flux, Argo CD and k0rdent are off", "no Deployment was piped in")
	case len(on) > 0:
		l.add(Item{
			Check: "applied", State: Unseen, What: "not looked at: whether Clusters are applied by " + strings.TrimSuffix(about(on), ": "), Why: "Flux, Argo CD and k0rdent create Clusters that are not paused, while Machines are not yet back",
			Next: "keep them off until all is restored and unpaused; or once you know that they apply no Cluster: --done applied", Step: l.restore, Objects: on,
		}, "applied")
	default:
		l.add(Item{Check: "applied", State: Holds, What: "no Flux, Argo CD or k0rdent runs there"})
	}
}

// providers returns the labels of those that the clusters of the report need.
func (l *looking) providers() []string {
	out := []string{"cluster-api"}
	for i := range l.Report.Clusters {
		c := &l.Report.Clusters[i]
		if c.Provider != "" && !c.Self {
			out = append(out, "infrastructure-"+c.Provider)
		}
		if c.ControlPlane.Kind == "KubeadmControlPlane" && !c.Self {
			out = append(out, "bootstrap-kubeadm", "control-plane-kubeadm")
		}
	}
	return out
}

// namespaces sees that none is being deleted: in those nothing can be created. A list without
// the namespaces that every cluster has is not whole.
func (l *looking) namespaces(s *seen) {
	var ending []string
	whole := map[string]bool{}
	for _, o := range s.of("", "Namespace") {
		whole[o.Metadata.Name] = true
		if o.Metadata.Deleted != nil || o.Status.Phase == "Terminating" {
			ending = append(ending, o.Metadata.Name)
		}
	}
	own := slices.DeleteFunc(slices.Clone(ending), func(n string) bool {
		return !slices.ContainsFunc(l.Report.Clusters, func(c report.Cluster) bool { return c.Namespace == n })
	})
	const why = "Velero can create nothing in a namespace that is being deleted"
	switch {
	case len(own) > 0:
		l.add(Item{Check: "namespaces", State: Missing, What: "Terminating: " + strings.TrimSuffix(about(own), ": "), Why: why, Next: "wait until it is gone, or see what keeps it, and look again", Objects: own, Step: l.restore})
	case !whole["default"] || !whole["kube-system"]:
		l.unseen("namespaces", "that no namespace is being deleted", "no whole list of namespaces was piped in")
	case len(ending) > 0:
		l.unseen("namespaces", "whether the backup has the Terminating "+strings.TrimSuffix(about(ending), ": "), why, "namespaces")
	default:
		l.add(Item{Check: "namespaces", State: Holds, What: "no namespace is being deleted"})
	}
}
