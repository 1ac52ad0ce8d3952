package aws

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"

	"drift-detector/backup"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
)

// Rows of dedicated hosts, which CAPA's webhooks ask of a restored object as W1 does.
var (
	rowW2 = &walk.Row{
		ID: "aws.W2", Of: machineKind,
		Asks:     "its webhook, as Velero creates it: tenancy host beside a host or hostAffinity host, which v2.10.0 wrote into every AWSMachine as the default, and from v2.11 on hostAffinity host beside dynamicHostAllocation",
		Differs:  walk.Waits.Says("CAPA's webhook refuses it as Velero creates it: the object does not come back, and nothing is done for the machine"),
		Versions: "v2.10.2 and later",
		Source:   "validateHostAllocation, by ValidateCreate: api/v1beta2/awsmachine_webhook.go v2.10.2 to v2.10.3, webhooks/awsmachine_webhook.go v2.11.0 to v2.11.1; validateHostAllocationUpdate, which lets the default be: v2.11.1; the default: config/crd/bases v2.10.0; getting on without tenancy: runInstance: pkg/cloud/services/ec2/instances.go",
	}
	rowW3 = &walk.Row{
		ID: "aws.W3", Of: templateKind,
		Asks:     "its webhook, as Velero creates it: as of an AWSMachine, and a host where it has hostAffinity host",
		Differs:  walk.OwnerHalts.Says("CAPA's webhook refuses the template as Velero creates it: it does not come back, and its owner makes and replaces no machine"),
		Versions: "v2.10.2 and later",
		Source:   "validateHostAllocation, by ValidateCreate alone: api/v1beta2/awsmachinetemplate_webhook.go v2.10.2 to v2.10.3, webhooks/awsmachinetemplate_webhook.go v2.11.0 to v2.11.1",
	}
)

// hosting is what an AWSMachine and an AWSMachineTemplate say of dedicated hosts.
type hosting struct{ Affinity, Tenancy, Host, Allocation string }

func hostingFields[T any](of func(*T) *hosting, spec string) []backup.Field[T] {
	return []backup.Field[T]{
		backup.Text(func(t *T) *string { return &of(t).Affinity }, spec+".hostAffinity"),
		backup.Text(func(t *T) *string { return &of(t).Tenancy }, spec+".tenancy"),
		backup.Text(func(t *T) *string { return &of(t).Host }, spec+".hostID"),
		backup.Raw(func(t *T) *string { return &of(t).Allocation }, spec+".dynamicHostAllocation"),
	}
}

// asked answers W2 and W3 of an object that a release creates. There is no Until: no line of the plan
// mends what does not come back.
func (h *hosting) asked(release *version.Version, object string, template bool) walk.Answer {
	since := func(v string) bool { return release == nil || !release.LessThan(version.MustParseGeneric(v)) }
	pinned, named := h.Affinity == "host", h.Host != "" || h.Allocation != ""
	why := ""
	switch {
	case !since("2.10.2"):
	case (pinned || named) && h.Tenancy != "host":
		why = "has hostAffinity host, or a host, without tenancy host"
	case h.Allocation != "" && !pinned && since("2.11"):
		why = "has dynamicHostAllocation without hostAffinity host"
	case template && pinned && !named:
		why = "has hostAffinity host, and no host"
	}
	if why == "" {
		return pass
	}
	return walk.Answer{Found: walk.Differs, Why: object + " " + why + ", unless a resource modifier of the restore changes that", Objects: []string{object}}
}

// askTemplates asks W3 of the templates of owners of machines. A MachineSet of a MachineDeployment has its
// template, or needs none.
func (q *questions) askTemplates() {
	all := capi.Index(templates.In(q.objs.snapshot))
	ask := func(m *backup.Meta, id backup.ClusterID, kind string, ref backup.Ref) {
		t := all[capi.Referred(m.Backup, m.Namespace, ref)]
		if ref.Kind != templateKind || t == nil {
			return
		}
		a := t.Data.asked(q.releases[m.Backup], fmt.Sprintf("%s %s/%s", templateKind, t.Namespace, t.Name), true)
		q.Keep(walk.Step{Row: rowW3, Cluster: id, Subject: fmt.Sprintf("%s %s/%s", kind, m.Namespace, m.Name), Machine: -1, Answer: a})
	}
	for i := range q.objs.snapshot.Groups {
		if g := &q.objs.snapshot.Groups[i]; g.Deployment == "" {
			ask(&g.Meta, g.Cluster, g.Kind, g.Infrastructure)
		}
	}
	for i := range q.objs.snapshot.ControlPlanes {
		p := &q.objs.snapshot.ControlPlanes[i]
		ask(&p.Meta, p.Cluster, p.Kind, p.Infrastructure)
	}
}
