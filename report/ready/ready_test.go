package ready

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/confirm"
	"drift-detector/report/reporttest"
	"drift-detector/report/schematest"
	"drift-detector/report/text"
)

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

const (
	oldUID  = "977d117a-f9fd-4d40-a057-7a4fb59d67ea"
	newUID  = "11111111-f9fd-4d40-a057-7a4fb59d67ea"
	hostile = "x\x1b[2J\ngo\u202e`rm -rf`$(id) "
)

// said is the one confirmation that the report rests on.
var said = confirm.Confirmation{Cluster: "ns/gone", As: confirm.GivenUp, By: "OPS-1", On: "2026-11-27", Expires: "2026-11-28"}

// reported returns a report with which a restore may begin: NO by default, YES by the plan.
func reported() *report.Report {
	return &report.Report{
		SchemaVersion: "1", GeneratedAt: now.Add(-time.Hour),
		Summary: report.Summary{
			Complete: true, Answer: &report.SafeAnswer{Safe: code.No}, AnswerByPlan: &report.PlanAnswer{Safe: code.Yes},
		},
		Backups: []report.Backup{{KubeSystemUID: oldUID, WrittenFrom: now.Add(-73 * time.Hour), WrittenTo: now.Add(-72 * time.Hour), Items: 588, Velero: &report.Described{Name: "nightly", Started: now.Add(-73 * time.Hour)}, Installed: []report.Installed{
			{Type: "core", Name: "cluster-api", Version: "v1.10.1"}, {Type: "infrastructure", Name: "vsphere", Version: "v1.13.0"},
		}}},
		Scopes:   []report.Scope{{Provider: "aws", State: code.ScopeComplete, ListedAt: now.Add(-time.Hour)}, {Provider: "vsphere", Endpoint: "vc", State: code.ScopeComplete, ListedAt: now.Add(-time.Hour)}},
		Clusters: []report.Cluster{{Namespace: "ns", Name: "a", Provider: "vsphere", ControlPlane: report.ControlPlane{Machines: []report.Machine{{ProviderID: "vsphere://wl"}}}}, {Namespace: "ns", Name: "b"}},
		ToDo: []report.ToDo{
			{Phase: code.Before, Safe: code.No, Code: code.OldManagementCluster, Message: "keep the old management cluster off", Objects: []string{}, Steps: []int{2}, Resolved: true},
			{Phase: code.Before, Safe: code.WithWork, Code: code.GhostsLeft, Message: "keeps running", Objects: []string{"instance g"}, Steps: []int{8}},
			{Phase: code.Restoring, Safe: code.No, Code: code.UnpausedClusters, Message: "restore 2 Clusters as paused", Steps: []int{12}, Resolved: true},
			{Phase: code.Paused, Safe: code.No, Code: code.PoolScaledBack, Message: "scaled", Objects: []string{"MachinePool ns/p"}, Steps: []int{16}, Resolved: true},
		},
		Confirmations: []report.Confirmation{
			{Subject: said.Subject(), As: "givenUp", By: said.By, On: said.On, Expires: said.Expires, State: report.ConfirmationTaken},
			{Subject: "VM other", As: "leave", By: "X", On: "2026-01-01", Expires: "2026-01-02", State: report.ConfirmationExpired},
		},
	}
}

// Pieces of what kubectl prints of the new cluster.
const (
	noClusters = `{"kind":"ClusterList","apiVersion":"cluster.x-k8s.io/v1beta1","metadata":{"resourceVersion":"7"},"items":[]}`
	noRestores = `{"kind":"RestoreList","apiVersion":"velero.io/v1","metadata":{"resourceVersion":"8"},"items":[]}`
	kubeSystem = `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"` + newUID + `","creationTimestamp":"2026-01-01T00:00:00Z"}}`
	defaultIs  = `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default","uid":"1"},"status":{"phase":"Active"}}`
	nodeIs     = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n-1"},"spec":{"providerID":"vsphere://n1"}}`
	coreIs     = `{"apiVersion":"clusterctl.cluster.x-k8s.io/v1alpha3","kind":"Provider","metadata":{"name":"cluster-api","namespace":"capi-system"},"providerName":"cluster-api","type":"CoreProvider","version":"v1.10.1"}`
	infraIs    = `{"apiVersion":"clusterctl.cluster.x-k8s.io/v1alpha3","kind":"Provider","metadata":{"name":"infrastructure-vsphere","namespace":"capv-system"},"providerName":"vsphere","type":"InfrastructureProvider","version":"v1.13.0"}`
	veleroIs   = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"velero","namespace":"velero"},"spec":{"template":{"spec":{"containers":[{"name":"velero","image":"velero/velero:v1.17.0","command":["/velero"],"args":["server"]}]}}},"status":{"availableReplicas":1}}`
	modifierIs = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"restore-paused","namespace":"velero"},"data":{"modifiers.yaml":"{\"version\":\"v1\",\"resourceModifierRules\":[{\"conditions\":{\"groupResource\":\"clusters.cluster.x-k8s.io\"},\n    \"mergePatches\":[{\"patchData\":\"{\\\"spec\\\":{\\\"paused\\\":true}}\"}]}]}"}}`
	backupIs   = `{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"nightly","namespace":"velero"},"spec":{"storageLocation":"default"},"status":{"phase":"Completed","startTimestamp":"2026-11-25T11:00:00Z","completionTimestamp":"2026-11-25T12:00:00Z","progress":{"itemsBackedUp":588}}}`
	locationIs = `{"apiVersion":"velero.io/v1","kind":"BackupStorageLocation","metadata":{"name":"default","namespace":"velero"},"spec":{"accessMode":"ReadOnly"},"status":{"phase":"Available"}}`
)

func list(items ...string) string {
	return `{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[` + strings.Join(items, ",") + `]}`
}

// runs returns a controller of a provider, and hook a webhook configuration of one.
func runs(provider string, replicas int) string {
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"%s","namespace":"x","labels":{"cluster.x-k8s.io/provider":"%[1]s"}},"status":{"availableReplicas":%d}}`, provider, replicas)
}

func deployment(namespace, name, meta string) string {
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{` + meta + `"name":"` + name + `","namespace":"` + namespace + `"},"status":{"availableReplicas":1}}`
}

