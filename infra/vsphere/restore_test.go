package vsphere

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/vsphere/vspheretest"
)

// zoned puts the small backup into a failure domain. Its VSphereMachine then says what
// CAPV wrote into its VSphereVM.
func zoned() *vspheretest.Backup {
	b := vspheretest.NewBackup()
	b.Put(zones.Resource(), vspheretest.Object(group+"/v1beta1", zoneKind, "", "zone-a", fields{
		"spec.server": "vc2.example", "spec.failureDomain": "domain-a", "spec.placementConstraint": fields{"folder": "zoned", "resourcePool": "pool-z"},
	}))
	b.Put(domains.Resource(), vspheretest.Object(group+"/v1beta1", domainKind, "", "domain-a", fields{"spec.topology": fields{"datacenter": "DC7", "datastore": "ds-z"}}))
	b.Set("machines"+vspheretest.CAPIGroup, "spec.failureDomain", "zone-a")
	for path, value := range map[string]string{"server": "vc2.example", "datacenter": "DC7", "folder": "zoned", "resourcePool": "pool-z", "datastore": "ds-z"} {
		b.Set(vms.Resource(), "spec."+path, value)
	}
	return b
}

func TestWhatKeepsCAPVFromAMachine(t *testing.T) {
	plain := vspheretest.NewBackup
	for name, c := range map[string]struct {
		of             func() *vspheretest.Backup
		change         func(*vspheretest.Backup)
		lacks, refused string // the reason, or the object that is paused
	}{
		"well":                      {plain, func(*vspheretest.Backup) {}, "", ""},
		"in a zone, well":           {zoned, func(*vspheretest.Backup) {}, "", ""},
		"zone not in the backup":    {zoned, func(b *vspheretest.Backup) { b.Drop(zones.Resource()) }, "VSphereDeploymentZone zone-a", ""},
		"its failure domain is not": {zoned, func(b *vspheretest.Backup) { b.Drop(domains.Resource()) }, "VSphereFailureDomain domain-a", ""},
		"another template": {
			plain, func(b *vspheretest.Backup) { b.Set(machines.Resource(), "spec.template", "ubuntu-new") }, "",
			"spec.template of VSphereVM prod-vm-1 differs from what VSphereMachine prod-md-0-tpl-12345 and its failure domain say",
		},
		"another folder and pool": {plain, func(b *vspheretest.Backup) {
			b.Set(vms.Resource(), "spec.folder", "other").Set(vms.Resource(), "spec.resourcePool", "other")
		}, "", "spec.folder, spec.resourcePool of VSphereVM"},
		"a zone that has moved": {zoned, func(b *vspheretest.Backup) {
			b.Set(domains.Resource(), "spec.topology", fields{"datacenter": "DC8", "datastore": "ds-z"})
		}, "", "spec.datacenter of VSphereVM"},
		"a zone without a folder": {zoned, func(b *vspheretest.Backup) {
			b.Set(zones.Resource(), "spec.placementConstraint", fields{"resourcePool": "pool-z"}).Set(vms.Resource(), "spec.folder", "/DC0/vm/prod")
		}, "", ""},
		"its server is the cluster's":  {plain, func(b *vspheretest.Backup) { b.Set(machines.Resource(), "spec.server", "vc1.example") }, "", ""},
		"the cluster's object is gone": {plain, func(b *vspheretest.Backup) { b.Drop(clusters.Resource()) }, "", ""},
		"no VSphereVM":                 {plain, func(b *vspheretest.Backup) { b.Drop(vms.Resource()) }, "", ""},
		"the VSphereMachine is paused": {plain, func(b *vspheretest.Backup) { pause(b, machines.Resource()) }, "", "VSphereMachine prod-md-0-tpl-12345"},
		"the VSphereVM is paused":      {plain, func(b *vspheretest.Backup) { pause(b, vms.Resource()) }, "", "VSphereVM prod-vm-1"},
	} {
		t.Run(name, func(t *testing.T) {
			b := c.of()
			c.change(b)
			var got infra.Restore
			if r := expectedMachine(t, b).Restore; r != nil {
				got = *r
			}
			for _, s := range expected(t, b).Steps {
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

// CAPV asks for the addresses of a VSphereVM that it makes for a machine whose VM it finds by its name.
func TestUnclaimedAddressesWithoutVSphereVM(t *testing.T) {
	b := vspheretest.NewBackup()
	b.Set(machines.Resource(), "spec.network", fields{"devices": []any{fields{"addressesFromPools": []any{fields{"kind": "InClusterIPPool", "name": "pool"}}}}})
	b.Drop(vms.Resource())
	const claim = "IPAddressClaim prod-md-0-abcde-vwxyz-0-0"
	if r := expectedMachine(t, b).Restore; r == nil || r.Unclaimed != claim {
		t.Errorf("%+v, want %s", r, claim)
	}
	b.Set(machines.Resource(), "spec.providerID", nil).Set("machines"+vspheretest.CAPIGroup, "spec.providerID", nil)
	if r := expectedMachine(t, b).Restore; r != nil && r.Unclaimed != "" {
		t.Errorf("%+v of a machine that never had a VM", r)
	}
}

// An address of a pool belongs to a claim, by the names of the VSphereVM, the device and the pool.
func TestUnclaimedAddresses(t *testing.T) {
	pool := fields{"apiGroup": "ipam.cluster.x-k8s.io", "kind": "InClusterIPPool", "name": "pool"}
	for name, c := range map[string]struct {
		devices []any
		claims  []string // with an address each, but (those), or with <one of another name>, [or of another pool]
		want    string
	}{
		"no devices":            {nil, nil, ""},
		"no pools":              {[]any{fields{"dhcp4": true}, fields{"addressesFromPools": []any{}}}, nil, ""},
		"claimed":               {[]any{fields{"dhcp4": true}, fields{"addressesFromPools": []any{pool, pool}}}, []string{"prod-vm-1-1-0", "prod-vm-1-1-1"}, ""},
		"no claim":              {[]any{fields{"addressesFromPools": []any{pool}}}, nil, "IPAddressClaim prod-vm-1-0-0"},
		"one of two is missing": {[]any{fields{"dhcp4": true}, fields{"addressesFromPools": []any{pool, pool}}}, []string{"prod-vm-1-1-0"}, "IPAddressClaim prod-vm-1-1-1"},
		"no address":            {[]any{fields{"addressesFromPools": []any{pool}}}, []string{"(prod-vm-1-0-0)", "prod-vm-2-0-0"}, "the IPAddress of IPAddressClaim prod-vm-1-0-0"},
		"of another name":       {[]any{fields{"addressesFromPools": []any{pool}}}, []string{"<prod-vm-1-0-0>"}, "the IPAddress of IPAddressClaim prod-vm-1-0-0"},
		"of another pool":       {[]any{fields{"addressesFromPools": []any{pool}}}, []string{"[prod-vm-1-0-0]"}, "the IPAddress of IPAddressClaim prod-vm-1-0-0"},
		"claims of another VM":  {[]any{fields{"addressesFromPools": []any{pool}}}, []string{"prod-vm-2-0-0"}, "IPAddressClaim prod-vm-1-0-0"},
	} {
		b := vspheretest.NewBackup()
		if c.devices != nil {
			b.Set(vms.Resource(), "spec.network", fields{"devices": c.devices})
		}
		for _, claim := range c.claims {
			name := strings.Trim(claim, "()<>[]")
			b.Put(addressClaims.Resource(), vspheretest.Object("ipam.cluster.x-k8s.io/v1beta2", "IPAddressClaim", "team", name, fields{"spec.poolRef": pool}))
			called, of := name, "pool"
			switch claim[0] {
			case '(':
				continue
			case '<':
				called = "of-" + name
			case '[':
				of = "another"
			}
			b.Put(addresses.Resource(), vspheretest.Object("ipam.cluster.x-k8s.io/v1beta2", "IPAddress", "team", called, fields{"spec.claimRef.name": name, "spec.poolRef.name": of}))
		}
		got := ""
		if r := expectedMachine(t, b).Restore; r != nil {
			got = r.Unclaimed
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		s, secrets := b.Load(t, want)
		got = ""
		for _, f := range new(Provider).Check(s, secrets, time.Time{}) {
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

func pause(b *vspheretest.Backup, resource string) {
	b.Set(resource, "metadata.annotations", fields{"cluster.x-k8s.io/paused": ""})
}

// CAPV goes by the id in the VSphereVM, whatever the VSphereMachine records.
func TestWhetherCAPVSearchesByName(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*vspheretest.Backup)
		byName bool
	}{
		"an id":        {func(*vspheretest.Backup) {}, false},
		"no id":        {func(b *vspheretest.Backup) { b.Set(vms.Resource(), "spec.biosUUID", "") }, true},
		"no id at all": {func(b *vspheretest.Backup) { b.Set(vms.Resource(), "spec.biosUUID", "none") }, true},
		"no VSphereVM": {func(b *vspheretest.Backup) { b.Drop(vms.Resource()) }, true},
	} {
		b, byName := vspheretest.NewBackup(), c.byName
		c.change(b)
		if c := expectedMachine(t, b); (c.Reads != "" && !c.ReadsID) != byName {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// What templates and machines without an instance are made from.
func TestWhatMachinesAreMadeFrom(t *testing.T) {
	list := func(b *vspheretest.Backup) string {
		var out []string
		for _, r := range expected(t, b).Recipes {
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
	if r := expectedMachine(t, b).Restore; r != nil && r.Template != "" {
		t.Errorf("of a worker: %+v", r)
	}
	backuptest.Inside(b.Only(machines.Resource()), "metadata", "labels")["cluster.x-k8s.io/control-plane"] = ""
	if r := expectedMachine(t, b).Restore; r == nil || r.Template != "prod-md-0" {
		t.Errorf("of the control plane: %+v", r)
	}
}
