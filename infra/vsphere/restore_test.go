package vsphere

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/infra"
)

// zoned puts the small backup into a failure domain. Its VSphereMachine then says what
// CAPV wrote into its VSphereVM.
func zoned() *smallBackup {
	b := newSmallBackup()
	b.put(zones.Resource(), newObject(group+"/v1beta1", zoneKind, "", "zone-a", fields{
		"spec.server": "vc2.example", "spec.failureDomain": "domain-a", "spec.placementConstraint": fields{"folder": "zoned", "resourcePool": "pool-z"},
	}))
	b.put(domains.Resource(), newObject(group+"/v1beta1", domainKind, "", "domain-a", fields{"spec.topology": fields{"datacenter": "DC7", "datastore": "ds-z"}}))
	b.set("machines"+capiGroup, "spec.failureDomain", "zone-a")
	for path, value := range map[string]string{"server": "vc2.example", "datacenter": "DC7", "folder": "zoned", "resourcePool": "pool-z", "datastore": "ds-z"} {
		b.set(vms.Resource(), "spec."+path, value)
	}
	return b
}

func TestWhatKeepsCAPVFromAMachine(t *testing.T) {
	plain := newSmallBackup
	for name, c := range map[string]struct {
		of             func() *smallBackup
		change         func(*smallBackup)
		lacks, refused string // the reason, or the object that is paused
	}{
		"well":                      {plain, func(*smallBackup) {}, "", ""},
		"in a zone, well":           {zoned, func(*smallBackup) {}, "", ""},
		"zone not in the backup":    {zoned, func(b *smallBackup) { b.drop(zones.Resource()) }, "VSphereDeploymentZone zone-a", ""},
		"its failure domain is not": {zoned, func(b *smallBackup) { b.drop(domains.Resource()) }, "VSphereFailureDomain domain-a", ""},
		"another template": {
			plain, func(b *smallBackup) { b.set(machines.Resource(), "spec.template", "ubuntu-new") }, "",
			"spec.template of VSphereVM prod-vm-1 differs from what VSphereMachine prod-md-0-tpl-12345 and its failure domain say",
		},
		"another folder and pool": {plain, func(b *smallBackup) {
			b.set(vms.Resource(), "spec.folder", "other").set(vms.Resource(), "spec.resourcePool", "other")
		}, "", "spec.folder, spec.resourcePool of VSphereVM"},
		"a zone that has moved": {zoned, func(b *smallBackup) {
			b.set(domains.Resource(), "spec.topology", fields{"datacenter": "DC8", "datastore": "ds-z"})
		}, "", "spec.datacenter of VSphereVM"},
		"a zone without a folder": {zoned, func(b *smallBackup) {
			b.set(zones.Resource(), "spec.placementConstraint", fields{"resourcePool": "pool-z"}).set(vms.Resource(), "spec.folder", "/DC0/vm/prod")
		}, "", ""},
		"its server is the cluster's":  {plain, func(b *smallBackup) { b.set(machines.Resource(), "spec.server", "vc1.example") }, "", ""},
		"the cluster's object is gone": {plain, func(b *smallBackup) { b.drop(clusters.Resource()) }, "", ""},
		"no VSphereVM":                 {plain, func(b *smallBackup) { b.drop(vms.Resource()) }, "", ""},
		"the VSphereMachine is paused": {plain, func(b *smallBackup) { pause(b, machines.Resource()) }, "", "VSphereMachine prod-md-0-tpl-12345"},
		"the VSphereVM is paused":      {plain, func(b *smallBackup) { pause(b, vms.Resource()) }, "", "VSphereVM prod-vm-1"},
	} {
		t.Run(name, func(t *testing.T) {
			b := c.of()
			c.change(b)
			var got infra.Restore
			if r := b.expectedMachine(t).Restore; r != nil {
				got = *r
			}
			for _, s := range b.expected(t).Steps {
				if s.Each == nil && s.Row.ID == "vsphere.M6" {
					got.Refused = s.Why
				}
			}
			if lacks := strings.Join(got.Lacks, ", "); lacks != c.lacks || (c.refused == "") != (got.Refused+got.Paused == "") || !strings.Contains(got.Refused+got.Paused, c.refused) || got.Independent != "" {
				t.Errorf("%+v, want %q %q", got, c.lacks, c.refused)
			}
		})
	}
}

