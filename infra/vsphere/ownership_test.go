package vsphere

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/vsphere/vspheretest"
)

// hintedTo returns the hints, "grade owner", that a VM of a name in a folder of vc1 fits.
func hintedTo(t *testing.T, c infra.Expected, folder, name string) []string {
	t.Helper()
	full := "vc1.example:443" + folder
	hasKey := append(stems(full, name), infra.Key{Kind: KeyFolder, Value: full})
	var hinted []string
	for _, hint := range c.OwnershipHints {
		fits := slices.Contains(hasKey, hint.Key)
		if p := hint.Pattern; p != nil {
			fits = slices.Contains(hasKey, p.Within) && regexp.MustCompile(p.Name).MatchString(name)
		}
		if fits {
			hinted = append(hinted, strings.TrimSpace(fmt.Sprintf("%d %s %s", hint.Grade, hint.Owner.Kind, hint.Owner.Name)))
		}
		if hint.Detail == "" {
			t.Errorf("tie %+v has no words", hint)
		}
	}
	slices.Sort(hinted)
	return hinted
}

func TestTies(t *testing.T) {
	const (
		location = "2"
		cp       = "3 KubeadmControlPlane prod-cp"
		ms       = "3 MachineSet prod-md-0-abcde"
		md       = "3 MachineDeployment prod-md-0"
		any      = "3"
	)
	const folder = "/DC0/vm/prod"
	naming := func(template string) func(*vspheretest.Backup) {
		return func(b *vspheretest.Backup) {
			b.Set(templates.Resource(), "spec.template.spec.namingStrategy", fields{"template": template})
			b.Set(machines.Resource(), "spec.namingStrategy", fields{"template": template})
		}
	}
	machineNaming := func(template string) func(*vspheretest.Backup) {
		return func(b *vspheretest.Backup) {
			for _, resource := range []string{"machinesets" + vspheretest.CAPIGroup, "machinedeployments" + vspheretest.CAPIGroup} {
				b.Set(resource, "spec.machineNaming", fields{"template": template})
			}
		}
	}
	plain := func(*vspheretest.Backup) {}
	windows := func(b *vspheretest.Backup) {
		b.Set(templates.Resource(), "spec.template.spec.os", "Windows").Set(machines.Resource(), "spec.os", "Windows")
	}
	for _, c := range []struct {
		name   string
		change func(*vspheretest.Backup)
		folder string
		vm     string
		want   []string
	}{
		{"known MachineSet", plain, folder, "prod-md-0-abcde-bcdfg", []string{location, ms}},
		{"MachineSet of a later rollout", plain, folder, "prod-md-0-xz2b4-bcdfg", []string{location, md}},
		{"MachineSet with an old hash", plain, folder, "prod-md-0-5d7f8b9c4-bcdfg", []string{location, md}},
		{"MachineSet with a hash of Cluster API 1.4", plain, folder, "prod-md-0-5d7f8b9c4x2zzzzz-bcdfg", []string{location, md}},
		{"hash too long", plain, folder, "prod-md-0-5d7f8b9c4x2zzzzzz-bcdfg", []string{location}},
		{"control plane", plain, folder, "prod-cp-bcdfg", []string{location, cp}},
		{"vowels are not random", plain, folder, "prod-cp-abcde", []string{location}},
		{"another cluster's prefix", plain, folder, "prod-md-0-db", []string{location}},
		{"another folder", plain, "/DC0/vm/other", "prod-cp-bcdfg", nil},
		{"another datacenter", plain, "/DC1/vm/prod", "prod-cp-bcdfg", nil},
		{"root folder says nothing by itself", func(b *vspheretest.Backup) {
			for _, resource := range []string{vms.Resource(), machines.Resource()} {
				b.Set(resource, "spec.folder", "")
			}
			b.Set(templates.Resource(), "spec.template.spec.folder", "/DC0/vm")
		}, "/DC0/vm", "prod-cp-bcdfg", []string{cp}},
		{"naming template", naming("vm-{{ .machine.name | trunc 12 }}-{{ .machine.name | trunc -5 }}"), folder, "vm-prod-md-0-ab-bcdfg", []string{location, ms}},
		{"naming template, default name", naming("vm-{{ .machine.name }}"), folder, "prod-md-0-abcde-bcdfg", []string{location}},
		{"naming template, later rollout", naming("vm-{{ .machine.name }}"), folder, "vm-prod-md-0-xz2b4-bcdfg", []string{location, md}},
		{"naming template without the owner", naming("vm-{{ .machine.name | trunc -5 }}"), folder, "vm-bcdfg", []string{location}},
		{"naming template, four characters of the owner", naming("{{ .machine.name | trunc 4 }}{{ .machine.name | trunc -5 }}"), folder, "prodbcdfg", []string{location, any}},
		{"naming template, three characters of the owner", naming("{{ .machine.name | trunc 3 }}{{ .machine.name | trunc -5 }}"), folder, "probcdfg", []string{location}},
		{"naming template without random part", naming("{{ .machine.name | trunc 9 }}-x"), folder, "prod-md-0-x", []string{location}},
		{"naming template that is not understood", naming("{{ .machine.name | sha256sum }}"), folder, "prod-md-0-abcde-bcdfg", []string{location}},
		{"machine naming template", machineNaming("{{ .cluster.name }}-w-{{ .machineSet.name }}-{{ .random }}"), folder, "prod-w-prod-md-0-abcde-bcdfg", []string{location, ms}},
		{"machine naming template of many", machineNaming("{{ .cluster.name }}-worker-{{ .random }}"), folder, "prod-worker-bcdfg", []string{location, any}},
		{"both templates", func(b *vspheretest.Backup) {
			machineNaming("{{ .machineSet.name }}-{{ .random }}-x")(b)
			naming(`{{ .machine.name | trimSuffix "-x" }}`)(b)
		}, folder, "prod-md-0-abcde-bcdfg", []string{location, ms}},
		{"Windows", windows, folder, "prod-md-0-bcdfg", []string{location}},
		{"Windows, default name", windows, folder, "prod-md-0-abcde-bcdfg", []string{location}},
		{"Windows leaves the control plane", windows, folder, "prod-cp-bcdfg", []string{location, cp}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := vspheretest.NewBackup()
			c.change(b)
			if got := hintedTo(t, expected(t, b), c.folder, c.vm); !slices.Equal(got, c.want) {
				t.Errorf("%s in %s: %v, want %v", c.vm, c.folder, got, c.want)
			}
		})
	}
}

