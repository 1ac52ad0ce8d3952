package vsphere_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
)

// These scenes are about VMs that no machine explains, and about matches that are not
// what runs.

const (
	likeWorker = "alpha-prod-md-0-cjzhw-dm6x8" // a Healthy worker of the lab
	setOfLike  = "alpha-prod-md-0-cjzhw"
	alphaVMs   = "/DC0/vm/capi/tenant-alpha"
)

// Counts are sets that may overlap: what leaks add is never part of them by chance, and
// what was being deleted may be.
func TestCountsAreSets(t *testing.T) {
	t.Parallel()
	const leftOut = "alpha-prod-md-0-cjzhw-zk8zm"
	ghosts := []string{"alpha-prod-md-0-cjzhw-tqwxw", "alpha-prod-md-0-cjzhw-68lpw"}
	t.Run("a machine that was left out, and a leak without an id", func(t *testing.T) {
		w := runs.Fleet(t)
		w.Without(leftOut)
		w.Leaked(likeWorker, setOfLike+"-leak1", "")
		for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
			o := w.Detect(args...)
			o.Says(t, map[string]string{leftOut: "Unknown MachineNotInBackup", ghosts[0]: "Unknown MachineNotInBackup"})
		}
	})
	t.Run("a machine that was left out, and a leak whose VM is gone", func(t *testing.T) {
		w := runs.Fleet(t)
		w.Without(leftOut)
		w.Leaked(likeWorker, setOfLike+"-leak2", "42000000-0000-4000-8000-00000000dead")
		o := w.Detect()
		o.Says(t, map[string]string{leftOut: "Unknown MachineNotInBackup", ghosts[0]: "Unknown MachineNotInBackup"})
	})
	t.Run("a leak beside all machines", func(t *testing.T) {
		w := runs.Fleet(t)
		leak := w.Clone(likeWorker, lab.CloneSpec{Name: setOfLike + "-bbbbb", Created: after(-time.Hour)})
		w.Leaked(likeWorker, setOfLike+"-bbbbb", leak.BIOSUUID)
		o := w.Detect()
		o.Says(t, map[string]string{ghosts[0]: "Ghost", ghosts[1]: "Ghost", setOfLike + "-bbbbb": "Healthy"})
		if got := o.Warned(setOfLike + "-bbbbb"); !slices.Equal(got, []string{"MachineMissing"}) {
			t.Errorf("the leak has warnings %v", got)
		}
	})
	t.Run("a VSphereVM alone counts like an orphan with an id", func(t *testing.T) {
		w := runs.Fleet(t)
		w.Edited("vm-alone", func(item string, body []byte) ([]byte, bool) {
			resource, name := runs.ItemOf(item)
			return body, name != leftOut || !strings.HasPrefix(resource, "machines.") && !strings.HasPrefix(resource, "vspheremachines.")
		})
		o := w.Detect()
		o.Says(t, map[string]string{ghosts[0]: "Ghost", leftOut: "Unknown InfraObjectMissing"})
	})
}

