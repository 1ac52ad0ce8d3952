package openstack_test

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	openstack "drift-detector/infra/openstack/list"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
	"drift-detector/report/code"
)

// The plan counts servers of Nova that run, and takes no ghost for the last of etcd.
func TestOpenStackPlan(t *testing.T) {
	t.Parallel()
	w, _ := runs.OpenStackFleet(t, openstacklab.Options{})
	w.Run(slices.Concat(w.Sources(), w.WithOpenStackNodes())...).Demand(t, cli.ExitOK)
	plan := runs.WholeLines(runs.Run(t, "plan", filepath.Join(w.Dir, "report.json")).Stdout)
	for _, want := range []string{
		"openstack --os-cloud \"${OPENSTACK_1:?}\" --os-region-name=RegionOne server start 25c98e95-4a7e-4c8f-9bf6-eacd0392f697",
		"server delete --wait", "recheck \"${REPORT:?}\" place 40efb056b07944ce8207023157ab1cea --at \"${OPENSTACK_1:?}\"",
		"Do not delete its Machine: its controller takes over another VM that has its name",
		"pod/etcd-web-prod-control-plane-bvzln",
		"that machine's controller looks by name: it takes this VM for the machine's own",
		"with one of a control plane without a load balancer of CAPO's its floating IPs: no Node of it is Ready",
		"recheck \"${REPORT:?}\" gone machine/tenant-os-a/web-prod-control-plane-4g7wb --at \"${OPENSTACK_1:?}\" --region=RegionOne",
		"CAPO creates network k8s-clusterapi-cluster-tenant-os-a-web-old, router k8s-clusterapi-cluster-tenant-os-a-web-old, ",
		"deleting its infrastructure machine (OpenStackMachine, OpenStackServer) makes",
	} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan lacks %q", want)
		}
	}
	for _, wrong := range []string{"0 control-plane machines are known to run", "web-prod-control-plane-bvzln does not run", "No controller adopts it", "VSphere", "AWSMachine", "BIOS"} {
		if strings.Contains(plan, wrong) {
			t.Errorf("the plan says %q", wrong)
		}
	}
	for line := range strings.Lines(plan) {
		deletes, _, _ := strings.Cut(line, "server delete")
		if deletes != line && (!strings.Contains(deletes, `recheck "${REPORT:?}" vm `) || !strings.Contains(deletes, "--state=off")) {
			t.Errorf("a line destroys and has not looked: %s", line)
		}
	}
}

// Nobody gives a server another id, or writes one into an OpenStackMachine: what a plan says
// of such machines is what can be done with CAPO.
func TestOpenStackPlanOfOtherIDs(t *testing.T) {
	t.Parallel()
	w, cloud := runs.OpenStackFleet(t, openstacklab.Options{})
	const remade, hand = "data-md-0-csvkw-7vzlq", "cacacbb0-e7f4-47c4-a2c6-20bbebeda535"
	cloud.Edit("ports", func(o openstacklab.Object) bool {
		if o["name"] == remade+"-0" {
			o["device_id"] = hand
		}
		return true
	})
	w.Set("machines", osLiving, "openstack:///11111111-1111-4111-8111-111111111111", "spec", "providerID")
	o := w.WithoutNodes()
	for machine, reason := range map[string]code.Reason{remade: code.IdentityChanged, osLiving: code.ConflictingIDs} {
		for key, is := range runs.PlacementsOf(o.Report).Machines {
			if strings.HasSuffix(key, "/"+machine) && is.Machine.Reason != reason {
				t.Errorf("%s is %s %s", machine, is.Machine.Status, is.Machine.Reason)
			}
		}
	}
	plan := runs.Run(t, "plan", filepath.Join(w.Dir, "report.json")).Stdout
	for _, want := range []string{"CAPO takes it for the machine's, and deletes it with the Machine: rename it", "after the restore CAPO goes by neither"} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan lacks %q", want)
		}
	}
	for _, wrong := range []string{"give it its recorded id again", "correct the wrong object", "BIOS"} {
		if strings.Contains(plan, wrong) {
			t.Errorf("the plan says %q", wrong)
		}
	}
}

// One run, one report: vSphere, AWS and OpenStack in two backups.
func TestThreeInfrastructures(t *testing.T) {
	w := runs.Fleet(t)
	o, _ := runs.OpenStackFleet(t, openstacklab.Options{})
	runs.ServeEC2(t, runs.FleetEC2())
	w.Backups = append(w.Backups, o.Backups...)
	got := w.Run(slices.Concat(w.Sources(), w.Reach(), o.WithOpenStackNodes())...)
	if got.Report == nil {
		t.Fatalf("no report:\n%s", got.Stderr)
	}
	providers := map[string]string{}
	for _, s := range got.Report.Scopes {
		providers[s.Provider] += string(s.State) + " "
	}
	for _, p := range []string{"vsphere", "aws", "openstack"} {
		if strings.Trim(providers[p], " ") != "complete" {
			t.Errorf("%s is %q", p, providers[p])
		}
	}
	var truth runs.OpenStackTruth
	runs.ReadJSON(t, runs.OpenStackData+"truth.json", &truth)
	got.DemandOpenStack(t, truth)
}

// A project of 10,000 servers costs few calls, and the memory of a page.
func TestOpenStackOfTenThousand(t *testing.T) {
	w, cloud := runs.OpenStackFleet(t, openstacklab.Options{Synthetic: 10_000})
	data := runs.AtCloud(t, runs.OpenStackData+"openstack-data.tar.gz", cloud)
	provider := openstack.New()
	s, secrets := loadWith(t, data, provider)
	targets := provider.Targets(s, secrets, infra.Access{})
	if len(targets) != 1 {
		t.Fatalf("%d targets", len(targets))
	}
	expected := provider.Expected(s)
	targets[0].IsRelated = expected.IsRelated()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	l := provider.List(t.Context(), targets[0])
	kept := int64(heap()) - int64(before)
	if l.State != code.ScopeComplete || l.Count() != 10_029 || l.Unrelated.Len() < 10_000 {
		t.Errorf("%s, %d, %d of them unrelated: %+v", l.State, l.Count(), l.Unrelated.Len(), l.Fault)
	}
	if kept > 8<<20 {
		t.Errorf("%d bytes are kept", kept)
	}
	calls, reading := 0, 0
	for name, n := range cloud.Calls() {
		calls += n
		if strings.HasSuffix(name, "/servers/detail") || strings.HasSuffix(name, "/ports") {
			reading += n
		}
	}
	// 11 pages, the last with 29 servers, and the ports; beside them login, logout, each of
	// the 8 servers that are gone, and what else the backup names: networks, subnets,
	// routers and security groups by id and by name, external networks, four kinds more, and
	// the subnets of two networks by what CAPO asks for.
	if reading > 12 || calls > 12+2+8+15 {
		t.Errorf("%d calls for servers and ports, %d in all: %v", reading, calls, cloud.Calls())
	}
	runtime.KeepAlive(l)
	w.Run(append(w.Sources(), "--skip-access-apiserver")...).Demand(t, cli.ExitOK)
}

// loadWith reads a backup as the program does for one provider.
func loadWith(t *testing.T, data []byte, p infra.Provider) (*backup.Snapshot, *backup.Secrets) {
	t.Helper()
	s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("backup.tar.gz", data)}, p.Spec().Want)
	if err != nil {
		t.Fatal(err)
	}
	return s, secrets
}
