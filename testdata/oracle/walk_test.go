package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/lab"
	"drift-detector/report"
	"drift-detector/report/code"
)

// operator is a person who types nothing but what an output has printed, with the open values
// filled in.
type operator struct {
	t       *testing.T
	dir     string
	env     []string
	printed string // all outputs so far
	scripts string // all that was run
	typed   int
	flags   []string // of detect, which lead to the simulators
	vcenter *lab.VCenter
	vms     int // at the beginning
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	ensure := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w := &operator{t: t, dir: t.TempDir(), vcenter: fleet(t, "")}
	backup := filepath.Join(testdata, "fleet-data.tar.gz")
	ec2, err := lab.StartEC2(lab.EC2Options{Instances: filepath.Join(testdata, "aws", "describe-instances.json"), Backup: backup})
	ensure(err)
	t.Cleanup(ec2.Close)
	nodes := nodesWithAWS(t)
	servers, err := lab.StartAPIServers(backup, nodes)
	ensure(err)
	t.Cleanup(servers.Close)
	_, err = w.vcenter.WritePinned(backup, w.dir)
	ensure(err)
	credentials, err := w.vcenter.WriteCredentials(w.dir)
	ensure(err)
	w.flags = []string{"--credentials", credentials, "--aws-ambient", "--endpoint", w.vcenter.Reroute()}
	for _, r := range servers.Reroutes() {
		w.flags = append(w.flags, "--endpoint", r)
	}
	w.vms = len(w.vcenter.VMs())

	bin := filepath.Join(w.dir, "bin")
	ensure(os.MkdirAll(filepath.Join(w.dir, "clusters"), 0o700))
	ensure(os.Mkdir(bin, 0o700))
	self, err := os.Executable()
	ensure(err)
	program, err := built()
	ensure(err)
	ensure(os.Symlink(program, filepath.Join(bin, "drift-detector")))
	for _, name := range []string{"govc", "kubectl", "velero", "clusterctl"} {
		ensure(os.Symlink(self, filepath.Join(bin, name)))
	}
	new, err := json.Marshal([]stored{
		{"namespaces", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "kube-system", "uid": "of-the-new-one"}}},
		{"namespaces", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "default", "uid": "default"}}},
		{"nodes", map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "new-1"}, "spec": map[string]any{"providerID": "kind://docker/new/new-1"}}},
		{"deployments.apps", map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"namespace": "velero", "name": "velero"}, "status": map[string]any{"availableReplicas": 1},
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"image": "velero/velero:v1.18.3", "command": []any{"/velero"}, "args": []any{"server"}}}}}},
		}},
		{"backupstoragelocations.velero.io", map[string]any{"apiVersion": "velero.io/v1", "kind": "BackupStorageLocation", "metadata": map[string]any{"namespace": "velero", "name": "default"}, "spec": map[string]any{}, "status": map[string]any{"phase": "Available"}}},
		{"backupstoragelocations.velero.io", map[string]any{"apiVersion": "velero.io/v1", "kind": "BackupStorageLocation", "metadata": map[string]any{"namespace": "velero", "name": "archive"}, "spec": map[string]any{"accessMode": "ReadOnly"}, "status": map[string]any{"phase": "Available"}}},
		ran("mgmt-full", "2026-11-21T04:06:20Z", "2026-11-21T04:06:32Z"),
		ran("later", "2026-11-22T04:06:20Z", "2026-11-22T04:06:32Z"),
	})
	ensure(err)
	ensure(os.WriteFile(filepath.Join(w.dir, "clusters", "new.json"), new, 0o600))
	for _, name := range []string{"alpha-prod", "beta-prod", "gamma-edge", "aws-prod"} {
		ensure(os.WriteFile(filepath.Join(w.dir, "clusters", "tenant-"+name[:strings.IndexByte(name, '-')]+"."+name+".json"), nodesFile(t, nodes, name), 0o600))
	}
	config := filepath.Join(w.dir, "aws.config")
	text := "[profile lab]\nregion = us-east-1\n"
	for _, setting := range ec2.Environment() {
		if name, value, _ := strings.Cut(setting, "="); name == "AWS_ACCESS_KEY_ID" || name == "AWS_SECRET_ACCESS_KEY" {
			text += strings.ToLower(name) + " = " + value + "\n"
		}
	}
	ensure(os.WriteFile(config, []byte(text), 0o600))
	w.env = append(append(os.Environ(), ec2.Environment()...), "AWS_CONFIG_FILE="+config, "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+w.dir,
		"GOVC_INSECURE=true", "GOVC_TEST_VERSION=v0.56.0", "OF_CONTEXTS="+filepath.Join(w.dir, "clusters"), "KUBECONFIG=")
	return w
}

