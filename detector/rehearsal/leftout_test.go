package rehearsal

import (
	"testing"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// leftOutPlane adds a machine of the control plane whose Machine is not in the backup.
func (s *story) leftOutPlane(name string, v detector.Verdict) {
	v.ControlPlane = true
	s.verdict(&s.cluster.ControlPlane, name, "infra-"+name, v)
}

// wantPlane returns how many machines the control plane has in the backup's opinion.
func wantPlane(s *story, n int64) {
	s.cluster.ControlPlane.Desired, s.snapshot.ControlPlanes[0].Desired = number(n), number(n)
}

// KubeadmControlPlane removes members without a Machine, whether or not they are Ghosts.
func TestControlPlaneMachinesThatTheBackupLacks(t *testing.T) {
	orphan := warned(found, code.MachineMissing)
	incomplete := unknown(code.MachineNotInBackup)
	incomplete.Instance = &infra.Instance{ID: "3"}
	two := func(s *story) { s.plane("a", found); s.plane("b", found); wantPlane(s, 3) }
	const made, missing, removed = string(code.MachinesMade), string(code.MachinesMissing), string(code.EtcdMembersRemoved)
	play(t, map[string]scene{
		"its infrastructure is left": {
			nil, func(s *story) { two(s); s.leftOutPlane("c", orphan) },
			removed + " " + made + " " + missing,
			[]string{"removes running etcd members that have no Machine in the backup (Machine ns/c)"},
		},
		"nothing of it is left": {
			nil, func(s *story) { two(s); s.leftOutPlane("c", incomplete) },
			removed + " " + made + " " + string(code.MachinesUnknown),
			[]string{"(instance c)"},
		},
		"etcd is elsewhere": {nil, func(s *story) {
			two(s)
			s.leftOutPlane("c", orphan)
			s.snapshot.ControlPlanes[0].ExternalEtcd = true
		}, made + " " + missing, nil},
		"another kind of control plane": {nil, func(s *story) { otherPlane(s); two(s); s.leftOutPlane("c", orphan) }, missing, nil}, // it stands still
		"beside one without a Node":     {nil, func(s *story) { s.plane("a", found); s.plane("b", gone); s.leftOutPlane("c", orphan) }, string(code.MachinesBroken) + " " + missing, nil},
		"beside one that is Unknown": {
			nil, func(s *story) { two(s); s.plane("d", unknown(code.NodeAlive)); s.leftOutPlane("c", orphan) },
			missing + " " + string(code.MachinesUnknown) + " " + string(code.OutcomeUnknown),
			[]string{"Whether KubeadmControlPlane removes these from etcd"},
		},
		"all are": {
			nil, func(s *story) { wantPlane(s, 1); s.leftOutPlane("c", orphan) },
			removed + " " + made + " " + missing,
			[]string{"The backup holds no Machine of KubeadmControlPlane ns/cp"},
		},
		"all are, and none is found": {
			nil, func(s *story) { wantPlane(s, 1); s.cluster.ControlPlane.Reason = code.MachinesNotInBackup },
			removed + " " + made + " " + missing,
			[]string{"begins an empty cluster behind the same endpoint"},
		},
		"all are, and it can create none": {nil, func(s *story) {
			wantPlane(s, 1)
			s.leftOutPlane("c", orphan)
			s.snapshot.ControlPlanes[0].Infrastructure = backup.Ref{Kind: "VSphereMachineTemplate", Namespace: "ns", Name: "t"}
			s.lacks(s.snapshot.ControlPlanes[0].Infrastructure)
		}, missing + " " + string(code.OwnerHalted), nil},
		"it is new": {nil, func(s *story) { wantPlane(s, 1) }, made, nil},
	})
}
