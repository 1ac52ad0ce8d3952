package backup_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

// without leaves the items of some resources out of the lab's backup.
func without(t *testing.T, resources ...string) []byte {
	return backuptest.Rewrite(t, lab, func(path string, body []byte) ([]byte, bool) {
		return body, !slices.Contains(resources, strings.Split(path, "/")[1])
	})
}

// With its Cluster objects taken out, the lab has the same clusters, derived.
func TestLabWithoutClusters(t *testing.T) {
	whole, _ := loadPath(t, lab, backup.Want{})
	s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", without(t, "clusters.cluster.x-k8s.io")))
	if len(s.Clusters) != len(whole.Clusters) || len(s.Problems) > 0 {
		t.Fatalf("%d clusters, problems %v", len(s.Clusters), s.Problems)
	}
	for i, c := range s.Clusters {
		w := whole.Clusters[i]
		if !c.Derived || c.ID() != w.ID() || c.Endpoint != w.Endpoint || c.Infrastructure != w.Infrastructure || c.ControlPlane != w.ControlPlane {
			t.Errorf("derived %+v\nfrom    %+v", c, w)
		}
	}
	if fmt.Sprint(s.Machines) != fmt.Sprint(whole.Machines) {
		t.Error("the machines differ")
	}
}

// Nothing but Machines is enough for a cluster and its control plane.
func TestClustersFromMachinesAlone(t *testing.T) {
	only := backuptest.Rewrite(t, lab, func(path string, body []byte) ([]byte, bool) {
		return body, strings.HasPrefix(path, "metadata/") || strings.Contains(path, "/"+machines+"/")
	})
	whole, _ := loadPath(t, lab, backup.Want{})
	s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", only))
	if len(s.Clusters) != 5 || len(s.Machines) != 42 {
		t.Fatalf("%d clusters, %d machines", len(s.Clusters), len(s.Machines))
	}
	for i, c := range s.Clusters {
		if w := whole.Clusters[i]; c.ID() != w.ID() || c.ControlPlane != w.ControlPlane || !c.Infrastructure.IsZero() || c.Endpoint != "" {
			t.Errorf("cluster %+v", c)
		}
	}
	var absent []string
	for _, a := range s.Absent {
		absent = append(absent, strings.Join([]string{a.Kind, a.Name, a.Resource, a.ReferredBy}, " "))
	}
	if want := []string{
		"AWSMachine * awsmachines.infrastructure.cluster.x-k8s.io 6 objects, first Machine tenant-aws/aws-prod-control-plane-6gjw7",
		"KubeadmConfig * kubeadmconfigs.bootstrap.cluster.x-k8s.io 37 objects, first Machine tenant-alpha/alpha-dev-md-0-pjr48-m4vlc",
		"VSphereMachine * vspheremachines.infrastructure.cluster.x-k8s.io 36 objects, first Machine tenant-alpha/alpha-dev-md-0-pjr48-m4vlc",
	}; !slices.Equal(absent, want) {
		t.Errorf("absent %q", absent)
	}
}

// Machines whose ownerReferences are gone, as after a restore, are said by labels.
func TestOwnersFromLabels(t *testing.T) {
	whole, _ := loadPath(t, lab, backup.Want{})
	bare := backuptest.Rewrite(t, lab, func(path string, body []byte) ([]byte, bool) {
		if !strings.Contains(path, "/"+machines+"/") {
			return body, true
		}
		var o object
		if err := json.Unmarshal(body, &o); err != nil {
			t.Fatal(err)
		}
		delete(o["metadata"].(object), "ownerReferences")
		return marshal(o), true
	})
	s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", bare))
	for i, m := range s.Machines {
		if w := whole.Machines[i]; m.Owner != w.Owner || m.ControlPlane != w.ControlPlane || m.Set != w.Set || m.Deployment != w.Deployment {
			t.Errorf("machine %s: owner %+v, want %+v", m.Name, m.Owner, w.Owner)
		}
	}
}