// ran returns a Backup that Velero has created from its storage location.
func ran(name, from, to string) stored {
	return stored{"backups.velero.io", map[string]any{
		"apiVersion": "velero.io/v1", "kind": "Backup", "metadata": map[string]any{"namespace": "velero", "name": name}, "spec": map[string]any{"storageLocation": "default"},
		"status": map[string]any{"phase": "Completed", "startTimestamp": from, "completionTimestamp": to, "progress": map[string]any{"itemsBackedUp": 565}},
	}}
}

// nodesFile returns what kubectl's stand-in has of a workload cluster: its Nodes.
func nodesFile(t *testing.T, folder, cluster string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, cluster+".json"))
	var list struct{ Items []map[string]any }
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := []stored{}
	for _, n := range list.Items {
		n["kind"] = "Node"
		all = append(all, stored{"nodes", n})
	}
	if text, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	return text
}

// nodesWithAWS returns the Node lists of the lab, and that of its cluster on AWS, which the lab had none
// of: whoever restores it sees to it first that its API server answers.
func nodesWithAWS(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for _, name := range []string{"alpha-prod", "beta-prod", "gamma-edge"} {
		text, err := os.ReadFile(filepath.Join(testdata, "nodes", name+".json"))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name+".json"), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var items []any
	node := func(id, zone, machine string) {
		meta := map[string]any{"name": id, "uid": id, "creationTimestamp": "2026-11-21T03:56:01Z"}
		if machine != "" {
			annotations := map[string]any{"cluster.x-k8s.io/machine": machine, "cluster.x-k8s.io/cluster-name": "aws-prod", "cluster.x-k8s.io/cluster-namespace": "tenant-aws"}
			if set := machine[:strings.LastIndexByte(machine, '-')]; strings.Contains(set, "-md-") {
				annotations["cluster.x-k8s.io/owner-kind"], annotations["cluster.x-k8s.io/owner-name"] = "MachineSet", set
			} else {
				meta["labels"] = map[string]any{"node-role.kubernetes.io/control-plane": ""}
			}
			meta["name"], meta["annotations"] = machine, annotations
		}
		items = append(items, map[string]any{
			"kind": "Node", "apiVersion": "v1", "metadata": meta, "spec": map[string]any{"providerID": "aws:///" + zone + "/" + id},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
		})
	}
	node("i-0189badd56bb10537", "us-east-1a", "aws-prod-control-plane-6gjw7")
	node("i-0f0034c36a142c740", "us-east-1a", "aws-prod-md-1a-f7mmd-8gn59")
	node("i-0dab772878ead2cdb", "us-east-1b", "aws-prod-md-1b-r5qhk-kqz5x")
	node("i-0e09aee8835a36969", "us-east-1a", "aws-prod-md-1a-f7mmd-zzzzz") // the Ghost
	for _, id := range []string{"i-002e263aadef727c1", "i-04999c2a2663cee16", "i-057bcd5c18f3f244e"} {
		node(id, "us-east-1a", "") // of the pool
	}
	text, err := json.Marshal(map[string]any{"kind": "NodeList", "apiVersion": "v1", "metadata": map[string]any{}, "items": items})
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "aws-prod.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// types runs lines that were printed. fill are open values that are put in. What it prints is
// printed from then on, too.
func (w *operator) types(want int, lines []string, fill ...string) string {
	w.t.Helper()
	for _, l := range lines {
		if !strings.Contains(w.printed, l) {
			w.t.Fatalf("nobody printed %q", l)
		}
	}
	w.typed++
	return w.runs(want, strings.NewReplacer(fill...).Replace(strings.Join(lines, "\n")))
}

func (w *operator) runs(want int, script string) string {
	w.t.Helper()
	cmd := exec.Command("sh", "-c", "test ! -e plan.env || . ./plan.env\n"+script)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		w.t.Fatalf("%v: status %d, want %d:\n%s\n%s", err, got, want, script, out)
	}
	w.printed += string(out)
	w.scripts += script + "\n"
	return string(out)
}

