package check_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"drift-detector/backup/check"
)

// ofBackup returns a velero-backup.json with further members of its metadata, spec and status.
func ofBackup(metadata, spec, status string) string {
	return fmt.Sprintf(`{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"b"%s},"spec":{%s},"status":{"phase":"Completed"%s}}`, metadata, spec, status)
}

// TestDescriptionsAreBounded: what is too much is refused with its number, and a list that
// an outline has no use for is not even looked at.
func TestDescriptionsAreBounded(t *testing.T) {
	namespaces := func(n int) string {
		return `"includedNamespaces":["a"` + strings.Repeat(`,"a"`, n-1) + "]"
	}
	long := strings.Repeat("x", 254)
	for name, tt := range map[string]struct{ text, whole, outline string }{
		"entries":     {ofBackup("", namespaces(10_000), ""), "", ""},
		"one more":    {ofBackup("", namespaces(10_001), ""), "more than 10000 entries", ""},
		"a schedule":  {ofBackup(`,"labels":{"velero.io/schedule-name":"`+long+`"}`, "", ""), "more than 253 bytes", "more than 253 bytes"},
		"a version":   {ofBackup("", "", `,"formatVersion":"`+long+`"`), "more than 253 bytes", "more than 253 bytes"},
		"other texts": {ofBackup(`,"uid":"`+long+`"`, `"storageLocation":"`+long+`"`, `,"failureReason":"`+long+`"`), "", ""},
	} {
		v, err := check.ReadVelero("f", strings.NewReader(tt.text))
		if said(err) != "" && tt.whole == "" || !strings.Contains(said(err), tt.whole) || tt.whole == "" && v.Name != "b" {
			t.Errorf("%s: %v", name, err)
		}
		o, err := check.ReadOutline("f", []byte(tt.text))
		if said(err) != "" && tt.outline == "" || !strings.Contains(said(err), tt.outline) || tt.outline == "" && o.Name != "b" {
			t.Errorf("%s: outline: %v", name, err)
		}
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestDescriptionsBuildLittle: 3 MiB of members that become 100 times as much when they
// are decoded cost no more than their bytes.
func TestDescriptionsBuildLittle(t *testing.T) {
	many := func(one string) string { return "[" + one + strings.Repeat(","+one, 1_000_000) + "]" }
	for name, text := range map[string]string{
		"hooks":      ofBackup("", `"hooks":{"resources":`+many("{}")+`}`, ""),
		"namespaces": ofBackup("", `"includedNamespaces":`+many(`""`), ""),
		"selectors":  ofBackup("", `"orLabelSelectors":`+many("{}"), ""),
		"owners":     ofBackup(`,"ownerReferences":`+many("{}"), "", ""),
		"errors":     ofBackup("", "", `,"validationErrors":`+many(`""`)),
		"a number":   ofBackup("", "", `,"errors":`+strings.Repeat("1", 3<<20)),
		"a date":     ofBackup("", "", `,"expiration":"`+strings.Repeat("1", 3<<20)+`"`),
	} {
		var before, after, idle runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err := check.ReadVelero("f", strings.NewReader(text))
		_, also := check.ReadOutline("f", []byte(text))
		runtime.ReadMemStats(&after)
		if built := (after.TotalAlloc - before.TotalAlloc) >> 20; built > 64 {
			t.Errorf("%s: %d MiB for a file of %d, %v", name, built, len(text)>>20, err)
		}
		runtime.GC()
		runtime.ReadMemStats(&idle)
		if kept := int64(idle.HeapAlloc) - int64(before.HeapAlloc); kept > 1<<20 {
			t.Errorf("%s: %d MiB are kept", name, kept>>20)
		}
		runtime.KeepAlive([]any{text, err, also})
	}
}

// TestLongFiltersAreCutInFindings: a finding for each absent object repeats them.
func TestLongFiltersAreCutInFindings(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, spec := range []string{
		`"excludedNamespaces":["n","` + long + `"]`,
		`"labelSelector":{"matchLabels":{"a":"` + long + `"}}`,
		`"orLabelSelectors":[{"matchLabels":{"a":"` + long + `"}}]`,
		`"resourcePolicy":{"name":"` + long + `"}`,
	} {
		v, err := check.ReadVelero("f", strings.NewReader(ofBackup("", spec, "")))
		if err != nil {
			t.Fatal(err)
		}
		if by := v.LeavesOut("secrets", "n"); len(by) > 1000 || by == "" {
			t.Errorf("%.40s: %d bytes", spec, len(by))
		}
	}
}

// TestPatternsThatVeleroReads: what a filter may let in is not said to be left out, and what it may leave
// out is no proof that it did not exist. Braces and the like mean what each Velero takes them for.
func TestPatternsThatVeleroReads(t *testing.T) {
	const clusters = "clusters.cluster.x-k8s.io"
	for spec, c := range map[string]struct{ excludes, left bool }{
		`"includedResources":["*.cluster.x-k8s.io"]`:               {false, false},
		`"includedResources":["clusters.*"]`:                       {false, false},
		`"includedResources":["{clusters,machines}.*"]`:            {false, true},
		`"includedResources":["secret*"]`:                          {true, true},
		`"includedResources":["secrets","[!a]*"]`:                  {false, true},
		`"excludedResources":["*.cluster.x-k8s.io"]`:               {false, true}, // k0rdent's may be in it
		`"excludedResources":["*"]`:                                {true, true},
		`"excludedResources":["{clusters}.*"]`:                     {false, true},
		`"includedNamespaceScopedResources":["*cluster*"]`:         {false, false},
		`"includedNamespaces":["tenant-*"]`:                        {false, false},
		`"includedNamespaces":["tenant-[^a]*"]`:                    {false, true},
		`"includedNamespaces":["{tenant-alpha,tenant-beta}"]`:      {false, true},
		`"includedNamespaces":["shop-*"]`:                          {true, true},
		`"includedNamespaces":["*"],"excludedNamespaces":["ten["]`: {false, true},
		`"excludedNamespaces":["tenant-?lpha"]`:                    {true, true},
	} {
		text := ofBackup("", spec, "")
		o, err := check.ReadOutline("f", []byte(text))
		v, also := check.ReadVelero("f", strings.NewReader(text))
		if err != nil || also != nil {
			t.Fatal(spec, err, also)
		}
		if by := o.Excludes + o.LeavesOutAll([]string{"tenant-alpha"}); (by != "") != c.excludes {
			t.Errorf("%s: no cluster is in it: %q", spec, by)
		}
		if by := v.LeavesOut(clusters, "tenant-alpha"); (by != "") != c.left {
			t.Errorf("%s: a Cluster may be left out by %q", spec, by)
		}
	}
}