// A name alone makes no Ghost of what may be somebody else's.
func TestANameAloneMakesNoGhost(t *testing.T) {
	t.Parallel()
	const old, young = setOfLike + "-bcdfg", setOfLike + "-bbbbb"
	t.Run("older than the backup", func(t *testing.T) {
		w := runs.Fleet(t)
		w.Clone(likeWorker, lab.CloneSpec{Name: old, Created: after(-100 * 24 * time.Hour)})
		w.Clone(likeWorker, lab.CloneSpec{Name: young, Created: after(time.Hour)})
		o := w.Detect("--skip-access-apiserver")
		o.Says(t, map[string]string{old: "NameOnly", young: "Ghost"})
		if !strings.Contains(o.Message(old), "older than the backup") {
			t.Errorf("it says %s", o.Message(old))
		}
	})
	t.Run("without a Node although the Node list was read", func(t *testing.T) {
		w := runs.Fleet(t)
		vm := w.Clone(likeWorker, lab.CloneSpec{Name: young, Created: after(time.Hour)})
		o := w.Detect()
		o.Says(t, map[string]string{young: "NameOnly"})
		if !strings.Contains(o.Message(young), "no Node on it") || strings.Contains(o.Message(young), "run again") {
			t.Errorf("it says %s", o.Message(young))
		}
		w.WithNode("alpha-prod", likeWorker, young, vm.BIOSUUID)
		o = w.Detect()
		o.Says(t, map[string]string{young: "Ghost"})
	})
	joins := map[string]struct{ data, want string }{
		"RKE2, another cluster":              {"#cloud-config\nwrite_files:\n- path: /etc/rancher/rke2/config.yaml\n  content: |\n    server: https://10.99.99.99:9345\n    token: x\n", "InClusterFolder"},
		"RKE2, the cluster":                  {"#cloud-config\nwrite_files:\n- path: /etc/rancher/rke2/config.yaml\n  content: |\n    server: https://127.0.0.1:9345\n    token: x\n", "Ghost"},
		"RKE2, a machine of the cluster":     {"#cloud-config\nwrite_files:\n- path: /etc/rancher/rke2/config.yaml\n  content: |\n    server: https://192.0.2.100:9345\n    token: x\n", "Ghost"},
		"k3s, another cluster":               {"#cloud-config\nwrite_files:\n- path: /etc/rancher/k3s/config.yaml\n  content: |\n    server: 'https://10.99.99.99:6443'\n", "InClusterFolder"},
		"k0s, another cluster":               {"#cloud-config\nwrite_files:\n- path: /etc/k0s.token\n  content: " + k0sToken("https://10.99.99.99:6443") + "\n", "InClusterFolder"},
		"k0s, the cluster":                   {"#cloud-config\nwrite_files:\n- path: /etc/k0s.token\n  content: " + k0sToken("https://127.0.0.1:20000") + "\n", "Ghost"},
		"the name of what may be an address": {"#cloud-config\nwrite_files:\n- content: |\n    apiServerEndpoint: api.alpha.example:6443\n", "Ghost"},
	}
	for name, c := range joins {
		t.Run(name, func(t *testing.T) {
			w := runs.Fleet(t)
			w.Clone(likeWorker, lab.CloneSpec{Name: young, Created: after(time.Hour)})
			w.Bootstrapped(young, map[string]string{"metadata": metadata(young), "userdata": c.data})
			o := w.Detect("--skip-access-apiserver")
			o.Says(t, map[string]string{young: c.want})
		})
	}
	t.Run("a name cut to the 15 characters of Windows", func(t *testing.T) {
		w := runs.Restored(t)
		w.Clone("delta-mix-df678", lab.CloneSpec{Name: "delta-mix-bcdfg", Created: after(time.Hour)})
		o := w.Detect("--skip-access-apiserver")
		o.Says(t, map[string]string{"delta-mix-bcdfg": "InClusterFolder", "delta-mix-df678": "Healthy"})
	})
}

// MachineSets of Cluster API 1.4 and 1.5 have names that end in up to 16 characters.
func TestMachineSetsWithALongHash(t *testing.T) {
	t.Parallel()
	const name = "alpha-prod-md-0-6f9c8d47b5xzzzzz-xl2wk"
	w := runs.Fleet(t)
	w.Clone(likeWorker, lab.CloneSpec{Name: name, Created: after(time.Hour)})
	w.Detect("--skip-access-apiserver").Says(t, map[string]string{name: "Ghost"})
}