// The owner's kind tells a control plane machine that lost its label.
func TestControlPlaneByOwner(t *testing.T) {
	m := machine("v1beta1", "m", "")
	m["metadata"].(object)["ownerReferences"] = []any{object{"kind": "K0sControlPlane", "name": "k", "uid": "u", "controller": true}}
	hashed := machine("v1beta1", "hashed", "")
	hashed["metadata"].(object)["labels"] = object{
		"cluster.x-k8s.io/control-plane": "", "cluster.x-k8s.io/control-plane-name": "hash_abc_z", "cluster.x-k8s.io/set-name": "hash_def_z",
	}
	s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", backuptest.New().Add(machines, m).Add(machines, hashed).Bytes()))
	if h := s.Machines[0]; h.Set != "" || h.Owner.Name != "" || !h.ControlPlane {
		t.Errorf("hashed names were taken for names: %+v", h)
	}
	if !s.Machines[1].ControlPlane {
		t.Error("the owner's kind was not used")
	}
	if ref := s.Clusters[0].ControlPlane; ref.Kind != "K0sControlPlane" || ref.Name != "k" {
		t.Errorf("control plane %+v", ref)
	}
}

// A template is followed from its MachineDeployment, not a second time from that
// one's MachineSet, and from its control plane.
func TestAbsentTemplates(t *testing.T) {
	const resource = "vspheremachinetemplates.infrastructure.cluster.x-k8s.io"
	b := backuptest.Rewrite(t, lab, func(path string, body []byte) ([]byte, bool) {
		return body, !strings.HasPrefix(path, "resources/"+resource) || !strings.HasSuffix(path, "/alpha-prod.json") && !strings.HasSuffix(path, "/alpha-prod-md-0.json")
	})
	for _, want := range []backup.Want{{}, {Kinds: []backup.AnyKind{backup.NewKind[struct{}](resource)}}} { // whether or not a provider reads it
		s, _ := loadAll(t, want, backuptest.Source("b", b))
		var got []string
		for _, a := range s.Absent {
			got = append(got, a.Name+" < "+a.ReferredBy)
		}
		if want := []string{
			"alpha-prod < KubeadmControlPlane tenant-alpha/alpha-prod",
			"alpha-prod-md-0 < MachineDeployment tenant-alpha/alpha-prod-md-0",
		}; !slices.Equal(got, want) {
			t.Errorf("absent %q", got)
		}
	}
}

