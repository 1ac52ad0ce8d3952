package openstack_test

import (
	"strings"
	"testing"

	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
	"drift-detector/report/code"
)

// Machines with an identityRef of their own, as those with a region in their provider ids
// have, wait for their cluster like all others: what keeps that from being ready is looked
// for where the cluster is.
func TestOpenStackMachinesOfTheirOwnRegion(t *testing.T) {
	t.Parallel()
	w, cloud := runs.ManagedOpenStack(t, openstacklab.Options{})
	w.Change("region", func(resource, _ string, o runs.Object) bool {
		if resource == "openstackclusters" { // its clouds.yaml names the same
			delete(runs.In(o, "spec", "identityRef"), "region")
		}
		return true
	})
	args := append(w.Sources(), w.WithOpenStackNodes()...)
	w.Run(args...).DemandSafe(t, true, code.Adopted, "")
	const name = "k8s-clusterapi-cluster-tenant-os-b-data"
	cloud.Edit("networks", func(o openstacklab.Object) bool {
		if o["name"] == name {
			o["name"] = "renamed"
		}
		return true
	})
	w.Run(args...).DemandSafe(t, false, code.Adopted, "creates a second network")
}

// CAPO looks up the networks and security groups of a machine's ports before it looks for
// the machine's server: by an id it takes them as they are, by a name it must find them,
// and of networks one alone.
func TestOpenStackPortsByName(t *testing.T) {
	t.Parallel()
	w, cloud := runs.WellOpenStack(t, openstacklab.Options{})
	w.Change("ports", func(resource, _ string, o runs.Object) bool {
		if resource == "openstackservers" {
			runs.In(o, "spec")["ports"] = []any{runs.Object{
				"network":        runs.Object{"filter": runs.Object{"name": "blue"}},
				"securityGroups": []any{runs.Object{"filter": runs.Object{"name": "web"}}, runs.Object{"id": "99999999-aaaa-4999-8999-999999999999"}},
			}}
			runs.In(o, "status")["resolved"] = runs.Object{"ports": []any{runs.Object{"networkID": "11111111-aaaa-4111-8111-111111111111"}}}
		}
		return true
	})
	args := append(w.Sources(), w.WithOpenStackNodes()...)
	add := func(kind, id, name, project string) {
		cloud.Add(kind, openstacklab.Object{"id": id, "name": name, "project_id": project, "tenant_id": project})
	}
	add("networks", "11111111-aaaa-4111-8111-111111111111", "blue", openstacklab.Recorded.ProjectID)
	add("security_groups", "22222222-aaaa-4222-8222-222222222222", "web", openstacklab.Recorded.ProjectID)
	w.Run(args...).DemandSafe(t, true, code.Adopted, "")
	add("security_groups", "33333333-aaaa-4333-8333-333333333333", "web", openstacklab.Recorded.ProjectID)
	w.Run(args...).DemandSafe(t, true, code.Adopted, "")
	for kind, says := range map[string]string{"networks": "network named blue is gone", "security_groups": "security group named web is gone"} {
		renamed := map[string]string{"blue": "blue-", "web": "web-", "blue-": "blue", "web-": "web"}
		rename := func() {
			cloud.Edit(kind, func(o openstacklab.Object) bool {
				if to := renamed[o["name"].(string)]; to != "" {
					o["name"] = to
				}
				return true
			})
		}
		rename()
		if kind == "security_groups" {
			add(kind, "44444444-aaaa-4444-8444-444444444444", "web", "of-another-project")
		}
		w.Run(args...).DemandSafe(t, false, code.Halted, says)
		rename()
	}
	add("networks", "55555555-aaaa-4555-8555-555555555555", "blue", openstacklab.Recorded.ProjectID)
	o := w.Run(args...)
	if a := o.Report.Summary.Answer.Safe; a == code.Yes || !strings.Contains(o.Stderr, "there are several with the name blue") {
		t.Errorf("with two networks of one name it says %s\n%s", a, o.Stderr)
	}
}

// A subnet that a cluster or a port names must be found by that name in the network. Others of
// the name may be of other networks.
func TestOpenStackSubnetsByName(t *testing.T) {
	t.Parallel()
	// Whatever becomes of the cluster's own comes back once the cluster is reconciled.
	for of, lacking := range map[string]code.Outcome{"openstackclusters": code.Adopted, "openstackservers": code.Halted} {
		w, cloud := runs.WellOpenStack(t, openstacklab.Options{})
		w.Change("subnets", func(resource, _ string, o runs.Object) bool {
			named := runs.Object{"filter": runs.Object{"name": "nodes"}}
			switch {
			case resource != of:
			case of == "openstackclusters":
				runs.In(o, "spec")["subnets"] = []any{named}
				runs.In(o, "status", "network")["subnets"] = []any{runs.Object{"id": "11111111-aaaa-4111-8111-111111111111", "cidr": "10.6.0.0/24"}}
			default:
				runs.In(o, "spec")["ports"].([]any)[0].(runs.Object)["fixedIPs"] = []any{runs.Object{"subnet": named}}
			}
			return true
		})
		args := append(w.Sources(), w.WithOpenStackNodes()...)
		w.Run(args...).DemandSafe(t, false, lacking, "")
		add := func(id, network string) {
			cloud.Add("subnets", openstacklab.Object{"id": id, "name": "nodes", "network_id": network, "project_id": openstacklab.Recorded.ProjectID})
		}
		const network = "c47ce825-6d66-4882-9be5-1cbccd4536f7"
		add("22222222-aaaa-4222-8222-222222222222", "b")
		w.Run(args...).DemandSafe(t, false, lacking, "")
		add("11111111-aaaa-4111-8111-111111111111", network)
		w.Run(args...).DemandSafe(t, true, code.Adopted, "")
		add("33333333-aaaa-4333-8333-333333333333", network)
		o := w.Run(args...)
		if a := o.Report.Summary.Answer.Safe; a == code.Yes || !strings.Contains(o.Stderr, "there are several with the name nodes") {
			t.Errorf("with two subnets of one name in a network it says %s\n%s", a, o.Stderr)
		}
	}
}
