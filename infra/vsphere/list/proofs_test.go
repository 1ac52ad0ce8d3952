package list

import (
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/infra/vsphere"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/infra/vsphere/vspheretest"
	"drift-detector/report/code"
)

// sees is what a vCenter shows to an account: folders below DC0, and VMs.
type sees struct {
	rows  [][4]string
	vms   []vm
	nodes []string // BIOS UUIDs of the VMs that the cluster has Nodes on
}

// decide lists what the account sees at every target, and decides.
func decide(t *testing.T, b *vspheretest.Backup, world sees) detector.Result {
	t.Helper()
	return decideWithin(t, b, world, nil)
}

// decideWithin decides where the own metadata of some VMs gives them their name and
// the endpoint that they join, as CAPV's does.
func decideWithin(t *testing.T, b *vspheretest.Backup, world sees, guests map[string]string) detector.Result {
	t.Helper()
	s, secrets := b.Secret("team", "prod", vspheretest.Login("u", "p")).Load(t, want)
	now := backuptest.Written.Add(24 * time.Hour)
	rows := append([][4]string{{"datacenter-2", "Datacenter", "DC0", "group-d1"}, {"group-v3", "Folder", "vm", "datacenter-2"}, {"group-v5", "Folder", "prod", "group-v3"}}, world.rows...)
	inv := infra.Inventory{Version: infra.InventoryVersion}
	for _, target := range New().Targets(s, secrets, infra.Access{}) {
		l := infra.Listing{IDs: target.IDs, Provider: vsphere.Name, Endpoint: target.Endpoint, Clusters: target.Clusters, State: code.ScopeComplete, ListedAt: now}
		f := newFinder(treeOf(rows))
		g := newGathering(&inventory{identity: "vc-id", endpoint: target.Endpoint, folders: f, asked: f.resolve(target.Endpoint, target.Probes)},
			target.Detail.(*vsphere.Detail).Recorded, &target, &l)
		for _, m := range world.vms {
			g.addVM(m)
		}
		for _, at := range g.candidates {
			i := &l.Instances[at]
			endpoint, ok := guests[i.Name]
			if !ok {
				continue
			}
			vsphere.Guest{Metadata: true, Host: i.Name, Endpoint: endpoint}.AddTo(i)
		}
		l.ProbesFound = g.readProbes(nil, func(string) bool { return false })
		inv.Listings = append(inv.Listings, l)
	}
	if len(world.nodes) > 0 {
		cluster := backup.ClusterID{Namespace: "team", Name: "prod"}
		l := infra.Listing{Provider: "workload", State: code.ScopeComplete, NodeState: "read", Clusters: []backup.ClusterID{cluster}, ListedAt: now}
		for _, id := range world.nodes {
			l.Nodes = append(l.Nodes, infra.Node{Cluster: cluster, Name: id, Keys: []infra.Key{{Kind: keyBIOS, Value: id}}, Machine: "later", ClusterName: "prod", ClusterNamespace: "team"})
		}
		inv.Listings = append(inv.Listings, l)
	}
	return detector.Detect(s, New().Expected(s), inv, detector.Options{Now: now})
}

