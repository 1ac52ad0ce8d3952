package list

import (
	"slices"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Servers of the fleet, after its drift.
const (
	living     = "web-prod-md-0-46mng-9s5vw"
	gone       = "web-prod-md-0-46mng-9xd5m"
	unrecorded = "data-gpu-n8485-579m7"  // the backup has no id of it
	remade     = "data-md-0-csvkw-7vzlq" // by hand, beside the port that the machine's own had
	handID     = "cacacbb0-e7f4-47c4-a2c6-20bbebeda535"
	ghost      = "web-prod-md-0-46mng-2hqkg"
	ghostID    = "47e9bc31-7a89-4690-9170-07d8e1147eec"
)

// world is what was decided.
type world struct {
	machines     map[string]detector.Verdict
	unattributed map[string]detector.Unattributed // by id
	ghosts       map[string]bool                  // by id
	excluded     map[string]int
	listing      infra.Listing
}

// decide lists a cloud and decides, without Node lists.
func decide(t *testing.T, data []byte) world {
	t.Helper()
	s, secrets := openstacklab.Load(t, New(), data)
	p := small()
	inv := infra.Inventory{Version: infra.InventoryVersion}
	for _, target := range p.Targets(s, secrets, infra.Access{}) {
		l := p.List(t.Context(), target)
		l.IDs, l.Asked = target.IDs, target.Probes
		inv.Listings = append(inv.Listings, l)
	}
	r := detector.Detect(s, infra.NewRegistry(p).Expected(s), inv, detector.Options{Now: time.Now()})
	w := world{machines: map[string]detector.Verdict{}, unattributed: map[string]detector.Unattributed{}, ghosts: map[string]bool{}, listing: inv.Listings[0], excluded: r.Excluded}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		for _, set := range append([]detector.Set{c.ControlPlane}, c.WorkerGroups...) {
			for _, v := range set.Machines {
				if v.Status == code.Ghost || v.Reason == code.MachineNotInBackup {
					w.ghosts[v.Instance.ID] = v.Status == code.Ghost
				} else {
					w.machines[v.Name] = *v
				}
			}
		}
	}
	for _, u := range r.Unattributed {
		w.unattributed[u.Instance.ID] = u
	}
	return w
}

func (w world) demand(t *testing.T, machine string, status code.Status, reason code.Reason) {
	t.Helper()
	if v := w.machines[machine]; v.Status != status || v.Reason != reason {
		t.Errorf("%s is %s %s (%s), want %s %s", machine, v.Status, v.Reason, v.Message, status, reason)
	}
}

func idOfServer(t *testing.T, s *openstacklab.Server, name string) string {
	t.Helper()
	for _, o := range s.Objects("servers") {
		if o["name"] == name {
			return o["id"].(string)
		}
	}
	t.Fatalf("there is no server %s", name)
	return ""
}

// Each status of a server is what it means for its machine.
func TestStatuses(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	id := idOfServer(t, s, living)
	for status, want := range map[string]struct {
		status  code.Status
		reason  code.Reason
		warning code.Reason
	}{
		"ACTIVE": {code.Healthy, "", ""}, "BUILD": {code.Healthy, "", code.Reason(infra.NotActive)}, "VERIFY_RESIZE": {code.Healthy, "", code.Reason(infra.NotActive)},
		"SHUTOFF": {code.Healthy, "", code.PoweredOff}, "SHELVED_OFFLOADED": {code.Healthy, "", code.PoweredOff}, "PAUSED": {code.Healthy, "", code.PoweredOff},
		"ERROR":        {code.Healthy, "", code.Reason(infra.ErrorState)},
		"SOFT_DELETED": {code.Stale, code.InstanceTerminated, ""}, "DELETED": {code.Stale, code.InstanceTerminated, ""},
		"UNKNOWN": {code.Unknown, code.InstanceUnreadable, ""}, "WHATEVER": {code.Unknown, code.InstanceUnreadable, ""},
	} {
		s.Status(status, id)
		w := decide(t, data)
		w.demand(t, living, want.status, want.reason)
		if v := w.machines[living]; want.warning != "" && (len(v.Warnings) != 1 || v.Warnings[0].Reason != want.warning) {
			t.Errorf("%s: %+v", status, v.Warnings)
		}
	}
}

