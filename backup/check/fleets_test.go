package check_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/backup/check"
)

const restored = "../../testdata/restore/restored-data.tar.gz"

// TestClock holds what depends on the time alone.
func TestClock(t *testing.T) {
	whole := derive(t, lab, without())
	before := signs(checked(t, whole, afterwards, nil))
	kubeconfigs := func(sign string) []string {
		var all []string
		for _, c := range []string{"alpha/alpha-dev", "alpha/alpha-prod", "aws/aws-prod", "beta/beta-prod", "gamma/gamma-edge"} {
			all = append(all, sign+": Secret tenant-"+c+"-kubeconfig")
		}
		return all
	}
	authorities := func(sign string) []string {
		var all []string
		for _, c := range []string{"alpha/alpha-dev", "alpha/alpha-prod", "aws/aws-prod", "beta/beta-prod", "gamma/gamma-edge"} {
			for _, part := range []string{"ca", "etcd", "proxy"} { // the keys of service accounts do not expire
				all = append(all, sign+": Secret tenant-"+c+"-"+part)
			}
		}
		return all
	}
	older := []string{"+warning BackupOld: backup backup.tar.gz", "-info BackupAge: backup backup.tar.gz"}
	for _, test := range []struct {
		name string
		now  time.Time
		want []string
	}{
		{"ten minutes after", afterwards.Add(-50 * time.Minute), []string{"-warning BootstrapTokenExpired: Machine tenant-gamma/gamma-edge-md-broken-7hlgf-9hlj8"}},
		{"a day after", afterwards.Add(24 * time.Hour), nil},
		{"two days after", afterwards.Add(48 * time.Hour), older},
		{"a clock that is wrong", afterwards.Add(-2 * time.Hour), []string{
			"+warning BackupFromFuture: backup backup.tar.gz", "-info BackupAge: backup backup.tar.gz",
			"-warning BootstrapTokenExpired: Machine tenant-gamma/gamma-edge-md-broken-7hlgf-9hlj8",
		}},
		{"eleven months after", afterwards.AddDate(0, 11, 5), append(kubeconfigs("+warning KubeconfigExpiring"), older...)},
		{"a year after", afterwards.AddDate(1, 0, 1), append(kubeconfigs("+warning KubeconfigExpired"), older...)},
		{"nearly ten years after", time.Date(2036, 11, 1, 0, 0, 0, 0, time.UTC), slices.Concat(authorities("+warning AuthorityExpiring"), kubeconfigs("+warning KubeconfigExpired"), older)},
		{"ten years after", time.Date(2036, 11, 21, 0, 0, 0, 0, time.UTC), slices.Concat(authorities("+error AuthorityExpired"), kubeconfigs("+warning KubeconfigExpired"), older)},
	} {
		slices.Sort(test.want)
		if got := difference(before, signs(checked(t, whole, test.now, nil))); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n %s\nwant\n %s", test.name, strings.Join(got, "\n "), strings.Join(test.want, "\n "))
		}
	}
}

