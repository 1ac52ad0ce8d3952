package program

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
	"drift-detector/report"
)

// This file has what tests change the lab with, apart from world and lab.

// after returns a moment since the lab's backup was written, on 21 November 2026 at 04:06:32.
func after(d time.Duration) time.Time {
	return time.Date(2026, 11, 21, 4, 6, 32, 0, time.UTC).Add(d)
}

// must ends a test at an error of the lab.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) clone(source string, spec lab.CloneSpec) lab.VM {
	w.t.Helper()
	vm, err := w.vcenter.Clone(source, spec)
	w.must(err)
	return vm
}

// vm returns a VM of the lab by its name.
func (w *world) vm(name string) lab.VM {
	w.t.Helper()
	i := slices.IndexFunc(w.vcenter.VMs(), func(v lab.VM) bool { return v.Name == name })
	if i < 0 {
		w.t.Fatalf("no VM %s", name)
	}
	return w.vcenter.VMs()[i]
}

// metadata returns what CAPV writes for a host name.
func metadata(host string) string {
	return "instance-id: \"" + host + "\"\nlocal-hostname: \"" + host + "\"\n"
}

// serveNodes serves the Node lists of the lab, changed. Their Nodes have no heartbeat.
func (w *world) serveNodes(change func(cluster string, nodes []map[string]any) []map[string]any) {
	w.t.Helper()
	from := testdata + "nodes"
	if w.nodesFrom != "" {
		from = w.nodesFrom
	}
	if strings.Contains(w.backups[0], "restored") {
		from = testdata + "restore/nodes"
	}
	dir := w.t.TempDir()
	files, err := filepath.Glob(from + "/*.json")
	w.must(err)
	for _, file := range files {
		var list map[string]any
		readJSON(w.t, file, &list)
		var nodes []map[string]any
		for _, n := range list["items"].([]any) {
			nodes = append(nodes, n.(map[string]any))
		}
		list["items"] = change(strings.TrimSuffix(filepath.Base(file), ".json"), nodes)
		text, err := json.Marshal(list)
		w.must(err)
		w.must(os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o600))
	}
	n, err := lab.StartAPIServers(w.backups[0], dir)
	w.must(err)
	w.t.Cleanup(n.Close)
	w.nodes = n
}

// alive gives Nodes a heartbeat of just now.
func alive(_ string, nodes []map[string]any) []map[string]any {
	for _, n := range nodes {
		for _, c := range n["status"].(map[string]any)["conditions"].([]any) {
			c.(map[string]any)["lastHeartbeatTime"] = time.Now().UTC().Format(time.RFC3339)
		}
	}
	return nodes
}

// nodeOf returns a Node of a list by its name.
func nodeOf(t *testing.T, nodes []map[string]any, name string) map[string]any {
	t.Helper()
	for _, n := range nodes {
		if n["metadata"].(map[string]any)["name"] == name {
			return n
		}
	}
	t.Fatalf("no Node %s", name)
	return nil
}