// TestNamesInManyFolders: in so many folders a name counts where its owner's machines are,
// and elsewhere only as a name.
func TestNamesInManyFolders(t *testing.T) {
	for n, want := range map[int][]string{
		manyFolders - 1: {"2", "3 MachineDeployment prod-md-7"},
		manyFolders:     {"2"},
	} {
		b := vspheretest.NewBackup()
		for k := range n { // beside the folder that is there already
			name := fmt.Sprintf("prod-md-%d", k+1)
			b.Put("machinedeployments"+vspheretest.CAPIGroup, vspheretest.Object("cluster.x-k8s.io/v1beta1", "MachineDeployment", "team", name, fields{
				"spec.clusterName": "prod", "spec.template.spec.infrastructureRef": fields{"apiVersion": group + "/v1beta1", "kind": templateKind, "name": name, "namespace": "team"},
			}))
			b.Put(templates.Resource(), vspheretest.Object(group+"/v1beta1", templateKind, "team", name, fields{
				"spec.template.spec": fields{"server": "vc1.example", "datacenter": "DC0", "folder": "/DC0/vm/" + name},
			}))
		}
		c := expected(t, b)
		if got := hintedTo(t, c, "/DC0/vm/prod-md-9", "prod-md-7-xz2b4-bcdfg"); !slices.Equal(got, want) {
			t.Errorf("of %d folders, another's: %v, want %v", n+1, got, want)
		}
		if got, own := hintedTo(t, c, "/DC0/vm/prod-md-7", "prod-md-7-xz2b4-bcdfg"), []string{"2", "3 MachineDeployment prod-md-7"}; !slices.Equal(got, own) {
			t.Errorf("of %d folders, its own: %v, want %v", n+1, got, own)
		}
	}
}

func TestLongestOwnerIsMostSpecific(t *testing.T) {
	c := expected(t, vspheretest.NewBackup())
	by := map[string]int{}
	for _, hint := range c.OwnershipHints {
		by[hint.Owner.Name] = max(by[hint.Owner.Name], hint.Specificity)
	}
	if !(by["prod-md-0-abcde"] > by["prod-md-0"] && by["prod-md-0"] > by["prod-cp"]) {
		t.Errorf("specificity %v", by)
	}
}

func TestEndpointTie(t *testing.T) {
	c := expected(t, vspheretest.NewBackup())
	want := endpointKey("vc1.example:443/DC0/vm/prod", joinsKey("10.0.0.9:6443"))
	if !slices.ContainsFunc(c.OwnershipHints, func(hint infra.OwnershipHint) bool { return hint.Key == want && hint.Grade == infra.Medium }) {
		t.Errorf("no tie by %s in %+v", want, c.OwnershipHints)
	}
}

