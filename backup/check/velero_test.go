package check_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
)

// described reads the velero-backup.json of the lab, with parts of it replaced.
func described(t testing.TB, replace ...string) *check.VeleroBackup {
	t.Helper()
	text, err := os.ReadFile("../../testdata/bucket/mgmt-cluster-1/backups/mgmt-full/velero-backup.json")
	if err != nil {
		t.Fatal(err)
	}
	for pair := range slices.Chunk(replace, 2) {
		if !strings.Contains(string(text), pair[0]) {
			t.Fatalf("velero-backup.json does not hold %s", pair[0])
		}
		text = []byte(strings.Replace(string(text), pair[0], pair[1], 1))
	}
	v, err := check.ReadVelero("velero-backup.json", strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestVelero holds what velero-backup.json adds: what it says by itself, and
// what its filters explain.
func TestVelero(t *testing.T) {
	whole := derive(t, lab, without())
	bare := derive(t, lab, without("secrets/tenant-alpha/"))
	spec := func(members string) []string {
		return []string{`"snapshotVolumes": false,`, members + `, "snapshotVolumes": false,`}
	}
	all := `"includedNamespaces": [
      "*"
    ]`
	for _, test := range []struct {
		name    string
		tarball []byte
		now     time.Time
		edit    []string
		want    []string // against the lab with its untouched description
		says    string   // some message
	}{
		{"untouched", whole, afterwards, nil, nil, "referred to by VSphereCluster tenant-beta/beta-prod; explained by: includedClusterScopedResources is not set, and then cluster-scoped objects stay out"},
		{
			"not completed", whole, afterwards,
			[]string{`"phase": "Completed"`, `"phase": "PartiallyFailed", "errors": 3, "warnings": 1`},
			[]string{"+warning BackupErrorsUnclear: backup backup.tar.gz"},
			"phase of backup mgmt-full is PartiallyFailed, with 3 errors and 1 warning",
		},
		{
			"errors in spite of its phase", whole, afterwards,
			[]string{`"phase": "Completed"`, `"phase": "Completed", "errors": 1`},
			[]string{"+warning BackupErrorsUnclear: backup backup.tar.gz"},
			"with 1 error and 0 warnings",
		},
		{
			"no phase", whole, afterwards,
			[]string{`"phase": "Completed",`, ``},
			[]string{"+warning BackupErrorsUnclear: backup backup.tar.gz"},
			"is not recorded",
		},
		{
			"warnings", whole, afterwards,
			[]string{`"phase": "Completed"`, `"phase": "Completed", "warnings": 2`},
			[]string{"+warning BackupWarnings: backup backup.tar.gz"},
			"completed with 2 warnings",
		},
		{
			"of another backup", whole, afterwards,
			[]string{`"startTimestamp": "2026-11-21T04:06:20Z"`, `"startTimestamp": "2026-11-21T04:16:20Z"`},
			[]string{"+warning VeleroBackupOfAnother: backup backup.tar.gz", "-info ClusterScopedFiltered: backup backup.tar.gz"},
			"describes backup mgmt-full, which ran at another time",
		},
		{
			"of an older backup", whole, afterwards,
			[]string{
				`"startTimestamp": "2026-11-21T04:06:20Z"`, `"startTimestamp": "2026-11-20T04:06:20Z"`,
				`"completionTimestamp": "2026-11-21T04:06:32Z"`, `"completionTimestamp": "2026-11-20T04:06:32Z"`,
			},
			[]string{"+warning VeleroBackupOfAnother: backup backup.tar.gz", "-info ClusterScopedFiltered: backup backup.tar.gz"},
			"which ran at another time",
		},
		{
			"expired", whole, afterwards,
			[]string{`"expiration": "2026-12-21T04:06:20Z"`, `"expiration": "2026-11-21T05:06:20Z"`},
			[]string{"+warning BackupExpired: backup backup.tar.gz"},
			"expired on 2026-11-21",
		},
		{
			"cluster-scoped objects asked for", whole, afterwards, spec(`"includeClusterResources": true`),
			[]string{"-info ClusterScopedFiltered: backup backup.tar.gz"},
			"",
		},
		{
			"cluster-scoped objects refused", whole, afterwards, spec(`"includeClusterResources": false`),
			nil, "tenant-beta/beta-prod; explained by: includeClusterResources: false",
		},
		{
			"Secrets excluded", bare, afterwards, spec(`"excludedResources": ["Secret"]`),
			[]string{"+error KindsFiltered: every object of secrets"},
			"not in the backup; explained by: excludedResources: Secret",
		},
		{
			"Machines not included", whole, afterwards, spec(`"includedNamespaceScopedResources": [
				"clusters.cluster.x-k8s.io", "machinedeployments", "machinesets", "machinehealthcheck", "kubeadmcontrolplanes", "kubeadmconfigs", "secrets", "x", "y", "z"]`),
			[]string{"+error KindsFiltered: every object of machines.cluster.x-k8s.io"},
			"and 5 more",
		},
		{
			"some namespaces", bare, afterwards,
			[]string{all, `"includedNamespaces": ["tenant-[b-z]*", "capv-system"]`},
			[]string{"+warning NamespacesFiltered: backup backup.tar.gz"},
			"not in the backup; explained by: includedNamespaces: tenant-[b-z]*, capv-system",
		},
		{
			"namespaces left out", bare, afterwards, spec(`"excludedNamespaces": ["tenant-alpha"]`),
			[]string{"+warning NamespacesFiltered: backup backup.tar.gz"},
			"not in the backup; explained by: excludedNamespaces: tenant-alpha",
		},
		{
			"a label", bare, afterwards, spec(`"labelSelector": {"matchLabels": {"a": "b"}}, "orLabelSelectors": [{"matchLabels": {"c": "d"}}]`),
			[]string{"+warning LabelsFiltered: backup backup.tar.gz"},
			"not in the backup; explained by: labelSelector: a=b and orLabelSelectors: c=d",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := signs(checked(t, test.tarball, test.now, described(t)))
			after := checked(t, test.tarball, test.now, described(t, test.edit...))
			if got := difference(before, signs(after)); !slices.Equal(got, test.want) {
				t.Errorf("difference\n %s\nwant\n %s", strings.Join(got, "\n "), strings.Join(test.want, "\n "))
			}
			if !slices.ContainsFunc(after, func(f check.Finding) bool { return strings.Contains(f.Message, test.says) }) {
				t.Errorf("no message says %q", test.says)
			}
		})
	}
}

// TestVeleroTakesAwayTheDoubt holds what the untouched description changes.
func TestVeleroTakesAwayTheDoubt(t *testing.T) {
	whole := derive(t, lab, without())
	got := difference(signs(checked(t, whole, afterwards, nil)), signs(checked(t, whole, afterwards, described(t))))
	if want := []string{"+info ClusterScopedFiltered: backup backup.tar.gz", "-info VeleroBackupUnknown: backup backup.tar.gz"}; !slices.Equal(got, want) {
		t.Errorf("difference %q", got)
	}
}

func TestReadVeleroRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty":                    "",
		"no JSON":                  "hunter2",
		"trailing data":            `{"kind":"Backup","apiVersion":"velero.io/v1","metadata":{"name":"hunter2"}} {}`,
		"another kind":             `{"kind":"Restore","apiVersion":"velero.io/v1","metadata":{"name":"hunter2"}}`,
		"another group":            `{"kind":"Backup","apiVersion":"hunter2/v1","metadata":{"name":"b"}}`,
		"no name":                  `{"kind":"Backup","apiVersion":"velero.io/v1","status":{"phase":"hunter2"}}`,
		"a member of another type": `{"kind":"Backup","apiVersion":"velero.io/v1","metadata":{"name":"b"},"status":{"errors":"hunter2"}}`,
		"a date that is none":      `{"kind":"Backup","apiVersion":"velero.io/v1","metadata":{"name":"b"},"status":{"expiration":"hunter2"}}`,
		"deep":                     strings.Repeat("[", 1<<20),
		"large":                    `"` + strings.Repeat("hunter2 ", 1<<20) + `"`,
	} {
		_, err := check.ReadVelero("a/velero-backup.json", strings.NewReader(text))
		var input *backup.InputError
		if !errors.As(err, &input) || !strings.HasPrefix(err.Error(), "a/velero-backup.json: ") || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	broken := errors.New("disk on fire")
	if _, err := check.ReadVelero("f", brokenReader{broken}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

type brokenReader struct{ err error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.err }
