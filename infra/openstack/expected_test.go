package openstack

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/infratest"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report/code"
)

const (
	osClusters = "openstackclusters." + group
	osMachines = "openstackmachines." + group
	osServers  = "openstackservers." + group
)

// inVersion gives the fleet's OpenStack objects another API version, in its form.
func inVersion(t *testing.T, version string) []byte {
	t.Helper()
	data := openstacklab.Edit(t, openstacklab.Fleet(t, lab), func(resource string, object map[string]any) bool {
		if !strings.HasPrefix(resource, "openstack") {
			return true
		}
		if resource == osServers {
			return version != "v1beta1 without servers" && version != "v1alpha7"
		}
		spec, ref := backuptest.Inside(object, "spec"), backuptest.Inside(object, "spec", "identityRef")
		if resource == "openstackmachinetemplates."+group {
			spec, ref = backuptest.Inside(object, "spec", "template", "spec"), map[string]any{}
		}
		object["apiVersion"] = group + "/" + strings.Fields(version)[0]
		switch version {
		case "v1alpha7":
			if name := ref["name"]; name != nil {
				spec["cloudName"] = ref["cloudName"]
				spec["identityRef"] = map[string]any{"kind": "Secret", "name": name}
			}
			if spec["image"] != nil {
				spec["image"] = "ubuntu-2404-kube-v1.34.2"
			}
			if spec["managedSubnets"] != nil {
				delete(spec, "managedSubnets")
				spec["nodeCidr"], spec["managedSecurityGroups"] = "10.6.0.0/24", true
			}
			if spec["network"] != nil {
				spec["network"], spec["subnet"] = map[string]any{"name": "corp-shared"}, map[string]any{"name": "corp-shared-v4"}
				delete(spec, "subnets")
			}
			spec["externalNetworkId"] = "10092081-2db9-4143-8229-1bc59416eec5"
			delete(spec, "externalNetwork")
			if id := backuptest.Inside(object, "status")["instanceID"]; id != nil {
				spec["instanceID"] = id
			}
		case "v1beta2":
			if spec["flavor"] != nil {
				spec["flavor"] = map[string]any{"filter": map[string]any{"name": spec["flavor"]}}
			}
			spec["apiServer"] = map[string]any{"enableFloatingIP": false}
		}
		if len(backuptest.Inside(object, "spec", "identityRef")) == 0 {
			delete(backuptest.Inside(object, "spec"), "identityRef")
		}
		return true
	})
	return data
}

// The API version and the OpenStackServers of a backup say which CAPO made it, and each is
// foretold by what it does.
func TestReleases(t *testing.T) {
	for version, want := range map[string]release{"v1alpha7": byNameAlone, "v1beta1 without servers": withoutServers, "v1beta1": withServers, "v1beta2": recording} {
		t.Run(version, func(t *testing.T) {
			s, secrets := openstacklab.Load(t, new(Provider), inVersion(t, version))
			for _, p := range s.Problems {
				t.Errorf("%s: %s", p.Item, p.Reason)
			}
			p := new(Provider)
			e := p.Expected(s)
			for id := range e.Providers {
				c, ok := e.Controllers[id]
				if !ok {
					c = p.Spec().Controller
				}
				if !maps.Equal(c.Obstacles, controllerOf(want).Obstacles) || c.ID != controllerOf(want).ID || c.Late != controllerOf(want).Late {
					t.Errorf("%s has %+v", id.Name, c)
				}
			}
			if len(e.Providers) != 3 || len(e.Machines) < 22 {
				t.Errorf("%d clusters, %d machines", len(e.Providers), len(e.Machines))
			}
			for i := range e.Machines {
				if m := &e.Machines[i]; m.Strong.IsZero() && !strings.HasPrefix(m.Names[0].Value, "data-gpu") || m.InfraMissing {
					t.Errorf("machine %v has no id", m.Names)
				}
			}
			for _, target := range p.Targets(s, secrets, infra.Access{}) {
				if target.Refused == nil || target.Refused.Reason != "BadEndpoint" { // it is http://
					t.Errorf("%+v", target.Refused)
				}
			}
			kinds := map[string]int{}
			for _, r := range e.Resources {
				kinds[r.Kind]++
				if len(r.Keys) == 0 {
					t.Errorf("%s %s cannot be looked up", r.Kind, r.Name)
				}
			}
			for _, kind := range []string{"network", "subnet", "router", "security group", "external network", "image", "flavor", "bastion"} {
				if kinds[kind] == 0 {
					t.Errorf("no %s: %v", kind, kinds)
				}
			}
		})
	}
	for r, want := range map[release][]infra.Obstacle{
		byNameAlone:    {infra.ErrorState, infra.NoBootstrapData, infra.NotActive, infra.OtherID, infra.Unread},
		withoutServers: {infra.ErrorState, infra.NoBootstrapData, infra.NotActive, infra.OtherID, infra.Renamed, infra.Unread},
		withServers:    {infra.ErrorState, infra.NotActive, infra.OtherID, infra.Renamed, infra.SharedName, infra.Unread},
		recording:      {infra.ErrorState, infra.NotActive, infra.Renamed, infra.SharedName, infra.Unread},
		untilBeta:      {infra.ErrorState, infra.NotActive, infra.Renamed, infra.SharedName, infra.Unread},
		lookingAgain:   {infra.ErrorState, infra.NotActive, infra.Renamed, infra.SharedName, infra.Unread},
	} {
		if got := slices.Sorted(maps.Keys(controllerOf(r).Obstacles)); !slices.Equal(got, want) {
			t.Errorf("release %d is kept from machines by %v, want %v", r, got, want)
		}
	}
	for r := byNameAlone; r <= lookingAgain; r++ {
		if problems := infratest.ControllerProblems(controllerOf(r), nil); problems != nil {
			t.Errorf("release %d: %q", r, problems)
		}
	}
}

