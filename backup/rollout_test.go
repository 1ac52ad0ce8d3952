package backup_test

import (
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

const core = "cluster.x-k8s.io"

func capiObject(kind, name string, meta, spec, status object) object {
	m := object{"namespace": "ns", "name": name}
	for k, v := range meta {
		m[k] = v
	}
	return object{"apiVersion": core + "/v1beta2", "kind": kind, "metadata": m, "spec": spec, "status": status}
}

func annotated(pairs ...string) object {
	a := object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		a[pairs[i]] = pairs[i+1]
	}
	return object{"annotations": a}
}

// What makes a control plane roll out, as v1beta1 and v1beta2 write it.
func TestWhatRollsOutAControlPlane(t *testing.T) {
	after := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		spec, status, meta object
		want               backup.ControlPlane
	}{
		"v1beta2": {
			object{"version": "v1.34.0", "rollout": object{"after": "2026-11-20T10:00:00Z", "before": object{"certificatesExpiryDays": 30}}},
			object{"upToDateReplicas": 2, "observedGeneration": 4},
			object{"generation": 4},
			backup.ControlPlane{Version: "v1.34.0", RolloutAfter: after, CertificateDays: backup.Number{N: 30, Known: true}, Updated: backup.Number{N: 2, Known: true}},
		},
		"v1beta1": {
			object{"version": "v1.34.0", "rolloutAfter": "2026-11-20T10:00:00Z", "rolloutBefore": object{"certificatesExpiryDays": 30}},
			object{"updatedReplicas": 2, "observedGeneration": 3},
			object{"generation": 4},
			backup.ControlPlane{Version: "v1.34.0", RolloutAfter: after, CertificateDays: backup.Number{N: 30, Known: true}, Updated: backup.Number{N: 2, Known: true}, Unseen: true},
		},
		"nothing set":        {object{}, object{}, nil, backup.ControlPlane{}},
		"a time that is not": {object{"rollout": object{"after": "tomorrow"}}, object{}, nil, backup.ControlPlane{}},
		"no generation seen": {object{}, object{}, object{"generation": 4}, backup.ControlPlane{Unseen: true}},
	} {
		t.Run(name, func(t *testing.T) {
			plane := capiObject("KubeadmControlPlane", "cp", c.meta, c.spec, c.status)
			plane["apiVersion"] = "controlplane." + core + "/v1beta2"
			s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", backuptest.New().Add("kubeadmcontrolplanes.controlplane."+core, plane).Bytes()))
			if len(s.ControlPlanes) != 1 || len(s.Problems) > 0 {
				t.Fatalf("%+v %v", s.ControlPlanes, s.Problems)
			}
			p, want := s.ControlPlanes[0], c.want
			if p.Version != want.Version || !p.RolloutAfter.Equal(want.RolloutAfter) || p.CertificateDays != want.CertificateDays || p.Updated != want.Updated || p.Unseen != want.Unseen {
				t.Errorf("%+v, want %+v", p, want)
			}
		})
	}
}