// A VM of a known MachineSet that is in another folder is a line at least, and a Ghost
// where its Node says so.
func TestAGhostInAnotherFolder(t *testing.T) {
	t.Parallel()
	const name = setOfLike + "-bcdfg"
	w := runs.Fleet(t)
	vm := w.Clone(likeWorker, lab.CloneSpec{Name: name, Folder: "/DC0/vm/restored", Created: after(time.Hour)})
	for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
		o := w.Detect(args...)
		o.Says(t, map[string]string{name: "NameOnly"})
		if !strings.Contains(o.Message(name), "is where none of them is") {
			t.Errorf("it says %s", o.Message(name))
		}
		if i := slices.IndexFunc(o.Report.InfraMachines, func(m report.InfraMachine) bool { return m.Instance.Name == name }); i < 0 || o.Report.InfraMachines[i].Cluster != "tenant-alpha/alpha-prod" {
			t.Error("the line does not name the cluster")
		}
	}
	w.WithNode("alpha-prod", likeWorker, name, vm.BIOSUUID)
	w.Detect().Says(t, map[string]string{name: "Ghost"})
}

// Nothing that has a name of the backup is dropped, wherever it is.
func TestNothingOfOursIsDropped(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	w.Ensure(w.VCenter.AddFolder(alphaVMs + "/team"))
	w.Ensure(w.VCenter.AddFolder(alphaVMs + "/team/sub"))
	w.Ensure(w.VCenter.AddDatacenter("DC1"))
	for _, f := range []string{"/DC1/vm/capi", "/DC1/vm/capi/tenant-alpha"} {
		w.Ensure(w.VCenter.AddFolder(f))
	}
	want := map[string]string{}
	add := func(name, folder, host, verdict string) {
		w.Clone(likeWorker, lab.CloneSpec{Name: name, Folder: folder, Created: after(time.Hour)})
		w.Bootstrapped(name, map[string]string{"metadata": metadata(host)})
		want[name] = verdict
	}
	const suffix = "-bcdfg"
	add(setOfLike+"-ccccc", alphaVMs+"/team/sub", setOfLike+"-ccccc", "InClusterFolder")
	add("somebody-elses", alphaVMs+"/team", "somebody-elses", "InClusterFolder")
	add(setOfLike+"-ddddd", "/DC1/vm/capi/tenant-alpha", setOfLike+"-ddddd", "NameOnly")
	add("alpha-prod"+suffix+".corp.example", "/DC0/vm", "alpha-prod"+suffix+".corp.example", "NameOnly")
	add("alpha-prod-kcn2q-old", "/DC0/vm/restored", "alpha-prod-kcn2q", "CloneOf")
	add("alpha-prod-nnxbq.corp.example", "/DC1/vm", "nnxbq", "SameName")
	add(setOfLike+"-fffff", "/DC0/vm/restored", "renamed-by-hand", "NameOnly")
	add("ALPHA-PROD-MD-0-CJZHW-GGGGG", "/DC0/vm/restored", "alpha-prod-md-0-cjzhw-ggggg", "NameOnly")
	add("web-1", "/DC0/vm/restored", "web-1", "nothing")
	for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
		w.Detect(args...).Says(t, want)
	}
	// What its own bootstrap data says is another cluster's is none of ours.
	w.Bootstrapped(setOfLike+"-fffff", map[string]string{
		"metadata": metadata(setOfLike + "-fffff"), "userdata": "#cloud-config\n    apiServerEndpoint: 10.99.99.99:6443\n",
	})
	w.Detect().Says(t, map[string]string{setOfLike + "-fffff": "nothing"})
}

