package check_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/archive"
	"drift-detector/backup/check"
	"drift-detector/internal/mutate"
)

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// resultsOf returns a results file with errors, as Velero's hook of its log writes them.
func resultsOf(t testing.TB, velero []string, namespaces map[string][]string) []byte {
	text, err := json.Marshal(map[string]any{"errors": map[string]any{"velero": velero, "namespaces": namespaces}, "warnings": map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	return zipped(t, string(text))
}

const listed = `{"v1/PersistentVolume":["pvc-1"],"v1/PersistentVolumeClaim":["logging/data","tenant-alpha/etcd"],"v1/Secret":["logging/data-key"],
	"cluster.x-k8s.io/v1beta2/Machine":["tenant-alpha/one"],"v1/Pod":["logging/one","logging/web"]}`

// TestWhatFailedDecides: an error of Velero's counts where it is about what a cluster needs,
// not by its number, and what nobody can attribute is not held against the backup.
func TestWhatFailedDecides(t *testing.T) {
	const (
		lost      = "+error BackupNotCompleted: backup backup.tar.gz"
		unclear   = "+warning BackupErrorsUnclear: backup backup.tar.gz"
		elsewhere = "+warning BackupErrorsElsewhere: backup backup.tar.gz"
		plugin    = " name: /data message: /Error backing up item error: /error executing custom action (groupResource=persistentvolumeclaims, namespace=logging, name=data): rpc error"
		named     = " name: /pvc-1 message: /Error backing up item error: /error getting volume info: rpc error"
	)
	operation := func(resource, namespace, err string) []byte {
		return zipped(t, `[{"spec":{"resourceIdentifier":{"Group":"","Resource":"`+resource+`","Namespace":"`+namespace+`","Name":"data"}},"status":{"phase":"Failed","error":"`+err+`"}}]`)
	}
	failedSecret := func(namespace, name string) []byte {
		return resultsOf(t, nil, map[string][]string{namespace: {" resource: /secrets name: /" + name + " message: /Error backing up item error: /x"}})
	}
	whole := derive(t, lab, without())
	before := signs(checked(t, whole, afterwards, described(t)))
	for what, c := range map[string]struct {
		phase  string
		errors string
		beside check.Beside
		want   []string
		says   string
	}{
		"a volume of an application":              {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, []string{plugin}, nil)}, []string{elsewhere}, "all are about other objects"},
		"a volume by its name alone":              {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, []string{named}, nil), Objects: zipped(t, listed)}, []string{elsewhere}, ""},
		"a name, and no list":                     {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, []string{named}, nil)}, []string{unclear}, "first \"name: /pvc-1"},
		"a name of a Pod and of a Machine":        {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, []string{" name: /one message: /Error backing up item"}, nil), Objects: zipped(t, listed)}, []string{lost}, "lost: Machine tenant-alpha/one"},
		"that Pod, by its namespace":              {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, nil, map[string][]string{"logging": {" name: /one message: /hook"}}), Objects: zipped(t, listed)}, []string{elsewhere}, ""},
		"a list of fewer than were counted":       {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, []string{named}, nil), Objects: zipped(t, `{"v1/PersistentVolume":["pvc-1"]}`)}, []string{unclear}, ""},
		"a name that is in no list":               {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, []string{" name: /gone message: /x"}, nil), Objects: zipped(t, listed)}, []string{unclear}, ""},
		"a Secret of a cluster":                   {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, nil, map[string][]string{"tenant-alpha": {" resource: /secrets name: /alpha-prod-kubeconfig message: /x"}})}, []string{lost}, "lost: secrets tenant-alpha/alpha-prod-kubeconfig"},
		"a Secret elsewhere":                      {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, nil, map[string][]string{"logging": {" resource: /secrets name: /data-key message: /x"}})}, []string{elsewhere}, ""},
		"a Secret that nothing refers to":         {"PartiallyFailed", "1", check.Beside{Results: failedSecret("tenant-alpha", "app-tls")}, []string{elsewhere}, ""},
		"a Secret of which no namespace is noted": {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, []string{" resource: /secrets name: /app-tls message: /x"}, nil)}, []string{unclear}, ""},
		"a record of Helm's":                      {"PartiallyFailed", "1", check.Beside{Results: failedSecret("tenant-alpha", "sh.helm.release.v1.alpha-prod.v7")}, []string{elsewhere}, ""},
		"a Secret named after a cluster":          {"PartiallyFailed", "1", check.Beside{Results: failedSecret("tenant-alpha", "alpha-prod-app-tls")}, []string{unclear}, ""},
		"a kubeconfig of no cluster known":        {"PartiallyFailed", "1", check.Beside{Results: failedSecret("tenant-alpha", "gone-kubeconfig")}, []string{unclear}, ""},
		"the Secret that is an identity":          {"PartiallyFailed", "1", check.Beside{Results: failedSecret("tenant-gamma", "gamma-edge")}, []string{lost}, "lost: secrets tenant-gamma/gamma-edge"},
		"what a ClusterResourceSet applies":       {"PartiallyFailed", "1", check.Beside{Results: failedSecret("tenant-alpha", "cloud-provider-vsphere-credentials")}, []string{lost}, ""},
		"a Secret beside the controllers":         {"PartiallyFailed", "1", check.Beside{Results: failedSecret("capv-system", "unknown")}, []string{unclear}, ""},
		"a Certificate beside the controllers":    {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, nil, map[string][]string{"capv-system": {" resource: /certificates.cert-manager.io name: /capv-serving-cert message: /x"}})}, []string{elsewhere}, ""},
		"an Issuer beside the controllers":        {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, nil, map[string][]string{"capi-system": {" resource: /issuers.cert-manager.io name: /capi-selfsigned-issuer message: /x"}})}, []string{elsewhere}, ""},
		"the controller itself":                   {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, nil, map[string][]string{"capv-system": {" resource: /deployments.apps name: /capv-controller-manager message: /x"}})}, []string{elsewhere}, ""},
		"a Certificate in a cluster's namespace":  {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, nil, map[string][]string{"tenant-alpha": {" resource: /certificates.cert-manager.io name: /etcd message: /x"}})}, []string{unclear}, ""},
		"that, by its name alone":                 {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, nil, map[string][]string{"capv-system": {" name: /unknown message: /x"}})}, []string{unclear}, ""},
		"bootstrap data of a machine":             {"PartiallyFailed", "1", check.Beside{Results: failedSecret("tenant-beta", "beta-prod-2f8p6")}, []string{lost}, ""},
		"a kind of Cluster API":                   {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, []string{" resource: /customresourcedefinitions.apiextensions.k8s.io name: /machines.cluster.x-k8s.io message: /x"}, nil)}, []string{unclear}, ""},
		"a Pod elsewhere that no list has":        {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, nil, map[string][]string{"logging": {" name: /unlisted message: /hook"}}), Objects: zipped(t, listed)}, []string{elsewhere}, ""},
		"a plugin's words about another":          {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, nil, map[string][]string{"tenant-beta": {" name: /beta-prod-etcd message: /x error: /(groupResource=pods, namespace=logging, name=beta-prod-etcd)"}})}, []string{unclear}, ""},
		"all Secrets":                             {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, []string{" resource: /secrets message: /Error listing items error: /timeout"}, nil)}, []string{lost}, "lost: every object of secrets"},
		"all Machines":                            {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, []string{" resource: /machines.cluster.x-k8s.io message: /Error listing items"}, nil)}, []string{lost}, "machines"},
		"a claim in a cluster's namespace":        {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, nil, map[string][]string{"tenant-alpha": {" resource: /persistentvolumeclaims name: /etcd message: /x"}})}, []string{unclear}, ""},
		"nothing of an object":                    {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, []string{" message: /Error collecting resources from API group error: /x"}, nil)}, []string{unclear}, "Error collecting resources"},
		"fewer than Velero counted":               {"PartiallyFailed", "3", check.Beside{Results: resultsOf(t, []string{plugin}, nil)}, []string{unclear}, "of 2 of them no file"},
		"an operation of an application":          {"PartiallyFailed", "2", check.Beside{Results: resultsOf(t, []string{plugin}, nil), Operations: operation("persistentvolumeclaims", "logging", "x")}, []string{elsewhere}, ""},
		"an operation of a cluster":               {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, nil, nil), Operations: operation("machines", "tenant-alpha", "x")}, []string{unclear}, ""},
		"a plugin that names another":             {"PartiallyFailed", "1", check.Beside{Results: resultsOf(t, []string{" name: /a-kubeconfig message: /x error: /(groupResource=pods, namespace=logging, name=web)"}, nil)}, []string{unclear}, ""},
		"no results":                              {"PartiallyFailed", "1", check.Beside{Name: "b"}, []string{unclear}, "no b-results.gz is beside"},
		"results that are none":                   {"PartiallyFailed", "1", check.Beside{Name: "b", Results: []byte("{}")}, []string{unclear}, "b-results.gz: no gzip"},
		"a list that is none":                     {"PartiallyFailed", "1", check.Beside{Name: "b", Results: resultsOf(t, []string{plugin}, nil), Objects: zipped(t, "[]")}, []string{elsewhere}, ""},
		"results that are cut":                    {"PartiallyFailed", "1", check.Beside{Name: "b", Results: resultsOf(t, []string{plugin}, nil)[:40]}, []string{unclear}, "breaks off"},
		"results that are too large":              {"PartiallyFailed", "1", check.Beside{Name: "b", Results: zipped(t, strings.Repeat(" ", 64<<20+1))}, []string{unclear}, "larger than 64 MiB"},
		"results that can't be read":              {"PartiallyFailed", "1", check.Beside{Name: "b", NoResults: "no permission"}, []string{unclear}, "no permission"},
		"operations that can't be read":           {"PartiallyFailed", "2", check.Beside{Name: "b", Results: resultsOf(t, []string{plugin}, nil), NoOperations: "no permission"}, []string{unclear}, "no permission"},
		"operations that nobody needs":            {"PartiallyFailed", "1", check.Beside{Name: "b", Results: resultsOf(t, []string{plugin}, nil), NoOperations: "no permission"}, []string{elsewhere}, ""},
		"errors in spite of its phase":            {"Completed", "1", check.Beside{Results: resultsOf(t, []string{plugin}, nil)}, []string{elsewhere}, ""},
		"failed":                                  {"Failed", "1", check.Beside{Results: resultsOf(t, []string{plugin}, nil)}, []string{lost}, ""},
		"running":                                 {"InProgress", "0", check.Beside{}, []string{lost}, ""},
		"without a phase":                         {"", "0", check.Beside{Name: "b"}, []string{unclear}, "is not recorded"},
		"finalizing":                              {"Finalizing", "0", check.Beside{}, []string{"+warning BackupUnfinished: backup backup.tar.gz"}, "Velero does not offer it"},
		"finalizing, with a volume's error":       {"FinalizingPartiallyFailed", "1", check.Beside{Results: resultsOf(t, []string{plugin}, nil)}, []string{elsewhere, "+warning BackupUnfinished: backup backup.tar.gz"}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			v := described(t, `"itemsBackedUp": 588`, `"itemsBackedUp": 7`, `"phase": "Completed"`, `"phase": "`+c.phase+`", "errors": `+c.errors)
			if !v.IsWhole() {
				v.Says(c.beside)
			}
			after := checked(t, whole, afterwards, v)
			if got := difference(before, signs(after)); !slices.Equal(got, c.want) {
				t.Errorf("difference\n %s\nwant\n %s", strings.Join(got, "\n "), strings.Join(c.want, "\n "))
			}
			if !slices.ContainsFunc(after, func(f check.Finding) bool { return strings.Contains(f.Message, c.says) }) {
				t.Errorf("no message says %q: %+v", c.says, after)
			}
		})
	}
}

