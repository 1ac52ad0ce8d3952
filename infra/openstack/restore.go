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

// restore returns what the objects behind a machine say of the restore beside its id.
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
	r.Refused = objs.unusable(m.cluster, objs.homeOf(m.cluster, m, objs.locations[m.cluster]))
	for _, u := range objs.logins(m) {
		r.Refused = cmp.Or(r.Refused, objs.unusable(m.cluster, u.home))
	}
	r.Refused = cmp.Or(r.Refused, objs.imageLacks(m), objs.poolLacks(m))
	r.Unclaimed = objs.unclaimed(m)
	if r.Template == "" && r.Failure == "" && r.Refused == "" && r.Paused == "" && r.Independent == "" && r.Unclaimed == "" {
		return nil
	}
	return &r
}

// unusable says why CAPO may not use the identity of a home, whatever is in Secrets, or "".
func (objs *objects) unusable(id backup.ClusterID, h home) string {
	switch {
	case h.forbidden:
		why, _ := objs.forbidden(id.Backup, h.name, id.Namespace)
		return why
	case objs.lacks(h):
		return h.what() + " " + objs.snapshot.Lacks(id.Backup, h.kind)
	}
	return h.mistake()
}
