package live_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/verify"
)

// restoredInto makes a management cluster what a restore of its objects leaves: they are of another
// cluster, created at a time, without owners and status.
func restoredInto(m *lab.Management, at time.Time) {
	created := at.UTC().Format(time.RFC3339)
	for _, id := range m.Kinds() {
		for _, o := range m.Kind(id).Objects {
			meta := o["metadata"].(map[string]any)
			meta["uid"], meta["creationTimestamp"] = "new-"+meta["name"].(string), created
			if strings.Contains(id, "cluster.x-k8s.io") {
				delete(o, "status")
				delete(meta, "ownerReferences")
			}
		}
	}
	for _, o := range m.Kind("vsphereclusters.infrastructure.cluster.x-k8s.io").Objects {
		o["status"] = map[string]any{"conditions": conditionsAt(at, "VCenterAvailable")} // with its identity CAPV has logged in
	}
	m.Now = func() time.Time { return at.Add(20 * time.Minute) }
}

// movedInto makes a management cluster what 'clusterctl move --from-directory' leaves of a namespace:
// its objects have new uids, owners and no status, and no Cluster is paused; others are not there.
func movedInto(m *lab.Management, namespace string, at time.Time) {
	owners := map[string]any{}
	for _, id := range m.Kinds() {
		for _, o := range m.Kind(id).Objects {
			meta := o["metadata"].(map[string]any)
			owners[meta["name"].(string)] = meta["ownerReferences"]
		}
	}
	restoredInto(m, at)
	for _, id := range m.Kinds() {
		k := m.Kind(id)
		if k.Namespaced {
			k.Objects = slices.DeleteFunc(k.Objects, func(o map[string]any) bool {
				return o["metadata"].(map[string]any)["namespace"] != namespace
			})
		}
		for _, o := range k.Objects {
			meta := o["metadata"].(map[string]any)
			by, _ := owners[meta["name"].(string)].([]any)
			for _, ref := range by {
				ref.(map[string]any)["uid"] = "new-" + ref.(map[string]any)["name"].(string)
			}
			if by != nil {
				meta["ownerReferences"] = by
			}
			if o["kind"] == "Cluster" {
				o["spec"].(map[string]any)["paused"] = false
			}
		}
	}
}

// conditionsAt returns conditions as controllers write them.
func conditionsAt(at time.Time, types ...string) []any {
	var out []any
	for _, t := range types {
		out = append(out, map[string]any{"type": t, "status": "True", "reason": t, "observedGeneration": 1, "lastTransitionTime": at.UTC().Format(time.RFC3339)})
	}
	return out
}

// ownerOf returns the ownerReference that the controller of a Machine gives it, else that of its VSphereVM.
func ownerOf(o map[string]any, x *report.Machine) []any {
	labels, _ := o["metadata"].(map[string]any)["labels"].(map[string]any)
	owner := map[string]any{"kind": x.Infrastructure.Kind, "name": x.Infrastructure.Name, "controller": true}
	if o["kind"] == "Machine" {
		owner["kind"], owner["name"] = "MachineSet", labels["cluster.x-k8s.io/set-name"]
		if x.Role == report.RoleControlPlane {
			owner["kind"], owner["name"] = "KubeadmControlPlane", labels["cluster.x-k8s.io/control-plane-name"]
		}
	}
	return []any{owner}
}

// takeOver has the controllers find the VM of a Machine, by its name or that in its provider id.
func takeOver(m *lab.Management, x *report.Machine, at time.Time) {
	for id, types := range map[string][]string{
		"machines.cluster.x-k8s.io":                  {"InfrastructureReady", "NodeHealthy"},
		"vspherevms.infrastructure.cluster.x-k8s.io": {"VirtualMachineProvisioned"},
	} {
		for _, o := range m.Kind(id).Objects {
			id, _ := o["spec"].(map[string]any)["biosUUID"].(string)
			if o["metadata"].(map[string]any)["name"] == x.Name || id != "" && strings.HasSuffix(x.ProviderID, id) {
				o["metadata"].(map[string]any)["ownerReferences"] = ownerOf(o, x)
				o["status"] = map[string]any{"phase": "Running", "conditions": conditionsAt(at, types...)}
			}
		}
	}
}