// asks returns a webhook configuration without a label.
func asks(namespace, policy, group string) string {
	return `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"w"},"webhooks":[{"failurePolicy":"` + policy + `","clientConfig":{"service":{"namespace":"` + namespace + `"}},"rules":[{"apiGroups":["` + group + `"]}]}]}`
}

func hook(provider string) string {
	return `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingWebhookConfiguration","metadata":{"name":"x","labels":{"cluster.x-k8s.io/provider":"` + provider + `"}}}`
}

func validating(provider string) string {
	return strings.Replace(hook(provider), "Mutating", "Validating", 1)
}

func printed() string {
	return noClusters + noRestores + "\n" + list(kubeSystem, nodeIs, coreIs, infraIs, veleroIs, locationIs) + list(defaultIs, runs("cluster-api", 1), runs("infrastructure-vsphere", 1), backupIs, modifierIs, hook("cluster-api"), validating("cluster-api"))
}

func question() Question {
	return Question{
		Report: reported(), File: "report.json", Confirmations: []confirm.Confirmation{said}, Given: true,
		Printed: strings.NewReader(printed()), Done: []string{"2"}, Now: now,
	}
}

// Every precondition passes, fails, or is not looked at.
func TestEveryPrecondition(t *testing.T) {
	swap := func(old, with string) func(*Question) {
		return func(q *Question) {
			text := strings.Replace(printed(), old, with, 1)
			if text == printed() {
				t.Fatalf("nothing to replace: %s", old)
			}
			q.Printed = strings.NewReader(text)
		}
	}
	print := func(text string) func(*Question) {
		return func(q *Question) { q.Printed = strings.NewReader(text) }
	}
	in := func(change func(*report.Report)) func(*Question) { return func(q *Question) { change(q.Report) } }
	cluster := func(name, spec string) string {
		return `{"metadata":{"namespace":"ns","name":"` + name + `"},"spec":` + spec + `}`
	}
	clusters := func(all ...string) func(*Question) {
		return swap(`"items":[]`, `"items":[`+strings.Join(all, ",")+`]`)
	}
	for name, c := range map[string]struct {
		change func(*Question)
		want   Result
		says   string // of the first item that is open, or of the list
	}{
		"all is there":                 {func(*Question) {}, Go, "is safe: YES"},
		"by the plan with work":        {in(func(r *report.Report) { r.Summary.AnswerByPlan.Safe = code.WithWork }), Go, "NOT WITHOUT MANUAL WORK"},
		"by the plan no":               {in(func(r *report.Report) { r.Summary.AnswerByPlan.Safe = code.No }), NotYet, "not safe: NO"},
		"by the plan not clear":        {in(func(r *report.Report) { r.Summary.AnswerByPlan.Safe = code.Unclear }), NotYet, "NOT CLEAR YET"},
		"by an answer of a later kind": {in(func(r *report.Report) { r.Summary.AnswerByPlan.Safe = "fine" }), NotYet, "not safe"},
		"no answer":                    {in(func(r *report.Report) { r.Summary.Answer = nil }), Blind, "does not say"},
		"no answer by the plan":        {in(func(r *report.Report) { r.Summary.AnswerByPlan = nil }), Blind, "does not say"},
		"no list":                      {in(func(r *report.Report) { r.ToDo = nil }), Blind, "does not say"},
		"a reason that no list has": {in(func(r *report.Report) {
			r.Summary.AnswerByPlan.Reasons = []report.AnswerReason{{Code: code.CopiedID, Message: "two have its id", Objects: []string{"Machine ns/m"}}}
		}), NotYet, "Machine ns/m: two have its id"},
		"not resolved by the plan": {in(func(r *report.Report) {
			r.ToDo = append(r.ToDo, report.ToDo{Phase: code.Before, Safe: code.No, Code: code.DuplicateID, Message: "another VM has its id", Objects: []string{"Machine ns/m"}, Steps: []int{6}})
		}), NotYet, "Machine ns/m: another VM has its id"},
		"nobody's word resolves that": {func(q *Question) {
			q.Report.ToDo = append(q.Report.ToDo, report.ToDo{Phase: code.Paused, Safe: code.Unclear, Code: code.OutcomeUnknown, Message: "not known", Steps: []int{6}})
			q.Done = append(q.Done, "6")
		}, NotYet, "not known"},
		"open before the restore":   {func(q *Question) { q.Done = nil }, NotYet, "keep the old management cluster off"},
		"one of two steps is done":  {in(func(r *report.Report) { r.ToDo[0].Steps = []int{2, 3} }), NotYet, "keep the old management cluster off"},
		"open, and without a step":  {in(func(r *report.Report) { r.ToDo[0].Steps = nil }), NotYet, "explain OldManagementCluster"},
		"incomplete":                {in(func(r *report.Report) { r.Summary.Complete = false }), NotYet, "incomplete"},
		"of some clusters":          {in(func(r *report.Report) { r.Options.Filter = &report.Filter{Clusters: []string{"a"}} }), NotYet, "--cluster a"},
		"too old":                   {in(func(r *report.Report) { r.GeneratedAt = now.Add(-oldest - time.Second) }), NotYet, "4 hours"},
		"just young":                {in(func(r *report.Report) { r.GeneratedAt = now.Add(-oldest) }), Go, "4 hours old"},
		"a listing that is too old": {in(func(r *report.Report) { r.Scopes[1].ListedAt = now.Add(-6 * 24 * time.Hour) }), NotYet, "the report rests on a listing of vsphere vc of 2026-11-22 12:00 UTC, 6 days old: VMs change meanwhile; 4 hours is the most. run detect again without saved listings"},
		"just young enough":         {in(func(r *report.Report) { r.Scopes[1].ListedAt = now.Add(-oldest) }), Go, "a listing of vsphere vc of 2026-11-28 08:00 UTC, 4 hours old"},
		"a listing of tomorrow":     {in(func(r *report.Report) { r.Scopes[1].ListedAt = now.Add(time.Hour) }), NotYet, "clock"},
		"a listing of no time":      {in(func(r *report.Report) { r.Scopes[1].ListedAt = time.Time{} }), Blind, "when vsphere vc was listed"},
		"of tomorrow":               {in(func(r *report.Report) { r.GeneratedAt = now.Add(time.Hour) }), NotYet, "clock"},
		"of no time":                {in(func(r *report.Report) { r.GeneratedAt = time.Time{} }), NotYet, "clock"},
		"a confirmation expired":    {func(q *Question) { q.Now = now.Add(24 * time.Hour); q.Report.GeneratedAt = q.Now }, NotYet, "expired"},
		"no file of confirmations":  {func(q *Question) { q.Given = false; q.Confirmations = nil }, Blind, "no file was given"},
		"a confirmation withdrawn":  {func(q *Question) { q.Confirmations = nil }, NotYet, "does not say so any more"},
		"another says it":           {func(q *Question) { q.Confirmations[0].By = "OPS-2" }, NotYet, "does not say so any more"},
		"said of another id":        {func(q *Question) { q.Confirmations[0].ID = "x" }, NotYet, "does not say so any more"},
		"a word after the report": {func(q *Question) {
			q.Confirmations = append(q.Confirmations, confirm.Confirmation{VM: "v", ID: "1", Provider: "vsphere", Place: "p", As: confirm.Leave, By: "OPS-3", On: "2026-11-28"})
		}, NotYet, "1 word of the file is not in this report: VM v: the answer and the plan do not know it. run detect again"},
		"two of them": {func(q *Question) {
			for _, id := range []string{"1", "2"} {
				q.Confirmations = append(q.Confirmations, confirm.Confirmation{VM: "v" + id, ID: id, Provider: "vsphere", Place: "p", As: confirm.Leave, By: "OPS-3", On: "2026-11-28"})
			}
		}, NotYet, "2 words of the file are not in this report: VM v1, VM v2"},
		"a word that contradicts one of the report": {func(q *Question) {
			v := confirm.Confirmation{VM: "v", ID: "1", Provider: "vsphere", Place: "p", As: confirm.Leave, By: "OPS-3", On: "2026-11-27"}
			q.Report.Confirmations = append(q.Report.Confirmations, report.Confirmation{Subject: v.Subject(), ID: v.ID, As: string(v.As), By: v.By, On: v.On, State: report.ConfirmationTaken})
			other := v
			other.As, other.By = confirm.NotAMachine, "OPS-4"
			q.Confirmations = append(q.Confirmations, v, other)
		}, NotYet, "OPS-4 says notAMachine of VM v, and neither is taken: OPS-3 says leave"},
		"the same word twice, and once in the report": {func(q *Question) { q.Confirmations = append(q.Confirmations, said) }, NotYet, "1 word of the file is not in this report"},
		"no confirmations are used":                   {func(q *Question) { q.Report.Confirmations, q.Confirmations, q.Given = nil, nil, false }, Go, ""},
		"nothing is piped in":                         {func(q *Question) { q.Printed = nil }, Blind, "nothing was piped in"},
		"kubectl failed":                              {print(""), Blind, "printed nothing"},
		"it ends too soon":                            {print(printed()[:len(printed())-3]), Blind, "ends too soon"},
		"it is no JSON":                               {print("error: You must be logged in"), Blind, "no JSON"},
		"it is another JSON":                          {print(`[1, "a"]`), Blind, "no JSON"},
		"the old management cluster":                  {swap(newUID, oldUID), NotYet, "OLD management cluster"},
		"the old one of two backups": {func(q *Question) {
			q.Report.Backups = append(q.Report.Backups, report.Backup{KubeSystemUID: newUID})
		}, NotYet, "OLD management cluster"},
		"no kube-system":             {swap(kubeSystem+",", ""), Blind, "kube-system was not piped in"},
		"kube-system has no uid":     {swap(newUID, ""), Blind, "kube-system was not piped in"},
		"two clusters piped in":      {swap(coreIs, coreIs+","+strings.Replace(kubeSystem, newUID, "2", 1)), Blind, "two clusters"},
		"a backup without a uid":     {in(func(r *report.Report) { r.Backups[0].KubeSystemUID = "" }), Blind, "does not have the uid"},
		"a report without a backup":  {in(func(r *report.Report) { r.Backups = nil }), Blind, "does not have the uid"},
		"it holds a Cluster":         {clusters(cluster("b", `{"paused":true}`)), NotYet, "already holds ns/b"},
		"that is in kubectl's list":  {swap(coreIs, `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster",`+cluster("a", `{}`)[1:]+","+coreIs), NotYet, "already holds ns/a"},
		"another Cluster acts":       {clusters(cluster("z", `{}`)), NotYet, "the running management cluster of others"},
		"another Cluster is paused":  {clusters(cluster("z", `{"paused":true}`)), NotYet, "does not name: ns/z"},
		"a workload cluster":         {swap("vsphere://n1", "vsphere://WL"), NotYet, "this is cluster ns/a of the report: stop: Node n-1 is on its machine wl"},
		"a Node says so":             {swap(`"name":"n-1"`, `"name":"n-1","annotations":{"cluster.x-k8s.io/cluster-namespace":"ns","cluster.x-k8s.io/cluster-name":"b"}`), NotYet, "this is cluster ns/b of the report"},
		"no Nodes":                   {swap(nodeIs+",", ""), Blind, "no Node was piped in"},
		"a list that goes on":        {swap(`"resourceVersion":"7"`, `"remainingItemCount":4`), Blind, "not whole"},
		"Clusters are not asked for": {print(list(kubeSystem, nodeIs, coreIs, infraIs, veleroIs, locationIs)), Blind, "no ClusterList"},
		"Clusters of another group":  {swap("cluster.x-k8s.io/v1beta1", "example.org/v1"), Blind, "no ClusterList"},
		"a list that is cut":         {swap(`"resourceVersion":"7"`, `"continue":"x"`), Blind, "not whole"},
		"a later patch":              {swap(`"version":"v1.13.0"`, `"version":"v1.13.2"`), Go, "later patches"},
		"a later minor release":      {swap(`"version":"v1.13.0"`, `"version":"v1.14.0"`), Blind, "still serves the API versions of the backup: it has the later release v1.14.0, the old cluster had v1.13.0"},
		"which a person has looked at": {func(q *Question) {
			swap(`"version":"v1.13.0"`, `"version":"v2.0.0"`)(q)
			q.Done = append(q.Done, "releases")
		}, Go, "it has the later release v2.0.0"},
		"an earlier release":         {swap(`"version":"v1.13.0"`, `"version":"v1.12.9"`), NotYet, "vsphere has release v1.12.9: the old cluster had v1.13.0"},
		"an earlier and a later one": {swap(infraIs, strings.Replace(infraIs, "v1.13.0", "v1.14.0", 1)+","+strings.Replace(infraIs, "v1.13.0", "v1.12.0", 1)), NotYet, "v1.14.0, v1.12.0"},
		"a word does not resolve that": {func(q *Question) {
			swap(`"version":"v1.13.0"`, `"version":"v1.12.0"`)(q)
			q.Done = append(q.Done, "releases")
		}, NotYet, "the old cluster had v1.13.0; --done releases does not resolve that"},
		"nor that nothing was printed": {func(q *Question) {
			q.Printed = strings.NewReader("")
			q.Done = append(q.Done, "releases")
		}, Blind, "kubectl printed nothing; --done releases does not resolve that"},
		"a release of another form": {swap(`"version":"v1.13.0"`, `"version":"latest"`), NotYet, "vsphere has release latest"},
		"a provider is not there":   {swap(infraIs+",", ""), NotYet, "infrastructure provider vsphere is not there"},
		"two releases of it":        {swap(infraIs, infraIs+","+strings.Replace(infraIs, "v1.13.0", "v1.11.1", 1)), NotYet, "v1.13.0, v1.11.1"},
		"no providers":              {swap(coreIs+","+infraIs+",", ""), Blind, "none is installed as clusterctl does"},
		"that a person has looked at": {func(q *Question) {
			swap(coreIs+","+infraIs+",", "")(q)
			q.Done = append(q.Done, "releases")
		}, Go, "none is installed as clusterctl does"},
		"no replica of a controller":         {swap(runs("infrastructure-vsphere", 1), runs("infrastructure-vsphere", 0)), Blind, "no replica runs"},
		"and its webhooks are there":         {swap(runs("infrastructure-vsphere", 1), runs("infrastructure-vsphere", 0)+","+hook("infrastructure-vsphere")), NotYet, "no replica runs of x/infrastructure-vsphere"},
		"another's webhooks are":             {swap(runs("infrastructure-vsphere", 1), runs("infrastructure-vsphere", 0)+","+hook("cluster-api")), Blind, "no replica runs"},
		"controllers are not printed":        {swap(runs("infrastructure-vsphere", 1)+",", ""), Blind, "the controllers run of infrastructure-vsphere"},
		"of kubeadm, neither":                {in(func(r *report.Report) { r.Clusters[1].ControlPlane.Kind = "KubeadmControlPlane" }), Blind, "bootstrap-kubeadm, control-plane-kubeadm"},
		"a namespace ends":                   {swap(defaultIs, defaultIs+`,{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ns"},"status":{"phase":"Terminating"}}`), NotYet, "Terminating: ns"},
		"one is marked":                      {swap(defaultIs, defaultIs+`,{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ns","deletionTimestamp":"2026-11-28T11:00:00Z"}}`), NotYet, "Terminating: ns"},
		"another one ends":                   {swap(`"Active"`, `"Terminating"`), Blind, "whether the backup has the Terminating default"},
		"no list of namespaces":              {swap(defaultIs+",", ""), Blind, "no whole list of namespaces"},
		"no Backup":                          {swap(backupIs+",", ""), Blind, "no Backup of that Velero"},
		"the Backup of another night":        {swap("2026-11-25T12:00:00Z", "2026-11-25T11:30:00Z"), Blind, "none of 1 Backup ran when"},
		"and one of that":                    {swap(backupIs, strings.ReplaceAll(strings.Replace(backupIs, "nightly", "later", 1), "2026-11-25", "2026-11-26")+","+backupIs), Go, "Backup nightly of Velero is that of the report"},
		"two of that night":                  {swap(backupIs, strings.Replace(backupIs, "nightly", "of-others", 1)+","+backupIs), Go, "Backup nightly of Velero is that of the report, by its name"},
		"one of others of that night":        {swap(backupIs, strings.Replace(backupIs, "nightly", "of-others", 1)), Blind, "none of 1 Backup ran when"},
		"of the same name, with other items": {swap("588", "589"), Blind, "none of 1 Backup ran when"},
		"nothing says which it is":           {in(func(r *report.Report) { r.Backups[0].Velero = nil }), Blind, "as that of any cluster with the same schedule"},
		"on a person's word": {func(q *Question) {
			q.Report.Backups[0].Velero, q.Done = nil, append(q.Done, "backup")
		}, Go, "whether Backup nightly is that of the report"},
		"on a person's word, and it failed": {func(q *Question) {
			swap(`"Completed"`, `"Failed"`)(q)
			q.Report.Backups[0].Velero, q.Done = nil, append(q.Done, "backup")
		}, NotYet, "its phase is Failed"},
		"several may be it": {func(q *Question) {
			swap(backupIs, strings.Replace(backupIs, "nightly", "of-others", 1)+","+backupIs)(q)
			q.Report.Backups[0].Velero = nil
		}, Blind, "several may be that of"},
		"it failed":                               {swap(`"Completed"`, `"Failed"`), NotYet, "its phase is Failed"},
		"its location is not there":               {swap(`"storageLocation":"default"`, `"storageLocation":"second"`), Blind, "its storage location second was not piped in"},
		"the other of two locations is Available": {swap(locationIs, strings.Replace(locationIs, `"default"`, `"second"`, 1)+","+strings.Replace(locationIs, `"Available"`, `"Unavailable"`, 1)), NotYet, "can't read Backup nightly"},
		"a second backup": {in(func(r *report.Report) {
			r.Backups = append(r.Backups, report.Backup{Path: "second", KubeSystemUID: "2", WrittenFrom: now, WrittenTo: now})
		}), Blind, "none of 1 Backup ran when second was written"},
		"no ConfigMap":         {swap(","+modifierIs, ""), Blind, "no ConfigMap restore-paused"},
		"it does not pause":    {swap(`:true}}`, `:false}}`), NotYet, "another than the plan's"},
		"of another namespace": {swap(`"name":"restore-paused","namespace":"velero"`, `"name":"restore-paused","namespace":"v2"`), Blind, "no ConfigMap restore-paused"},
		"no uid, and a young cluster": {func(q *Question) {
			q.Report.Backups[0].KubeSystemUID = ""
			swap(`"creationTimestamp":"2026-01-01`, `"creationTimestamp":"2026-11-26`)(q)
		}, Go, "another cluster than the old one"},
		"the backup says no release": {in(func(r *report.Report) { r.Backups[0].Installed = nil }), Blind, "does not say those"},
		"the backup says two": {in(func(r *report.Report) {
			r.Backups[0].Installed = append(r.Backups[0].Installed, report.Installed{Type: "core", Name: "cluster-api", Version: "v1.9.0"})
		}), Blind, "names several: v1.10.1, v1.9.0"},
		"releases on a person's word":  {func(q *Question) { q.Report.Backups[0].Installed = nil; q.Done = append(q.Done, "releases") }, Go, "not looked at: the releases of the old cluster"},
		"another Restore is under way": {swap(noRestores, strings.Replace(noRestores, "[]", `[{"metadata":{"namespace":"velero","name":"r"},"status":{"phase":"InProgress"}}]`, 1)), NotYet, "another Restore is under way: velero/r"},
		"one of another Velero":        {swap(noRestores, strings.Replace(noRestores, "[]", `[{"metadata":{"namespace":"v2","name":"r"},"status":{"phase":"New"}}]`, 1)), NotYet, "another Restore is under way: v2/r"},
		"and no Velero is printed": {func(q *Question) {
			q.Printed = strings.NewReader(strings.Replace(strings.Replace(printed(), veleroIs+",", "", 1), noRestores, strings.Replace(noRestores, "[]", `[{"metadata":{"namespace":"v2","name":"r"}}]`, 1), 1))
		}, NotYet, "another Restore is under way: v2/r"},
		"one that waits for it": {swap(noRestores, strings.Replace(noRestores, "[]", `[{"metadata":{"namespace":"velero","name":"r"}}]`, 1)), NotYet, "another Restore is under way: velero/r"},
		"in kubectl's list":     {swap(coreIs, coreIs+`,{"apiVersion":"velero.io/v1","kind":"Restore","metadata":{"namespace":"velero","name":"r"},"status":{"phase":"Finalizing"}}`), NotYet, "another Restore is under way: velero/r"},
		"one that is done":      {swap(noRestores, strings.Replace(noRestores, "[]", `[{"metadata":{"namespace":"velero","name":"r"},"status":{"phase":"PartiallyFailed"}}]`, 1)), Blind, "what earlier Restores have left: velero/r (PartiallyFailed)"},
		"one that refused":      {swap(noRestores, strings.Replace(noRestores, "[]", `[{"metadata":{"namespace":"velero","name":"r"},"status":{"phase":"FailedValidation"}}]`, 1)), Go, "no other Restore"},
		"a person has looked at what it has left": {func(q *Question) {
			swap(noRestores, strings.Replace(noRestores, "[]", `[{"metadata":{"namespace":"v2","name":"r"},"status":{"phase":"Completed"}}]`, 1))(q)
			q.Done = append(q.Done, "restores")
		}, Go, "what earlier Restores have left: v2/r (Completed)"},
		"and it is under way": {func(q *Question) {
			swap(noRestores, strings.Replace(noRestores, "[]", `[{"metadata":{"namespace":"velero","name":"r"},"status":{"phase":"InProgress"}}]`, 1))(q)
			q.Done = append(q.Done, "restores")
		}, NotYet, "--done restores does not resolve that"},
		"the restore before, of another backup of the report": {func(q *Question) {
			swap(noRestores, strings.Replace(noRestores, "[]", `[{"metadata":{"namespace":"velero","name":"r"},"spec":{"backupName":"nightly"},"status":{"phase":"Completed"}}]`, 1))(q)
			q.Report.Backups = append(q.Report.Backups, q.Report.Backups[0])
		}, Go, "no other Restore"},
		"Restores are not asked for": {swap(noRestores, ""), Blind, "no RestoreList"},
		"Velero is scaled to none":   {swap(`"spec":{"template":{"spec":{"containers":[{"name":"velero"`, `"spec":{"replicas":0,"template":{"spec":{"containers":[{"name":"velero"`), NotYet, "does not run: its Deployment is scaled to 0"},
		"Velero is being deleted":    {swap(`"name":"velero","namespace":"velero"`, `"name":"velero","namespace":"velero","deletionTimestamp":"2026-11-28T11:00:00Z"`), NotYet, "is being deleted"},
		"Velero by another name":     {swap(`"name":"velero","namespace":"velero"`, `"name":"backup-velero","namespace":"velero"`), Go, "Velero in namespace velero runs"},
		"of another image":           {swap(`"name":"velero","namespace":"velero"},"spec":{"template":{"spec":{"containers":[{"name":"velero","image":"velero/velero:v1.17.0"`, `"name":"bk","namespace":"velero"},"spec":{"template":{"spec":{"containers":[{"image":"side:v1"},{"name":"x","image":"mirror/vmware-velero:v1.17.0"`), Go, "runs: mirror/vmware-velero:v1.17.0"},
		"an interface of it":         {swap(veleroIs, veleroIs+`,{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"velero-ui","namespace":"velero"},"spec":{"template":{"spec":{"containers":[{"image":"x/velero-ui:v1"}]}}},"status":{"availableReplicas":1}}`), Go, "Velero in namespace velero runs"},
		"a second one elsewhere":     {swap(veleroIs, veleroIs+","+strings.Replace(veleroIs, `"namespace":"velero"`, `"namespace":"v2"`, 1)), Blind, "a second Velero: Deployment v2/velero: it deletes expired backups from locations that it may write to"},
		"which is scaled to none":    {swap(veleroIs, veleroIs+","+strings.NewReplacer(`"namespace":"velero"`, `"namespace":"v2"`, `"spec":{"template"`, `"spec":{"replicas":0,"template"`, `,"status":{"availableReplicas":1}`, "").Replace(veleroIs)), Go, "Velero in namespace velero runs"},
		"and has a replica yet":      {swap(veleroIs, veleroIs+","+strings.NewReplacer(`"namespace":"velero"`, `"namespace":"v2"`, `"spec":{"template"`, `"spec":{"replicas":0,"template"`, `"availableReplicas":1`, `"replicas":1`).Replace(veleroIs)), Blind, "a second Velero"},
		"which a person has turned off": {func(q *Question) {
			swap(veleroIs, veleroIs+","+strings.Replace(veleroIs, `"namespace":"velero"`, `"namespace":"v2"`, 1))(q)
			q.Done = append(q.Done, "otherVelero")
		}, Go, "a second Velero: Deployment v2/velero"},
		"with a location, too":          {swap(veleroIs, veleroIs+","+strings.Replace(locationIs, `"namespace":"velero"`, `"namespace":"v2"`, 1)+","+strings.Replace(veleroIs, `"namespace":"velero"`, `"namespace":"v2"`, 1)), Blind, "scale all to 0 but that of VELERO_NAMESPACE"},
		"its location ends":             {swap(`"name":"default","namespace":"velero"}`, `"name":"default","namespace":"velero","deletionTimestamp":"2026-11-28T11:00:00Z"}`), NotYet, "no storage location of Velero is Available"},
		"the ConfigMap ends":            {swap(`"name":"restore-paused","namespace":"velero"`, `"name":"restore-paused","namespace":"velero","deletionTimestamp":"2026-11-28T11:00:00Z"`), NotYet, "ConfigMap restore-paused is being deleted"},
		"webhooks without a Deployment": {swap(runs("infrastructure-vsphere", 1), hook("infrastructure-vsphere")), NotYet, "webhook configurations without a Deployment: infrastructure-vsphere"},
		"of a provider that the report does not need": {func(q *Question) {
			swap(defaultIs, defaultIs+","+hook("infrastructure-aws"))(q)
			q.Done = append(q.Done, "controllers")
		}, NotYet, "webhook configurations without a Deployment: infrastructure-aws"},
		"a webhook of a namespace where nothing runs": {swap(veleroIs, veleroIs+","+asks("gone", "Fail", "infrastructure.cluster.x-k8s.io")), Blind, "who answers the webhook configurations w (namespace gone)"},
		"of all groups": {swap(veleroIs, veleroIs+","+asks("gone", "Fail", "*")), Blind, "who answers the webhook configurations w (namespace gone)"},
		"which a person has seen answered": {func(q *Question) {
			swap(veleroIs, veleroIs+","+asks("gone", "Fail", "cluster.x-k8s.io"))(q)
			q.Done = append(q.Done, "webhookServices")
		}, Go, "who answers"},
		"of a namespace where its controller runs": {swap(veleroIs, veleroIs+","+asks("x", "Fail", "cluster.x-k8s.io")), Go, ""},
		"of other groups":                          {swap(veleroIs, veleroIs+","+asks("gone", "Fail", "example.org")), Go, ""},
		"that is ignored where nobody answers":     {swap(veleroIs, veleroIs+","+asks("gone", "Ignore", "cluster.x-k8s.io")), Go, ""},
		"a Node of a Cluster of others":            {swap(`"name":"n-1"`, `"name":"n-1","annotations":{"cluster.x-k8s.io/cluster-namespace":"prod","cluster.x-k8s.io/cluster-name":"shop"}`), Blind, "Node n-1 says that it is of Cluster prod/shop"},
		"which a person knows": {func(q *Question) {
			swap(`"name":"n-1"`, `"name":"n-1","annotations":{"cluster.x-k8s.io/cluster-name":"new"}`)(q)
			q.Done = append(q.Done, "ofCluster")
		}, Go, "Node n-1 says that it is of Cluster /new"},
		"no webhooks were printed":                  {swap(","+hook("cluster-api")+","+validating("cluster-api"), ""), Blind, "of MutatingWebhookConfigurations and ValidatingWebhookConfigurations none of Cluster API was piped in"},
		"of one kind only":                          {swap(","+hook("cluster-api"), ""), Blind, "of MutatingWebhookConfigurations none of Cluster API was piped in"},
		"of others only":                            {swap(","+validating("cluster-api"), ","+validating("infrastructure-vsphere")), Blind, "of ValidatingWebhookConfigurations none"},
		"there are none of a kind, by its own list": {swap(","+hook("cluster-api")+","+validating("cluster-api")+"]}", `]}{"kind":"ValidatingWebhookConfigurationList","apiVersion":"admissionregistration.k8s.io/v1","metadata":{},"items":[]}{"kind":"MutatingWebhookConfigurationList","apiVersion":"admissionregistration.k8s.io/v1","metadata":{},"items":[]}`), Go, "2 providers with controllers that run"},
		"a person has looked at them": {func(q *Question) {
			swap(","+hook("cluster-api")+","+validating("cluster-api"), "")(q)
			q.Done = append(q.Done, "webhooks")
		}, Go, "whether all webhook configurations are answered"},
		"Flux runs":                        {swap(veleroIs, veleroIs+","+deployment("flux-system", "kustomize-controller", "")), Blind, "whether Clusters are applied by flux-system/kustomize-controller"},
		"Argo CD runs":                     {swap(veleroIs, veleroIs+","+deployment("argocd", "argocd-repo-server", "")), Blind, "applied by argocd/argocd-repo-server"},
		"Argo CD by the name of a release": {swap(veleroIs, veleroIs+","+deployment("gitops", "ours-argocd-server", "")), Blind, "applied by gitops/ours-argocd-server"},
		"Argo CD by its labels":            {swap(veleroIs, veleroIs+","+deployment("gitops", "ours-repo-server", `"labels":{"app.kubernetes.io/part-of":"argocd","app.kubernetes.io/component":"repo-server"},`)), Blind, "applied by gitops/ours-repo-server"},
		"k0rdent runs":                     {swap(veleroIs, veleroIs+","+deployment("kcm-system", "kcm-controller-manager", "")), Blind, "applied by kcm-system/kcm-controller-manager"},
		"Flux is off":                      {swap(veleroIs, veleroIs+","+strings.Replace(deployment("flux-system", "helm-controller", ""), `"status":{"availableReplicas":1}`, `"spec":{"replicas":0}`, 1)), Go, "no Flux, Argo CD or k0rdent runs"},
		"Flux applies no Clusters": {func(q *Question) {
			swap(veleroIs, veleroIs+","+deployment("flux-system", "helm-controller", ""))(q)
			q.Done = append(q.Done, "applied")
		}, Go, "applied by flux-system/helm-controller"},
		"webhooks of others":             {swap(defaultIs, defaultIs+","+strings.Replace(hook("x"), "cluster.x-k8s.io/provider", "app", 1)), Go, ""},
		"a controller is scaled to none": {swap(`"availableReplicas":1}}`+","+runs("infrastructure-vsphere", 1), `"availableReplicas":1},"spec":{"replicas":0}},`+runs("infrastructure-vsphere", 1)), NotYet, "no replica runs of x/cluster-api"},
		"no Velero":                      {swap(veleroIs+",", ""), Blind, "set VELERO_NAMESPACE"},
		"two Veleros":                    {swap(veleroIs, veleroIs+","+strings.Replace(veleroIs, `"name":"velero"`, `"name":"velero-2"`, 1)), Blind, "several"},
		"it does not run":                {swap(`"availableReplicas":1`, `"availableReplicas":0`), NotYet, "does not run"},
		"its order is its own":           {swap(`["server"]`, `["server","--restore-resource-priorities=clusters"]`), NotYet, "order of its own"},
		"it pauses nothing":              {swap("velero:v1.17.0", "velero:v1.11.1"), NotYet, "first that restores Clusters paused"},
		"an image by its digest":         {swap("velero:v1.17.0", "velero@sha256:00"), Blind, "does not say it"},
		"no location":                    {swap(","+locationIs, ""), Blind, "no BackupStorageLocation"},
		"of another Velero":              {swap(`"name":"default","namespace":"velero"`, `"name":"default","namespace":"v2"`), Blind, "no BackupStorageLocation"},
		"a location is writable":         {swap(locationIs, locationIs+","+strings.NewReplacer(`"ReadOnly"`, `"ReadWrite"`, "default", "second").Replace(locationIs)), NotYet, "may write to second"},
		"writable by default":            {swap(`{"accessMode":"ReadOnly"}`, `{}`), NotYet, "may write to default"},
		"none is Available":              {swap(`"phase":"Available"`, `"phase":"Unavailable"`), NotYet, "is Available"},
	} {
		q := question()
		c.change(&q)
		d := Look(q)
		var all bytes.Buffer
		for _, i := range d.Items {
			if c.want == Go || i.State == Missing || i.State == Unseen {
				fmt.Fprintln(&all, i.What+": "+i.Why+". "+i.Next)
			}
			if open := i.State == Missing || i.State == Unseen; open != (i.Next != "") || open && i.Why == "" || i.State == Holds && i.Why != "" {
				t.Errorf("%s: %+v", name, i)
			}
		}
		first := map[Result]State{Go: OnWord, NotYet: Missing, Blind: Unseen}[c.want]
		if d.Result != c.want || !strings.Contains(all.String(), c.says) || d.Items[0].State != first || (d.Open == 0) != (c.want == Go) {
			t.Errorf("%s: %s, %d open, first %s, want %s with %q of\n%s", name, d.Result, d.Open, d.Items[0].State, c.want, c.says, all.String())
		}
	}
}

