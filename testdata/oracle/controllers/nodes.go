package oracle

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// startWorkload makes the workload cluster of the VMs that run.
func (w *World) startWorkload() {
	w.workload = newWorkload()
	w.workload.api, w.workload.etcd = w.authorityOf("-ca"), w.authorityOf("-etcd")
	version := w.version()
	for _, v := range w.VMs {
		if v.ControlPlane && (!v.Gone || w.membersLeft[v.Name]) {
			w.workload.members[v.Name] = true
		}
		if v.Gone && !w.nodesLeft[v.Name] {
			continue
		}
		w.createAll(nodeObjects(v, version))
	}
	w.createAll([]client.Object{
		&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kubeadm-config"},
			Data:       map[string]string{"ClusterConfiguration": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: " + version + "\nclusterName: " + w.Cluster.Name + "\n"},
		},
		&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-public", Name: "cluster-info"},
			Data:       map[string]string{"kubeconfig": "apiVersion: v1\nkind: Config\n"},
		},
	})
	w.kubelets()
}

func (w *World) createAll(objs []client.Object) {
	for _, o := range objs {
		if err := client.IgnoreAlreadyExists(w.workload.client.Create(context.Background(), o)); err != nil {
			panic(err)
		}
	}
}

// version returns that of Kubernetes on Nodes.
func (w *World) version() string {
	for _, k := range w.of("KubeadmControlPlane") {
		if v := text(k, "spec", "version"); v != "" {
			return v
		}
	}
	return "v1.34.0"
}

// boot does what a VM does that starts for the first time: it joins, if its cluster answers.
func (w *World) boot(v *VM, version string) {
	if !w.quorum() {
		return
	}
	if v.ControlPlane {
		w.workload.members[v.Name] = true
	}
	w.createAll(nodeObjects(v, version))
}

// nodeObjects returns a Node and the static Pods of a control plane. Conditions that a
// kubelet reports are all there: a rollout waits for them.
func nodeObjects(v *VM, version string) []client.Object {
	hourAgo := metav1.NewTime(time.Now().Add(-time.Hour))
	labels := map[string]string{"kubernetes.io/hostname": v.Name}
	if v.ControlPlane {
		labels["node-role.kubernetes.io/control-plane"] = ""
	}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: v.Name, Labels: labels, CreationTimestamp: hourAgo},
		Spec:       corev1.NodeSpec{ProviderID: "vsphere://" + v.UUID},
		Status:     corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: version}},
	}
	for _, c := range []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		status := corev1.ConditionFalse
		if c == corev1.NodeReady {
			status = corev1.ConditionTrue
		}
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: c, Status: status, Reason: "Kubelet", LastTransitionTime: hourAgo})
	}
	all := []client.Object{n}
	if !v.ControlPlane {
		return all
	}
	for _, c := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"} {
		all = append(all, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "kube-system", Name: c + "-" + v.Name, Labels: map[string]string{"component": c, "tier": "control-plane"},
				Annotations: map[string]string{corev1.MirrorPodAnnotationKey: "x"},
			},
			Spec: corev1.PodSpec{NodeName: v.Name},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionTrue}, {Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
			}},
		})
	}
	return all
}

// kubelets report, and the cloud provider deletes Nodes whose VM is gone.
func (w *World) kubelets() {
	for _, v := range w.VMs {
		v.boots = max(0, v.boots-1)
	}
	if !w.quorum() {
		return
	}
	for _, n := range w.nodes() {
		v := w.byUUID(strings.TrimPrefix(n.Spec.ProviderID, "vsphere://"))
		if v == nil && !w.nodesLeft[n.Name] || v != nil && v.NoNode {
			w.deleteNode(&n)
			continue
		}
		if report(&n, v != nil && v.On && !v.NotReady && v.boots == 0, v != nil && v.Pressed) {
			if err := w.workload.client.Status().Update(context.Background(), &n); err != nil {
				panic(err)
			}
		}
	}
}

// report writes what a kubelet reports, and reports whether that is something new. One that is
// dead has been so for an hour, longer than a health check waits.
func report(n *corev1.Node, alive, pressed bool) bool {
	changed := false
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		want := corev1.ConditionFalse
		switch {
		case !alive:
			want = corev1.ConditionUnknown
		case c.Type == corev1.NodeReady, c.Type == corev1.NodeMemoryPressure && pressed:
			want = corev1.ConditionTrue
		}
		if c.Status != want {
			c.Status, c.LastTransitionTime, changed = want, metav1.Now(), true
			if !alive {
				c.LastTransitionTime = metav1.NewTime(time.Now().Add(-time.Hour))
			}
		}
	}
	return changed
}

func (w *World) deleteNode(n *corev1.Node) {
	pods := &corev1.PodList{}
	w.list(pods, client.MatchingFields{"spec.nodeName": n.Name})
	doomed := []client.Object{n}
	for i := range pods.Items {
		doomed = append(doomed, &pods.Items[i])
	}
	for _, o := range doomed {
		if err := client.IgnoreNotFound(w.workload.client.Delete(context.Background(), o)); err != nil {
			panic(err)
		}
	}
}

// list makes no call of a controller: it does not fail.
func (w *World) list(l client.ObjectList, opts ...client.ListOption) {
	was := w.workload.failing
	w.workload.failing = false
	defer func() { w.workload.failing = was }()
	if err := w.workload.client.List(context.Background(), l, opts...); err != nil {
		panic(err)
	}
}

// nodes returns those of the workload cluster, in the order of their names.
func (w *World) nodes() []corev1.Node {
	l := &corev1.NodeList{}
	w.list(l)
	slices.SortFunc(l.Items, func(a, b corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	return l.Items
}

// sync makes Nodes and members of etcd match what was done to the VMs.
func (w *World) sync() {
	version := w.version()
	for _, v := range w.VMs {
		if v.Gone || v.NoNode {
			continue
		}
		w.createAll(nodeObjects(v, version))
		if v.ControlPlane && v.After {
			w.workload.members[v.Name] = true
		}
	}
	for _, v := range w.VMs {
		if !v.Gone || w.vm(v.Name) != nil {
			continue
		}
		if !w.membersLeft[v.Name] {
			delete(w.workload.members, v.Name)
		}
		if !w.nodesLeft[v.Name] {
			w.deleteNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: v.Name}})
		}
	}
	w.kubelets()
}