// A server that is being deleted keeps its status until it is gone, or for ever: it is
// neither there nor gone.
func TestServerBeingDeleted(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	tasks := func(task any) {
		s.Edit("servers", func(o openstacklab.Object) bool {
			if o["name"] == living || o["id"] == ghostID {
				o["OS-EXT-STS:task_state"] = task
			}
			return true
		})
	}
	tasks("deleting")
	w := decide(t, data)
	w.demand(t, living, code.Unknown, code.InstanceUnreadable)
	if w.ghosts[ghostID] {
		t.Error("what is being deleted is a ghost")
	}
	tasks(nil)
	w = decide(t, data)
	w.demand(t, living, code.Healthy, "")
	if !w.ghosts[ghostID] {
		t.Error("what is not being deleted is no ghost")
	}
}

// Servers of a cell that is down are unreadable, in a list of one page, of several, and
// of a Nova that leaves them out. Nothing is called gone for it.
func TestCellDown(t *testing.T) {
	for name, o := range map[string]openstacklab.Options{"one page": {}, "pages": {PageSize: 10}, "an old Nova": {Microversion: "2.60"}, "no microversions": {Microversion: "2.1"}} {
		t.Run(name, func(t *testing.T) {
			s, data := cloudOf(t, o)
			s.CellDown(idOfServer(t, s, living))
			w := decide(t, data)
			w.demand(t, living, code.Unknown, code.InstanceUnreadable)
			w.demand(t, gone, code.Stale, code.InstanceNotFound)
			if silent := o.Microversion != "" || o.PageSize > 0; silent != (len(w.listing.Warnings) > 0) {
				t.Errorf("warnings %q", w.listing.Warnings)
			}
		})
	}
}

// A server of which only the id is known may be any machine's that records none.
func TestCellDownWithoutID(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	w := decide(t, data)
	w.demand(t, unrecorded, code.Healthy, "")
	s.CellDown(idOfServer(t, s, unrecorded))
	decide(t, data).demand(t, unrecorded, code.Unknown, code.InstanceUnreadable)
}

// A name is a witness as long as nothing shows what became of the machine's own port.
func TestNameWithoutID(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	w := decide(t, data)
	w.demand(t, remade, code.Stale, code.InstanceNotFound)
	if u := w.unattributed[handID]; u.Reason != code.SameName {
		t.Errorf("the one made by hand is %+v", u)
	}
	// Somebody gave it the machine's own port: it has the machine's place.
	s.Edit("ports", func(o openstacklab.Object) bool {
		if o["name"] == remade+"-0" {
			o["device_id"] = handID
		}
		return true
	})
	decide(t, data).demand(t, remade, code.Unknown, code.IdentityChanged)
	// The port is gone too: nothing says whether this is the machine.
	s.Edit("ports", func(o openstacklab.Object) bool { return o["name"] != remade+"-0" })
	decide(t, data).demand(t, remade, code.Unknown, code.IdentityChanged)
}

// Whose a server is, is read from CAPO's port and from groups by their ids; a name alone
// makes no ghost.
func TestOwnership(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	const (
		twin, other = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
		named       = "33333333-3333-4333-8333-333333333333"
	)
	s.Like(living, "web-prod-md-0-46mng-zzzzz", twin, false) // in the group, no port of CAPO's
	s.Like(living, "payroll", other, true)                   // CAPO's port in the group, no name of ours
	s.Like("data-control-plane-cjtfx", "data-control-plane-zzzzz", named, false)
	w := decide(t, data)
	if !w.ghosts[ghostID] {
		t.Errorf("%s is no ghost: %+v", ghost, w.unattributed[ghostID])
	}
	if _, ok := w.ghosts[twin]; ok || w.unattributed[twin].Reason == "" {
		t.Errorf("without CAPO's port it is %v, %+v", w.ghosts[twin], w.unattributed[twin])
	}
	if isGhost, ok := w.ghosts[other]; !ok || isGhost {
		t.Errorf("of an owner that nobody knows it is %v, %v: %+v", isGhost, ok, w.unattributed[other])
	}
	if w.unattributed[named].Reason != code.NameOnly {
		t.Errorf("a name on a network of others is %+v", w.unattributed[named])
	}
	if w.excluded["bastion"] != 1 {
		t.Errorf("excluded are %v", w.excluded)
	}
	// What was made under a machine's name and renamed is a copy of it, and no ghost.
	s.Rename(ghostID, "spare")
	s.Edit("servers", func(o openstacklab.Object) bool {
		if o["id"] == ghostID {
			o["OS-EXT-SRV-ATTR:hostname"] = living
		}
		return true
	})
	if w := decide(t, data); w.ghosts[ghostID] || w.unattributed[ghostID].Reason != code.CloneOf {
		t.Errorf("%+v", w.unattributed[ghostID])
	}
	// A bastion made again has another id, and CAPO's port in the bastions' group.
	s.Like("web-prod-bastion", "web-prod-bastion", "44444444-4444-4444-8444-444444444444", true)
	if w := decide(t, data); w.excluded["bastion"] != 2 {
		t.Errorf("excluded are %v", w.excluded)
	}
}

