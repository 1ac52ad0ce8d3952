package rehearsal

import (
	"strings"

	"drift-detector/backup"
)

// webhookKinds are the webhook configurations, of which only the names matter.
// Velero leaves cluster-scoped objects out of most backups.
var webhookKinds = []*backup.Kind[struct{}]{
	backup.NewKind[struct{}]("validatingwebhookconfigurations.admissionregistration.k8s.io"),
	backup.NewKind[struct{}]("mutatingwebhookconfigurations.admissionregistration.k8s.io"),
}

// isClusterAPIWebhook tells the configurations of Cluster API and its providers
// by their names: capi-…, capv-…, capa-… (namePrefix in each provider's
// config/default/kustomization.yaml, CAPV v1.16.1, CAPA v2.11.1).
func isClusterAPIWebhook(name string) bool {
	prefix, rest, ok := strings.Cut(name, "-")
	return ok && strings.HasPrefix(prefix, "cap") && len(prefix) == len("capi") && strings.Contains(rest, "webhook-configuration")
}

// extension is the server of an ExtensionConfig, where it is a Service. Cluster API asks all
// servers when it starts, and ends a minute later while one of them does not answer (its
// warmup.go of the ExtensionConfig controller, v1.2.0 to v1.14.0).
type extension struct{ Namespace, Service string }

var extensions = backup.NewKind("extensionconfigs.runtime.cluster.x-k8s.io",
	backup.Text(func(e *extension) *string { return &e.Namespace }, "spec.clientConfig.service.namespace"),
	backup.Text(func(e *extension) *string { return &e.Service }, "spec.clientConfig.service.name"),
)
