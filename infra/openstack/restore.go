package openstack

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
)

// failures are reasons of condition InstanceReady while CAPO had tried to make a server
// and OpenStack or CAPO itself refused (api/v1beta1/conditions_consts.go v0.14.7). With
// the others it waits.
var failures = []string{"InstanceCreateFailed", "InstanceStateError", "InstanceNotFound", "OpenStackError", "DependencyFailed"}

// restore is what the objects behind a machine say of the restore beside its id.
func (objs *objects) restore(m *member) *infra.Restore {
	var r infra.Restore
	conditions := []*backup.Condition{}
	if m.machine != nil {
		d := &m.machine.Data
		if d.ControlPlane {
			r.Template = d.Template
		}
		r.Failure = d.Failure
		conditions = append(conditions, d.Unready)
		if m.machine.Paused {
			r.Paused = machineKind + " " + m.machine.Name
		}
	}
	if m.server != nil {
		conditions = append(conditions, m.server.Data.Unready)
		switch name := serverKind + " " + m.server.Name; {
		case !m.server.Paused:
			// Its controller asks for no owner (controllers/openstackserver_controller.go
			// v0.11.0 to v0.15.0-beta.0).
			r.Independent = name
		case r.Paused == "":
			r.Paused = name
		}
	}
	for _, c := range conditions {
		if c != nil && c.Status == "False" && slices.Contains(failures, c.Reason) {
			r.Failure = cmp.Or(r.Failure, strings.TrimSpace(c.Message), c.Reason)
		}
	}
	switch h := objs.homeOf(m.cluster, m, objs.locations[m.cluster]); {
	case h.forbidden:
		r.Refused, _ = objs.forbidden(m.cluster.Backup, h.name, m.cluster.Namespace)
	case objs.lacks(h):
		r.Refused = h.what() + " is not in the backup"
	default:
		r.Refused = h.mistake()
	}
	r.Refused = cmp.Or(r.Refused, objs.imageLacks(m), objs.poolLacks(m))
	r.Unclaimed = objs.unclaimed(m)
	if r.Template == "" && r.Failure == "" && r.Refused == "" && r.Paused == "" && r.Independent == "" && r.Unclaimed == "" {
		return nil
	}
	return &r
}
