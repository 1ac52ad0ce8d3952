package forecast

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