func keyTexts(keys []infra.Key) string {
	var all []string
	for _, k := range keys {
		all = append(all, k.String())
	}
	return strings.Join(all, ", ")
}

func TestProofs(t *testing.T) {
	cluster := backup.ClusterID{Namespace: "team", Name: "prod"}
	const target = "vsphere/vc1.example:443/Secret/team/prod"
	const prod, root = "all of vmInFolder vc1.example:443/DC0/vm/prod", "all of vmInFolder vc1.example:443/DC0/vm"
	const known, strong = "any of vmOfBackup vc1.example:443", "any of biosUUID " + vspheretest.UUID1
	const read, rootRead = "all of metadataInFolder vc1.example:443/DC0/vm/prod", "all of metadataInFolder vc1.example:443/DC0/vm"
	unmade := func(b *vspheretest.Backup) {
		b.Set(machines.Resource(), "spec.providerID", "").Set("machines"+vspheretest.CAPIGroup, "spec.providerID", nil)
	}
	for name, c := range map[string]struct {
		change func(*vspheretest.Backup)
		want   []string
		target string
	}{
		"folder":                   {func(*vspheretest.Backup) {}, []string{known, prod, read}, target},
		"root folder":              {func(b *vspheretest.Backup) { b.Set(vms.Resource(), "spec.folder", "/DC0/vm") }, []string{known, strong, root, rootRead}, target},
		"folder of VSphereMachine": {func(b *vspheretest.Backup) { b.Drop(vms.Resource()) }, []string{known, prod, read}, target},
		"root, and no id, so that no machine of it can be asked for": {func(b *vspheretest.Backup) {
			unmade(b.Drop(vms.Resource()).Set(machines.Resource(), "spec.folder", ""))
		}, []string{known, root, rootRead}, target},
		"zone that is absent": {func(b *vspheretest.Backup) {
			b.Drop(vms.Resource()).Set("machines"+vspheretest.CAPIGroup, "spec.failureDomain", "zone-a")
		}, []string{strong}, target + "/unplaced"},
		"zone that is absent, and no id": {func(b *vspheretest.Backup) {
			unmade(b.Drop(vms.Resource()).Set("machines"+vspheretest.CAPIGroup, "spec.failureDomain", "zone-a"))
		}, []string{"any of"}, target + "/unplaced"},
		"only the Machine": {func(b *vspheretest.Backup) { b.Drop(vms.Resource()).Drop(machines.Resource()) }, []string{strong}, target + "/unplaced"},
		"zone that is absent, and its VSphereVM": {func(b *vspheretest.Backup) {
			b.Set("machines"+vspheretest.CAPIGroup, "spec.failureDomain", "zone-a")
		}, []string{known, prod, read}, target},
	} {
		b := vspheretest.NewBackup()
		c.change(b)
		var got []string
		for _, p := range expected(t, b).Proofs {
			line := "any of"
			switch {
			case len(p.All) > 0:
				line = "all of " + keyTexts(p.All)
			case len(p.Any) > 0:
				line += " " + keyTexts(p.Any)
			}
			got = append(got, line)
			if ofFolder := line != known && c.target == target; ofFolder != (p.Folder != "") {
				t.Errorf("%s: part %q of %+v", name, p.Folder, p)
			}
			if p.Cluster != cluster || p.Target != c.target || p.Hint == "" {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestAbsences(t *testing.T) {
	b := vspheretest.NewBackup().Drop(vms.Resource()).Set("machines"+vspheretest.CAPIGroup, "spec.failureDomain", "zone-a")
	b.Set(clusters.Resource(), "spec.identityRef", fields{"kind": identityKind, "name": "shared"})
	b.Put(zones.Resource(), vspheretest.Object(group+"/v1beta1", zoneKind, "", "zone-b", fields{"spec.failureDomain": "domain-b"}))
	other := vspheretest.Object(group+"/v1beta1", clusterKind, "team", "another", fields{"spec.identityRef": fields{"kind": identityKind, "name": "shared"}})
	b.Put(clusters.Resource(), other)
	var got []string
	for _, a := range expected(t, b).Absent {
		line := a.Kind + " " + a.Name + " by " + a.ReferredBy
		for _, id := range a.Halts {
			line += ", halts " + id.Name
		}
		got = append(got, line)
	}
	want := []string{
		"VSphereClusterIdentity shared by VSphereCluster team/another and 1 more, halts another, halts prod",
		"VSphereDeploymentZone zone-a by Machine team/prod-md-0-abcde-vwxyz",
		"VSphereFailureDomain domain-b by VSphereDeploymentZone zone-b",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
