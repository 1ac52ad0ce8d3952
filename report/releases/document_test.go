package releases

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"drift-detector/detector/releases"
	"drift-detector/report"
	"drift-detector/report/schematest"
)

// full returns a document in which every field is set.
func full() *Document {
	at, suspended := time.Date(2026, 11, 21, 4, 9, 0, 0, time.UTC), false
	owner := releases.Owner{Manager: "kubectl", Operation: "Update", Subresource: "scale", Time: &at}
	return New(&releases.Result{
		Releases: []*releases.Release{{
			Name: "shop", Namespace: "shop", Storage: "Secret", Revision: 2, History: []releases.Revision{{Revision: 1, Status: "superseded", Modified: &at}},
			HelmStatus: "deployed", Chart: "shop-1", ApplyMethod: "ssa", Controller: "HelmRelease/shop/shop", Mode: "warn", Suspended: &suspended,
			Ready: "False", Reason: "Drifted", Message: "drifted: changed: 1", Stalled: true, Counts: releases.Counts{Changed: 1},
			Objects: []*releases.Compared{{
				APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "a\x1b[31m", Verdict: "changed", Refused: "immutable", Message: "m", Summary: "s",
				Patch: []releases.Change{{Op: "replace", Pointer: "/data/a", Path: "data.a", Desired: "1", Live: "2", Owners: []releases.Owner{owner}, Unseen: true, Benign: "b", Upgrade: "fails"}},
				Added: []releases.Added{{Path: "data.b", Value: "3", Owner: owner, Benign: "b", Upgrade: "repairs"}}, Event: "e", Upgrade: "repairs",
			}},
			Extra: []string{"ConfigMap/shop/b"},
			After: releases.After{State: "drifted", Missing: 1, Overwrites: "o", Upgrade: "fails", Reasons: []string{"r"}, Do: []releases.Step{{Text: "t", Command: "c"}}},
		}},
		WithoutRecord: []releases.WithoutRecord{{Name: "x", Namespace: "y", Objects: []string{"ConfigMap/y/z"}, Count: 1}},
		Rules:         []*releases.Rule{{Source: "f", Release: "shop/shop", Paths: []string{""}, Target: "kind=x", Used: 1}},
		Said:          []releases.Said{{Object: "o", Message: "m"}},
		Problems:      []releases.Problem{{Object: "o", Reason: "r"}},
	}, Backup{Path: "f", SHA256: "0", WrittenFrom: at, WrittenTo: at, Items: 1, Stale: "s"}, report.Tool{Name: "drift-detector"}, at)
}

func TestDocumentIsValid(t *testing.T) {
	valid := schematest.Strict(t, Schema())
	narrow := full()
	narrow.Narrow("stalled=true")
	for _, d := range []*Document{full(), narrow, New(&releases.Result{}, Backup{}, report.Tool{Name: "drift-detector"}, time.Time{})} {
		var b bytes.Buffer
		if err := JSON(&b, d); err != nil {
			t.Fatal(err)
		}
		if err := valid(b.Bytes()); err != nil {
			t.Errorf("%v\n%s", err, b.String())
		}
	}
}

// The schema has the fields of the Go types, each described, and says which may be absent.
func TestSchemaHasEveryField(t *testing.T) {
	schematest.Fields(t, schema, reflect.TypeFor[Document](), map[string]reflect.Type{
		"releasesBackup": reflect.TypeFor[Backup](), "releasesSummary": reflect.TypeFor[Summary](),
		"release": reflect.TypeFor[releases.Release](), "revision": reflect.TypeFor[releases.Revision](), "counts": reflect.TypeFor[releases.Counts](),
		"compared": reflect.TypeFor[releases.Compared](), "change": reflect.TypeFor[releases.Change](), "added": reflect.TypeFor[releases.Added](),
		"owner": reflect.TypeFor[releases.Owner](), "after": reflect.TypeFor[releases.After](), "step": reflect.TypeFor[releases.Step](),
		"withoutRecord": reflect.TypeFor[releases.WithoutRecord](), "rule": reflect.TypeFor[releases.Rule](), "said": reflect.TypeFor[releases.Said](), "problem": reflect.TypeFor[releases.Problem](),
	})
}

func TestNarrow(t *testing.T) {
	for status, want := range map[string]int{"stalled=true": 1, "stalled=false": 0, "ready=true": 0, "ready=false": 1} {
		d := full()
		if d.Narrow(status); d.Summary.Releases != want {
			t.Errorf("%s: %d", status, d.Summary.Releases)
		}
	}
}

// Names of a backup are hostile: text prints no escape sequence.
func TestTextIsEscaped(t *testing.T) {
	for _, diff := range []bool{false, true} {
		var b bytes.Buffer
		if err := Text(&b, full(), diff); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "\x1b") || !strings.Contains(b.String(), "data.a") {
			t.Error(b.String())
		}
	}
}
