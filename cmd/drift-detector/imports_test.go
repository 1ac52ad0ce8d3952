package main

import (
	"go/build"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "drift-detector/"

// mayImport says for every package of the module what it may import from
// outside the standard library, tests apart. Data flows one way:
// cmd → report → detector → {backup, infra}, and infra → backup.
var mayImport = map[string][]string{
	"backup": {"drift-detector/backup/archive", "sigs.k8s.io/cluster-api/api/core/v1beta2"},
	"backup/archive": {
		"github.com/mholt/archiver/v3",
		"github.com/vmware-tanzu/velero/pkg/apis/velero/v1",
		"k8s.io/apimachinery/pkg/version",
	},
	"backup/backuptest": {"drift-detector/backup"},
	"backup/readiness": {
		"drift-detector/backup",
		"github.com/vmware-tanzu/velero/pkg/apis/velero/v1",
		"k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/apimachinery/pkg/labels",
	},
	"backup/selection": {"drift-detector/backup", "k8s.io/apimachinery/pkg/labels"},
	"infra": {
		"drift-detector/backup", "drift-detector/backup/readiness",
		"go.yaml.in/yaml/v3", "k8s.io/apimachinery/pkg/labels",
	},
	"infra/all": {"drift-detector/infra", "drift-detector/infra/aws", "drift-detector/infra/vsphere", "drift-detector/infra/workload"},
	"infra/aws": {
		"drift-detector/backup", "drift-detector/backup/readiness", "drift-detector/infra",
		"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go",
		"golang.org/x/time/rate",
		"k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/apimachinery/pkg/labels",
		"sigs.k8s.io/cluster-api/api/core/v1beta2",
	},
	"infra/infratest": {"drift-detector/backup", "drift-detector/infra"},
	"infra/lab":       {"github.com/vmware/govmomi", "sigs.k8s.io/yaml"},
	"infra/vsphere": {
		"drift-detector/backup", "drift-detector/backup/readiness", "drift-detector/infra",
		"github.com/vmware/govmomi",
		"k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/apimachinery/pkg/labels",
		"sigs.k8s.io/cluster-api/api/core/v1beta2",
		"sigs.k8s.io/yaml",
	},
	"infra/workload": {
		"drift-detector/backup", "drift-detector/backup/readiness", "drift-detector/infra",
		"k8s.io/client-go/tools/clientcmd",
		"sigs.k8s.io/cluster-api/api/core/v1beta2",
	},
	"docs/permissions": {},
	"detector":         {"drift-detector/backup", "drift-detector/infra"},
	"detector/forecast": {
		"drift-detector/backup", "drift-detector/detector", "drift-detector/infra",
		"k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/apimachinery/pkg/labels", "k8s.io/apimachinery/pkg/util/intstr",
		"sigs.k8s.io/cluster-api/api/core/v1beta1", "sigs.k8s.io/cluster-api/api/core/v1beta2",
	},
	"report":                {"drift-detector/backup", "drift-detector/backup/readiness", "drift-detector/detector", "drift-detector/detector/forecast", "drift-detector/infra", "drift-detector/report/terminal"},
	"report/runbook":        {"drift-detector/report", "drift-detector/report/markdown", "drift-detector/report/terminal"},
	"report/html":           {"drift-detector/report", "drift-detector/report/terminal"},
	"report/markdown":       {"drift-detector/report", "drift-detector/report/terminal"},
	"report/junit":          {"drift-detector/report", "drift-detector/report/junit/document"},
	"report/junit/document": {"drift-detector/report", "drift-detector/report/terminal"},
	"report/prometheus":     {"drift-detector/report", "drift-detector/report/terminal"},
	"report/diff":           {"drift-detector/report", "drift-detector/report/junit/document", "drift-detector/report/terminal"},
	"report/ignore":         {"drift-detector/report", "drift-detector/detector", "go.yaml.in/yaml/v3", "github.com/bmatcuk/doublestar/v4", "drift-detector/report/terminal"},
	"report/formats":        {"drift-detector/report", "drift-detector/report/html", "drift-detector/report/junit", "drift-detector/report/markdown", "drift-detector/report/prometheus"},
	"report/terminal":       {},
	"report/schematest":     {"github.com/santhosh-tekuri/jsonschema/v6"},
	"report/reporttest":     {"drift-detector/report"},
	"cmd/drift-detector": {
		"drift-detector/backup", "drift-detector/backup/archive", "drift-detector/backup/readiness", "drift-detector/backup/selection", "drift-detector/detector", "drift-detector/detector/forecast", "drift-detector/docs/permissions",
		"drift-detector/infra", "drift-detector/infra/all", "drift-detector/report", "drift-detector/report/diff", "drift-detector/report/formats", "drift-detector/report/ignore", "drift-detector/report/runbook", "drift-detector/report/terminal",
		"github.com/urfave/cli/v2", "github.com/vbauerster/mpb/v8", "golang.org/x/term",
	},
	"cmd/demo": {"drift-detector/infra/lab"},
}

func TestEveryPackageImportsOnlyWhatItMay(t *testing.T) {
	root := "../.."
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if d.Name() == "testdata" || (strings.HasPrefix(d.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		pkg, err := build.ImportDir(path, 0)
		if _, none := err.(*build.NoGoError); none {
			return nil
		}
		if err != nil {
			return err
		}
		if len(pkg.GoFiles) == 0 {
			return nil
		}
		seen[name] = true
		allowed, listed := mayImport[name]
		if !listed {
			t.Errorf("package %s is not in the table of what it may import", name)
		}
		for _, imp := range pkg.Imports {
			if strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") || strings.HasPrefix(imp, module) {
				if !slices.ContainsFunc(allowed, func(a string) bool { return imp == a || strings.HasPrefix(imp, a+"/") && !strings.HasPrefix(a, module) }) {
					t.Errorf("%s imports %s, which the table does not allow", name, imp)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range mayImport {
		if !seen[name] {
			t.Errorf("the table names package %s, which does not exist", name)
		}
	}
}
