package verify

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// readTarball adds the objects of a backup of a fleet that works, with their status.
func readTarball(t *testing.T, path string) *Observation {
	t.Helper()
	file, err := os.Open(testdata + path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	out, items := &Observation{At: now}, tar.NewReader(unpacked)
	for {
		h, err := items.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(h.Name, ".json") || strings.Contains(h.Name, "-preferredversion") || !strings.HasPrefix(h.Name, "resources/") {
			continue
		}
		data, err := io.ReadAll(items)
		if err != nil {
			t.Fatal(err)
		}
		if err := out.Add("", data); err != nil {
			t.Fatalf("%s: %v", h.Name, err)
		}
	}
}

// Of real objects of a fleet that works each Machine that is Running is one that was taken over, and
// all is found where the controllers write it.
func TestRealObjects(t *testing.T) {
	for path, c := range map[string]struct {
		provider string
		running  int
	}{
		"restore/restored-data.tar.gz":    {"vsphere", 44},
		"openstack/openstack-data.tar.gz": {"openstack", 21},
		"capa/capa-data.tar.gz":           {"aws", 16},
	} {
		t.Run(c.provider, func(t *testing.T) {
			seen := readTarball(t, path)
			b := newReport(reported)
			group := map[string]string{}
			for _, m := range seen.Machines {
				group[m.Name] = m.Group
				if m.Cluster == "" || m.Group == "" || m.Infrastructure.Name == "" {
					t.Errorf("%+v", m)
				}
				id := ""
				for _, o := range seen.Objects {
					if o.Name == m.Infrastructure.Name && o.Kind == m.Infrastructure.Kind || len(o.Owners) > 0 && o.Owners[0].Name == m.Infrastructure.Name {
						id = o.ID
					}
				}
				role := report.RoleWorker
				if len(m.Owners) > 0 && strings.HasSuffix(m.Owners[0].Kind, "ControlPlane") || strings.HasSuffix(m.Group, "control-plane") {
					role = report.RoleControlPlane
				}
				infrastructure := m.Infrastructure
				b.add(c.provider, m.Namespace, m.Cluster, m.Group, report.Machine{Namespace: m.Namespace, Name: m.Name, Role: role, Status: code.Healthy, ProviderID: id, Infrastructure: &infrastructure, Forecast: &report.MachineForecast{Outcome: code.Adopted}})
			}
			running := 0
			for _, m := range seen.Machines {
				if m.Phase == "Running" {
					running++
				}
			}
			for _, g := range seen.Groups {
				if g.Kind == "MachinePool" && b.groups[g.Name] != nil {
					b.groups[g.Name].Kind = g.Kind
				}
			}
			r := b.done()
			for i := range r.Clusters {
				if p := &r.Clusters[i].ControlPlane; len(p.Machines) > 0 {
					p.Name = group[p.Machines[0].Name]
				}
			}
			d := judged(t, r, seen)
			if d.Summary.AsForetold != c.running || running < c.running {
				t.Errorf("%+v of %d Running, want %d", d.Summary, running, c.running)
				for _, m := range d.Machines {
					if m.Verdict != As {
						t.Logf("%+v", m)
					}
				}
			}
		})
	}
}

// Both versions of Cluster API are read, that of v1beta2 first.
func TestAdd(t *testing.T) {
	var o Observation
	for kind, doc := range map[string]string{
		"Namespace": `{"metadata":{"name":"kube-system","uid":"u","creationTimestamp":"2026-11-25T00:00:00Z"}}`,
		"Secret":    `{"metadata":{"name":"s"}}`,
		"Cluster":   `{"metadata":{"namespace":"ns","name":"c"},"spec":{"paused":true}}`,
		"Machine": `{"kind":"Machine","metadata":{"namespace":"ns","name":"m","annotations":{"controlplane.cluster.x-k8s.io/remediation-for":"{\"machine\":\"gone\"}","cluster.x-k8s.io/paused":""},
			"ownerReferences":[{"kind":"KubeadmControlPlane","name":"cp"}],"labels":{"cluster.x-k8s.io/control-plane-name":"hash"}},"spec":{"clusterName":"c"},
			"status":{"conditions":[{"type":"InfrastructureReady","status":"False","severity":"Info"}],"v1beta2":{"conditions":[{"type":"InfrastructureReady","status":"True"}]}}}`,
		"MachineHealthCheck": `{"metadata":{"namespace":"ns","name":"mhc"},"spec":{"clusterName":"c"}}`,
		"MachineDeployment":  `{"metadata":{"namespace":"ns","name":"md","labels":{"cluster.x-k8s.io/cluster-name":"c"}}}`,
		"OpenStackServer":    `{"metadata":{"namespace":"ns","name":"m"},"spec":{"providerID":"openstack:///restored"},"status":{"instanceID":"id","instanceState":"ERROR","deprecated":{"v1beta1":{"failureReason":"UpdateError","conditions":[{"type":"Ready","status":"False","severity":"Error"}]}}}}`,
	} {
		if err := o.Add(kind, []byte(doc)); err != nil {
			t.Fatal(err)
		}
	}
	m := o.Machines[0]
	if o.KubeSystemUID != "u" || o.Created.IsZero() || !o.Clusters[0].Paused || len(o.Checks) != 1 || o.Groups[0].Cluster != "c" {
		t.Errorf("%+v", o)
	}
	if m.RemediationFor != "gone" || m.Group != "cp" || !m.Paused || condition(m.Conditions, "InfrastructureReady").Status != "True" {
		t.Errorf("%+v", m)
	}
	if i := o.Objects[0]; i.ID != "id" || i.State != "ERROR" || i.Failure != "UpdateError" || condition(i.Conditions, "Ready").Severity != "Error" || len(o.Objects) != 1 {
		t.Errorf("%+v", o.Objects)
	}
	if err := o.Add("Machine", []byte(`{"metadata":{"name":"old","creationTimestamp":"2026-11-25T03:00:00Z"},"status":{"phase":"Running","conditions":[
		{"type":"InfrastructureReady","status":"True","lastTransitionTime":"2026-11-24T00:00:00Z"},{"type":"NodeHealthy","status":"True","lastTransitionTime":"2026-11-25T03:00:00Z"}]}}`)); err != nil {
		t.Fatal(err)
	}
	if m := o.Machines[1]; m.joined() || len(m.Conditions) != 1 { // one came with the restore
		t.Errorf("%+v", m)
	}
	var syntax *json.UnmarshalTypeError
	if err := o.Add("Machine", []byte(`{"metadata":{"name":{}}}`)); !errors.As(err, &syntax) || !strings.Contains(err.Error(), "reading a Machine") {
		t.Error(err)
	}
}