func TestWhatRollsOutAGroup(t *testing.T) {
	template := func(more object) object {
		spec := object{"version": "v1.34.0", "failureDomain": "a", "bootstrap": object{"dataSecretName": "s"}}
		for k, v := range more {
			spec[k] = v
		}
		return object{"clusterName": "c", "template": object{"spec": spec}}
	}
	with := func(spec object, k string, v any) object { spec[k] = v; return spec }
	load := func(meta, spec object) backup.Group {
		t.Helper()
		s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", backuptest.New().Add("machinedeployments."+core, capiObject("MachineDeployment", "md", meta, spec, nil)).Bytes()))
		if len(s.Groups) != 1 || len(s.Problems) > 0 {
			t.Fatalf("%+v %v", s.Groups, s.Problems)
		}
		return s.Groups[0]
	}
	plain := load(nil, template(nil))
	for name, c := range map[string]struct {
		meta, spec object
		same       bool
		is         func(backup.Group) bool
	}{
		"itself": {nil, template(nil), true, func(g backup.Group) bool {
			return g.Version == "v1.34.0" && g.FailureDomain == "a" && g.BootstrapSecret == "s"
		}},
		"version":              {nil, template(object{"version": "v1.35.0"}), false, nil},
		"failure domain":       {nil, template(object{"failureDomain": "b"}), false, nil},
		"bootstrap data":       {nil, template(object{"bootstrap": object{"dataSecretName": "other"}}), false, nil},
		"bootstrap template":   {nil, template(object{"bootstrap": object{"configRef": object{"apiGroup": "bootstrap." + core, "kind": "K", "name": "k"}}}), false, nil},
		"infrastructure":       {nil, template(object{"infrastructureRef": object{"apiGroup": "infrastructure." + core, "kind": "T", "name": "t"}}), false, nil},
		"halted":               {nil, with(template(nil), "paused", true), true, func(g backup.Group) bool { return g.Halted && !g.Paused }},
		"on delete":            {nil, with(template(nil), "rollout", object{"strategy": object{"type": "OnDelete"}, "after": "2026-11-20T10:00:00Z"}), true, func(g backup.Group) bool { return g.OnDelete && !g.RolloutAfter.IsZero() }},
		"on delete of v1beta1": {nil, with(template(nil), "strategy", object{"type": "OnDelete"}), true, func(g backup.Group) bool { return g.OnDelete }},
		"rolling":              {nil, with(template(nil), "strategy", object{"type": "RollingUpdate"}), true, func(g backup.Group) bool { return !g.OnDelete }},
		"may replace none":     {nil, with(template(nil), "remediation", object{"maxInFlight": 0}), true, func(g backup.Group) bool { return g.NoRemediation }},
		"none of v1beta1":      {nil, with(template(nil), "strategy", object{"remediation": object{"maxInFlight": "0%"}}), true, func(g backup.Group) bool { return g.NoRemediation }},
		"may replace some":     {nil, with(template(nil), "remediation", object{"maxInFlight": "10%"}), true, func(g backup.Group) bool { return !g.NoRemediation }},
		"may make none":        {annotated("cluster.x-k8s.io/disable-machine-create", "true"), template(nil), true, func(g backup.Group) bool { return g.NoCreate }},
		"may make some":        {annotated("cluster.x-k8s.io/disable-machine-create", "no"), template(nil), true, func(g backup.Group) bool { return !g.NoCreate }},
	} {
		t.Run(name, func(t *testing.T) {
			g := load(c.meta, c.spec)
			if same := g.SameTemplate(&plain) && plain.SameTemplate(&g); same != c.same || c.is != nil && !c.is(g) {
				t.Errorf("same %v: %+v", same, g)
			}
		})
	}
}

// Cluster API takes every value but "false" for yes, an empty one included.
func TestValuesOfReplicasManagedBy(t *testing.T) {
	const annotation = "cluster.x-k8s.io/replicas-managed-by"
	for value, want := range map[string]string{"false": "", "": "an autoscaler outside Cluster API", "true": "an autoscaler outside Cluster API", "karpenter": "karpenter", "False": "False"} {
		s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", backuptest.New().
			Add("machinepools."+core, capiObject("MachinePool", "mp", annotated(annotation, value), object{"clusterName": "c"}, nil)).Bytes()))
		if got := s.Groups[0].ReplicasManagedBy; got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", backuptest.New().
		Add("machinepools."+core, capiObject("MachinePool", "mp", nil, object{"clusterName": "c"}, nil)).Bytes()))
	if got := s.Groups[0].ReplicasManagedBy; got != "" {
		t.Errorf("without it: %q", got)
	}
}

func TestWhatAMachineSaysOfItsReplacement(t *testing.T) {
	spec := object{"clusterName": "c", "version": "v1.34.0", "infrastructureRef": object{"apiGroup": "infrastructure." + core, "kind": "M", "name": "m"}}
	condition := func(status string) object {
		return object{"conditions": []any{object{"type": "UpToDate", "status": status, "message": "* Version v1.33.0"}}, "certificatesExpiryDate": "2027-11-20T10:00:00Z"}
	}
	for name, c := range map[string]struct {
		meta, status object
		outdated     string
		remediate    bool
		expires      int // the year
	}{
		"v1beta2":        {nil, condition("False"), "* Version v1.33.0", false, 2027},
		"up to date":     {nil, condition("True"), "", false, 2027},
		"1.9 and 1.10":   {nil, object{"v1beta2": condition("False")}, "* Version v1.33.0", false, 1},
		"by annotation":  {annotated("machine.cluster.x-k8s.io/certificates-expiry", "2028-01-01T00:00:00Z"), condition("True"), "", false, 2028},
		"to be replaced": {annotated("cluster.x-k8s.io/remediate-machine", ""), object{}, "", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", backuptest.New().Add(machines, capiObject("Machine", "m", c.meta, spec, c.status)).Bytes()))
			m := s.Machines[0]
			if m.Version != "v1.34.0" || m.Outdated != c.outdated || m.Remediate != c.remediate || m.CertificatesExpire.Year() != c.expires {
				t.Errorf("%+v", m)
			}
		})
	}
}