// A report of which a member is another than detect wrote, or whose list is not the one that follows
// from the rest, is no report to begin a restore by.
func TestAChangedReportIsNone(t *testing.T) {
	why := func(sealed, change func(*report.Report)) string {
		r := reported()
		r.InfraMachines = []report.InfraMachine{{}}
		r.Backups[0].Missing = []report.Missing{{Kind: "Secret", Name: "x"}}
		r.Clusters[0].ControlPlane.Machines[0].Status = code.Stale
		follows := slices.Clone(r.ToDo)
		if sealed != nil {
			sealed(r)
		}
		var doc bytes.Buffer
		err := report.Sealed(&doc, r)
		if err == nil {
			r, err = report.Read(&doc)
		}
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		return Contradiction(r, follows)
	}
	as := func(*report.Report) {}
	for name, c := range map[string]struct {
		sealed, change func(*report.Report)
		says           string
	}{
		"as written":                       {nil, as, ""},
		"written again":                    {nil, func(r *report.Report) { again := *r; again.IgnoreRules = []report.IgnoreRule{}; *r = again }, ""},
		"nothing to do":                    {nil, func(r *report.Report) { r.ToDo = []report.ToDo{} }, "not as detect wrote it: toDo"},
		"resolved":                         {nil, func(r *report.Report) { r.ToDo[1].Resolved = true }, "toDo"},
		"VMs of nobody":                    {nil, func(r *report.Report) { r.InfraMachines = []report.InfraMachine{} }, "infraMachines"},
		"nothing is missing in the backup": {nil, func(r *report.Report) { r.Backups[0].Missing = []report.Missing{} }, "backups"},
		"no uid":                           {nil, func(r *report.Report) { r.Backups[0].KubeSystemUID = "" }, "backups"},
		"a status":                         {nil, func(r *report.Report) { r.Clusters[0].ControlPlane.Machines[0].Status = code.Healthy }, "clusters"},
		"a place":                          {nil, func(r *report.Report) { r.Scopes = append(r.Scopes, report.Scope{Provider: "aws"}) }, "scopes"},
		"the answer":                       {nil, func(r *report.Report) { r.Summary.Answer.Safe = code.Yes }, "summary"},
		"its time":                         {nil, func(r *report.Report) { r.GeneratedAt = now }, "generatedAt"},
		"an option":                        {nil, func(r *report.Report) { r.Options.SkipNodes = true }, "options"},
		"a confirmation":                   {nil, func(r *report.Report) { r.Confirmations[0].Expires = "" }, "confirmations"},
		"several": {nil, func(r *report.Report) {
			r.Clusters, r.Backups[0].Items, r.Summary.Complete = nil, 0, false
		}, "not as detect wrote it: backups, summary, clusters"},
		"a digest":             {nil, func(r *report.Report) { delete(r.Digests, "scopes"); delete(r.Digests, "tool") }, "tool"},
		"no digests":           {nil, func(r *report.Report) { r.Digests = nil }, "it has no digests"},
		"of another version":   {func(r *report.Report) { r.ToDo[0].Steps = []int{7} }, as, "number 1 of the 4 things to do that it lists ("},
		"less dangerous there": {func(r *report.Report) { r.ToDo[0].Safe = code.WithWork }, as, "number 1 of the 4 things"},
		"of nothing there":     {func(r *report.Report) { r.ToDo[1].Objects = nil }, as, "number 2 of the 4 things"},
		"narrowed": {nil, func(r *report.Report) {
			if err := r.Narrow(report.Filter{Clusters: []string{"a"}}); err != nil {
				t.Fatal(err)
			}
		}, ""},
	} {
		if got := why(c.sealed, c.change); !strings.Contains(got, c.says) || (got == "") != (c.says == "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// The old management cluster comes first, whatever else is missing.
func TestMostImportantFirst(t *testing.T) {
	q := question()
	q.Done, q.Given, q.Report.Summary.Complete = nil, false, false
	q.Printed = strings.NewReader(strings.NewReplacer(newUID, oldUID, `"ReadOnly"`, `"ReadWrite"`).Replace(printed()))
	d := Look(q)
	if !strings.Contains(d.Items[0].What, "OLD management cluster: stop") || d.Items[0].Step != 12 {
		t.Errorf("%+v", d.Items[0])
	}
	if !slices.IsSortedFunc(d.Items, func(a, b Item) int { return slices.Index(states, a.State) - slices.Index(states, b.State) }) {
		t.Errorf("%+v", d.Items)
	}
	var b bytes.Buffer
	if err := Text(&b, d, text.Options{Width: 80}); err != nil || !strings.HasPrefix(b.String(), fmt.Sprintf("not yet: %d of %d (1 not looked at)\n", d.Open, len(d.Items))) {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// A name breaks no row, moves no cursor, and says no go. All is at most 24 rows.
func TestHostileNames(t *testing.T) {
	q := question()
	long := hostile + strings.Repeat("w", 300)
	q.Report.Clusters[0] = report.Cluster{Namespace: "ns", Name: long}
	q.Report.Backups[0].Installed[1] = report.Installed{Type: hostile, Name: long, Version: long}
	q.Report.Confirmations[0].Subject, q.Report.Confirmations[0].By = long, long
	for i := range 30 {
		q.Report.ToDo = append(q.Report.ToDo, report.ToDo{Phase: code.Before, Safe: code.No, Code: code.DuplicateID, Message: "another VM has its id", Objects: []string{fmt.Sprint(i, long), long, long, long, long}, Steps: []int{20 + i}})
	}
	quoted := strings.NewReplacer("\x1b", `\u001b`, "\n", `\n`).Replace(long)
	q.Printed = strings.NewReader(strings.Replace(strings.ReplaceAll(printed(), `"default"`, `"`+quoted+`"`), `"ReadOnly"`, `"ReadWrite"`, 1))
	d := Look(q)
	if d.Result != NotYet || !slices.ContainsFunc(d.Items, func(i Item) bool { return i.Check == "location" && i.State == Missing }) {
		t.Fatalf("%+v", d)
	}
	for _, width := range []int{0, 40, 80, 200} {
		var b bytes.Buffer
		if err := Text(&b, d, text.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "\n"); n > 24 || strings.ContainsAny(b.String(), "\x1b\u202e") {
			t.Errorf("width %d: %d rows\n%s", width, n, b.String())
		}
		for row := range strings.Lines(b.String()) {
			if strings.HasPrefix(row, "go") {
				t.Errorf("width %d: %q", width, row)
			}
		}
	}
}

// No random report and no random input is a go, and each document is valid.
func TestRandomReportsAreValidAndNeverGo(t *testing.T) {
	valid := schematest.Strict(t, Schema())
	for seed := range uint64(300) {
		g := rand.New(rand.NewPCG(seed, 1))
		q := question()
		q.Report = reporttest.Filled(g)
		if seed%2 == 0 {
			q.Printed = strings.NewReader(printed()[:g.IntN(len(printed()))])
		}
		d := Look(q)
		var doc, words bytes.Buffer
		if err := Formats["json"](&doc, d); err != nil {
			t.Fatal(err)
		}
		if err := valid(doc.Bytes()); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, doc.String())
		}
		if err := Formats["text"](&words, d); err != nil || d.Result == Go || strings.Count(words.String(), "\n") > 24 {
			t.Fatalf("seed %d: %v\n%s", seed, err, words.String())
		}
	}
}

func TestSchemaHasEveryFieldDescribed(t *testing.T) {
	schematest.Fields(t, schema, reflect.TypeFor[Document](), map[string]reflect.Type{"item": reflect.TypeFor[Item]()})
}

// A go is printed with all its conditions, those that are special to the report first, and in a
// row each where the terminal is wide enough.
func TestGoHasItsConditions(t *testing.T) {
	q := question()
	q.Report.Summary.Answer.Conditions = []report.Note{{Code: code.NewestBackup, Message: "No newer backup exists"}, {Code: code.OnTheWordOf, Message: "1 Cluster is given up, on the word of OPS-1 (2026-11-27)"}}
	for range 10 {
		q.Report.Summary.Answer.Conditions = append(q.Report.Summary.Answer.Conditions, report.Note{Code: code.WatchFilter, Message: strings.Repeat("long ", 60)})
	}
	for _, width := range []int{40, 80} {
		q.Printed = strings.NewReader(printed())
		d := Look(q)
		var b bytes.Buffer
		if err := Text(&b, d, text.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(b.String(), "\n")
		at := slices.IndexFunc(rows, func(r string) bool { return strings.HasPrefix(r, "if OnTheWordOf: 1 Cluster is given up") })
		if !strings.HasPrefix(rows[0], "go") || at < 0 || strings.Count(b.String(), "\nif ") != 12 || len(rows) > 25 || !strings.Contains(strings.Join(rows[at:], "\n"), "if NewestBackup: ") {
			t.Errorf("width %d: %s", width, b.String())
		}
		if len(d.Conditions) != 12 || d.Conditions[0].Code != code.OnTheWordOf {
			t.Errorf("%+v", d.Conditions)
		}
	}
	q.Done, q.Printed = nil, strings.NewReader(printed())
	var b bytes.Buffer
	if err := Text(&b, Look(q), text.Options{}); err != nil || strings.Contains(b.String(), "\nif ") {
		t.Errorf("%v: conditions without a go:\n%s", err, b.String())
	}
}