// wasOnThePage demands that the walk ran the commands of docs/3am.md, with the flags
// that the page has. What follows the restore is another test's.
func (w *operator) wasOnThePage() {
	w.t.Helper()
	text, err := os.ReadFile("../../docs/3am.md")
	if err != nil {
		w.t.Fatal(err)
	}
	var lines [][]string
	for _, m := range regexp.MustCompile(`(?m)^       (drift-detector .*)$`).FindAllStringSubmatch(string(text), -1) {
		words := strings.Fields(m[1])
		if words[1] != "verify" {
			lines = append(lines, slices.DeleteFunc(words, func(word string) bool {
				return strings.HasPrefix(word, "mgmt-data") || word == ">" || word == "plan.md"
			}))
		}
	}
	if len(lines) != 5 {
		w.t.Errorf("%d lines", len(lines))
	}
	for _, words := range lines {
		ran := slices.ContainsFunc(strings.Split(w.scripts, "\n"), func(line string) bool {
			return !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(strings.Fields(line), word) })
		})
		if !ran {
			w.t.Errorf("the walk has not run %q", words)
		}
	}
}

// block returns the lines of a step of a plan.
func block(t *testing.T, plan, label string) (lines []string) {
	t.Helper()
	_, rest, ok := strings.Cut(plan, "- [ ] **"+label+"** ")
	if !ok {
		t.Fatalf("no step %s in\n%s", label, plan)
	}
	for _, l := range strings.Split(rest, "\n")[1:] {
		if strings.HasPrefix(l, "- [ ] ") || strings.HasPrefix(l, "#") {
			break
		}
		if l, is := strings.CutPrefix(l, "      "); is {
			lines = append(lines, l)
		}
	}
	return lines
}

// pick returns the lines of the function that takes one of the list of a step.
func pick(plan, number string) []string {
	found := regexp.MustCompile(`(?s)\n((?:\{ )?pick` + number + `\(\) \{.*?)\n` + "```").FindStringSubmatch(plan)
	if found == nil {
		return nil
	}
	return strings.Split(found[1], "\n")
}

// labelsOf returns the labels of the steps whose lines hold a piece.
func labelsOf(t *testing.T, plan, piece string) (labels []string) {
	for _, m := range regexp.MustCompile(`(?m)^- \[ \] \*\*([0-9.]+)\*\* `).FindAllStringSubmatch(plan, -1) {
		if strings.Contains(strings.Join(block(t, plan, m[1]), "\n"), piece) {
			labels = append(labels, m[1])
		}
	}
	return labels
}

// The lab's fleet from NO to a restore by the plan: whoever knows the command line of detect gets
// there with what the outputs print, on real simulators of vCenter and EC2, with the real govc,
// and with stand-ins of kubectl, clusterctl and Velero.
func TestTheWayFromNoToGo(t *testing.T) {
	w := newOperator(t)
	detect := "drift-detector detect --backup fleet-data.tar.gz -o report.json --summary " + strings.Join(w.flags, " ")
	screen := w.runs(0, detect)
	if !strings.HasPrefix(onStdout(screen), "Safe to restore?  NO ") || !strings.Contains(screen, "By the plan:      NOT CLEAR YET") {
		t.Fatal(screen)
	}
	plan := w.plan(screen)
	w.variables(plan)
	kubeconfigs := w.types(0, []string{`drift-detector extract kubeconfigs --backup "$BACKUP_FILE" -o kubeconfigs`})
	if !strings.Contains(kubeconfigs, "export KUBECONFIG=") {
		t.Error(kubeconfigs)
	}

	// Until nobody has anything to say any more: what owners say, and the copy of a BIOS UUID.
	ids := 0
	for round := 1; ; round++ {
		said := ""
		for _, label := range labelsOf(t, plan, "drift-detector confirm ") {
			said += w.confirms(plan, label)
		}
		for _, label := range labelsOf(t, plan, "govc vm.change") {
			ids++
			w.types(0, block(t, plan, label), "NEW_UUID=''", "NEW_UUID=11111111-2222-4333-8444-555555555555")
		}
		if said == "" {
			break
		}
		if round > 4 {
			t.Fatalf("there is more to say each time:\n%s", said)
		}
		flag := regexp.MustCompile(`--confirmations said\.yaml`).FindString(said)
		screen = w.runs(0, detect+" "+flag)
		plan = w.plan(screen)
	}
	if ids != 1 {
		t.Errorf("%d copies got another id", ids)
	}
	for _, label := range labelsOf(t, plan, "extract manifests") {
		w.types(0, block(t, plan, label))
	}
	answer := w.report()
	if p := answer.Summary.AnswerByPlan.Safe; p != code.Yes || !strings.Contains(screen, "By the plan:      YES") {
		t.Fatalf("by the plan it is %s: %v\n%s", p, answer.Summary.AnswerByPlan.Reasons, screen)
	}
	if answer.Summary.Answer.Safe != code.No {
		t.Errorf("by default it is %s", answer.Summary.Answer.Safe)
	}

	w.pausesTheOldOne(plan)
	restoring := labelsOf(t, plan, "drift-detector ready")
	if len(restoring) != 1 {
		t.Fatalf("ready is in steps %v", restoring)
	}
	number, _, _ := strings.Cut(restoring[0], ".")
	for part := 1; ; part++ {
		label := fmt.Sprintf("%s.%d", number, part)
		if !strings.Contains(plan, "**"+label+"** ") {
			break
		}
		lines := block(t, plan, label)
		switch text := strings.Join(lines, "\n"); {
		case strings.Contains(text, "EXISTING=''"): // only if there is one
		case strings.Contains(text, "restore create"):
			w.isProven(lines)
			w.types(0, lines)
		case strings.Contains(text, "drift-detector ready"):
			w.isReady(lines)
		case strings.Contains(text, "clusterctl init"):
			w.types(0, lines, "CLUSTER_API_RELEASE=''", "CLUSTER_API_RELEASE=v1.14.2", "KUBEADM_RELEASE=''", "KUBEADM_RELEASE=v1.14.2", "VSPHERE_RELEASE=''", "VSPHERE_RELEASE=v1.16.1", "AWS_RELEASE=''", "AWS_RELEASE=v2.13.0")
		default:
			w.types(0, lines)
		}
	}
	w.pausedAre(map[string]bool{"alpha-prod": true, "aws-prod": true, "beta-prod": true, "gamma-edge": true})
	w.whilePaused(plan)
	for _, label := range labelsOf(t, plan, `"drift-detector/was":null`) {
		w.types(0, block(t, plan, label))
	}
	w.pausedAre(map[string]bool{"alpha-prod": false, "aws-prod": false, "beta-prod": false, "gamma-edge": false})
	w.ended()
	w.wasOnThePage()
}

