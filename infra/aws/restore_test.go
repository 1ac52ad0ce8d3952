package aws

import (
	"testing"

	"drift-detector/infra"
	"drift-detector/infra/aws/awstest"
)

// What an AWSMachine says of its restore beside its id.
func TestWhatAnAWSMachineSaysOfItsRestore(t *testing.T) {
	ready := func(status, reason string) map[string]any {
		return map[string]any{"conditions": []any{map[string]any{"type": "InstanceReady", "status": status, "reason": reason, "message": " no such AMI\n"}}}
	}
	meta := func(annotation, value string) map[string]any { return map[string]any{annotation: value} }
	const cloned, paused = "cluster.x-k8s.io/cloned-from-name", "cluster.x-k8s.io/paused"
	for name, c := range map[string]struct {
		id          string
		annotations map[string]any
		plane       bool
		status      map[string]any
		want        infra.Restore
	}{
		"all well":                         {awstest.InstanceID(1), nil, false, nil, infra.Restore{}},
		"no id":                            {"", nil, false, nil, infra.Restore{}},
		"no id, and AWS refused":           {"", nil, false, ready("False", "InstanceProvisionFailed"), infra.Restore{Failure: "no such AMI"}},
		"no id, and waiting":               {"", nil, false, ready("False", "InstanceProvisionStarted"), infra.Restore{}},
		"ready":                            {awstest.InstanceID(1), nil, false, ready("True", ""), infra.Restore{}},
		"template of a worker":             {awstest.InstanceID(1), meta(cloned, "tpl"), false, nil, infra.Restore{}},
		"template of a control plane":      {awstest.InstanceID(1), meta(cloned, "tpl"), true, nil, infra.Restore{Template: "tpl"}},
		"paused by its own annotation":     {awstest.InstanceID(1), meta(paused, ""), false, nil, infra.Restore{Paused: "AWSMachine m"}},
		"paused, of a control plane, idle": {"", meta(paused, ""), true, nil, infra.Restore{Paused: "AWSMachine m"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := awstest.NewBackup().Cluster("ns", "prod", awstest.Region, "vpc-1")
			spec := map[string]any{}
			if c.id != "" {
				spec["instanceID"], spec["providerID"] = c.id, "aws:///us-east-1a/"+c.id
			}
			o := awstest.Object(machineKind, "ns", "m", "prod", spec)
			m := o["metadata"].(map[string]any)
			m["annotations"] = c.annotations
			if c.plane {
				m["labels"].(map[string]any)["cluster.x-k8s.io/control-plane"] = ""
			}
			o["status"] = c.status
			b.Add("awsmachines."+group, o)
			b.Add("machines.cluster.x-k8s.io", awstest.CAPIObject("Machine", "ns", "m", "prod", map[string]any{
				"clusterName": "prod", "infrastructureRef": map[string]any{"apiGroup": group, "kind": machineKind, "name": "m"},
			}))
			s, _ := awstest.Load(t, want, b.Bytes())
			var got infra.Restore
			if r := pure.Expected(s).Machines[0].Restore; r != nil {
				got = *r
			}
			if got.Template != c.want.Template || got.Failure != c.want.Failure || got.Paused != c.want.Paused || got.Refused != "" || got.Lacks != nil {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// A pool says that its infrastructure object is paused by itself.
func TestPausedPools(t *testing.T) {
	for _, kind := range []string{poolKind, managedPoolKind} {
		for _, paused := range []bool{false, true} {
			b := awstest.NewBackup().Cluster("ns", "prod", awstest.Region, "vpc-1").Pool("prod", "mp", kind, "amp")
			o, by := awstest.Object(kind, "ns", "amp", "prod", map[string]any{}), ""
			if paused {
				o["metadata"].(map[string]any)["annotations"] = map[string]any{"cluster.x-k8s.io/paused": ""}
				by = kind + " amp"
			}
			b.Add(map[string]string{poolKind: "awsmachinepools.", managedPoolKind: "awsmanagedmachinepools."}[kind]+group, o)
			s, _ := awstest.Load(t, want, b.Bytes())
			if got := pure.Expected(s).Pools; len(got) != 1 || got[0].Paused != by {
				t.Errorf("%s, paused %v: %+v", kind, paused, got)
			}
		}
	}
}
