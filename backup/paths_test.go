package backup_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

const machines = "machines.cluster.x-k8s.io"

// machine returns a Machine of an API version; its phase tells copies apart.
func machine(version, name, phase string) object {
	return object{
		"apiVersion": "cluster.x-k8s.io/" + version, "kind": "Machine",
		"metadata": object{"namespace": "ns", "name": name, "uid": backuptest.UID(name)},
		"spec":     object{"clusterName": "c", "infrastructureRef": object{"kind": "K", "name": name}}, "status": object{"phase": phase},
	}
}

// Which copy of an object is used, for every set of path forms and any order: what
// Velero restores, which is nothing where there is no classic one.
func TestCopies(t *testing.T) {
	const preferred, none = "v1beta2-preferredversion", "none"
	for _, test := range []struct {
		dirs []string
		want string
	}{
		{[]string{""}, ""},
		{[]string{"", preferred}, ""},
		{[]string{preferred, ""}, ""},
		{[]string{preferred}, none},
		{[]string{"", preferred, "v1beta1", "v1alpha4"}, ""},
		{[]string{"v1beta1", "", preferred}, ""},
		{[]string{"v1alpha4", "v1beta1", preferred}, none},
		{[]string{"v1beta1"}, none},
	} {
		b := backuptest.New()
		for _, name := range []string{"z", "a"} { // not in order
			for _, dir := range test.dirs {
				b.AddAt(machines, dir, machine("v1beta2", name, "from "+dir))
			}
		}
		b.AddAt("secrets", test.dirs[0], object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"namespace": "ns", "name": "s"}})
		s, secrets := loadAll(t, backup.Want{Secrets: []backup.SecretRule{{Name: "s"}}}, backuptest.Source("b", b.Bytes()))
		if held := secrets.Named(0, "ns", "s") != nil; held != (test.dirs[0] == "") {
			t.Errorf("%q: the Secret is there: %t", test.dirs, held)
		}
		if test.want == none {
			if len(s.Machines) > 0 || len(s.Problems) != 3 || !s.Problems[0].Decisive {
				t.Errorf("%q: %d machines, problems %v", test.dirs, len(s.Machines), s.Problems)
			}
			continue
		}
		if len(s.Machines) != 2 || s.Machines[0].Name != "a" || s.Backups[0].Items != 3 {
			t.Errorf("%q: %d machines, %d items, problems %v", test.dirs, len(s.Machines), s.Backups[0].Items, s.Problems)
			continue
		}
		for _, m := range s.Machines {
			if m.Phase != "from "+test.want {
				t.Errorf("%q: machine %s was read %s", test.dirs, m.Name, m.Phase)
			}
		}
	}
}

func TestCopiesThatDisagree(t *testing.T) {
	other := machine("v1beta2", "a", "other")
	other["metadata"].(object)["uid"] = "another"
	b := backuptest.New().
		AddAt(machines, "", machine("v1beta2", "a", "first")).
		AddAt(machines, "v1beta2-preferredversion", other).
		AddAt(machines, "", machine("v1beta2", "b", "first")).
		AddAt(machines, "", machine("v1beta2", "b", "second")).
		// Velero restores no other copy instead of a bad classic one.
		Raw(backuptest.Path(machines, "", "ns", "c"), []byte("{")).
		AddAt(machines, "v1beta2-preferredversion", machine("v1beta2", "c", "first")).
		Raw(backuptest.Path(machines, "", "ns", "d"), marshal(machine("v1beta2", "other", ""))).
		AddAt(machines, "", machine("v1beta2", "d", "first"))
	s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", b.Bytes()))
	want := []string{
		"resources/machines.cluster.x-k8s.io/namespaces/ns/c.json: invalid JSON at byte 1",
		"resources/machines.cluster.x-k8s.io/namespaces/ns/d.json: path and content disagree about the object's name",
		"resources/machines.cluster.x-k8s.io/v1beta2-preferredversion/namespaces/ns/a.json: another copy of the object has another uid; this one is left out",
		"resources/machines.cluster.x-k8s.io/namespaces/ns/b.json: the path occurs twice; the last one is used, as Velero does",
		"resources/machines.cluster.x-k8s.io/v1beta2-preferredversion/namespaces/ns/c.json: no copy that Velero restores can be used: it reads the folders of API versions only for objects that have another; it is left out",
	}
	if got := problems(s); !slices.Equal(got, want) {
		t.Errorf("problems %q", got)
	}
	for _, m := range s.Machines {
		if want := map[string]string{"b": "second"}[m.Name]; m.Phase != cmp.Or(want, "first") {
			t.Errorf("machine %s was read from the wrong copy", m.Name)
		}
	}
	if len(s.Machines) != 3 {
		t.Errorf("%d machines", len(s.Machines))
	}
}