func onStdout(s string) string {
	_, after, _ := strings.Cut("\n"+s, "\nSafe to")
	return "Safe to" + after
}

// plan types what the screen offers next, and returns the whole plan.
func (w *operator) plan(screen string) string {
	w.t.Helper()
	next := regexp.MustCompile(`(?m)^Next (drift-detector plan \S+)`).FindStringSubmatch(screen)
	if next == nil {
		w.t.Fatalf("no next command:\n%s", screen)
	}
	return w.types(0, next[1:])
}

// variables fills in the file of variables that the plan offers.
func (w *operator) variables(plan string) {
	w.t.Helper()
	w.types(0, []string{"drift-detector plan REPORT -o plan.env"}, "REPORT", "report.json")
	path := filepath.Join(w.dir, "plan.env")
	text, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.printed += string(text)
	for name, value := range map[string]string{"MGMT": "new", "RESTORE": "restore-1", "AWS_1": "lab", "VCENTER_1": "https://user:pass@" + w.vcenter.Addr} {
		open := "#export " + name + "=''"
		if !strings.Contains(string(text), open) {
			w.t.Errorf("plan.env does not ask for %s:\n%s", name, text)
		}
		text = []byte(strings.ReplaceAll(string(text), open, "export "+name+"='"+value+"'"))
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// confirms writes down what the owners of each thing of a step say.
func (w *operator) confirms(plan, label string) (out string) {
	w.t.Helper()
	number, _, _ := strings.Cut(label, ".")
	lines := block(w.t, plan, label)
	if strings.Contains(strings.Join(lines, "\n"), "--as staysOff") {
		return ""
	}
	function := pick(plan, number)
	if function == nil {
		return w.types(0, lines, "BY=''", "BY=OPS-1")
	}
	w.types(0, function)
	count := strings.Count(strings.Join(function, "\n"), ";;") - 1 // the last is for no number
	for n := 1; n <= max(count, 1); n++ {
		out += w.types(0, slices.Concat(function, lines), "BY=''", fmt.Sprintf("pick%s %d; BY=OPS-1", number, n))
	}
	return out
}

// pausesTheOldOne pauses the Clusters of the old management cluster, and nothing behind any
// other context.
func (w *operator) pausesTheOldOne(plan string) {
	w.t.Helper()
	labels := labelsOf(w.t, plan, `"${OLD_MGMT:?}"`)
	if len(labels) != 1 {
		w.t.Fatalf("the old one is in steps %v", labels)
	}
	has := func(uid string) string {
		return `[{"resource":"namespaces","object":{"kind":"Namespace","metadata":{"name":"kube-system","uid":"` + uid + `"}}},
{"resource":"clusters.cluster.x-k8s.io","object":{"kind":"Cluster","metadata":{"namespace":"tenant","name":"made-later"},"spec":{}}}]`
	}
	for name, uid := range map[string]string{"old": w.report().Backups[0].KubeSystemUID, "foreign": "of-another"} {
		path := filepath.Join(w.dir, "clusters", name+".json")
		if err := os.WriteFile(path, []byte(has(uid)), 0o600); err != nil {
			w.t.Fatal(err)
		}
		out := w.runs(map[bool]int{true: 0, false: 1}[name == "old"], "OLD_MGMT="+name+"\n"+strings.Join(block(w.t, plan, labels[0]), "\n"))
		text, err := os.ReadFile(path)
		if paused := strings.Contains(string(text), `"paused":true`); err != nil || paused != (name == "old") || !paused && !strings.Contains(out, "this is not the old management cluster") {
			w.t.Errorf("%s: %v, paused is %v\n%s", name, err, paused, out)
		}
	}
}

// isProven tries the line of the restore where it must do nothing: with the Backup of another
// night, with a ConfigMap that pauses nothing, and at the old management cluster.
func (w *operator) isProven(lines []string) {
	w.t.Helper()
	script := strings.Join(lines, "\n")
	path := filepath.Join(w.dir, "clusters", "new.json")
	whole, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	for says, change := range map[string][2]string{
		"Backup later, which ran": {"", ""},
		"is another than the plan's: Velero would restore Clusters that are not paused": {`\\\"paused\\\":true`, `\\\"paused\\\":false`},
		"this is cluster tenant-alpha/alpha-prod of the report":                         {`"kind://docker/new/new-1"`, `"vsphere://` + w.machineOf("tenant-alpha/alpha-prod") + `"`},
		"this is the OLD management cluster":                                            {`"of-the-new-one"`, `"` + w.report().Backups[0].KubeSystemUID + `"`},
	} {
		name := map[bool]string{true: "later", false: "mgmt-full"}[change[0] == ""]
		text := strings.ReplaceAll(string(whole), change[0], change[1])
		if change[0] == "" {
			text = string(whole)
		} else if text == string(whole) {
			w.t.Fatalf("nothing to change: %s", change[0])
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			w.t.Fatal(err)
		}
		if out := w.runs(1, "BACKUP="+name+"\n"+script); !strings.Contains(out, says) {
			w.t.Errorf("it does not say %q: %s", says, out)
		}
		if w.stored("restores.velero.io", "restore-1") != nil {
			w.t.Fatal("it restores all the same: " + says)
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// machineOf returns the id of a VM of a cluster.
func (w *operator) machineOf(cluster string) string {
	r := w.report()
	for i := range r.Clusters {
		for _, m := range r.Clusters[i].ControlPlane.Machines {
			if r.Clusters[i].Title() == cluster && m.Instance != nil {
				return m.Instance.ID
			}
		}
	}
	w.t.Fatalf("%s has no VM", cluster)
	return ""
}

// isReady does what ready says until it says go.
func (w *operator) isReady(lines []string) {
	w.t.Helper()
	flags := ""
	for range 10 {
		script := strings.Join(lines, "\n")
		if w.typed++; !strings.Contains(w.printed, lines[0]) {
			w.t.Fatalf("nobody printed %q", lines[0])
		}
		at := strings.LastIndex(script, "; }")
		cmd := exec.Command("sh", "-c", ". ./plan.env\n"+script[:at]+flags+script[at:])
		cmd.Dir, cmd.Env = w.dir, w.env
		out, err := cmd.CombinedOutput()
		w.printed += string(out)
		if strings.HasPrefix(string(out), "go: by the plan, paused\n") {
			if err != nil {
				w.t.Errorf("go, and %v", err)
			}
			return
		}
		more := ""
		for _, m := range regexp.MustCompile(`--done \w+`).FindAllString(strings.Join(strings.Fields(string(out)), " "), -1) {
			if !strings.Contains(flags+more+" ", " "+m+" ") {
				more += " " + m
			}
		}
		if more == "" {
			w.t.Fatalf("ready says nothing more to do:\n%s", out)
		}
		flags += more
	}
	w.t.Fatal("ready is never content")
}

// whilePaused does what comes before each Cluster is unpaused, and unpauses it: as the plan has
// it, step by step, to the first that is for later.
func (w *operator) whilePaused(plan string) {
	w.t.Helper()
	_, after, _ := strings.Cut(plan, "\n## After the restore\n")
	after, _, _ = strings.Cut(after, "\n### Workers of all clusters")
	unpaused := 0
	for _, cluster := range strings.Split(after, "\n### ")[1:] {
		own, _, _ := strings.Cut(cluster, "\n#### ")
		for _, m := range regexp.MustCompile(`(?m)^- \[ \] \*\*([0-9.]+)\*\* `).FindAllStringSubmatch(own, -1) {
			if lines := block(w.t, own, m[1]); len(lines) > 0 {
				w.types(0, lines)
				unpaused += strings.Count(strings.Join(lines, "\n"), `{"spec":{"paused":false}}`)
			}
		}
	}
	if unpaused != 4 {
		w.t.Errorf("%d Clusters are unpaused", unpaused)
	}
}

// pausedAre looks at the Clusters of the new management cluster.
func (w *operator) pausedAre(want map[string]bool) {
	w.t.Helper()
	for name, paused := range want {
		s := w.stored("clusters.cluster.x-k8s.io", name)
		if s == nil {
			w.t.Errorf("Cluster %s was not restored", name)
			continue
		}
		spec, _ := s.Object["spec"].(map[string]any)
		if is, _ := spec["paused"].(bool); is != paused {
			w.t.Errorf("Cluster %s: paused is %v", name, is)
		}
	}
}

func (w *operator) stored(resource, name string) *stored {
	w.t.Helper()
	k := cluster{}
	text, err := os.ReadFile(filepath.Join(w.dir, "clusters", "new.json"))
	if err != nil || json.Unmarshal(text, &k.all) != nil {
		w.t.Fatal(err)
	}
	for i := range k.all {
		if s := &k.all[i]; s.Resource == resource && s.meta("name") == name {
			return s
		}
	}
	return nil
}

// ended holds what the walk has come to: all that runs runs still, the pool keeps its members, the
// identity is there, and of the cluster that was given up no machine came back.
func (w *operator) ended() {
	w.t.Helper()
	if n := len(w.vcenter.VMs()); n != w.vms {
		w.t.Errorf("%d VMs are left", n)
	}
	spec, _ := w.stored("machinepools.cluster.x-k8s.io", "aws-prod-mp-0").Object["spec"].(map[string]any)
	if spec["replicas"] != float64(3) {
		w.t.Errorf("the pool has %v replicas", spec["replicas"])
	}
	for resource, name := range map[string]string{"machinedeployments.cluster.x-k8s.io": "gamma-edge-md-1", "machinesets.cluster.x-k8s.io": "gamma-edge-md-1-rrrv7"} {
		if spec, _ := w.stored(resource, name).Object["spec"].(map[string]any); spec["replicas"] != float64(2) {
			w.t.Errorf("%s has %v replicas: it creates a machine beside the VM that stays", name, spec["replicas"])
		}
	}
	if w.stored("vsphereclusteridentities.infrastructure.cluster.x-k8s.io", "vcenter-shared") == nil {
		w.t.Error("the identity is not there")
	}
	for resource, name := range map[string]string{"clusters.cluster.x-k8s.io": "alpha-dev", "machines.cluster.x-k8s.io": "alpha-dev-nzj74"} {
		if w.stored(resource, name) != nil {
			w.t.Errorf("%s %s came back, of the cluster that was given up", resource, name)
		}
	}
	if w.stored("machines.cluster.x-k8s.io", "alpha-prod-jzxnt") == nil {
		w.t.Error("a machine that runs did not come back")
	}
	for name, mode := range map[string]string{"default": "ReadWrite", "archive": "ReadOnly"} {
		s := w.stored("backupstoragelocations.velero.io", name)
		if spec, _ := s.Object["spec"].(map[string]any); spec["accessMode"] != mode || len(s.labels()) > 0 {
			w.t.Errorf("location %s is %v, marked %v", name, spec["accessMode"], s.labels())
		}
	}
	if w.typed < 30 {
		w.t.Errorf("only %d commands were typed", w.typed)
	}
}

func (w *operator) report() *report.Report {
	w.t.Helper()
	f, err := os.Open(filepath.Join(w.dir, "report.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	r, err := report.Read(f)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}