// In a second vCenter that the backup knows a name of the first one's clusters is a line.
func TestANameInTheSecondVCenter(t *testing.T) {
	t.Parallel()
	const name = "gamma-edge-md-0-7n6v9-bcdfg"
	w := runs.Fleet(t)
	second, err := lab.StartVCenter(lab.VCenterOptions{Archive: runs.Testdata + "vcenter-after.tar.gz", InstanceUUID: "5a5a5a5a-0000-4000-8000-000000000002"})
	w.Ensure(err)
	t.Cleanup(second.Close)
	for _, vm := range second.VMs() {
		if !strings.Contains(vm.Path, "/tenant-alpha/") {
			w.Ensure(second.Remove(vm.Path))
		}
	}
	for _, vm := range w.VCenter.VMs() {
		if strings.Contains(vm.Path, "/tenant-alpha/") {
			w.Ensure(w.VCenter.Remove(vm.Path))
		}
	}
	_, err = second.Clone("alpha-prod-nnxbq", lab.CloneSpec{Name: name, Folder: "/DC0/vm/restored", Created: after(time.Hour)})
	w.Ensure(err)
	const address = "vc2.example:443"
	w.Edited("two-vcenters", func(item string, body []byte) ([]byte, bool) {
		if strings.Contains(item, "/tenant-alpha/") && strings.HasPrefix(item, "resources/vsphere") {
			body = []byte(strings.ReplaceAll(string(body), "https://127.0.0.1:36459", "https://"+address))
			body = []byte(strings.ReplaceAll(string(body), `"thumbprint"`, `"was"`))
		}
		return body, true
	})
	o := w.Detect("--insecure-skip-verify", "--endpoint", address+"="+second.Addr)
	o.Says(t, map[string]string{name: "NameOnly", "alpha-prod-nnxbq": "Healthy", "gamma-edge-xk72k": "Healthy"})
}

// Healthy means that the one that runs is the one that the controller will take.
func TestAMatchThatIsOff(t *testing.T) {
	t.Parallel()
	const copied = likeWorker + "-copy"
	off := func(t *testing.T) *runs.World {
		w := runs.Fleet(t)
		w.Ensure(w.VCenter.SetPower(likeWorker, false))
		return w
	}
	t.Run("and nothing else runs", func(t *testing.T) {
		w := off(t)
		w.Detect().Says(t, map[string]string{likeWorker: "Healthy"})
	})
	t.Run("its Node is alive", func(t *testing.T) {
		w := off(t)
		w.ServeNodes(runs.Alive)
		o := w.Detect()
		o.Says(t, map[string]string{likeWorker: "Unknown NodeAlive"})
		if !strings.Contains(o.Message(likeWorker), "powering this one on creates a second") {
			t.Errorf("it says %s", o.Message(likeWorker))
		}
	})
	t.Run("a copy with its id runs", func(t *testing.T) {
		w := off(t)
		w.Ensure(w.VCenter.Rename(likeWorker, likeWorker+"-was"))
		w.Clone(likeWorker+"-was", lab.CloneSpec{Name: likeWorker, Folder: "/DC0/vm/restored", BIOSUUID: w.VM(likeWorker + "-was").BIOSUUID})
		w.Ensure(w.VCenter.SetPower(likeWorker, true))
		for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
			o := w.Detect(args...)
			if status, reason, _ := runs.VerdictOf(o.Report, likeWorker); status != code.Unknown || reason != "AmbiguousMatch" {
				t.Errorf("it is %s %s", status, reason)
			}
		}
	})
	t.Run("a clone under its name and another id runs", func(t *testing.T) {
		w := off(t)
		w.Ensure(w.VCenter.Rename(likeWorker, "kept-"+likeWorker))
		w.Clone("kept-"+likeWorker, lab.CloneSpec{Name: likeWorker})
		w.Ensure(w.VCenter.SetPower(likeWorker, true))
		w.Detect("--skip-access-apiserver").Says(t, map[string]string{likeWorker: "Unknown AmbiguousMatch"})
	})
	t.Run("a copy that is off as well", func(t *testing.T) {
		w := off(t)
		w.Clone(likeWorker, lab.CloneSpec{Name: copied, BIOSUUID: w.VM(likeWorker).BIOSUUID})
		w.Detect().Says(t, map[string]string{likeWorker: "Healthy"})
	})
}

