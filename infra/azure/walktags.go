package azure

import (
	"encoding/json"
	"fmt"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of tags.
var (
	rowM9 = &walk.Row{
		ID: "azure.M9", Of: machineKind,
		Asks:    "on a VM that has the cluster's tag: spec.additionalTags of AzureCluster and AzureMachine and the cloud provider's tag, and none that CAPZ applied before and the objects name no more",
		Differs: tagsBack,
		Source:  "Reconcile, TagsChanged: azure/services/tags/tags.go; TagsSpecs: azure/scope/machine.go v1.13.0 to v1.26.0",
	}
	rowP11 = &walk.Row{
		ID: "azure.P11", Of: poolKind,
		Asks:      "on a scale set that has the cluster's tag: spec.additionalTags of AzureCluster and AzureMachinePool and the cloud provider's tag, likewise",
		Differs:   tagsBack,
		Condition: code.InfrastructureUnasked,
		Source:    "Reconcile, TagsChanged: azure/services/tags/tags.go; TagsSpecs: azure/scope/machinepool.go v1.13.0 to v1.26.0",
	}
	tagRows = []*walk.Row{rowM9, rowP11}
)

var tagsBack = walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPZ sets the tags back"}

// tagCloud is the tag of the cloud provider, without the cluster's name
// (NameKubernetesAzureCloudProviderPrefix in api/v1beta1/tags.go).
const tagCloud = "kubernetes.io_cluster_"

// retagged asks M9 or P11 of what has these tags.
func (objs *objects) retagged(id backup.ClusterID, r *backup.Record[object], object string, have map[string]string) walk.Answer {
	if have[tagCluster+id.Name] != owned {
		return pass
	}
	want := map[string]string{}
	for _, text := range []string{objs.locations[id].tags(), r.Data.Tags} {
		_ = json.Unmarshal([]byte(text), &want)
	}
	want[tagCloud+id.Name] = owned
	for _, k := range sortedNames(want) {
		if v, there := have[k]; !there || v != want[k] {
			return answer(walk.Differs, object, fmt.Sprintf("%s lacks the tag %s=%s", object, k, want[k]), "has it")
		}
	}
	var applied map[string]string
	_ = json.Unmarshal([]byte(r.Data.TagsApplied), &applied)
	for _, k := range sortedNames(applied) {
		if _, there := have[k]; there && want[k] == "" {
			return answer(walk.Differs, object, fmt.Sprintf("%s has the tag %s, which the objects do not name any more", object, k), "lacks it")
		}
	}
	return pass
}

// tags returns spec.additionalTags of the cluster, in JSON.
func (l *location) tags() string {
	if l.record == nil {
		return ""
	}
	return l.record.Data.Tags
}

// tagged asks M9 of the VM of a machine.
func (objs *objects) tagged(m *member, at infra.Sight) walk.Answer {
	have := map[string]string{}
	for _, t := range at.Instance.Tags {
		have[t.Key] = t.Value
	}
	return objs.retagged(m.cluster, m.record, "VM "+at.Instance.Name, have)
}