// A port of a machine that somebody gave to another server ties that to no cluster: it is no
// ghost, whether or not the machine's own server is there.
func TestPortGivenAway(t *testing.T) {
	for _, machine := range []string{gone, living} {
		s, data := cloudOf(t, openstacklab.Options{})
		const other = "22222222-2222-4222-8222-222222222222"
		s.Like(living, "payroll", other, true)
		s.Edit("ports", func(o openstacklab.Object) bool {
			if o["device_id"] == other {
				o["name"] = machine + "-0"
			}
			return true
		})
		w := decide(t, data)
		if _, placed := w.ghosts[other]; placed || w.unattributed[other].Reason != code.InClusterFolder {
			t.Errorf("with the port of %s it is %v, %+v", machine, w.ghosts[other], w.unattributed[other])
		}
		w.demand(t, gone, code.Stale, code.InstanceNotFound)
	}
}

// Absence is concluded only where something has an id that the backup records.
func TestUnprovenProject(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	for _, kind := range []string{"servers", "ports", "networks", "routers", "security_groups", "subnets"} {
		s.Edit(kind, func(openstacklab.Object) bool { return false })
	}
	w := decide(t, data)
	w.demand(t, gone, code.Unknown, code.ScopeIncomplete)
	if w.listing.State != code.ScopeComplete {
		t.Errorf("%s: %+v", w.listing.State, w.listing.Fault)
	}
	// One network that the project owns shows that it is the right one.
	s.Add("networks", openstacklab.Object{"id": "ab0d33d1-7651-4db1-a1c9-75663d2435db", "name": "x", "project_id": openstacklab.Recorded.ProjectID, "tenant_id": openstacklab.Recorded.ProjectID})
	decide(t, data).demand(t, gone, code.Stale, code.InstanceNotFound)
	// So does a server group that a machine names by its id.
	s.Edit("networks", func(openstacklab.Object) bool { return false })
	const group = "66666666-6666-4666-8666-666666666666"
	s.Add("server_groups", openstacklab.Object{"id": group, "name": "spread", "project_id": openstacklab.Recorded.ProjectID})
	grouped := openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
		if resource == "openstackservers.infrastructure.cluster.x-k8s.io" {
			backuptest.Inside(object, "spec")["serverGroup"] = map[string]any{"id": group}
		}
		return true
	})
	decide(t, grouped).demand(t, gone, code.Stale, code.InstanceNotFound)
	s.Add("networks", openstacklab.Object{"id": "ab0d33d1-7651-4db1-a1c9-75663d2435db", "name": "x"})
	// One that is only shared with it does not.
	s.Edit("networks", func(o openstacklab.Object) bool {
		o["project_id"], o["tenant_id"], o["shared"] = "other", "other", true
		return true
	})
	decide(t, data).demand(t, gone, code.Unknown, code.ScopeIncomplete)
}

// A cloud that is reached at two addresses, each with a certificate of its own, is one: no
// server of it is a copy of itself.
func TestOneCloudAtTwoAddresses(t *testing.T) {
	var seen [2]string
	for i := range seen {
		_, data := cloudOf(t, openstacklab.Options{})
		l := only(t, data, infra.Access{})
		for _, v := range l.Instances {
			if v.Name == living {
				seen[i] = v.Identity
			}
		}
	}
	if seen[0] == "" || seen[0] != seen[1] {
		t.Errorf("a server is %q", seen)
	}
}

// Two sources of one id that differ, and a region that some write and others do not.
func TestRecordedIDs(t *testing.T) {
	_, data := cloudOf(t, openstacklab.Options{})
	data = openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
		name, _ := backuptest.Inside(object, "metadata")["name"].(string)
		switch {
		case resource == "openstackmachines.infrastructure.cluster.x-k8s.io" && name == living:
			spec := backuptest.Inside(object, "spec")
			spec["providerID"] = "openstack://RegionOne/" + spec["providerID"].(string)[len("openstack:///"):]
		case resource == "openstackservers.infrastructure.cluster.x-k8s.io" && name == gone:
			backuptest.Inside(object, "status")["instanceID"] = "10f77095-1205-4081-bc39-60084a65bdfa"
		}
		return true
	})
	w := decide(t, data)
	w.demand(t, living, code.Healthy, "")
	w.demand(t, gone, code.Unknown, code.ConflictingIDs)
}