// Absence is concluded only where the account was seen to see VMs: in the
// vCenter, in the datacenter and in the folder of the machine in question.
func TestAbsenceNeedsSight(t *testing.T) {
	const one, two = "prod-md-0-abcde-vwxyz", "prod-md-0-abcde-xwvtz"
	dc0 := func() fields {
		return fields{"server": "vc1.example", "datacenter": "DC0", "folder": "/DC0/vm/prod", "biosUUID": vspheretest.UUID2}
	}
	with := func(o fields, changes fields) fields {
		for k, v := range changes {
			o[k] = v
		}
		return o
	}
	provided := func() fields { return fields{"providerID": "vsphere://" + vspheretest.UUID2} }
	made := func(name, uuid, folder string) vm {
		return vm{ref: "vm-" + uuid[len(uuid)-3:], name: name, parent: folder, uuid: uuid, connection: "connected", power: "poweredOn"}
	}
	first := vm{ref: "vm-136", name: "prod-vm-1", parent: "group-v5", uuid: vspheretest.UUID1, instanceUUID: vspheretest.VMUID, connection: "connected", power: "poweredOn"}
	unrelated := made("web", "42000000-0000-0000-0000-000000000777", "group-v5")
	below := [4]string{"group-v6", "Folder", "below", "group-v5"}
	other := [4]string{"group-v7", "Folder", "other", "group-v3"}
	dc1 := [][4]string{{"datacenter-8", "Datacenter", "DC1", "group-d1"}, {"group-v9", "Folder", "vm", "datacenter-8"}}
	in := func(m vm, folder string) vm { m.parent = folder; return m }
	const uuid3 = "42000000-0000-0000-0000-000000000333"
	rooted := func(uuid string) fields { // in the datacenter's own folder
		return fields{"server": "vc1.example", "datacenter": "DC1", "biosUUID": uuid}
	}
	inDC1 := func(b *vspheretest.Backup) *vspheretest.Backup {
		return b.Another(provided(), fields{"datacenter": "DC1"}, rooted(vspheretest.UUID2))
	}
	provisioning := func(b *vspheretest.Backup) *vspheretest.Backup {
		return b.Another(fields{}, fields{"datacenter": "DC1"}, rooted(""))
	}
	zoned := func(b *vspheretest.Backup) *vspheretest.Backup {
		return b.Another(with(provided(), fields{"failureDomain": "zone-b"}), fields{"datacenter": "DC0", "folder": "/DC0/vm/prod"}, nil)
	}
	elsewhere := func(b *vspheretest.Backup) *vspheretest.Backup {
		return b.Another(provided(), with(dc0(), fields{"folder": "/DC0/vm/other"}), with(dc0(), fields{"folder": "/DC0/vm/other"}))
	}
	none := func(b *vspheretest.Backup) *vspheretest.Backup { return b }
	for name, c := range map[string]struct {
		backup   func(*vspheretest.Backup) *vspheretest.Backup
		world    sees
		want     map[string]code.Status
		complete bool
		hint     string // part of it
	}{
		"the folder is empty": {
			none,
			sees{[][4]string{other}, []vm{in(unrelated, "group-v7")}, nil},
			map[string]code.Status{one: code.Unknown},
			false, "/DC0/vm/prod",
		},
		"it is, and the other machine is seen": {
			elsewhere,
			sees{[][4]string{other}, []vm{made(two, vspheretest.UUID2, "group-v7")}, nil},
			map[string]code.Status{one: code.Unknown, two: code.Healthy},
			false, "propagation",
		},
		"all that is seen in the folder is a template": {
			elsewhere,
			sees{[][4]string{other}, []vm{made(two, vspheretest.UUID2, "group-v7"), {ref: "vm-9", name: "image", parent: "group-v5", uuid: unrelated.uuid, template: true}}, nil},
			map[string]code.Status{one: code.Unknown, two: code.Healthy},
			false, "propagation",
		},
		"all that is seen in the folder cannot be read": {
			elsewhere,
			sees{[][4]string{other}, []vm{made(two, vspheretest.UUID2, "group-v7"), {ref: "vm-9", name: "web", parent: "group-v5"}}, nil},
			map[string]code.Status{one: code.Unknown, two: code.Healthy},
			false, "propagation",
		},
		"all that is seen is below the folder": {
			elsewhere,
			sees{[][4]string{other, below}, []vm{made(two, vspheretest.UUID2, "group-v7"), in(unrelated, "group-v6")}, nil},
			map[string]code.Status{one: code.Unknown, two: code.Healthy},
			false, "propagation",
		},
		"an unrelated VM is seen in the folder": {
			elsewhere,
			sees{[][4]string{other}, []vm{made(two, vspheretest.UUID2, "group-v7"), unrelated}, nil},
			map[string]code.Status{one: code.Stale, two: code.Healthy},
			true, "",
		},
		"of two folders one is empty, and both machines are gone": {
			elsewhere,
			sees{[][4]string{other}, []vm{made("prod-md-0-abcde-bcdfg", unrelated.uuid, "group-v5")}, []string{unrelated.uuid}},
			map[string]code.Status{one: code.Stale, two: code.Unknown},
			false, "in folder /DC0/vm/other",
		},
		"of two folders one is hidden, and both machines are gone": {
			elsewhere,
			sees{nil, []vm{made("prod-md-0-abcde-bcdfg", unrelated.uuid, "group-v5")}, []string{unrelated.uuid}},
			map[string]code.Status{one: code.Stale, two: code.Unknown},
			false, "in folder /DC0/vm/other",
		},
		"both folders are empty": {
			elsewhere,
			sees{[][4]string{other}, []vm{made("prod-md-0-abcde-bcdfg", unrelated.uuid, "group-v3")}, nil},
			map[string]code.Status{one: code.Unknown, two: code.Unknown},
			false, "in folder /DC0/vm/",
		},
		"both show nothing but unrelated VMs": {
			elsewhere,
			sees{[][4]string{other}, []vm{unrelated, in(made("db", "42000000-0000-0000-0000-000000000778", ""), "group-v7")}, nil},
			map[string]code.Status{one: code.Unknown, two: code.Unknown},
			false, "the vCenter that the backup means",
		},
		"its datacenter is hidden, and the machine of another folder is gone": {
			inDC1,
			sees{nil, []vm{made("prod-md-0-abcde-bcdfg", unrelated.uuid, "group-v5")}, []string{unrelated.uuid}},
			map[string]code.Status{one: code.Stale, two: code.Unknown},
			false, "/DC1/vm",
		},
		"nothing but unrelated VMs, in the same folder of another vCenter": {
			none,
			sees{nil, []vm{unrelated}, nil},
			map[string]code.Status{one: code.Unknown},
			false, "the vCenter that the backup means",
		},
		"every machine was replaced since, and a Node says where": {
			none,
			sees{nil, []vm{made("prod-md-0-abcde-bcdfg", unrelated.uuid, "group-v5")}, []string{unrelated.uuid}},
			map[string]code.Status{one: code.Stale},
			true, "",
		},
		"every machine was replaced since, as far as names tell": {
			none,
			sees{nil, []vm{made("prod-md-0-abcde-bcdfg", unrelated.uuid, "group-v5")}, nil},
			map[string]code.Status{one: code.Unknown},
			false, "the vCenter that the backup means",
		},
		"every machine was moved out of the folder": {
			none,
			sees{[][4]string{other}, []vm{in(first, "group-v7")}, nil},
			map[string]code.Status{one: code.Healthy},
			true, "",
		},
		"all that have an id were moved out of the folder": {
			func(b *vspheretest.Backup) *vspheretest.Backup {
				return b.Another(fields{}, dc0(), with(dc0(), fields{"biosUUID": ""}))
			},
			sees{[][4]string{other}, []vm{in(first, "group-v7")}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "propagation",
		},
		"one of two folders of the name that the backup gives is empty": {
			func(b *vspheretest.Backup) *vspheretest.Backup {
				return elsewhere(b.Set(vspheretest.VMs, "spec.folder", "prod"))
			},
			sees{[][4]string{other, {"group-v8", "Folder", "prod", "group-v7"}}, []vm{made(two, vspheretest.UUID2, "group-v7"), unrelated}, nil},
			map[string]code.Status{one: code.Unknown, two: code.Healthy},
			false, "propagation",
		},
		"its datacenter is hidden, and it is in no folder": {
			inDC1,
			sees{nil, []vm{first}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "/DC1/vm",
		},
		"its datacenter shows an unrelated VM": {
			inDC1,
			sees{dc1, []vm{first, in(unrelated, "group-v9")}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "/DC1/vm",
		},
		"its datacenter shows an unrelated VM and a machine of another cluster": {
			func(b *vspheretest.Backup) *vspheretest.Backup { return inDC1(b).Neighbour(rooted(uuid3)) },
			sees{dc1, []vm{first, in(unrelated, "group-v9"), made("eu-md-0-abcde-bbbbb", uuid3, "group-v9")}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Stale},
			true, "",
		},
		"its datacenter shows an unrelated VM, and the machine of another cluster is gone as well": {
			func(b *vspheretest.Backup) *vspheretest.Backup { return inDC1(b).Neighbour(rooted(uuid3)) },
			sees{dc1, []vm{first, in(unrelated, "group-v9")}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "/DC1/vm",
		},
		"its datacenter shows an unrelated VM, and a machine of another cluster is seen elsewhere": {
			func(b *vspheretest.Backup) *vspheretest.Backup {
				return inDC1(b).Neighbour(fields{"server": "vc1.example", "datacenter": "DC0", "folder": "/DC0/vm/prod", "biosUUID": uuid3})
			},
			sees{dc1, []vm{first, in(unrelated, "group-v9"), made("eu-md-0-abcde-bbbbb", uuid3, "group-v5")}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "/DC1/vm",
		},
		"its datacenter hides its VMs, and the machine of another cluster has left it": {
			func(b *vspheretest.Backup) *vspheretest.Backup { return inDC1(b).Neighbour(rooted(uuid3)) },
			sees{dc1, []vm{first, made("eu-md-0-abcde-bbbbb", uuid3, "group-v5")}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "/DC1/vm",
		},
		"nothing in its datacenter has an id yet": {
			provisioning,
			sees{dc1, []vm{first, in(unrelated, "group-v9")}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Stale},
			true, "",
		},
		"nothing in its datacenter has an id yet, and it shows no VM": {
			provisioning,
			sees{dc1, []vm{first}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "/DC1/vm",
		},
		"nothing in its datacenter has an id yet, and no VM of the backup is seen": {
			provisioning,
			sees{dc1, []vm{unrelated, in(made("db", "42000000-0000-0000-0000-000000000778", ""), "group-v9")}, nil},
			map[string]code.Status{one: code.Unknown, two: code.Unknown},
			false, "the vCenter that the backup means",
		},
		"it has no id yet, and the machine of another cluster in its datacenter is gone": {
			func(b *vspheretest.Backup) *vspheretest.Backup { return provisioning(b).Neighbour(rooted(uuid3)) },
			sees{dc1, []vm{first, in(unrelated, "group-v9")}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "/DC1/vm",
		},
		"no VSphereVM, and its folder is hidden": {
			func(b *vspheretest.Backup) *vspheretest.Backup {
				return b.Another(provided(), fields{"datacenter": "DC1", "folder": "/DC1/vm/other"}, nil)
			},
			sees{nil, []vm{first}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "/DC1/vm/other",
		},
		"no VSphereVM, and its zone is absent": {
			zoned,
			sees{nil, []vm{first}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "zone-b",
		},
		"no VSphereVM, and its zone is absent, and it is seen": {
			zoned,
			sees{[][4]string{other}, []vm{first, made(two, vspheretest.UUID2, "group-v7")}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Healthy},
			true, "",
		},
		"no VSphereVM, its zone is there and its domain is absent": {
			func(b *vspheretest.Backup) *vspheretest.Backup {
				b.Put(vspheretest.Zones, vspheretest.Object(vspheretest.Group+"/v1beta1", "VSphereDeploymentZone", "", "zone-b", fields{"spec.server": "vc1.example", "spec.failureDomain": "domain-b"}))
				return zoned(b)
			},
			sees{nil, []vm{first}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "domain-b",
		},
		"no VSphereVM, and its zone is there": {
			func(b *vspheretest.Backup) *vspheretest.Backup {
				b.Put(vspheretest.Zones, vspheretest.Object(vspheretest.Group+"/v1beta1", "VSphereDeploymentZone", "", "zone-b", fields{"spec.server": "vc1.example", "spec.failureDomain": "domain-b"}))
				b.Put(vspheretest.Domains, vspheretest.Object(vspheretest.Group+"/v1beta1", "VSphereFailureDomain", "", "domain-b", fields{"spec.topology": fields{"datacenter": "DC0"}}))
				return zoned(b)
			},
			sees{nil, []vm{first}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Stale},
			true, "",
		},
		"its zone is absent, and its VSphereVM is there": {
			func(b *vspheretest.Backup) *vspheretest.Backup {
				return b.Another(with(provided(), fields{"failureDomain": "zone-b"}), dc0(), dc0())
			},
			sees{nil, []vm{first}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Stale},
			true, "",
		},
		"made after the backup in the folder of its zone": {
			func(b *vspheretest.Backup) *vspheretest.Backup {
				return b.Another(fields{"failureDomain": "zone-b"}, fields{"datacenter": "DC0", "folder": "/DC0/vm/prod"}, nil)
			},
			sees{[][4]string{other}, []vm{first, made(two, vspheretest.UUID2, "group-v7")}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "zone-b",
		},
		"made after the backup, which lacks its infrastructure objects": {
			func(b *vspheretest.Backup) *vspheretest.Backup { return b.Another(fields{}, nil, nil) },
			sees{nil, []vm{first, made(two, vspheretest.UUID2, "group-v5")}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "VSphereMachine",
		},
		"the backup lacks its infrastructure objects, and it is not seen": {
			func(b *vspheretest.Backup) *vspheretest.Backup { return b.Another(provided(), nil, nil) },
			sees{nil, []vm{first}, nil},
			map[string]code.Status{one: code.Healthy, two: code.Unknown},
			false, "VSphereMachine",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := decide(t, c.backup(vspheretest.NewBackup()), c.world)
			for _, cluster := range r.Clusters {
				for _, set := range append(slices.Clone(cluster.WorkerGroups), cluster.ControlPlane) {
					for _, m := range set.Machines {
						if want, ours := c.want[m.Name]; ours && m.Status != want {
							t.Errorf("%s is %s %s (%s), want %s", m.Name, m.Status, m.Reason, m.Message, want)
						}
						delete(c.want, m.Name)
					}
				}
			}
			if len(c.want) > 0 || r.Complete != c.complete {
				t.Errorf("complete %t, not decided: %v", r.Complete, c.want)
			}
			if len(r.Scopes) != 1 {
				t.Errorf("one listing is shown as %d scopes", len(r.Scopes))
			}
			hints := ""
			for _, s := range r.Scopes {
				if s.Error != nil {
					hints += s.Error.Hint + "\n"
				}
			}
			if !strings.Contains(hints, c.hint) {
				t.Errorf("no %q in %q", c.hint, hints)
			}
		})
	}
}