// From a management cluster in which nothing is restored yet to one whose controllers did what was
// foretold, and one thing that was not.
func TestVerifyARestore(t *testing.T) {
	t.Parallel()
	w := runs.Restored(t)
	before := w.ReportedBefore()
	old, _ := runs.Management(t, w.Backups[0])
	if o, _ := w.Verify(old); o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "was backed up") {
		t.Errorf("the old management cluster: %d %s", o.Code, o.Stderr)
	}

	m, _ := runs.Management(t, w.Backups[0])
	at := runs.Clock().Add(-25 * time.Minute).Truncate(time.Second)
	restoredInto(m, at)
	clusters := m.Kind("clusters.cluster.x-k8s.io").Objects
	for _, c := range clusters {
		c["spec"].(map[string]any)["paused"] = true
	}
	holdToRole(t, m)
	o, d := w.Verify(m)
	o.Demand(t, cli.ExitAwaited)
	if d.Summary.Paused < 40 || d.Summary.NotAsForetold != 0 || len(d.Gone)+len(d.Made) != 0 {
		t.Errorf("paused: %+v, gone %v, made %v", d.Summary, d.Gone, d.Made)
	}

	for _, c := range clusters {
		c["spec"].(map[string]any)["paused"] = false
	}
	adopted := map[string]bool{}
	for i := range before.Clusters {
		for _, x := range runs.MachinesOf(before.Clusters[i]) {
			if x.Forecast != nil && x.Forecast.Outcome == code.Adopted {
				adopted[x.Name] = true
				takeOver(m, &x, at.Add(time.Minute))
			}
		}
	}
	o, d = w.Verify(m)
	o.Demand(t, cli.ExitAwaited)
	got := 0
	for _, v := range d.Machines {
		if adopted[v.Name] {
			if got++; v.Verdict != verify.As {
				t.Errorf("%s is %s: %s", v.Name, v.Verdict, v.Seen)
			}
		}
		if v.Verdict == verify.Not {
			t.Errorf("%s: %s, and it %s", v.Name, v.Foretold, v.Seen)
		}
	}
	if got < 20 || d.Server == "" || d.ReadAt.Before(at) {
		t.Errorf("%d adopted, at %s of %s", got, d.ReadAt, d.Server)
	}

	machines := m.Kind("machines.cluster.x-k8s.io").Objects
	meta := machines[slices.IndexFunc(machines, func(o map[string]any) bool { return adopted[o["metadata"].(map[string]any)["name"].(string)] })]["metadata"].(map[string]any)
	meta["deletionTimestamp"] = at.Add(2 * time.Minute).UTC().Format(time.RFC3339)
	o, _ = w.Verify(m, "-o", "-")
	o.Demand(t, cli.ExitFailOn)
	for _, want := range []string{"NOT AS FORETOLD", meta["name"].(string), "kubectl patch clusters.cluster.x-k8s.io"} {
		if !strings.Contains(o.Stdout, want) {
			t.Errorf("the screen lacks %q:\n%s", want, o.Stdout)
		}
	}
	delete(meta, "deletionTimestamp")

	allowed := m.Before
	m.Before = func(rw http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/machinehealthchecks") {
			lab.Refuse(rw, http.StatusForbidden, m.Token)
			return true
		}
		return allowed(rw, r)
	}
	if o, d = w.Verify(m); o.Code != cli.ExitIncomplete || d.State != verify.Incomplete || !strings.Contains(o.Stderr, "MachineHealthCheck") {
		t.Errorf("without health checks: %d %s", o.Code, o.Stderr)
	}
}

// What clusterctl restored has its owners from the first moment: that does not make it taken over.
func TestVerifyBehindClusterctl(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	folder := w.UnpackedMove(t)
	file := filepath.Join(w.Dir, "report.json")
	runs.RunAt(t, func() time.Time { return runs.Clock().Add(-time.Hour) }, slices.Concat([]string{"detect", "-o", file, "--backup", folder}, w.Reach())...).Demand(t, cli.ExitOK)
	before, err := runs.ReadBack(file)
	if err != nil {
		t.Fatal(err)
	}
	old, _ := runs.Management(t, w.Backups[0])
	if o, _ := w.Verify(old); o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "the very one of the report") {
		t.Errorf("the old management cluster: %d %s", o.Code, o.Stderr)
	}
	m, _ := runs.Management(t, w.Backups[0])
	at := runs.Clock().Add(-25 * time.Minute).Truncate(time.Second)
	movedInto(m, "tenant-alpha", at)
	verdicts := func() map[string]verify.Verdict {
		o, d := w.Verify(m)
		o.Demand(t, cli.ExitAwaited)
		out := map[string]verify.Verdict{}
		for _, v := range d.Machines {
			out[v.Name] = v.Verdict
			if v.Verdict == verify.Not {
				t.Errorf("%s: %s, and it %s", v.Name, v.Foretold, v.Seen)
			}
		}
		return out
	}
	early := verdicts()
	var adopted []report.Machine
	for i := range before.Clusters {
		for _, x := range runs.MachinesOf(before.Clusters[i]) {
			if x.Status != code.Ghost && early[x.Name] != verify.NotYet {
				t.Errorf("%s is %s before a controller has looked at it", x.Name, early[x.Name])
			}
			if x.Forecast.Outcome == code.Adopted {
				adopted = append(adopted, x)
				takeOver(m, &x, at.Add(time.Minute))
			}
		}
	}
	late := verdicts()
	for _, x := range adopted { // of which one shares its id with another VM, which is off
		if late[x.Name] != verify.As {
			t.Errorf("%s is %s, and its VM is taken over", x.Name, late[x.Name])
		}
	}
	if len(adopted) != 9 {
		t.Errorf("%d adopted", len(adopted))
	}
}