// copyOf returns a deep copy of an object.
func copyOf(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// withNode adds a Node for a VM, made of another machine's of the cluster.
func (w *world) withNode(cluster, like, name, id string) {
	w.serveNodes(func(c string, nodes []map[string]any) []map[string]any {
		if c != cluster {
			return nodes
		}
		n := copyOf(w.t, nodeOf(w.t, nodes, like))
		meta := n["metadata"].(map[string]any)
		meta["name"] = name
		meta["annotations"].(map[string]any)["cluster.x-k8s.io/machine"] = name
		n["spec"].(map[string]any)["providerID"] = "vsphere://" + id
		return append(nodes, n)
	})
}

// without leaves out all of a machine: its Machine, VSphereMachine and VSphereVM.
func (w *world) without(name string) {
	w.edited("without-"+name, func(item string, body []byte) ([]byte, bool) {
		resource, n := itemOf(item)
		ours := strings.HasPrefix(resource, "machines.") || strings.HasPrefix(resource, "vspheremachines.") || strings.HasPrefix(resource, "vspherevms.")
		return body, !ours || n != name
	})
}

// object returns an object of the backup, by the beginning of its resource and its name.
func (w *world) object(resource, name string) (path string, object map[string]any) {
	w.t.Helper()
	backuptest.Rewrite(w.t, w.backups[0], func(item string, body []byte) ([]byte, bool) {
		if r, n := itemOf(item); strings.HasPrefix(r, resource) && n == name && !strings.Contains(item, "preferredversion") {
			path = item
			w.must(json.Unmarshal(body, &object))
		}
		return body, true
	})
	if object == nil {
		w.t.Fatalf("no %s %s in the backup", resource, name)
	}
	return path, object
}

// leaked adds a VSphereMachine without its Machine, and its VSphereVM where it has an
// id, of the owner of another one: it never was one of that owner's replicas.
func (w *world) leaked(like, name, id string) {
	w.t.Helper()
	items := map[string][]byte{}
	for _, resource := range []string{"vspheremachines", "vspherevms"} {
		path, object := w.object(resource, like)
		meta, spec := object["metadata"].(map[string]any), object["spec"].(map[string]any)
		meta["name"], meta["uid"] = name, backuptest.UID(resource, name)
		for _, field := range []string{"providerID", "biosUUID"} {
			delete(spec, field)
		}
		delete(object, "status")
		if id == "" && resource == "vspherevms" {
			continue
		}
		if id != "" {
			spec["providerID"], spec["biosUUID"] = "vsphere://"+id, id
			delete(spec, map[string]string{"vspheremachines": "biosUUID", "vspherevms": "providerID"}[resource])
		}
		for _, o := range meta["ownerReferences"].([]any) {
			if o := o.(map[string]any); o["kind"] == "VSphereMachine" {
				o["name"] = name
			}
		}
		text, err := json.Marshal(object)
		w.must(err)
		items[strings.Replace(path, like+".json", name+".json", 1)] = text
	}
	file := filepath.Join(w.dir, "leaked.tar.gz")
	w.must(os.WriteFile(file, backuptest.Append(w.t, w.backups[0], items), 0o600))
	w.backups = []string{file}
}

// changed edits one object of the backup in place.
func (w *world) changed(resource, name string, change func(object map[string]any)) {
	w.t.Helper()
	seen := 0
	w.edited(fmt.Sprintf("changed-%d", len(w.backups[0])), func(item string, body []byte) ([]byte, bool) {
		r, n := itemOf(item)
		if !strings.HasPrefix(r, resource) || name != "" && n != name {
			return body, true
		}
		seen++
		var object map[string]any
		w.must(json.Unmarshal(body, &object))
		change(object)
		text, err := json.Marshal(object)
		w.must(err)
		return text, true
	})
	if seen == 0 {
		w.t.Fatalf("no %s %s in the backup", resource, name)
	}
}

// says holds what a report says of machines and VMs, by name: "status reason", or
// only the reason of one to confirm, or "nothing".
func (o outcome) says(t *testing.T, want map[string]string) {
	t.Helper()
	for name, w := range want {
		status, reason, found := verdictOf(o.report, name)
		got := strings.TrimSpace(string(status) + " " + reason)
		if !found {
			got = "nothing"
		}
		if got != w {
			t.Errorf("%s is %q, want %q: %s", name, got, w, o.message(name))
		}
	}
}

// message returns what a report says of a machine or VM in words.
func (o outcome) message(name string) string {
	for _, c := range o.report.Clusters {
		for _, m := range machinesOf(c) {
			if m.Name == name || m.Instance != nil && m.Instance.Name == name {
				return m.Message
			}
		}
	}
	for _, m := range o.report.InfraMachines {
		if m.Instance.Name == name {
			return m.Message
		}
	}
	return ""
}

// warned returns the warnings of a machine.
func (o outcome) warned(name string) (reasons []string) {
	for _, c := range o.report.Clusters {
		for _, m := range machinesOf(c) {
			for _, x := range m.Warnings {
				if m.Name == name {
					reasons = append(reasons, string(x.Reason))
				}
			}
		}
	}
	return reasons
}

// vsphereOnly leaves out what a report says of AWS.
func vsphereOnly(all map[string]report.Machine) []string {
	var names []string
	for name := range all {
		if !strings.HasPrefix(name, "aws-prod/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// standBy serves another vCenter in place of the lab's: a site with all of its VMs,
// replicated under new ids except for those that are kept.
func (w *world) standBy(kept ...string) {
	w.t.Helper()
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: testdata + "vcenter-after.tar.gz", InstanceUUID: "5a5a5a5a-0000-4000-8000-000000000001"})
	w.must(err)
	w.t.Cleanup(v.Close)
	for n, vm := range v.VMs() {
		if !slices.Contains(kept, vm.Name) {
			w.must(v.SetUUIDs(vm.Path, fmt.Sprintf("5a5a5a5a-0000-4000-8000-%012d", n+100), fmt.Sprintf("5b5b5b5b-0000-4000-8000-%012d", n+100)))
		}
	}
	v.Named = w.vcenter.Named
	w.vcenter = v
	w.creds, err = v.WriteCredentials(w.dir)
	w.must(err)
}

// contains reports whether a run says a text anywhere.
func (o outcome) contains(text string) bool {
	return bytes.Contains(o.json, []byte(text)) || strings.Contains(o.stdout, text) || strings.Contains(o.stderr, text)
}

// zippedBase64 packs a text as join tokens are.
func zippedBase64(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // into memory
	_ = w.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}
