package detector

import (
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/detector/match"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// The numbers are those of the edge cases in the domain notes that the
// detector, rather than a loader or a provider, must handle.
func TestEdgeCases(t *testing.T) {
	other := backup.ClusterID{Namespace: "tenant", Name: "prod-eu"}
	for _, tc := range []struct {
		name    string
		arrange func(*scene)
		want    []wish
	}{
		{"6 unsupported provider is Unknown, not Stale", func(s *scene) {
			s.worker("m").Provider = ""
		}, []wish{{name: "m", status: code.Unknown, reason: code.UnsupportedProvider}}},

		{"8 equal names in two namespaces stay apart", func(s *scene) {
			duplicate := backup.ClusterID{Namespace: "other", Name: "prod"}
			s.cluster(duplicate)
			s.machine(prod, "m", false)
			s.machine(duplicate, "n", false)
			s.vmOf("m")
			s.node(duplicate, bios("b-new"), "later")
			s.vm("new", bios("b-new"))
		}, []wish{
			{name: "m", status: code.Healthy},
			{name: "n", status: code.Stale, reason: code.InstanceNotFound},
			{name: "new", status: code.Ghost},
		}},

		{"9 the longest owner wins", func(s *scene) {
			s.cluster(other)
			s.hint(infra.Medium, key("stem", "prod-eu"), infra.OwnerID{Cluster: prod, Kind: machineSet, Name: "md-bcdfg"}, 4)
			s.hint(infra.Medium, key("stem", "prod-eu"), infra.OwnerID{Cluster: other, Kind: plane, Name: "cp"}, 7)
			s.vm("new", key("stem", "prod-eu"))
		}, []wish{{name: "new", status: code.Ghost, set: plane + "/cp"}}},

		{"9 a tie of two owners decides nothing", func(s *scene) {
			s.cluster(other)
			s.hint(infra.Medium, key("stem", "x"), infra.OwnerID{Cluster: prod, Kind: plane, Name: "cp"}, 7)
			s.hint(infra.Medium, key("stem", "x"), infra.OwnerID{Cluster: other, Kind: plane, Name: "cp"}, 7)
			s.vm("new", key("stem", "x"))
		}, []wish{{name: "new", reason: code.AmbiguousOwner}}},

		{"11 renamed, 12 moved", func(s *scene) {
			s.worker("m").Expect = []infra.Expectation{{Key: named("m"), Warning: "Renamed"}, {Key: key("folder", "f"), Warning: "Moved"}}
			s.vm("zz", bios("b-m"), named("zz"), key("folder", "g"))
		}, []wish{{name: "m", status: code.Healthy, warnings: "Moved Renamed"}}},

		{"12 moved to another datacenter: the controllers look only in their own", func(s *scene) {
			s.worker("m").Home.Within = key("datacenter", "DC0")
			s.vm("vm", bios("b-m"), key("datacenter", "DC1"))
		}, []wish{{name: "m", status: code.Unknown, reason: code.FoundElsewhere}, {name: "vm", reason: code.FoundElsewhere}}},

		{"13 migrated to another vCenter, where its managed object id is new", func(s *scene) {
			s.worker("m")
			s.list("vc2/user")
			s.vmIn(1, "vm", bios("b-m"), ref("r-9"))
		}, []wish{{name: "m", status: code.Unknown, reason: code.FoundElsewhere}, {name: "vm", reason: code.FoundElsewhere}}},

		{"14 two with one BIOS UUID, distinguished by the second key", func(s *scene) {
			s.worker("m")
			s.vm("orig", bios("b-m"), uuid("i-m"))
			s.vm("copy", bios("b-m"), uuid("i-x"), named("m"))
		}, []wish{{name: "m", status: code.Healthy, warnings: "DuplicateID"}, {name: "copy", reason: code.DuplicateID}}},

		{"14 two with one BIOS UUID, both with a second key", func(s *scene) {
			s.worker("m")
			s.vm("orig", bios("b-m"), uuid("i-m"))
			s.vm("copy", bios("b-m"), ref("r-m"))
		}, []wish{{name: "m", status: code.Unknown, reason: code.AmbiguousMatch}, {name: "orig", reason: code.AmbiguousMatch}, {name: "copy", reason: code.AmbiguousMatch}}},

		{"14 a copy in another vCenter", func(s *scene) {
			s.worker("m")
			s.vmOf("m")
			s.list("vc2/user")
			s.vmIn(1, "copy", bios("b-m"))
		}, []wish{{name: "m", status: code.Healthy, warnings: "DuplicateID"}, {name: "copy", reason: code.DuplicateID}}},

		{"14 only a copy is left", func(s *scene) {
			s.worker("m")
			s.vm("copy", bios("b-m"), uuid("i-x"), ref("r-x"))
		}, []wish{{name: "m", status: code.Healthy, warnings: "Reidentified"}}},

		{"14 only a copy is seen, and not all was listed", func(s *scene) {
			s.worker("m")
			s.vm("copy", bios("b-m"), uuid("i-x"), ref("r-x"))
			s.listings[0].State = code.ScopePartial
		}, []wish{{name: "m", status: code.Unknown, reason: code.AmbiguousMatch}, {name: "copy", reason: code.AmbiguousMatch}}},

		{"14 the simulator's instance UUID always differs, the object id is right", func(s *scene) {
			s.worker("m")
			s.vm("vm", bios("b-m"), uuid("i-x"), ref("r-m"))
		}, []wish{{name: "m", status: code.Healthy}}},

		{"15 no id recorded, found by its instance UUID", func(s *scene) {
			s.worker("m").Strong = infra.Key{}
			s.vm("vm", bios("b-1"), uuid("i-m"))
		}, []wish{{name: "m", status: code.Healthy}}},

		{"15 no id recorded, two by name and folder", func(s *scene) {
			c := s.worker("m")
			c.Strong, c.Weak = infra.Key{}, []infra.Key{weakly("m|f")}
			s.vm("vm", weakly("m|f"))
			s.vm("vm2", weakly("m|f"))
		}, []wish{{name: "m", status: code.Unknown, reason: code.AmbiguousMatch}, {name: "vm", reason: code.AmbiguousMatch}}},

		{"15 the one by name and folder is another machine's", func(s *scene) {
			c := s.worker("m")
			c.Strong, c.Weak = infra.Key{}, []infra.Key{weakly("m|f")}
			s.worker("n")
			s.vm("vm", bios("b-n"), weakly("m|f"))
		}, []wish{{name: "m", status: code.Unknown, reason: code.AmbiguousMatch}, {name: "n", status: code.Healthy}}},

		{"15 the one by name and folder is wanted by two", func(s *scene) {
			for _, n := range []string{"m", "n"} {
				c := s.worker(n)
				c.Strong, c.Weak = infra.Key{}, []infra.Key{weakly("m|f")}
			}
			s.vm("vm", weakly("m|f"))
		}, []wish{{name: "m", status: code.Unknown, reason: code.AmbiguousMatch}, {name: "n", status: code.Unknown, reason: code.AmbiguousMatch}, {name: "vm", reason: code.AmbiguousMatch}}},

		{"an instance that has the ids of two machines", func(s *scene) {
			s.worker("m")
			s.worker("n")
			s.vm("vm", bios("b-m"), bios("b-n"))
		}, []wish{{name: "m", status: code.Unknown, reason: code.ClaimedTwice}, {name: "n", status: code.Unknown, reason: code.ClaimedTwice}, {name: "vm", reason: code.ClaimedTwice}}},

		{"17 pending, nothing made yet", func(s *scene) {
			s.worker("m").Strong = infra.Key{}
		}, []wish{{name: "m", status: code.Stale, reason: code.NotProvisioned}}},

		{"18 orphan with its instance", func(s *scene) {
			s.orphan("o")
			s.vmOf("o")
		}, []wish{{name: "o", status: code.Healthy, warnings: string(code.MachineMissing), set: "MachineDeployment/md"}}},

		{"18 orphan whose home is not complete", func(s *scene) {
			s.orphan("o")
			s.listings[0].State = code.ScopeFailed
		}, []wish{{name: "o", status: code.Unknown, reason: code.ScopeIncomplete}}},

		{"18 machine whose infrastructure object was left out", func(s *scene) {
			s.worker("m").InfraMissing = true
			s.vmOf("m")
		}, []wish{{name: "m", status: code.Unknown, reason: code.InfraObjectMissing}}},

		{"23 powered off exists", func(s *scene) {
			s.worker("m")
			s.vmOf("m").Warnings = []code.Reason{"PoweredOff"}
		}, []wish{{name: "m", status: code.Healthy, warnings: "PoweredOff"}}},

		{"24 an unreadable namesake in the same vCenter", func(s *scene) {
			s.worker("m")
			s.vm("dark", named("m")).Unreadable = true
		}, []wish{{name: "m", status: code.Unknown, reason: code.InstanceUnreadable}, {name: "dark", reason: code.InstanceUnreadable}}},

		{"24 an unreadable VM with the same object id in another vCenter is an unrelated VM", func(s *scene) {
			s.worker("m")
			s.list("vc2/user")
			s.vmIn(1, "dark", ref("r-m")).Unreadable = true
		}, []wish{{name: "m", status: code.Stale, reason: code.InstanceNotFound}}},

		{"24 an unreadable VM without a datacenter may be in the right one", func(s *scene) {
			s.worker("m").Home.Within = key("datacenter", "DC0")
			s.vm("dark", ref("r-m")).Unreadable = true
		}, []wish{{name: "m", status: code.Unknown, reason: code.InstanceUnreadable}}},

		{"24 an unreadable VM of another datacenter is not it", func(s *scene) {
			s.worker("m").Home.Within = key("datacenter", "DC0")
			s.vm("dark", ref("r-m"), key("datacenter", "DC1")).Unreadable = true
		}, []wish{{name: "m", status: code.Stale, reason: code.InstanceNotFound}}},

		{"25 a folder that the account does not see", func(s *scene) {
			s.worker("m")
			s.listings[0].ProbesFound = nil
		}, []wish{{name: "m", status: code.Unknown, reason: code.ScopeIncomplete}}},

		{"25 one of two folders", func(s *scene) {
			s.worker("m")
			s.expected.Proofs[0].All = []infra.Key{key("folder", "f"), key("folder", "g")}
			s.expected.Proofs[0].Any = []infra.Key{key("folder", "f")}
		}, []wish{{name: "m", status: code.Unknown, reason: code.ScopeIncomplete}}},

		{"25 one of two folders, and a machine in each", func(s *scene) {
			s.worker("m").Home.Folder = "f"
			s.worker("n").Home.Folder = "g"
			s.expected.Proofs[0].All = []infra.Key{key("known", "vc")}
			s.listings[0].ProbesFound = []infra.Key{key("known", "vc"), key("folder", "f")}
			for _, expectedPart := range []string{"f", "g"} {
				s.expected.Proofs = append(s.expected.Proofs, infra.VisibilityProof{Cluster: prod, Target: vc, Folder: expectedPart, All: []infra.Key{key("folder", expectedPart)}})
			}
		}, []wish{{name: "m", status: code.Stale, reason: code.InstanceNotFound}, {name: "n", status: code.Unknown, reason: code.ScopeIncomplete}}},

		{"25 a folder that is seen, at a vCenter that is not proven", func(s *scene) {
			s.worker("m").Home.Folder = "f"
			s.expected.Proofs[0].All = []infra.Key{key("known", "vc")}
			s.expected.Proofs = append(s.expected.Proofs, infra.VisibilityProof{Cluster: prod, Target: vc, Folder: "f", All: []infra.Key{key("folder", "f")}})
		}, []wish{{name: "m", status: code.Unknown, reason: code.ScopeIncomplete}}},

		{"25 a folder that nothing can prove", func(s *scene) {
			s.worker("m").Home.Folder = "f"
		}, []wish{{name: "m", status: code.Unknown, reason: code.ScopeIncomplete}}},

		{"27 a broken page", func(s *scene) {
			s.worker("m")
			s.worker("n")
			s.vmOf("n")
			s.listings[0].State = code.ScopePartial
		}, []wish{{name: "m", status: code.Unknown, reason: code.ScopeIncomplete}, {name: "n", status: code.Healthy}}},

		{"28 one of two vCenters down", func(s *scene) {
			s.worker("m")
			s.worker("n").Home.Target = "vc2/user"
			s.expected.Proofs = append(s.expected.Proofs, infra.VisibilityProof{Cluster: prod, Target: "vc2/user", All: []infra.Key{key("folder", "f")}})
			l := s.list("vc2/user")
			l.State, l.Fault = code.ScopeFailed, &infra.Fault{Reason: "Unreachable", Message: "no route to host"}
		}, []wish{{name: "m", status: code.Stale, reason: code.InstanceNotFound}, {name: "n", status: code.Unknown, reason: code.ScopeIncomplete}}},

		{"30 and 32 one vCenter under two users: only the own user's view counts", func(s *scene) {
			s.worker("m")
			s.listings[0].State = code.ScopePartial
			s.list("vc/admin")
		}, []wish{{name: "m", status: code.Unknown, reason: code.ScopeIncomplete}}},

		{"30 and 32 one VM seen by two users is one VM, and at home when the own user sees it", func(s *scene) {
			s.worker("m")
			s.vmOf("m")
			s.list("vc/admin")
			seen := s.listings[0].Instances[0]
			s.listings[1].Instances = append(s.listings[1].Instances, seen)
		}, []wish{{name: "m", status: code.Healthy}}},

		{"32 seen by another user only", func(s *scene) {
			s.worker("m")
			s.list("vc/admin")
			s.vmIn(1, "vm", bios("b-m"))
		}, []wish{{name: "m", status: code.Unknown, reason: code.FoundElsewhere}}},

		{"36 terminated and still listed", func(s *scene) {
			s.worker("m")
			s.vmOf("m").Gone = true
		}, []wish{{name: "m", status: code.Stale, reason: code.InstanceTerminated}}},

		{"42 a Node that Cluster API did not make", func(s *scene) {
			s.vm("karpenter", bios("b-k"))
			s.node(prod, bios("b-k"), "")
		}, []wish{{name: "karpenter", reason: code.ForeignNode}}},

		{"46 a rollout after the backup, by name", func(s *scene) {
			s.worker("m")
			s.vmOf("m")
			s.hint(infra.Medium, key("stem2", "md"), ownedBy(machineDeployment, "md"), 2)
			s.vm("md-zzzzz-bbbbb", key("stem2", "md"))
		}, []wish{{name: "md-zzzzz-bbbbb", status: code.Ghost, set: "MachineDeployment/md"}}},

		{"46 a rollout after the backup, by its Node", func(s *scene) {
			s.vm("new", bios("b-1"))
			n := s.node(prod, bios("b-1"), "md-zzzzzzzzzz-bbbbb")
			n.OwnerKind, n.OwnerName = machineSet, "md-zzzzzzzzzz"
		}, []wish{{name: "new", status: code.Ghost, set: "MachineDeployment/md"}}},

		{"47 machines left out of the backup are no Ghosts", func(s *scene) {
			s.worker("m")
			s.vmOf("m")
			s.group(prod, "md-bcdfg").Replicas = known(2)
			s.hint(infra.Medium, key("stem", "md-bcdfg"), ownedBy(machineSet, "md-bcdfg"), 8)
			s.vm("md-bcdfg-bbbbb", key("stem", "md-bcdfg")).Warnings = []code.Reason{code.Disconnected}
		}, []wish{{name: "md-bcdfg-bbbbb", status: code.Unknown, reason: code.MachineNotInBackup, warnings: string(code.Disconnected), set: "MachineDeployment/md"}}},

		{"49 another management cluster's VM in a shared folder", func(s *scene) {
			s.hint(infra.LocationOnly, key("folder", "f"), ownedBy("", ""), 0)
			s.vm("unrelated", key("folder", "f"))
		}, []wish{{name: "unrelated", reason: code.InClusterFolder}}},

		{"50 created again under the same name", func(s *scene) {
			s.worker("m")
			s.worker("n")
			s.vmOf("n")
			s.vm("vm", bios("b-2"), named("m"))
			s.node(prod, bios("b-2"), "m").Ready = false
		}, []wish{{name: "m", status: code.Stale, reason: code.InstanceNotFound, warnings: string(code.SameNameElsewhere)}, {name: "vm", reason: code.NodeOfMachine}}},

		{"53 the Node of a removed VM lingers", func(s *scene) {
			s.worker("m")
			s.node(prod, bios("b-m"), "m").Heartbeat = noon.Add(-time.Hour)
		}, []wish{{name: "m", status: code.Stale, reason: code.InstanceNotFound}}},

		{"53 a list that does not say whether its Node is ready says nothing of it", func(s *scene) {
			s.worker("m")
			n := s.node(prod, bios("b-m"), "m")
			n.Ready, n.NoReady = false, true
		}, []wish{{name: "m", status: code.Unknown, reason: code.NodeListUnread}}},

		{"53 nor does one without its heartbeat, where others have one", func(s *scene) {
			s.worker("m")
			s.worker("n")
			s.vmOf("n")
			s.node(prod, bios("b-m"), "m").Heartbeat = time.Time{}
			s.node(prod, bios("b-n"), "n")
		}, []wish{{name: "m", status: code.Unknown, reason: code.NodeListUnread}, {name: "n", status: code.Healthy}}},

		{"53 where no Node has a heartbeat, they show nothing either way", func(s *scene) {
			s.worker("m")
			s.node(prod, bios("b-m"), "m").Heartbeat = time.Time{}
		}, []wish{{name: "m", status: code.Stale, reason: code.InstanceNotFound}}},

		{"53 an instance that is off, and nothing says whether its Node runs elsewhere", func(s *scene) {
			s.worker("m")
			s.vmOf("m").Warnings = []code.Reason{code.PoweredOff}
			n := s.node(prod, bios("b-m"), "m")
			n.Ready, n.NoReady = false, true
		}, []wish{{name: "m", status: code.Unknown, reason: code.NodeListUnread, warnings: "PoweredOff"}}},

		{"53 a heartbeat from the future proves nothing", func(s *scene) {
			s.worker("m")
			s.node(prod, bios("b-m"), "m").Heartbeat = noon.Add(time.Hour)
		}, []wish{{name: "m", status: code.Stale, reason: code.InstanceNotFound}}},

		{"53 the Node of another cluster says nothing", func(s *scene) {
			s.cluster(other)
			s.worker("m")
			s.node(other, bios("b-m"), "x")
		}, []wish{{name: "m", status: code.Stale, reason: code.InstanceNotFound}}},

		{"55 the cluster of that name in another namespace", func(s *scene) {
			s.vm("vm", bios("b-1"))
			s.node(prod, bios("b-1"), "x").ClusterNamespace = "else"
		}, []wish{{name: "vm", reason: code.ForeignNode}}},

		{"55 annotations without a machine", func(s *scene) {
			s.vm("vm", bios("b-1"))
			s.node(prod, bios("b-1"), "x").Machine = ""
		}, []wish{{name: "vm", reason: code.ForeignNode}}},

		{"55 an endpoint that another cluster took over", func(s *scene) {
			s.vm("vm", bios("b-1"))
			s.node(prod, bios("b-1"), "x").ClusterName = "unrelated"
		}, []wish{{name: "vm", reason: code.ForeignNode}}},

		{"59 made after the backup was written: counting machines is not needed", func(s *scene) {
			s.group(prod, "md-bcdfg").Replicas = known(7)
			s.hint(infra.Medium, key("stem", "md-bcdfg"), ownedBy(machineSet, "md-bcdfg"), 8)
			s.vm("new", key("stem", "md-bcdfg")).Created = written.Add(clockSkew + time.Second)
			s.vm("old", key("stem", "md-bcdfg")).Created = written
			s.vm("when?", key("stem", "md-bcdfg")).Created = written.Add(clockSkew)
		}, []wish{
			{name: "new", status: code.Ghost},
			{name: "old", status: code.Unknown, reason: code.MachineNotInBackup},
			{name: "when?", status: code.Unknown, reason: code.MachineNotInBackup},
		}},

		{"47 an owner that the backup lacks may have made it", func(s *scene) {
			s.hint(infra.Medium, key("tag", "prod"), ownedBy("", ""), 0)
			s.vm("old", key("tag", "prod")).Created = written.Add(-time.Hour)
			s.vm("undated", key("tag", "prod"))
			s.vm("new", key("tag", "prod")).Created = noon
		}, []wish{
			{name: "old", status: code.Unknown, reason: code.MachineNotInBackup},
			{name: "undated", status: code.Unknown, reason: code.MachineNotInBackup},
			{name: "new", status: code.Ghost},
		}},

		{"a Node that names a VM which nothing else ties to its cluster", func(s *scene) {
			s.vm("unrelated", bios("b-1"))
			s.node(prod, bios("b-1"), "later")
			s.expected.OwnershipHints = nil
		}, []wish{{name: "unrelated", reason: code.ForeignNode}}},

		{"a name that the VM's own metadata contradicts", func(s *scene) {
			s.hint(infra.Medium, key("stem", "md-bcdfg"), ownedBy(machineSet, "md-bcdfg"), 8).Expect = []infra.Key{key("named", "itself"), key("joins", "10.0.0.1:6443"), key("joins", "10.0.0.2:6443")}
			s.hint(infra.LocationOnly, key("folder", "f"), ownedBy("", ""), 0)
			s.vm("unrelated", key("stem", "md-bcdfg"), key("folder", "f"), key("joins", "10.9.9.9:6443"))
			s.vm("other", key("stem", "md-bcdfg"), key("folder", "f"), key("named", "itself"), key("joins", "10.9.9.9:6443"))
			s.vm("ours", key("stem", "md-bcdfg"), key("folder", "f"), key("joins", "10.9.9.9:6443"), key("joins", "10.0.0.2:6443"))
			s.vm("silent", key("stem", "md-bcdfg"), key("folder", "f"))
		}, []wish{{name: "unrelated", reason: code.InClusterFolder}, {name: "other", reason: code.InClusterFolder}, {name: "ours", status: code.Ghost}, {name: "silent", status: code.Ghost}}},

		{"an orphaned VM that its vCenter still remembers", func(s *scene) {
			s.worker("m")
			s.vmOf("m").Unreadable = true
		}, []wish{{name: "m", status: code.Unknown, reason: code.InstanceUnreadable}}},

		{"no id recorded, and a namesake is another machine's", func(s *scene) {
			s.worker("m").Strong = infra.Key{}
			s.worker("n")
			s.vmOf("n").Keys = append(s.listings[0].Instances[0].Keys, named("m"))
		}, []wish{{name: "m", status: code.Stale, reason: code.NotProvisioned}, {name: "n", status: code.Healthy}}},

		{"59 a later copy of a machine that the backup lacks", func(s *scene) {
			s.group(prod, "md-bcdfg").Replicas = known(1)
			s.vm("vm", bios("b-1"))
			s.vm("copy", bios("b-1")).Created = noon
			n := s.node(prod, bios("b-1"), "missing")
			n.OwnerKind, n.OwnerName = machineSet, "md-bcdfg"
		}, []wish{
			{name: "vm", reason: code.DuplicateID},
			{name: "copy", reason: code.DuplicateID},
		}},

		{"14 two without a machine, and all machines of the owner are in the backup", func(s *scene) {
			s.vm("vm", bios("b-1"))
			s.vm("copy", bios("b-1"))
			n := s.node(prod, bios("b-1"), "missing")
			n.OwnerKind, n.OwnerName = machineSet, "md-bcdfg"
		}, []wish{{name: "vm", reason: code.DuplicateID}, {name: "copy", reason: code.DuplicateID}}},

		{"14 a Node that knows the id by another key", func(s *scene) {
			s.vm("vm", uuid("i-1")).ID = ""
			s.vm("copy", uuid("i-1")).ID = ""
			s.node(prod, uuid("i-1"), "missing")
		}, []wish{{name: "vm", reason: code.DuplicateID}, {name: "copy", reason: code.DuplicateID}}},

		{"14 a copy elsewhere of one that its name ties to the cluster", func(s *scene) {
			s.hint(infra.Medium, key("stem", "md-bcdfg"), ownedBy(machineSet, "md-bcdfg"), 8)
			s.vm("vm", bios("b-1"), key("stem", "md-bcdfg"))
			s.vm("copy", bios("b-1"))
		}, []wish{{name: "vm", reason: code.DuplicateID}, {name: "copy", reason: code.DuplicateID}}},

		{"14 the other one has ended", func(s *scene) {
			s.vm("vm", bios("b-1"))
			s.vm("copy", bios("b-1")).Gone = true
			s.node(prod, bios("b-1"), "missing")
		}, []wish{{name: "vm", status: code.Ghost}}},

		{"60 Nodes of two clusters on one VM: copies for disaster recovery", func(s *scene) {
			s.cluster(other)
			s.vm("vm", bios("b-1"))
			s.node(prod, bios("b-1"), "a")
			s.node(other, bios("b-1"), "a")
		}, []wish{{name: "vm", reason: code.AmbiguousOwner}}},

		{"a name of the cluster in a vCenter where the cluster is not", func(s *scene) {
			s.hint(infra.Medium, key("stem", "md-bcdfg"), ownedBy(machineSet, "md-bcdfg"), 8)
			l := s.list("replica/user")
			l.Clusters = nil
			s.vmIn(1, "near", key("stem", "other"))
			s.vmIn(1, "far", key("stem", "md-bcdfg"))
			s.vm("here", key("stem", "md-bcdfg"))
		}, []wish{{name: "here", status: code.Ghost}}},

		{"a name that fits, beside one that the VM's own metadata contradicts", func(s *scene) {
			s.hint(infra.NameOnly, key("stem", "own"), ownedBy(machineSet, "md-bcdfg"), 0).Expect = []infra.Key{key("joins", "10.0.0.1:6443")}
			s.cluster(other)
			for _, id := range []backup.ClusterID{prod, other} {
				s.hint(infra.NameOnly, key("stem", "common"), infra.OwnerID{Cluster: id}, 0)
			}
			s.vm("named", key("stem", "own"), key("stem", "common"), key("joins", "10.9.9.9:6443"))
			s.vm("unnamed", key("stem", "own"), key("joins", "10.9.9.9:6443"))
		}, []wish{{name: "named", reason: code.NameOnly}}},

		{"a control plane that may run on, by a name of two clusters alone", func(s *scene) {
			s.cluster(other)
			for _, id := range []backup.ClusterID{prod, other} {
				s.hint(infra.NameOnly, key("stem", "common"), infra.OwnerID{Cluster: id, Kind: plane, Name: "cp"}, 0)
			}
			s.hint(infra.NameOnly, key("stem", "own"), infra.OwnerID{Cluster: other}, 0)
			s.unread(prod)
			s.listings[0].Instances = nil // the recorded control plane is gone
			s.worker("m")
			s.vm("cp", key("stem", "common"), key("stem", "own"))
		}, []wish{{name: "m", status: code.Unknown, reason: code.NodeListUnread}, {name: "cp-0", status: code.Unknown, reason: code.NodeListUnread}, {name: "cp", reason: code.NameOnly}}},

		{"one mark of two clusters, and another of one of them", func(s *scene) {
			s.cluster(other)
			for _, id := range []backup.ClusterID{prod, other} {
				s.hint(infra.Strong, key("tag", "common"), infra.OwnerID{Cluster: id}, 0)
				s.hint(infra.LocationOnly, key("folder", "common"), infra.OwnerID{Cluster: id}, 0)
			}
			s.hint(infra.Strong, key("tag", "own"), ownedBy(machineSet, "md-bcdfg"), 8)
			s.hint(infra.Strong, key("tag", "weaker"), infra.OwnerID{Cluster: prod}, 0)
			s.hint(infra.LocationOnly, key("folder", "own"), ownedBy(machineSet, "md-bcdfg"), 8).Expect = []infra.Key{key("joins", "10.0.0.1:6443")}
			s.vm("both", key("tag", "common"))
			s.vm("ours", key("tag", "common"), key("tag", "own"))
			s.vm("torn", key("tag", "common"), key("tag", "weaker"))
			s.vm("there", key("folder", "common"), key("folder", "own"), key("joins", "10.9.9.9:6443"))
		}, []wish{{name: "both", reason: code.AmbiguousOwner}, {name: "torn", reason: code.AmbiguousOwner}, {name: "ours", status: code.Ghost}, {name: "there", reason: code.InClusterFolder}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			defer func(was int) { match.Many = was }(match.Many)
			for _, match.Many = range []int{16, 1, 0} {
				s := newScene()
				tc.arrange(s)
				expect(t, s.detect(), tc.want...)
			}
		})
	}
}