// With --wait it looks again, until the time is over or nothing is awaited.
func TestVerifyWaits(t *testing.T) {
	t.Parallel()
	w := runs.Restored(t)
	w.ReportedBefore("--cluster", "alpha-prod")
	m, _ := runs.Management(t, w.Backups[0])
	at := runs.Clock().Add(-25 * time.Minute).Truncate(time.Second)
	restoredInto(m, at)
	looks := func() (n int) {
		for _, path := range m.Asked() {
			if strings.Contains(path, "/machines?") {
				n++
			}
		}
		return n
	}
	o, _ := w.Verify(m, "--wait", "15s") // a look takes more than 5 where much runs beside it
	o.Demand(t, cli.ExitAwaited)
	if n := looks(); n < 2 || !strings.Contains(o.Stderr, "looking again") {
		t.Errorf("%d listings of Machines: %s", n, o.Stderr)
	}
	lost, answers, asked, most := false, m.Before, 0, 1000
	m.Before = func(rw http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/api") {
			asked++
		}
		if lost = lost || asked > most; lost {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return answers != nil && answers(rw, r)
	}
	o, _ = w.Verify(m)
	o.Demand(t, cli.ExitAwaited)
	asked, most = 0, asked // as often as one look asks
	o, d := w.Verify(m, "--wait", "15s")
	o.Demand(t, cli.ExitIncomplete)
	if d.State != verify.Incomplete || len(d.Unread) == 0 || d.Unread[len(d.Unread)-1].Kind != "management cluster" {
		t.Errorf("the server is lost: %s, %+v", d.State, d.Unread)
	}
	lost = true
	if o, d := w.Verify(m, "--wait", "10s"); o.Code != cli.ExitUsage || d != nil || strings.Count(o.Stderr, "looking again") < 2 || !strings.Contains(o.Stderr, "503") {
		t.Errorf("no answer: %d %s", o.Code, o.Stderr)
	}
	refused := 0
	m.Before = func(rw http.ResponseWriter, r *http.Request) bool {
		if refused++; refused <= 5 { // as often as a question is asked
			rw.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return answers != nil && answers(rw, r)
	}
	o, _ = w.Verify(m, "--wait", "15s")
	o.Demand(t, cli.ExitAwaited)
	m.Before = answers
	for _, id := range m.Kinds() {
		m.Kind(id).Gone = strings.Contains(id, "cluster.x-k8s.io")
	}
	if o, _ := w.Verify(m, "--wait", "1m"); o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "holds no Cluster API objects") {
		t.Errorf("without Cluster API: %d %s", o.Code, o.Stderr)
	}
	if o := runs.Run(t, "verify", filepath.Join(w.Dir, "report.json")); o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "--kubeconfig is required") {
		t.Errorf("without --kubeconfig: %s", o.Stderr)
	}
	if o, _ := w.Verify(m, "--wait", "soon"); o.Code != cli.ExitUsage {
		t.Errorf("--wait soon: %d", o.Code)
	}
}

// A look logs in once: a cloud's tool takes seconds, and asks its server.
func TestVerifyRunsAPluginOnce(t *testing.T) {
	t.Parallel()
	w := runs.Restored(t)
	w.ReportedBefore()
	m, _ := runs.Management(t, w.Backups[0])
	restoredInto(m, runs.Clock().Add(-25*time.Minute).Truncate(time.Second))
	dir := t.TempDir()
	plugin, ran := filepath.Join(dir, "plugin"), filepath.Join(dir, "ran")
	script := "#!/bin/sh\necho >> " + ran + "\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"" + m.Token + "\"}}'\n"
	if err := os.WriteFile(plugin, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := m.WriteKubeconfigOf(dir, "exec: {apiVersion: client.authentication.k8s.io/v1, command: "+plugin+"}")
	if err != nil {
		t.Fatal(err)
	}
	o := runs.Run(t, slices.Concat([]string{"verify", filepath.Join(w.Dir, "report.json"), "--kubeconfig", kubeconfig}, w.Reach())...)
	o.Keeps(t, m.Token)
	runs, err := os.ReadFile(ran)
	if o.Code == cli.ExitUsage || err != nil || len(runs) != 1 {
		t.Errorf("status %d, %d runs of the plugin: %v %s", o.Code, len(runs), err, o.Stderr)
	}
}