// The same file gives the same list.
func TestProblemsAreInOrder(t *testing.T) {
	b := backuptest.New()
	for _, resource := range []string{machines, "clusters.cluster.x-k8s.io", "machinesets.cluster.x-k8s.io", "machinedeployments.cluster.x-k8s.io", "machinepools.cluster.x-k8s.io"} {
		for range 2 {
			b.AddAt(resource, "", machine("v1beta2", "a", ""))
		}
	}
	var first []string
	for i := range 20 {
		s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", b.Bytes()))
		if got := problems(s); i == 0 {
			first = got
		} else if !slices.Equal(got, first) {
			t.Fatalf("problems %q, and before %q", got, first)
		}
	}
	if len(first) < 5 {
		t.Errorf("%d problems", len(first))
	}
}

func TestFormatVersions(t *testing.T) {
	for version, wantProblems := range map[string]int{"1": 0, "1.1.0": 0, "2": 1, "": 1} {
		b := backuptest.NewFormat(version).AddAt(machines, "", machine("v1beta1", "m", ""))
		s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", b.Bytes()))
		if s.Backups[0].FormatVersion != version || len(s.Problems) != wantProblems || len(s.Machines) != 1 {
			t.Errorf("format %q: read as %q, problems %v", version, s.Backups[0].FormatVersion, s.Problems)
		}
	}
}

type identity struct{ Secret string }

// Names are taken as they are, scopes too; what is not an item is reported.
func TestPaths(t *testing.T) {
	kind := backup.NewKind("vsphereclusteridentities.infrastructure.cluster.x-k8s.io",
		backup.Text(func(i *identity) *string { return &i.Secret }, "spec.secretName"))
	odd := machine("v1beta2", "name:with odd.chars", "")
	b := withCluster().
		Add(kind.Resource(), object{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "VSphereClusterIdentity",
			"metadata": object{"name": "shared"}, "spec": object{"secretName": "creds"},
		}).
		Add(machines, odd).
		Raw("./resources/machines.cluster.x-k8s.io/namespaces/ns/dot.json", marshal(machine("v1beta2", "dot", ""))).
		Raw("unrelated.txt", []byte("x")).
		Raw("metadata/other", []byte("x"))
	bad := []string{
		"resources/machines.cluster.x-k8s.io/namespaces/ns/deep/er.json", "resources/machines.cluster.x-k8s.io/namespaces/x.json",
		"resources/machines.cluster.x-k8s.io/v1/v2/cluster/x.json", "resources/machines.cluster.x-k8s.io/x.json",
		"resources/machines.cluster.x-k8s.io/namespaces/ns/x.yaml", "resources/machines.cluster.x-k8s.io/cluster/.json",
		"resources/machines.cluster.x-k8s.io/-preferredversion/cluster/x.json",
	}
	// Velero shortens these when it extracts them, and restores what they hold.
	detours := []string{
		"resources//cluster/x.json", "././resources/machines.cluster.x-k8s.io/namespaces/ns/d1.json",
		"resources/machines.cluster.x-k8s.io/./namespaces/ns/d2.json", "resources/machines.cluster.x-k8s.io/namespaces//ns/d3.json",
	}
	for _, path := range slices.Concat(bad, detours) {
		b.Raw(path, []byte("{}"))
	}
	s, _ := loadAll(t, backup.Want{Kinds: []backup.AnyKind{kind}}, backuptest.Source("b", b.Bytes()))
	if got := names(s); !slices.Equal(got, []string{"dot", "name:with odd.chars"}) {
		t.Errorf("machines %q", got)
	}
	for r := range kind.In(s).All() {
		if r.Name != "shared" || r.Namespace != "" || r.Data.Secret != "creds" {
			t.Errorf("identity %+v", r)
		}
	}
	if kind.In(s).Len() != 1 {
		t.Errorf("%d identities", kind.In(s).Len())
	}
	for i, p := range bad {
		bad[i] = p + ": not a path of a Velero backup"
	}
	for _, p := range detours {
		bad = append(bad, strings.TrimPrefix(p, "./")+": the path is not in its shortest form, as Velero writes it; a restore reads it all the same")
	}
	if got := problems(s); !slices.Equal(got, bad) {
		t.Errorf("problems %q", got)
	}
	for _, p := range s.Problems {
		if p.Decisive != strings.Contains(p.Item, machines) {
			t.Errorf("%s: decisive %v", p.Item, p.Decisive)
		}
	}
}