// TestRestored looks at the lab's other backup: one cluster is paused, one has a
// class, one MachineDeployment a health check, and one VM was gone.
func TestRestored(t *testing.T) {
	whole := derive(t, restored, without())
	all := checked(t, whole, afterwards, nil)
	got := signs(all)
	for _, want := range []string{
		"info ClusterPaused: Cluster tenant-beta/beta-new",
		"warning VMGone: VSphereVM tenant-beta/beta-prod-md-0-vtdj6-2bngd",
		"error IdentityAbsent: VSphereClusterIdentity vcenter-shared",
		"warning NoHealthCheck: MachineDeployment tenant-alpha/alpha-prod-md-1",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no finding %q", want)
		}
	}
	const uncovered = "+warning NoHealthCheck: MachineDeployment tenant-alpha/alpha-prod-md-0"
	for _, test := range []struct {
		name   string
		change change
		want   []string
	}{
		{"without the health check", without("machinehealthchecks.cluster.x-k8s.io//"), []string{uncovered}},
		{"with a paused health check", editing("machinehealthchecks.cluster.x-k8s.io/tenant-alpha/alpha-prod-md-0", func(o map[string]any) {
			o["metadata"].(map[string]any)["annotations"] = map[string]any{"cluster.x-k8s.io/paused": ""}
		}), []string{uncovered}},
		{"with a health check of another cluster", editing("machinehealthchecks.cluster.x-k8s.io/tenant-alpha/alpha-prod-md-0", func(o map[string]any) {
			o["spec"].(map[string]any)["clusterName"] = "alpha-tmp"
		}), []string{uncovered}},
		{"with a health check of nothing", editing("machinehealthchecks.cluster.x-k8s.io/tenant-alpha/alpha-prod-md-0", func(o map[string]any) {
			o["spec"].(map[string]any)["selector"] = map[string]any{"matchLabels": map[string]any{"no such": "label"}, "matchExpressions": "broken"}
		}), []string{uncovered}},
		{"with a machine that is not to be remediated", editing("machines.cluster.x-k8s.io/tenant-alpha/alpha-prod-md-0-cjzhw-7z9bm", func(o map[string]any) {
			o["metadata"].(map[string]any)["annotations"] = map[string]any{"cluster.x-k8s.io/skip-remediation": ""}
		}), []string{uncovered}},
		{"with a health check of the whole cluster", editing("machinehealthchecks.cluster.x-k8s.io/tenant-alpha/alpha-prod-md-0", func(o map[string]any) {
			o["spec"].(map[string]any)["selector"] = map[string]any{"matchLabels": map[string]any{"cluster.x-k8s.io/cluster-name": "alpha-prod"}}
		}), []string{
			"-warning NoHealthCheck: KubeadmControlPlane tenant-alpha/alpha-prod",
			"-warning NoHealthCheck: MachineDeployment tenant-alpha/alpha-prod-md-1",
			"-warning NoHealthCheck: MachineDeployment tenant-alpha/alpha-prod-md-gpu",
		}},
		{"with a class whose patches need an extension", editing("clusterclasses.cluster.x-k8s.io/tenant-delta/delta-class", func(o map[string]any) {
			o["spec"].(map[string]any)["patches"] = []any{map[string]any{"name": "p", "external": map[string]any{"generateExtension": "patch.needed"}}}
		}), []string{"+error ExtensionAbsent: every ExtensionConfig"}},
		{"without the class", without("clusterclasses.cluster.x-k8s.io//"), []string{"+error ClusterClassAbsent: ClusterClass tenant-delta/delta-class"}},
	} {
		if diff := difference(got, signs(checked(t, derive(t, restored, test.change), afterwards, nil))); !slices.Equal(diff, test.want) {
			t.Errorf("%s: difference %q, want %q", test.name, diff, test.want)
		}
	}
}

// TestClusterScoped holds that the backup of cluster-scoped objects lacks no identity.
func TestClusterScoped(t *testing.T) {
	scoped, err := os.ReadFile("../../testdata/fleet-cluster-scoped-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	got := difference(signs(checked(t, derive(t, lab, without()), afterwards, nil)), signs(checked(t, scoped, afterwards, nil)))
	if want := []string{"-error IdentityAbsent: VSphereClusterIdentity vcenter-shared"}; !slices.Equal(got, want) {
		t.Errorf("difference %q", got)
	}
	failed := func(name string) []string { // beside the controllers, where an identity of clusters names it
		ended := []string{`"completionTimestamp": "2026-11-21T04:06:32Z"`, `"completionTimestamp": "2026-11-21T04:16:32Z"`}
		v := described(t, append(ended, `"phase": "Completed"`, `"phase": "PartiallyFailed", "errors": 1`)...)
		v.Says(check.Beside{Results: resultsOf(t, nil, map[string][]string{"capv-system": {" resource: /secrets name: /" + name + " message: /x"}})})
		return difference(signs(checked(t, scoped, afterwards, described(t, ended...))), signs(checked(t, scoped, afterwards, v)))
	}
	if got := failed("vcenter-shared-creds"); !slices.Equal(got, []string{"+error BackupNotCompleted: backup backup.tar.gz"}) {
		t.Errorf("the Secret of an identity: %q", got)
	}
	if got := failed("capv-webhook-service-cert"); !slices.Equal(got, []string{"+warning BackupErrorsUnclear: backup backup.tar.gz"}) {
		t.Errorf("a Secret beside the controllers: %q", got)
	}
}

// A backup is old when the next one of a daily schedule should have been written,
// two hours of delay included, and not a second before.
func TestOldAfterTheNextIsDue(t *testing.T) {
	whole := derive(t, lab, without())
	s, _, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("backup.tar.gz", whole)}, backup.Want{})
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]string{
		26 * time.Hour: "BackupAge", 26*time.Hour + time.Second: "BackupOld",
		-5 * time.Minute: "BackupAge", -5*time.Minute - time.Second: "BackupFromFuture",
	} {
		found := checked(t, whole, s.Backups[0].WrittenTo.Add(after), nil)
		if !slices.ContainsFunc(found, func(f check.Finding) bool { return string(f.Code) == want }) {
			t.Errorf("after %s: no %s in %q", after, want, signs(found))
		}
	}
}