// The same where a copy, a namesake or a Node is somewhere else, or the VM is suspended.
func TestElsewhereAndSuspended(t *testing.T) {
	t.Parallel()
	t.Run("a copy runs in another datacenter", func(t *testing.T) {
		w := runs.Fleet(t)
		w.Ensure(w.VCenter.AddDatacenter("DC1"))
		w.Clone(likeWorker, lab.CloneSpec{Name: likeWorker + "-dr", Folder: "/DC1/vm", BIOSUUID: w.VM(likeWorker).BIOSUUID})
		w.Ensure(w.VCenter.SetPower(likeWorker, false))
		w.Detect("--skip-access-apiserver").Says(t, map[string]string{likeWorker: "Unknown AmbiguousMatch"})
	})
	t.Run("a namesake runs in another folder", func(t *testing.T) {
		w := runs.Fleet(t)
		w.Clone(likeWorker, lab.CloneSpec{Name: strings.ToUpper(likeWorker), Folder: "/DC0/vm/restored"})
		w.Ensure(w.VCenter.SetPower(likeWorker, false))
		w.Detect("--skip-access-apiserver").Says(t, map[string]string{likeWorker: "Unknown AmbiguousMatch"})
	})
	t.Run("a VM with its host name runs", func(t *testing.T) {
		w := runs.Fleet(t)
		w.Clone(likeWorker, lab.CloneSpec{Name: "spare", KeepHostName: true})
		w.Bootstrapped("spare", map[string]string{"metadata": metadata(likeWorker)})
		w.Ensure(w.VCenter.SetPower(likeWorker, false))
		w.Detect("--skip-access-apiserver").Says(t, map[string]string{likeWorker: "Unknown AmbiguousMatch"})
	})
	node := func(change func(t *testing.T, n map[string]any)) func(*testing.T) {
		return func(t *testing.T) {
			w := runs.Fleet(t)
			w.Ensure(w.VCenter.SetPower(likeWorker, false))
			w.ServeNodes(func(cluster string, nodes []map[string]any) []map[string]any {
				if cluster == "alpha-prod" {
					change(t, runs.NodeOf(t, nodes, likeWorker))
				}
				return runs.Alive(cluster, nodes)
			})
			w.Detect().Says(t, map[string]string{likeWorker: "Unknown NodeAlive"})
		}
	}
	t.Run("a Node with another id is alive", node(func(_ *testing.T, n map[string]any) {
		n["spec"].(map[string]any)["providerID"] = "vsphere://42000000-0000-4000-8000-000000000009"
	}))
	t.Run("a Node of its name, that Cluster API did not mark, is alive", node(func(_ *testing.T, n map[string]any) {
		n["spec"].(map[string]any)["providerID"] = "vsphere://42000000-0000-4000-8000-000000000009"
		delete(n["metadata"].(map[string]any), "annotations")
	}))
	t.Run("a Node under another name is alive", node(func(_ *testing.T, n map[string]any) {
		n["metadata"].(map[string]any)["name"] = "joined-again"
		delete(n["metadata"].(map[string]any), "annotations")
	}))
	t.Run("suspended, and its Node is alive", func(t *testing.T) {
		w := runs.Fleet(t)
		w.Ensure(w.VCenter.SetSuspended(likeWorker))
		w.ServeNodes(runs.Alive)
		w.Detect().Says(t, map[string]string{likeWorker: "Unknown NodeAlive"})
		w.Detect("--skip-access-apiserver").Says(t, map[string]string{likeWorker: "Healthy"})
	})
}

// A machine's VM that became a template cannot be powered on.
func TestAMachineThatBecameATemplate(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	w.Ensure(w.VCenter.MarkAsTemplate(likeWorker))
	o := w.Detect()
	o.Says(t, map[string]string{likeWorker: "Healthy"})
	if got := o.Warned(likeWorker); !slices.Contains(got, "Template") {
		t.Errorf("warnings %v", got)
	}
	for _, c := range o.Report.Clusters {
		for _, g := range c.Workers.Groups {
			if g.Name == "alpha-prod-md-0" && g.Status != "NeedFurtherConfirmation" && g.Status != "ManualRemediationRequired" {
				t.Errorf("group %s is %s", g.Name, g.Status)
			}
		}
	}
	w.ServeNodes(runs.Alive)
	w.Detect().Says(t, map[string]string{likeWorker: "Unknown NodeAlive"})
}