// The controller of an infrastructure cluster that is paused by itself, or managed by
// somebody else, does nothing for it.
func TestInfrastructureThatIsLeftAlone(t *testing.T) {
	for name, c := range map[string]struct {
		meta object
		want string
	}{
		"neither": {nil, ""}, "paused": {annotated("cluster.x-k8s.io/paused", ""), "cluster.x-k8s.io/paused"},
		"managed": {annotated("cluster.x-k8s.io/managed-by", "x"), "cluster.x-k8s.io/managed-by"},
		"both":    {annotated("cluster.x-k8s.io/managed-by", "", "cluster.x-k8s.io/paused", ""), "cluster.x-k8s.io/managed-by"},
	} {
		infrastructure := capiObject("FooCluster", "c", c.meta, object{}, nil)
		infrastructure["apiVersion"] = "infrastructure." + core + "/v1"
		s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", backuptest.New().Add("fooclusters.infrastructure."+core, infrastructure).
			Add("clusters."+core, capiObject("Cluster", "c", nil, object{"infrastructureRef": object{"apiGroup": "infrastructure." + core, "kind": "FooCluster", "name": "c"}}, nil)).Bytes()))
		if got := s.Clusters[0].LeftAlone; got != c.want || s.Clusters[0].Paused {
			t.Errorf("%s: %q, paused %v", name, got, s.Clusters[0].Paused)
		}
	}
}

var velero = backup.NewKind("deployments.apps", backup.Text(func(t *thing) *string { return &t.First }, "kind")).Named("velero")

// Of a kind with a name only objects of that name are kept.
func TestNamedKinds(t *testing.T) {
	b := backuptest.New().Add(machines, machine("v1beta2", "m", ""))
	for _, name := range []string{"velero", "velero-ui", "x"} {
		b.Add("deployments.apps", object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"namespace": "ns", "name": name}})
	}
	b.Add("deployments.apps", object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"namespace": "other", "name": "velero"}})
	s, _ := loadAll(t, backup.Want{Kinds: []backup.AnyKind{velero}}, backuptest.Source("b", b.Bytes()))
	n := 0
	for r := range velero.In(s).All() {
		if n++; r.Name != "velero" {
			t.Errorf("%s is kept", r.Name)
		}
	}
	if n != 2 {
		t.Errorf("%d are kept, want 2", n)
	}
}

func TestWhatHoldsAMachine(t *testing.T) {
	const drain, end, data = "pre-drain.delete.hook.machine.cluster.x-k8s.io/a", "pre-terminate.delete.hook.machine.cluster.x-k8s.io", `{"machine":"x","timestamp":"2026-11-20T11:30:00Z","retryCount":2}`
	spec := object{"clusterName": "c", "infrastructureRef": object{"apiGroup": "infrastructure." + core, "kind": "M", "name": "m"}}
	for name, c := range map[string]struct {
		annotations object
		hooks       string
	}{
		"none":                        {object{"note": "a delete.hook.machine.cluster.x-k8s.io"}, ""},
		"that of the control plane":   {object{end + "/kcp-cleanup": ""}, ""},
		"several, and what is theirs": {object{end + "/kcp-cleanup": "", end + "/z": "x", drain: "", "other": drain}, drain + ", " + end + "/z"},
		"without a name":              {object{end: "x"}, end},
	} {
		t.Run(name, func(t *testing.T) {
			c.annotations["controlplane.cluster.x-k8s.io/remediation-for"] = data
			s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", backuptest.New().Add(machines, capiObject("Machine", "m", object{"annotations": c.annotations}, spec, nil)).Bytes()))
			if m := s.Machines[0]; m.Hooks != c.hooks || m.Remediated != data {
				t.Errorf("%q %q, want %q", m.Hooks, m.Remediated, c.hooks)
			}
		})
	}
}

func TestHowOftenAControlPlaneReplacesAMachine(t *testing.T) {
	for name, c := range map[string]struct {
		spec   object
		most   backup.Number
		within time.Duration
	}{
		"by default": {object{}, backup.Number{}, time.Hour},
		"v1beta1":    {object{"remediationStrategy": object{"maxRetry": 3, "minHealthyPeriod": "2h0m0s"}}, backup.Number{N: 3, Known: true}, 2 * time.Hour},
		"v1beta2":    {object{"remediation": object{"maxRetry": 0, "minHealthyPeriodSeconds": 90}}, backup.Number{Known: true}, 90 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			plane := capiObject("KubeadmControlPlane", "cp", nil, c.spec, nil)
			plane["apiVersion"] = "controlplane." + core + "/v1beta2"
			s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", backuptest.New().Add("kubeadmcontrolplanes.controlplane."+core, plane).Bytes()))
			if p := s.ControlPlanes[0]; p.MaxRetry != c.most || p.MinHealthy != c.within {
				t.Errorf("%v %s", p.MaxRetry, p.MinHealthy)
			}
		})
	}
}
