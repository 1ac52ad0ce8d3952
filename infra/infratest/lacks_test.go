package infratest_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/infratest"
	"drift-detector/infra/shell"
)

// described is a provider that is nothing but its description.
type described struct{ spec infra.Spec }

func (d described) Spec() infra.Spec { return d.spec }
func (described) Targets(*backup.Snapshot, *backup.Secrets, infra.Access) []infra.Target {
	return nil
}

func (described) Expected(*backup.Snapshot) infra.Expected { return infra.Expected{} }

func (described) List(context.Context, infra.Target) infra.Listing                   { return infra.Listing{} }
func (described) Check(*backup.Snapshot, *backup.Secrets, time.Time) []check.Finding { return nil }
func (described) Reach(string, infra.Sought) infra.Target                            { return infra.Target{} }

// What is there may contradict itself. What is not there is for the skeleton of
// infra/all.
func TestLacksFindsContradictions(t *testing.T) {
	const (
		group = "infrastructure.cluster.x-k8s.io"
		doc   = "// Package box lists boxes.\n//\n//\tbox.go  boxes\n//\n// Keys of instances:\n//\n//\tserial  its number\npackage box\n"
	)
	sound := func() infra.Spec {
		return infra.Spec{
			Name: "box", Title: "Boxes", Supports: "v1", Scope: "rack", Keys: func(string) []infra.Key { return nil },
			Want:         backup.Want{Kinds: []backup.AnyKind{backup.NewKind[struct{}]("boxes." + group), backup.NewKind[struct{}]("racks." + group)}},
			MachineKinds: []infra.Kind{{Group: group, Kind: "Box", Plural: "boxes"}},
			ClusterKind:  infra.Kind{Group: group, Kind: "Rack", Plural: "racks"},
			Controller:   infra.Controller{Name: "CAPB", Makes: "switches a box on", ID: infra.IDInSpec},
			Tool:         struct{ shell.Tool }{},
			OnDelete:     "deleting a Machine makes CAPB switch the box off",
			Permissions:  infra.Permissions{About: "says what is read", Text: "all\n", File: "role.md"},
		}
	}
	for want, change := range map[string]func(*infra.Spec, fstest.MapFS){
		"":                               func(*infra.Spec, fstest.MapFS) {},
		"OnDelete does not read on":      func(s *infra.Spec, _ fstest.MapFS) { s.OnDelete += "." },
		"without group, kind and plural": func(s *infra.Spec, _ fstest.MapFS) { s.ManagedPlanes = []infra.Kind{{Kind: "BoxControlPlane"}} },
		"does not read crates." + group:  func(s *infra.Spec, _ fstest.MapFS) { s.MachineKinds[0].Plural = "crates" },
		"does not read keys." + group: func(s *infra.Spec, _ fstest.MapFS) {
			s.IdentityKinds = []infra.Kind{{Group: group, Kind: "Key", Plural: "keys"}}
		},
		"does not say in About":     func(s *infra.Spec, _ fstest.MapFS) { s.Permissions.About = "" },
		`is not file "other.md"`:    func(s *infra.Spec, _ fstest.MapFS) { s.Permissions.File = "other.md" },
		`is not file "role.md"`:     func(s *infra.Spec, _ fstest.MapFS) { s.Permissions.Text = "some\n" },
		`flag "box" has no name of`: func(s *infra.Spec, _ fstest.MapFS) { s.Flags = []infra.Flag{{Name: "box", Usage: "u"}} },
		`excludes "box-b"`: func(s *infra.Spec, _ fstest.MapFS) {
			s.Flags = []infra.Flag{{Name: "box-a", Usage: "u", Excludes: "box-b"}}
		},
		"either no Read or no About": func(s *infra.Spec, _ fstest.MapFS) { s.Environment.About = "BOX is used" },
		"lacks colour": func(s *infra.Spec, _ fstest.MapFS) {
			s.Words = map[string]string{"colour": "paint", "Off": "it is off"}
		},
		"lacks row+place": func(_ *infra.Spec, m fstest.MapFS) {
			m["infra/box/box.go"].Data = []byte("package box\n\nconst keyPlace = \"row+place\"\n")
		},
		"does not say what more.go is": func(_ *infra.Spec, m fstest.MapFS) {
			m["infra/box/more.go"] = &fstest.MapFile{Data: []byte("package box\n")}
		},
		"box.go, which does not exist": func(_ *infra.Spec, m fstest.MapFS) { delete(m, "infra/box/box.go") },
		"no test runs infratest.Run":   func(_ *infra.Spec, m fstest.MapFS) { delete(m, "infra/box/box_test.go") },
		"does not say what call.go is": func(_ *infra.Spec, m fstest.MapFS) {
			m["infra/box/list/doc.go"] = &fstest.MapFile{Data: []byte("// Package list lists them.\n//\n//\tlist.go  all\npackage list\n")}
			m["infra/box/list/list.go"] = &fstest.MapFile{Data: []byte("package list\n")}
			m["infra/box/list/call.go"] = &fstest.MapFile{Data: []byte("package list\n")}
		},
		"has no doc.go": func(_ *infra.Spec, m fstest.MapFS) {
			m["infra/box/list/list.go"] = &fstest.MapFile{Data: []byte("package list\n")}
		},
		"no row in README.md": func(s *infra.Spec, _ fstest.MapFS) { s.Supports = "v1 and v2" },
	} {
		spec := sound()
		module := fstest.MapFS{
			"README.md":             {Data: []byte(infratest.Row(&spec, "infra/box"))},
			"infra/box/doc.go":      {Data: []byte(doc)},
			"infra/box/box.go":      {Data: []byte("package box\n\nconst keySerial = \"serial\"\n")},
			"infra/box/box_test.go": {Data: []byte("package box\n\nfunc TestAll(t *testing.T) { infratest.Run(t, h) }\n")},
			"infra/box/role.md":     {Data: []byte("all\n")},
		}
		change(&spec, module)
		got := strings.Join(infratest.Lacks(described{spec}, module, "infra/box"), "\n")
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("want %q, got:\n%s", want, got)
		}
	}
}