// FuzzBeside: nothing that is beside a tarball is more than a finding or an error, and no
// message is long.
func FuzzBeside(f *testing.F) {
	seed := []byte(`{"errors":{"velero":[" resource: /secrets name: /a message: /m error: /e"],"namespaces":{"n":[" name: /b message: /m error: /x (groupResource=pods, namespace=n, name=b)"]}}}`)
	f.Add(seed, []byte(`[{"spec":{"resourceIdentifier":{"Resource":"pods","Name":"b"}},"status":{"error":"x"}}]`), []byte(listed), []byte(`{"kind":"Backup","apiVersion":"velero.io/v1","metadata":{"name":"b"},"status":{"phase":"PartiallyFailed","errors":2}}`), []byte{0, 9, 11, 0})
	f.Add([]byte(`[]`), []byte(`{}`), []byte(`{"a":[""]}`), []byte(`{}`), []byte{})
	f.Fuzz(func(t *testing.T, results, operations, objects, description, edits []byte) {
		description = mutate.JSON(description, edits)
		if o, err := check.ReadOutline("velero-backup.json", description); err == nil {
			o.LeavesOutAll([]string{"a", "b"})
		}
		if c, err := check.ReadContents("list", zipped(t, string(objects)), nil); err == nil && len(c.Clusters) > check.MaxClusters+1 {
			t.Errorf("%d names of clusters", len(c.Clusters))
		}
		v, err := check.ReadVelero("velero-backup.json", bytes.NewReader(description))
		if err != nil {
			v = described(t, `"phase": "Completed"`, `"phase": "PartiallyFailed", "errors": 1`)
		}
		v.Says(check.Beside{Name: "b", Results: zipped(t, string(mutate.JSON(results, edits))), Operations: zipped(t, string(operations)), Objects: zipped(t, string(objects))})
		v.Says(check.Beside{Name: "b", Results: results, Objects: objects})
		if look := v.Referrers(); look.Visit != nil {
			for _, body := range [][]byte{objects, results, description} {
				item := archive.Item{Header: archive.Header{Resource: "machines.cluster.x-k8s.io", Namespace: []byte("n"), Name: []byte("a")}, Body: body}
				if wants, err := look.Want(&item.Header); err != nil || !wants || look.Visit(&item) != nil {
					t.Error("an object ends the pass")
				}
			}
		}
		for _, f := range v.Results.Faults {
			if len(f.Message) > 300 {
				t.Errorf("a message of %d bytes", len(f.Message))
			}
		}
	})
}
