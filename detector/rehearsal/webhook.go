package rehearsal

import (
	"encoding/json"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra/walk"
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

// extension is an ExtensionConfig: its server, where that is a Service, and its conditions.
type extension struct{ Namespace, Service, Conditions string }

var extensions = backup.NewKind("extensionconfigs.runtime.cluster.x-k8s.io",
	backup.Text(func(e *extension) *string { return &e.Namespace }, "spec.clientConfig.service.namespace"),
	backup.Text(func(e *extension) *string { return &e.Service }, "spec.clientConfig.service.name"),
	backup.Raw(func(e *extension) *string { return &e.Conditions }, "status.conditions"),
)

// extensionRows are those of Cluster API's own controller as it starts.
var extensionRows = []row[*cluster]{
	{walk.Row{
		ID: "core.E1", Of: "ExtensionConfig",
		Asks:    "the servers of all ExtensionConfigs, as Cluster API's own controller starts",
		Differs: walk.Halts.Says("that controller ends a minute after each start, and nothing is reconciled"),
		Source:  "Start, warmupRegistry: internal/controllers/extensionconfig/warmup.go v1.2.0 to v1.14.0; cmd/manager main.go ends with the first error of what it runs",
	}, extensionsDiscovered},
}

// extensionsDiscovered asks core.E1. That one answered when the backup was taken is a condition.
func extensionsDiscovered(c *cluster) walk.Answer {
	if c.object == nil {
		return notAsked
	}
	found := notAsked
	for r := range extensions.In(c.world.in.Snapshot).All() {
		if r.Backup != c.ID.Backup {
			continue
		}
		found = passed
		var conditions []struct{ Type, Status string }
		if json.Unmarshal([]byte(r.Data.Conditions), &conditions) != nil {
			continue
		}
		for _, o := range conditions {
			if title := "ExtensionConfig " + r.Name; o.Type == "Discovered" && o.Status == "False" {
				return differs("the server of "+title+" was not discovered when the backup was taken", title+" is discovered, or deleted", title)
			}
		}
	}
	return found
}