// withIdentity lets the clusters of tenant-os-b use an OpenStackClusterIdentity.
func withIdentity(t *testing.T, selector any, labels map[string]any, held bool) []byte {
	t.Helper()
	data := openstacklab.Edit(t, openstacklab.LeadTo(t, openstacklab.Fleet(t, lab), "https://keystone.example:5000/v3", nil, "m4rk3r"), func(resource string, object map[string]any) bool {
		if ref := backuptest.Inside(object, "spec", "identityRef"); (resource == osClusters || resource == osServers) && backuptest.Inside(object, "metadata")["namespace"] == "tenant-os-b" {
			ref["type"], ref["name"], ref["cloudName"] = "ClusterIdentity", "shared", "mycloud"
		}
		return true
	})
	data = backuptest.Rewrite(t, data, func(path string, body []byte) ([]byte, bool) {
		return body, !strings.HasPrefix(path, "resources/namespaces/")
	})
	add := func(resource string, object map[string]any) {
		name := backuptest.Inside(object, "metadata")["name"].(string)
		backuptest.Inside(object, "metadata")["uid"] = backuptest.UID(resource, name)
		body, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "backup.tar.gz")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		data = backuptest.Append(t, file, map[string][]byte{backuptest.Path(resource, "", "", name): body})
	}
	if labels != nil {
		add("namespaces", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "tenant-os-b", "labels": labels}})
	}
	if held {
		spec := map[string]any{"secretRef": map[string]any{"name": "cloud-config", "namespace": "tenant-os-b"}}
		if selector != nil {
			spec["namespaceSelector"] = selector
		}
		add("openstackclusteridentities."+group, map[string]any{"apiVersion": group + "/v1alpha1", "kind": identityKind, "metadata": map[string]any{"name": "shared"}, "spec": spec})
	}
	return data
}