// After a move of the management cluster and a rebuilt vCenter both second keys are
// others for every VM: then they say nothing.
func TestSecondKeysThatNothingConfirms(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	w.Changed("vspherevms.", "", func(o map[string]any) {
		if status, ok := o["status"].(map[string]any); ok && status["vmRef"] != nil {
			status["vmRef"] = "VirtualMachine:vm-9" + strings.TrimPrefix(status["vmRef"].(string), "VirtualMachine:vm-")
		}
	})
	o := w.Detect("--skip-access-apiserver")
	for _, c := range o.Report.Clusters {
		for _, m := range runs.MachinesOf(c) {
			if slices.ContainsFunc(m.Warnings, func(x report.Warning) bool { return x.Reason == "Reidentified" }) {
				t.Errorf("%s is Reidentified", m.Name)
			}
		}
	}
	one := runs.Fleet(t)
	one.Changed("vspherevms.", likeWorker, func(o map[string]any) { o["status"].(map[string]any)["vmRef"] = "VirtualMachine:vm-9999" })
	if got := one.Detect("--skip-access-apiserver").Warned(likeWorker); !slices.Contains(got, "Reidentified") {
		t.Errorf("one of many whose second keys differ has warnings %v", got)
	}
}

// Ghosts are of any age since the backup, and VMs that are older than their cluster are
// none of its.
func TestGhostsOfEveryAge(t *testing.T) {
	t.Parallel()
	ages := map[string]time.Duration{"bbbbb": time.Minute, "ccccc": 4 * time.Minute, "ddddd": time.Hour, "fffff": 20 * time.Hour}
	for _, counted := range []bool{true, false} {
		w := runs.Fleet(t)
		if !counted { // a machine is left out, so that only what is younger than any clock may say is a Ghost
			w.Without("alpha-prod-md-0-cjzhw-zk8zm")
		}
		for suffix, age := range ages {
			w.Clone(likeWorker, lab.CloneSpec{Name: setOfLike + "-" + suffix, Created: after(age)})
		}
		w.Clone(likeWorker, lab.CloneSpec{Name: setOfLike + "-ggggg", Created: after(-400 * 24 * time.Hour)})
		o := w.Detect("--skip-access-apiserver")
		for suffix, age := range ages {
			want := "Ghost"
			if !counted && age < 5*time.Minute {
				want = "Unknown MachineNotInBackup"
			}
			o.Says(t, map[string]string{setOfLike + "-" + suffix: want})
		}
		old := "NameOnly"
		if !counted {
			old = "Unknown MachineNotInBackup"
		}
		o.Says(t, map[string]string{setOfLike + "-ggggg": old})
	}
	// A month later, with Nodes on all of them.
	w := runs.Fleet(t)
	vm := w.Clone(likeWorker, lab.CloneSpec{Name: setOfLike + "-hhhhh", Created: after(30 * 24 * time.Hour)})
	w.WithNode("alpha-prod", likeWorker, setOfLike+"-hhhhh", vm.BIOSUUID)
	o := w.Detect()
	o.Says(t, map[string]string{setOfLike + "-hhhhh": "Ghost"})
	o.AgreesWith(t, runs.ReadOracle(t, runs.Testdata+"verdicts.json"))
}

// k0sToken returns a token with which k0s joins a server.
func k0sToken(server string) string {
	return zippedBase64(fmt.Sprintf("apiVersion: v1\nclusters:\n- cluster:\n    server: %s\n    certificate-authority-data: x\n  name: k0s\ncontexts:\n- context:\n    cluster: k0s\nkind: Config\n", server))
}