// An address of a pool belongs to a claim, by the names of the VSphereVM, the device and the pool.
func TestUnclaimedAddresses(t *testing.T) {
	pool := fields{"apiGroup": "ipam.cluster.x-k8s.io", "kind": "InClusterIPPool", "name": "pool"}
	for name, c := range map[string]struct {
		devices []any
		claims  []string // with an address each, but those in brackets
		want    string
	}{
		"no devices":            {nil, nil, ""},
		"no pools":              {[]any{fields{"dhcp4": true}, fields{"addressesFromPools": []any{}}}, nil, ""},
		"claimed":               {[]any{fields{"dhcp4": true}, fields{"addressesFromPools": []any{pool, pool}}}, []string{"prod-vm-1-1-0", "prod-vm-1-1-1"}, ""},
		"no claim":              {[]any{fields{"addressesFromPools": []any{pool}}}, nil, "IPAddressClaim prod-vm-1-0-0"},
		"one of two is missing": {[]any{fields{"dhcp4": true}, fields{"addressesFromPools": []any{pool, pool}}}, []string{"prod-vm-1-1-0"}, "IPAddressClaim prod-vm-1-1-1"},
		"no address":            {[]any{fields{"addressesFromPools": []any{pool}}}, []string{"(prod-vm-1-0-0)", "prod-vm-2-0-0"}, "the IPAddress of IPAddressClaim prod-vm-1-0-0"},
		"claims of another VM":  {[]any{fields{"addressesFromPools": []any{pool}}}, []string{"prod-vm-2-0-0"}, "IPAddressClaim prod-vm-1-0-0"},
	} {
		b := newSmallBackup()
		if c.devices != nil {
			b.set(vms.Resource(), "spec.network", fields{"devices": c.devices})
		}
		for _, claim := range c.claims {
			name := strings.Trim(claim, "()")
			b.put(addressClaims.Resource(), newObject("ipam.cluster.x-k8s.io/v1beta2", "IPAddressClaim", "team", name, nil))
			if name == claim {
				b.put(addresses.Resource(), newObject("ipam.cluster.x-k8s.io/v1beta2", "IPAddress", "team", "of-"+name, fields{"spec.claimRef.name": name}))
			}
		}
		got := ""
		if r := b.expectedMachine(t).Restore; r != nil {
			got = r.Unclaimed
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		s, secrets := b.load(t)
		got = ""
		for _, f := range New().(*provider).Check(s, secrets, time.Time{}) {
			if f.Code == "AddressAbsent" {
				got += f.Object + ": " + f.Message
				if lost := f.Absent.Resource; len(f.Clusters) != 1 || (lost == addresses.Resource()) != strings.Contains(c.want, "IPAddress of") {
					t.Errorf("%s: %+v", name, f)
				}
			}
		}
		if want := strings.Replace(strings.TrimPrefix(c.want, "the IPAddress of "), " ", " team/", 1); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: finding %q, want %q", name, got, want)
		}
	}
}

func pause(b *smallBackup, resource string) {
	b.set(resource, "metadata.annotations", fields{"cluster.x-k8s.io/paused": ""})
}

// CAPV goes by the id in the VSphereVM, whatever the VSphereMachine records.
func TestWhetherCAPVSearchesByName(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*smallBackup)
		byName bool
	}{
		"an id":        {func(*smallBackup) {}, false},
		"no id":        {func(b *smallBackup) { b.set(vms.Resource(), "spec.biosUUID", "") }, true},
		"no id at all": {func(b *smallBackup) { b.set(vms.Resource(), "spec.biosUUID", "none") }, true},
		"no VSphereVM": {func(b *smallBackup) { b.drop(vms.Resource()) }, true},
	} {
		b, byName := newSmallBackup(), c.byName
		c.change(b)
		if c := b.expectedMachine(t); (c.Reads != "" && !c.ReadsID) != byName {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// What templates and machines without an instance are made from.
func TestWhatMachinesAreMadeFrom(t *testing.T) {
	list := func(b *smallBackup) string {
		var out []string
		for _, r := range b.expected(t).Recipes {
			line := fmt.Sprintf("%s %d:", r.Object, r.Machine)
			for _, n := range r.Needs {
				line += " " + n.Kind + "=" + n.Name
			}
			out = append(out, line)
		}
		return strings.Join(out, "\n")
	}
	got := list(dependent())
	if !strings.Contains(got, "VSphereMachineTemplate team/prod-md-0 -1:") || !strings.Contains(got, "=pool-a") || !strings.Contains(got, "=image-spec.template.spec") {
		t.Error(got)
	}
	// A machine that has its instance needs nothing.
	if strings.Contains(got, " 0:") {
		t.Error(got)
	}
}

// Only of the control plane the template is needed that a machine was made from.
func TestTemplateOfAControlPlane(t *testing.T) {
	b := dependent()
	if r := b.expectedMachine(t).Restore; r != nil && r.Template != "" {
		t.Errorf("of a worker: %+v", r)
	}
	backuptest.Inside(b.only(machines.Resource()), "metadata", "labels")["cluster.x-k8s.io/control-plane"] = ""
	if r := b.expectedMachine(t).Restore; r == nil || r.Template != "prod-md-0" {
		t.Errorf("of the control plane: %+v", r)
	}
}