// A class is of no use without any of its templates, to all clusters that have it.
func TestAbsentTemplatesOfAClass(t *testing.T) {
	const infrastructure, bootstrap = "infrastructure.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io"
	template := func(version, member, kind, name string) object {
		group := infrastructure
		if strings.HasPrefix(kind, "Kubeadm") {
			group = bootstrap
		}
		return object{member: object{"apiVersion": group + "/" + version, "kind": kind, "name": name}}
	}
	workers := func(version, member string) object {
		return object{"bootstrap": template(version, member, "KubeadmConfigTemplate", "join"), "infrastructure": template(version, member, "XMachineTemplate", "gone")}
	}
	newer := object{
		"infrastructure": template("v1", "templateRef", "XClusterTemplate", "there"),
		"controlPlane":   object{"templateRef": object{"apiVersion": "controlplane.cluster.x-k8s.io/v1", "kind": "PlaneTemplate", "name": "one"}, "machineInfrastructure": template("v1", "templateRef", "XMachineTemplate", "lost")},
		"workers":        object{"machineDeployments": []any{object{"class": "bare"}, workers("v1", "templateRef")}},
		"patches": []any{
			object{"name": "inline"},
			object{"external": object{"generatePatchesExtension": "patch.there.example", "validateTopologyExtension": "validate.gone.example"}},
			object{"external": object{"discoverVariablesExtension": "variables.gone.example"}},
		},
	}
	older := object{
		"infrastructure": template("v1", "ref", "XClusterTemplate", "there"),
		"workers":        object{"machinePools": []any{object{"template": workers("v1", "ref")}}},
		"patches":        []any{object{"external": object{"generateExtension": "patch.lost", "validateExtension": "validate.there.example"}}},
	}
	for name, c := range map[string]struct {
		spec object
		want string
	}{
		"v1beta2": {newer, "[ExtensionConfig gone.example KubeadmConfigTemplate * PlaneTemplate * XMachineTemplate gone XMachineTemplate lost]"},
		"v1beta1": {older, "[ExtensionConfig lost KubeadmConfigTemplate * XMachineTemplate gone]"},
	} {
		b := backuptest.New()
		add := func(resource, kind, namespace, name string, spec object) {
			_, group, _ := strings.Cut(resource, ".")
			b.Add(resource, object{"apiVersion": group + "/v1beta2", "kind": kind, "metadata": object{"namespace": namespace, "name": name, "uid": namespace + name}, "spec": spec})
		}
		for _, cluster := range []string{"b", "a"} {
			add("clusters.cluster.x-k8s.io", "Cluster", "ns", cluster, object{"topology": object{"classRef": object{"name": "class", "namespace": "classes"}}})
		}
		add("clusters.cluster.x-k8s.io", "Cluster", "ns", "other", object{"topology": object{"class": "class"}})
		add("clusterclasses.cluster.x-k8s.io", "ClusterClass", "classes", "class", c.spec)
		add("clusterclasses.cluster.x-k8s.io", "ClusterClass", "classes", "unused", object{"infrastructure": template("v1", "templateRef", "XClusterTemplate", "unused")})
		add("xclustertemplates."+infrastructure, "XClusterTemplate", "classes", "there", object{})
		add("xmachinetemplates."+infrastructure, "XMachineTemplate", "classes", "another", object{})
		add("extensionconfigs.runtime.cluster.x-k8s.io", "ExtensionConfig", "", "there.example", object{})
		s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", b.Bytes()))
		var got []string
		for _, a := range s.Absent {
			got = append(got, a.Kind+" "+a.Name)
			if !a.HaltsTopology || a.ReferredBy != "ClusterClass classes/class" || fmt.Sprint(a.Clusters) != "[{0 ns a} {0 ns b}]" || a.Name != "*" && (a.Namespace == "classes") == (a.Kind == "ExtensionConfig") {
				t.Errorf("%s: %+v", name, a)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: absent %s", name, got)
		}
	}
}

func TestAbsent(t *testing.T) {
	vsphere := backup.NewKind[struct{}]("vspheremachines.infrastructure.cluster.x-k8s.io")
	b := without(t, "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io")
	const gone = "alpha-dev-md-0-pjr48-m4vlc"
	b = backuptest.Rewrite(t, b, func(path string, body []byte) ([]byte, bool) {
		return body, !strings.Contains(path, "/vspheremachines.") || !strings.Contains(path, gone)
	})
	list := func(w backup.Want) []string {
		s, _ := loadAll(t, w, backuptest.Source("b", b))
		var got []string
		for _, a := range s.Absent {
			got = append(got, fmt.Sprintf("%s %s/%s < %s", a.Kind, a.Namespace, a.Name, a.ReferredBy))
		}
		return got
	}
	planes := "KubeadmControlPlane /* < 5 objects, first Cluster tenant-alpha/alpha-dev"
	if got := list(backup.Want{Kinds: []backup.AnyKind{vsphere}}); !slices.Equal(got, []string{
		planes, "VSphereMachine tenant-alpha/" + gone + " < Machine tenant-alpha/" + gone,
	}) {
		t.Errorf("absent %q", got)
	}
	// Of infrastructure machines that nobody reads, nobody knows which are there.
	if got := list(backup.Want{}); !slices.Equal(got, []string{planes}) {
		t.Errorf("absent %q", got)
	}
}

func TestSelf(t *testing.T) {
	configMap := func(namespace, name string, data object) object {
		return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"namespace": namespace, "name": name}, "data": data}
	}
	cluster := func(namespace, name, host string) object {
		return object{
			"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": object{"namespace": namespace, "name": name},
			"spec": object{"controlPlaneEndpoint": object{"host": host, "port": 6443}},
		}
	}
	machine := func(cluster, name, id, node string) object {
		return object{
			"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "metadata": object{"namespace": "ns", "name": name, "labels": object{"cluster.x-k8s.io/cluster-name": cluster}},
			"spec":   object{"clusterName": cluster, "providerID": id, "infrastructureRef": object{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "VSphereMachine", "name": name}},
			"status": object{"nodeRef": object{"name": node}},
		}
	}
	node := func(id string) object {
		return object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": "n"}, "spec": object{"providerID": id}}
	}
	pod := func(namespace, node string) object {
		return object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"namespace": namespace, "name": "p"}, "spec": object{"nodeName": node}}
	}
	kubeconfig := "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: x\n    server: https://Mgmt.example:6443\n  name: \"\"\n"
	for name, test := range map[string]struct {
		data object
		want string
	}{
		"cluster-info":    {configMap("kube-public", "cluster-info", object{"kubeconfig": kubeconfig}), "mgmt"},
		"kubeadm-config":  {configMap("kube-system", "kubeadm-config", object{"ClusterConfiguration": "apiServer: {}\ncontrolPlaneEndpoint: \"mgmt.example:6443\"\n"}), "mgmt"},
		"IPv6":            {configMap("kube-public", "cluster-info", object{"kubeconfig": "clusters:\n- cluster: \n    server: https://[fd00::1]:6443\n"}), "six"},
		"elsewhere":       {configMap("default", "cluster-info", object{"kubeconfig": kubeconfig}), ""},
		"other port":      {configMap("kube-public", "cluster-info", object{"kubeconfig": "server: https://mgmt.example\n"}), ""},
		"its Node":        {node("vsphere://own"), "unset"},
		"another Node":    {node("vsphere://other"), ""},
		"no id":           {node(""), ""},
		"its Pod":         {pod("capi-system", "own"), "unset"},
		"its static Pod":  {pod("kube-system", "own"), "unset"},
		"a Pod of others": {pod("kube-system", "other"), ""},
		"any Pod":         {pod("default", "own"), ""},
		"a common name":   {pod("kube-system", "ip-10-0-0-5"), ""},
		"pending":         {pod("kube-system", ""), ""},
	} {
		resource := map[any]string{"ConfigMap": "configmaps", "Node": "nodes", "Pod": "pods"}[test.data["kind"]]
		b := backuptest.New().
			Add(resource, test.data).
			Add("machines.cluster.x-k8s.io", machine("unset", "own", "vsphere://own", "own")).
			Add("machines.cluster.x-k8s.io", machine("six", "late", "", "")).
			Add("machines.cluster.x-k8s.io", machine("six", "named", "aws:///a/i-1", "ip-10-0-0-5")).
			Add("clusters.cluster.x-k8s.io", cluster("ns", "mgmt", "mgmt.example")).
			Add("clusters.cluster.x-k8s.io", cluster("ns", "six", "fd00::1")).
			Add("clusters.cluster.x-k8s.io", cluster("ns", "unset", "")).
			Add("clusters.cluster.x-k8s.io", cluster("tkg-system", "tkg", "tkg.example"))
		s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", b.Bytes()))
		var got []string
		for _, c := range s.Clusters {
			if c.Self {
				got = append(got, c.Name)
			}
		}
		want := []string{"tkg"}
		if test.want != "" {
			want = []string{test.want, "tkg"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: self %q, want %q", name, got, want)
		}
	}
}

// The annotation on an infrastructure cluster halts that alone: whoever makes the Cluster
// again does not pause it.
func TestPausedInfrastructureDoesNotPauseTheCluster(t *testing.T) {
	b := backuptest.New().Add("awsclusters.infrastructure.cluster.x-k8s.io", object{
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSCluster",
		"metadata": object{"namespace": "ns", "name": "c", "annotations": object{"cluster.x-k8s.io/paused": ""}},
	})
	s, _ := loadAll(t, backup.Want{}, backuptest.Source("b", b.Bytes()))
	if c := s.Clusters[0]; !c.Derived || c.Paused || c.LeftAlone != "cluster.x-k8s.io/paused" {
		t.Errorf("derived %t, paused %t, left alone by %q", c.Derived, c.Paused, c.LeftAlone)
	}
}