func names(s *backup.Snapshot) []string {
	var list []string
	for _, m := range s.Machines {
		list = append(list, m.Name)
	}
	return list
}

// Every API version of Cluster API yields the same values.
func TestVersions(t *testing.T) {
	const infra = "infrastructure.cluster.x-k8s.io"
	for _, version := range []string{"v1alpha3", "v1alpha4", "v1beta1", "v1beta2"} {
		ref := func(group, kind, name string) object {
			if version == "v1beta2" {
				return object{"apiGroup": group, "kind": kind, "name": name}
			}
			return object{"apiVersion": group + "/" + version, "kind": kind, "name": name, "namespace": "ns"}
		}
		naming := "machineNamingStrategy"
		if version == "v1beta2" {
			naming = "machineNaming"
		}
		machineRef := ref(infra, "VSphereMachineTemplate", "kcp")
		planeMember, planeValue := "machineTemplate", object{"infrastructureRef": machineRef}
		switch version {
		case "v1alpha3":
			planeMember, planeValue = "infrastructureTemplate", machineRef
		case "v1beta2":
			planeValue = object{"spec": object{"infrastructureRef": machineRef}}
		}
		api := func(group, kind, name string, spec, status object) object {
			return object{
				"apiVersion": group + "/" + version, "kind": kind, "spec": spec, "status": status,
				"metadata": object{"namespace": "ns", "name": name, "labels": object{"cluster.x-k8s.io/cluster-name": "c"}},
			}
		}
		pools := "machinepools.cluster.x-k8s.io"
		poolGroup := "cluster.x-k8s.io"
		if version == "v1alpha3" {
			pools, poolGroup = "machinepools.exp.cluster.x-k8s.io", "exp.cluster.x-k8s.io"
		}
		template := object{"spec": object{"infrastructureRef": ref(infra, "VSphereMachineTemplate", "t")}}
		m := api("cluster.x-k8s.io", "Machine", "m", object{
			"clusterName": "c", "providerID": "vsphere://x", "failureDomain": "zone", "infrastructureRef": ref(infra, "VSphereMachine", "vm"),
			"bootstrap": object{"configRef": ref("bootstrap.cluster.x-k8s.io", "KubeadmConfig", "config"), "dataSecretName": "data"},
		}, object{"phase": "Running", "nodeRef": object{"name": "node", "kind": "Node"}})
		m["metadata"].(object)["labels"].(object)["cluster.x-k8s.io/control-plane"] = ""
		m["metadata"].(object)["annotations"] = object{"cluster.x-k8s.io/paused": "true"}
		b := backuptest.New().
			Add("clusters.cluster.x-k8s.io", api("cluster.x-k8s.io", "Cluster", "c", object{
				"paused": true, "controlPlaneEndpoint": object{"host": "api.example", "port": 6443},
				"controlPlaneRef":   ref("controlplane.cluster.x-k8s.io", "KubeadmControlPlane", "kcp"),
				"infrastructureRef": ref(infra, "VSphereCluster", "c"),
			}, object{})).
			Add("kubeadmcontrolplanes.controlplane.cluster.x-k8s.io", api("controlplane.cluster.x-k8s.io", "KubeadmControlPlane", "kcp", object{
				"replicas": 3, naming: object{"template": "{{ .random }}"}, planeMember: planeValue,
			}, object{"replicas": 2})).
			Add("machinedeployments.cluster.x-k8s.io", api("cluster.x-k8s.io", "MachineDeployment", "md", object{
				"clusterName": "c", "replicas": 4, "template": template, naming: object{"template": "x-{{ .random }}"},
			}, object{"replicas": 5})).
			Add(pools, api(poolGroup, "MachinePool", "mp", object{"clusterName": "c", "replicas": 0, "template": template}, object{})).
			Add(machines, m)
		s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", b.Bytes()))
		id := backup.ClusterID{Namespace: "ns", Name: "c"}
		got := fmt.Sprintf("%+v", []any{
			s.Clusters[0].Paused, s.Clusters[0].Endpoint, s.Clusters[0].ControlPlane, s.Clusters[0].Infrastructure,
			s.ControlPlanes[0].Cluster == id, s.ControlPlanes[0].Kind, s.ControlPlanes[0].Desired, s.ControlPlanes[0].Replicas, s.ControlPlanes[0].NamingTemplate,
			s.ControlPlanes[0].Infrastructure,
			s.Groups[0].Kind, s.Groups[0].Cluster == id, s.Groups[0].Desired, s.Groups[0].Replicas, s.Groups[0].Infrastructure, s.Groups[0].NamingTemplate,
			s.Groups[1].Kind, s.Groups[1].Desired, s.Groups[1].Replicas,
			s.Machines[0].Cluster == id, s.Machines[0].ControlPlane, s.Machines[0].Paused, s.Machines[0].Infrastructure, s.Machines[0].ProviderID,
			s.Machines[0].Node, s.Machines[0].Phase, s.Machines[0].FailureDomain, s.Machines[0].Owner.Name,
			s.Machines[0].Bootstrap, s.Machines[0].BootstrapSecret, s.Problems,
		})
		want := "[true api.example:6443 {Group:controlplane.cluster.x-k8s.io Kind:KubeadmControlPlane Namespace:ns Name:kcp}" +
			" {Group:infrastructure.cluster.x-k8s.io Kind:VSphereCluster Namespace:ns Name:c}" +
			" true KubeadmControlPlane {N:3 Known:true} {N:2 Known:true} {{ .random }}" +
			" {Group:infrastructure.cluster.x-k8s.io Kind:VSphereMachineTemplate Namespace:ns Name:kcp}" +
			" MachineDeployment true {N:4 Known:true} {N:5 Known:true} {Group:infrastructure.cluster.x-k8s.io Kind:VSphereMachineTemplate Namespace:ns Name:t} x-{{ .random }}" +
			" MachinePool {N:0 Known:true} {N:0 Known:false}" +
			" true true true {Group:infrastructure.cluster.x-k8s.io Kind:VSphereMachine Namespace:ns Name:vm} vsphere://x node Running zone kcp" +
			" {Group:bootstrap.cluster.x-k8s.io Kind:KubeadmConfig Namespace:ns Name:config} data []]"
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", version, got, want)
		}
	}
}