// An identity is used by the namespaces that it selects, and by no others; the backup may
// lack it.
func TestIdentities(t *testing.T) {
	selector := map[string]any{"matchLabels": map[string]any{"team": "b"}}
	noSecret := func(data []byte) []byte {
		return openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
			m := backuptest.Inside(object, "metadata")
			return resource != "secrets" || m["namespace"] != "tenant-os-b" || m["name"] != "cloud-config"
		})
	}
	for name, c := range map[string]struct {
		data    []byte
		refused string // of the target
		halts   int
		absent  int
		check   string
	}{
		"every namespace": {withIdentity(t, nil, nil, true), "", 0, 0, ""},
		"selected":        {withIdentity(t, selector, map[string]any{"team": "b"}, true), "", 0, 0, ""},
		"not selected":    {withIdentity(t, selector, map[string]any{"team": "c"}, true), "does not select Namespace tenant-os-b", 1, 0, "IdentityForbidden"},
		"not known":       {withIdentity(t, selector, nil, true), "", 1, 0, "IdentityForbidden"},
		"not there":       {withIdentity(t, nil, nil, false), "is not in the backup", 0, 1, ""},
		"no Secret":       {noSecret(withIdentity(t, nil, nil, true)), "is not in the backup", 0, 0, "CredentialAbsent"},
		"neither":         {noSecret(withIdentity(t, selector, map[string]any{"team": "c"}, true)), "does not select Namespace tenant-os-b", 1, 0, "CredentialAbsentIdentityForbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			s, secrets := openstacklab.Load(t, new(Provider), c.data)
			p := new(Provider)
			got := ""
			for _, target := range p.Targets(s, secrets, infra.Access{}) {
				if slices.ContainsFunc(target.Clusters, func(id backup.ClusterID) bool { return id.Name == "data" }) && target.Refused != nil {
					got = target.Refused.Message
				}
			}
			if !strings.Contains(got, c.refused) || (got == "") != (c.refused == "") {
				t.Errorf("refused because %q, want %q", got, c.refused)
			}
			e := p.Expected(s)
			if len(e.Halts) != c.halts || len(e.Absent) != c.absent {
				t.Errorf("halts %+v, absent %+v", e.Halts, e.Absent)
			}
			codes := ""
			for _, f := range p.Check(s, secrets, time.Now()) {
				if !strings.Contains(string(f.Code), "Version") {
					codes += string(f.Code)
				}
				if f.Code == "CredentialAbsent" && f.Absent != (check.Absent{Resource: "secrets", Namespace: "tenant-os-b"}) {
					t.Errorf("the Secret is missed in %+v", f.Absent)
				}
				if f.Code == "IdentityForbidden" && (f.Severity == code.CheckError) == e.Halts[0].Undecided {
					t.Errorf("%s, and halts %+v", f.Severity, e.Halts)
				}
			}
			if codes != c.check {
				t.Errorf("checks %q, want %q", codes, c.check)
			}
		})
	}
}

// A provider id's region counts for nothing, and other providers' ids are not read.
func TestProviderIDs(t *testing.T) {
	const id = "10f77095-1205-4081-bc39-60084a65bdfb"
	want := []infra.Key{{Kind: KeyServer, Value: id}}
	for text, known := range map[string]bool{
		"openstack:///" + id: true, "openstack://RegionOne/" + id: true, " OpenStack:///" + strings.ToUpper(id) + "\n": true,
		"openstack:///": false, "openstack:///x": false, "aws:///" + id: false, id: false, "vsphere://" + id: false,
	} {
		if got := providerIDKeys(text); slices.Equal(got, want) != known || !known && got != nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Ports tell their cluster and the server that they were made for.
func TestPortsThatCAPOMade(t *testing.T) {
	for _, c := range []struct{ name, description, cluster, server string }{
		{"web-md-0-x-0", portDescription + "web", "web", "web-md-0-x"},
		{"web-md-0-x-storage", portDescription + "ns-web", "ns-web", "web-md-0-x"},
		{"", portDescription + "web", "", ""},
		{"web-0", "created by somebody", "", ""},
		{"-0", portDescription + "web", "", ""},
		{"web-0", portDescription, "", ""},
	} {
		if cluster, server := (&Port{Name: c.name, Description: c.description}).MadeFor(); cluster != c.cluster || server != c.server {
			t.Errorf("%q %q: %q, %q", c.name, c.description, cluster, server)
		}
	}
	for name, want := range map[string]string{
		"k8s-cluster-a-b-secgroup-worker": "a-b", "k8s-cluster-a-secgroup-b-secgroup-controlplane": "a-secgroup-b", "k8s-clusterapi-cluster-a-b": "a-b",
		"k8s-cluster-a-b-secgroup-other": "", "default": "", "k8s-cluster-secgroup-worker": "",
	} {
		if got := markIn(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Of the floating IPs that come from a pool the backup lacks the IPAddresses: one finding
// for each cluster, however many machines have one.
func TestFloatingAddressesAbsent(t *testing.T) {
	data := openstacklab.Edit(t, openstacklab.Fleet(t, lab), func(resource string, object map[string]any) bool {
		if resource == osServers || resource == osMachines {
			backuptest.Inside(object, "spec")["floatingIPPoolRef"] = map[string]any{"apiGroup": group, "kind": poolKind, "name": "public"}
		}
		return true
	})
	s, secrets := openstacklab.Load(t, new(Provider), data)
	found := map[string]int{}
	for _, f := range new(Provider).Check(s, secrets, time.Time{}) {
		if f.Code == ruleAddress.Code {
			found[f.Object]++
			if len(f.Clusters) != 1 || !strings.Contains(f.Message, claimSuffix+" is not in the backup") {
				t.Errorf("%+v", f)
			}
		}
	}
	if len(found) != 3 || found["IPAddresses of tenant-os-b/data"] != 1 {
		t.Errorf("%v", found)
	}
}