// TestK0rdent holds that a Cluster that k0rdent makes again is no fault, also
// when the backup was configured to leave Clusters out.
func TestK0rdent(t *testing.T) {
	cluster := func(name string) map[string]any {
		return map[string]any{
			"apiVersion": "k0rdent.mirantis.com/v1beta1", "kind": "ClusterDeployment",
			"metadata": map[string]any{"namespace": "kcm", "name": name},
		}
	}
	machine := func(cluster string) map[string]any {
		return map[string]any{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "spec": map[string]any{"clusterName": cluster, "providerID": "x", "infrastructureRef": map[string]any{"kind": "K", "name": cluster}},
			"metadata": map[string]any{"namespace": "kcm", "name": cluster + "-1"},
		}
	}
	b := backuptest.New().Add("clusterdeployments.k0rdent.mirantis.com", cluster("made")).
		Add("machines.cluster.x-k8s.io", machine("made")).Add("machines.cluster.x-k8s.io", machine("lost"))
	v := described(t, `"snapshotVolumes": false,`, `"excludedResources": ["clusters.cluster.x-k8s.io"],`)
	got := signs(checked(t, b.Bytes(), afterwards, v))
	want := []string{
		"error ClusterAbsent: Cluster kcm/lost", "error SecretsAbsent: every Secret", "warning ObjectAbsent: every K", "warning ProviderNotRead: K.",
		"info BackupAge: backup backup.tar.gz", "info ClusterLeftOut: Cluster kcm/made", "info ClusterScopedFiltered: backup backup.tar.gz",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
}

// TestOtherControlPlanes holds that nobody makes a kubeconfig again where no
// KubeadmControlPlane does, and that authorities are missed where their kind makes new ones.
func TestOtherControlPlanes(t *testing.T) {
	b := backuptest.New().Add("clusters.cluster.x-k8s.io", map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": map[string]any{"namespace": "n", "name": "c"},
		"spec": map[string]any{
			"paused": true, "controlPlaneEndpoint": map[string]any{"host": "c.example", "port": 6443},
			"controlPlaneRef": map[string]any{"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "K0sControlPlane", "name": "c"},
		},
	}).Add("k0scontrolplanes.controlplane.cluster.x-k8s.io", map[string]any{
		"apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "K0sControlPlane", "metadata": map[string]any{"namespace": "n", "name": "c"},
	}).Add("secrets", map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": map[string]any{"namespace": "n", "name": "x"},
	})
	got := signs(checked(t, b.Bytes(), afterwards, nil))
	if want := []string{
		"error CertificateAbsent: Secret n/c-ca", "error CertificateAbsent: Secret n/c-etcd", "error CertificateAbsent: Secret n/c-proxy", "error CertificateAbsent: Secret n/c-sa",
		"error KubeconfigAbsent: Secret n/c-kubeconfig",
		"info BackupAge: backup backup.tar.gz", "info ClusterPaused: Cluster n/c", "info VeleroBackupUnknown: backup backup.tar.gz",
	}; !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
}

// TestUndated holds that of a tarball that was packed again under an old time no
// age is reported, and that it is not taken for another than the one described.
func TestUndated(t *testing.T) {
	velero := []*check.VeleroBackup{described(t)}
	before := signs(checkAll(t, afterwards, velero, backuptest.Source("b", derive(t, lab, without()))))
	for _, at := range []time.Time{time.Unix(0, 0), time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		got := difference(before, signs(checkAll(t, afterwards, velero, backuptest.Source("b", deriveAt(t, lab, at, without())))))
		if want := []string{"+warning BackupUndated: backup b", "-info BackupAge: backup b"}; !slices.Equal(got, want) {
			t.Errorf("written at %v: %q", at, got)
		}
	}
}