// What is left of a machine keeps its server from being called a ghost.
func TestWhatIsLeftOfMachines(t *testing.T) {
	_, data := cloudOf(t, openstacklab.Options{})
	data = openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
		return resource != "openstackmachines.infrastructure.cluster.x-k8s.io" || backuptest.Inside(object, "metadata")["name"] != "data-md-0-csvkw-zz7d6"
	})
	w := decide(t, data)
	v := w.machines["data-md-0-csvkw-zz7d6"]
	if v.Status != code.Healthy || !slices.ContainsFunc(v.Warnings, func(w report.Warning) bool { return w.Reason == code.MachineMissing }) {
		t.Errorf("%+v", v)
	}
}

// On a network that was there before, another cluster of the name may have made what is
// named as ours would be: no ghost without a Node, also of what is newer than the backup.
func TestNamesOnASharedNetwork(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	const plane, worker = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	s.Like("data-control-plane-cjtfx", "data-control-plane-zzzzz", plane, true)
	s.Like("data-control-plane-cjtfx", "data-md-0-bbbbb-zzzzz", worker, true)
	s.Edit("servers", func(o openstacklab.Object) bool {
		if o["id"] == plane || o["id"] == worker {
			o["created"] = "2026-11-22T03:00:00Z"
		}
		return true
	})
	w := decide(t, data)
	for _, id := range []string{plane, worker} {
		if _, ok := w.ghosts[id]; ok || w.unattributed[id].Reason != code.NameOnly {
			t.Errorf("%s is %v, %+v", id, w.ghosts[id], w.unattributed[id])
		}
	}
}

// What CAPO made for a cluster of that name on its network is shown, whatever its name is:
// Cluster API named servers after templates, which are no owners. A bastion is none of them.
func TestNamesOfTemplates(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	const template, other, bastion = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"
	s.Like("data-control-plane-cjtfx", "gold-template-zzzzz", template, true)
	s.Like("data-control-plane-cjtfx", "gold-template-yyyyy", other, true)
	s.Like("data-control-plane-cjtfx", "data-bastion", bastion, true)
	s.Edit("ports", func(o openstacklab.Object) bool {
		if o["device_id"] == other {
			o["description"] = "Created by cluster-api-provider-openstack cluster another"
		}
		return true
	})
	w := decide(t, data)
	if _, ok := w.ghosts[template]; ok || w.unattributed[template].Reason != code.NameOnly {
		t.Errorf("what CAPO made is %v, %+v", w.ghosts[template], w.unattributed[template])
	}
	if u, ok := w.unattributed[other]; ok {
		t.Errorf("what it created for a cluster that the backup lacks is %+v", u)
	}
	if w.excluded["bastion"] != 2 {
		t.Errorf("excluded are %v", w.excluded)
	}
}

// The owner of a network sees the ports that other projects have on it: they say nothing
// of servers of this one.
func TestPortsOfOtherProjects(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	s.Edit("ports", func(o openstacklab.Object) bool {
		if o["name"] == remade+"-0" {
			o["project_id"], o["tenant_id"], o["shared"], o["device_id"] = "other", "other", true, "44444444-4444-4444-8444-444444444444"
		}
		return true
	})
	decide(t, data).demand(t, remade, code.Unknown, code.IdentityChanged)
}

// A backup that was made after a restore has OpenStackServers without owners: the bastion
// is no machine in it.
func TestBastionWithoutOwner(t *testing.T) {
	_, data := cloudOf(t, openstacklab.Options{})
	data = openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
		if resource == "openstackservers.infrastructure.cluster.x-k8s.io" {
			delete(backuptest.Inside(object, "metadata"), "ownerReferences")
		}
		return true
	})
	w := decide(t, data)
	if v, ok := w.machines["web-prod-bastion"]; ok || w.excluded["bastion"] != 1 {
		t.Errorf("the bastion is %+v; excluded are %v", v, w.excluded)
	}
	w.demand(t, living, code.Healthy, "")
}

// An OpenStackServer is not what a Machine waits for.
func TestMachineWithoutOpenStackMachine(t *testing.T) {
	_, data := cloudOf(t, openstacklab.Options{})
	data = openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
		name := backuptest.Inside(object, "metadata")["name"]
		return resource != "openstackmachines.infrastructure.cluster.x-k8s.io" || name != living && name != gone
	})
	w := decide(t, data)
	w.demand(t, living, code.Unknown, code.InfraObjectMissing)
	w.demand(t, gone, code.Stale, code.InstanceNotFound)
}