// Of a tarball that nothing dates, neither its entries nor the objects, the age is a finding, too.
func TestNothingDatesIt(t *testing.T) {
	undated := func(_ string, body []byte) []byte { return created.ReplaceAll(body, nil) }
	got := checkAll(t, afterwards, nil, backuptest.Source("b", deriveAt(t, lab, time.Unix(0, 0), undated)))
	if !slices.ContainsFunc(got, func(f check.Finding) bool {
		return f.Code.IsOldBackup() && f.Message == "nothing in it says when it was written"
	}) {
		t.Errorf("found %q", signs(got))
	}
}

var created = regexp.MustCompile(`"creationTimestamp":"[^"]*",?`)

// TestSeveralBackups holds that each backup is judged by itself: its own
// Secrets, description and age.
func TestSeveralBackups(t *testing.T) {
	of := func(namespace, not string) []byte {
		return derive(t, lab, func(path string, body []byte) []byte {
			if strings.HasPrefix(path, "metadata/") || strings.Contains(path, "/namespaces/"+namespace+"/") && !strings.Contains(path, not) {
				return body
			}
			return nil
		})
	}
	first, second := of("tenant-alpha", "no such path"), of("tenant-gamma", "/secrets/")
	all := checkAll(t, afterwards, []*check.VeleroBackup{described(t), nil},
		backuptest.Source("first", first), backuptest.Source("second", second))
	got := signs(all)
	for _, want := range []string{
		"error SecretsAbsent: every Secret", "info ClusterScopedFiltered: backup first",
		"info BackupAge: backup first", "info BackupAge: backup second", "info VeleroBackupUnknown: backup second",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no finding %q", want)
		}
	}
	for _, f := range all {
		if f.Code == "SecretsAbsent" && f.Backup != 1 || f.Absent.Resource == "secrets" && f.Code != "SecretsAbsent" {
			t.Errorf("found %s of backup %d", line(f), f.Backup)
		}
	}
}

// TestOrder holds that the findings do not depend on the order of the items.
func TestOrder(t *testing.T) {
	items := slices.Clone(itemsOf(t, lab))
	build := func() []byte {
		b := backuptest.NewFormat("")
		for _, i := range items {
			b.Raw(i.path, i.body)
		}
		return b.Tar()
	}
	forward := checked(t, build(), afterwards, nil)
	slices.Reverse(items)
	if backward := checked(t, build(), afterwards, nil); !reflect.DeepEqual(forward, backward) {
		t.Error("the order of the items changes the findings")
	}
}

// TestManyOverlaps bounds what hostile selectors cost: all of them fit all.
func TestManyOverlaps(t *testing.T) {
	b := backuptest.New()
	for i := range 2000 {
		b.AddAt("machinedeployments.cluster.x-k8s.io", "", map[string]any{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDeployment",
			"metadata": map[string]any{"namespace": "n", "name": fmt.Sprintf("md-%04d", i)},
			"spec": map[string]any{
				"clusterName": "c", "selector": map[string]any{"matchLabels": map[string]any{"a": "b"}},
				"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}},
			},
		})
	}
	overlaps := 0
	for _, f := range checked(t, b.Bytes(), afterwards, nil) {
		if f.Code == "SelectorsOverlap" {
			overlaps++
			if !strings.Contains(f.Message, "and maybe others") {
				t.Fatalf("message %q", f.Message)
			}
		}
	}
	if overlaps != 2000 {
		t.Errorf("%d overlaps", overlaps)
	}
}

// The API server drops members whose names differ in case from its own: these selectors
// mean the same.
func TestSelectorMembersAreWrittenAsTheAPIHasThem(t *testing.T) {
	b := backuptest.New()
	for i, selector := range []map[string]any{
		{"matchLabels": map[string]any{"a": "1"}},
		{"MatchLabels": map[string]any{"not": "there"}, "matchLabels": map[string]any{"a": "1"}},
	} {
		b.AddAt("machinedeployments.cluster.x-k8s.io", "", map[string]any{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDeployment",
			"metadata": map[string]any{"namespace": "n", "name": fmt.Sprint("md-", i)},
			"spec": map[string]any{
				"clusterName": "c", "selector": selector,
				"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "1"}}},
			},
		})
	}
	overlaps := 0
	for _, f := range checked(t, b.Bytes(), afterwards, nil) {
		if f.Code == "SelectorsOverlap" {
			overlaps++
		}
	}
	if overlaps != 2 {
		t.Errorf("%d overlaps", overlaps)
	}
}
