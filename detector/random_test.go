package detector

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// dice makes random choices from one seed.
type dice struct{ *rand.Rand }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// randomWorld returns a world in which everything that can go wrong does so now
// and then, small enough that things meet.
func randomWorld(seed uint64) *scene {
	d := dice{rand.New(rand.NewPCG(seed, 42))}
	s := emptyScene()
	s.snap.Backups = []backup.Info{{WrittenTo: written}, {WrittenTo: written}}
	ids := []backup.ClusterID{{Namespace: "t1", Name: "prod"}, {Namespace: "t1", Name: "prod-eu"}, {Backup: 1, Namespace: "t2", Name: "prod"}}[:1+d.IntN(3)]
	trouble := pick(d, 0, 0, 5, 25) // percent, of everything that makes worlds odd
	for _, id := range ids {
		d.cluster(s, id, trouble)
	}
	for _, id := range ids {
		d.machines(s, id, trouble)
	}
	d.listings(s, ids, trouble)
	d.pools(s, ids, trouble)
	d.instances(s, trouble)
	d.nodes(s, ids, trouble)
	d.hints(s, ids)
	if d.chance(trouble) {
		s.snap.Problems = []backup.Problem{{Item: "x", Reason: "bad"}}
	}
	if !d.chance(10) {
		return s
	}
	for i := range s.expected.Machines { // of a management cluster that runs
		if d.chance(30) {
			s.expected.Machines[i].Dying = &infra.Deletion{Text: "it is being deleted"}
		}
	}
	if d.chance(30) {
		s.kindUnread()
	}
	return s
}

func (d dice) cluster(s *scene, id backup.ClusterID, trouble int) {
	meta := func(name string) backup.Meta {
		return backup.Meta{Backup: id.Backup, Namespace: id.Namespace, Name: name}
	}
	c := backup.Cluster{Meta: meta(id.Name), Self: d.chance(trouble), Endpoint: "192.0.2.1:6443", ControlPlane: backup.Ref{Kind: plane, Name: "cp"}}
	if d.chance(trouble) {
		c.ControlPlane.Kind = "AWSManagedControlPlane"
	}
	s.snap.Clusters = append(s.snap.Clusters, c)
	if !d.chance(trouble) {
		s.snap.ControlPlanes = append(s.snap.ControlPlanes, backup.ControlPlane{Meta: meta("cp"), Kind: c.ControlPlane.Kind, Cluster: id})
	}
	for _, md := range []string{"md", "md-b"}[:d.IntN(3)] {
		if !d.chance(trouble) {
			s.snap.Groups = append(s.snap.Groups, backup.Group{Meta: meta(md), Kind: machineDeployment, Cluster: id})
		}
		if !d.chance(trouble) {
			s.snap.Groups = append(s.snap.Groups, backup.Group{Meta: meta(md + "-bcdfg"), Kind: machineSet, Cluster: id, Deployment: md})
		}
	}
	if d.chance(30) {
		s.snap.Groups = append(s.snap.Groups, backup.Group{Meta: meta("lone"), Kind: machineSet, Cluster: id})
	}
}

// machines adds machines and orphans, and writes how many there were into the
// status of their owners: usually the truth.
func (d dice) machines(s *scene, id backup.ClusterID, trouble int) {
	for n := range d.IntN(6) {
		name := fmt.Sprintf("m%d", n)
		m := backup.Machine{Meta: backup.Meta{Backup: id.Backup, Namespace: id.Namespace, Name: name, UID: fmt.Sprint(id, name)}, Cluster: id}
		if d.chance(30) {
			m.Node = fmt.Sprintf("n%d", d.IntN(5))
		}
		m.Phase = pick(d, "Provisioned", "Running")
		c := infra.ExpectedMachine{Machine: len(s.snap.Machines)}
		set := pick(d, "md-bcdfg", "md-b-bcdfg", "lone", "md-zzzzz")
		if m.ControlPlane = d.chance(40); m.ControlPlane {
			m.Owner = backup.Owner{Kind: plane, Name: "cp"}
		} else {
			m.Owner, m.Set = backup.Owner{Kind: machineSet, Name: set}, set
		}
		if d.chance(trouble) {
			c.Machine, c.Orphan = -1, &infra.Orphan{
				Kind: "VSphereMachine", Namespace: id.Namespace, Name: name, UID: "o" + name, Cluster: id, ControlPlane: m.ControlPlane,
				Owner: infra.OwnerID{Cluster: id, Kind: m.Owner.Kind, Name: m.Owner.Name},
			}
		} else {
			s.snap.Machines = append(s.snap.Machines, m)
		}
		d.expectedMachine(&c, id, n, trouble)
		s.expected.Machines = append(s.expected.Machines, c)
	}
	truth := &oracle{snap: &s.snap, expected: s.expected}
	truth.read()
	for i := range s.snap.ControlPlanes {
		if p := &s.snap.ControlPlanes[i]; p.Cluster == id {
			d.replicas(&p.Replicas, &p.Desired, truth.countPlane(*p), trouble)
		}
	}
	for i := range s.snap.Groups {
		if g := &s.snap.Groups[i]; g.Cluster == id {
			d.replicas(&g.Replicas, &g.Desired, truth.countGroup(*g), trouble)
		}
	}
}

func (d dice) replicas(replicas, desired *backup.Number, truth int64, trouble int) {
	*replicas, *desired = known(truth), known(truth)
	switch {
	case d.chance(trouble):
		replicas.N += int64(d.IntN(3) - 1)
	case d.chance(trouble) || truth == 0:
		*replicas = backup.Number{}
	}
}

// expectedMachine gives a machine its keys. The number of the machine makes them, so that
// the instances of instances() can have them, and trouble makes them meet.
func (d dice) expectedMachine(c *infra.ExpectedMachine, id backup.ClusterID, n, trouble int) {
	own := fmt.Sprintf("%s%d%d", id.Name, id.Backup, n)
	if d.chance(trouble) {
		own = fmt.Sprintf("%s%d%d", id.Name, id.Backup, d.IntN(6))
	}
	if c.Provider = "vsphere"; d.chance(trouble / 3) {
		c.Provider = ""
		return
	}
	c.Home = infra.HomeScope{Target: pick(d, "vc1/a", "vc1/a", "vc1/b", "vc2"), Folder: pick(d, "", "", "", "p1", "p2")}
	if d.chance(30) {
		c.Home.Within = key("datacenter", pick(d, "DC0", "DC1"))
	}
	c.Names, c.Hosts = []infra.Key{named(own)}, []infra.Key{key("host", own)}
	if !d.chance(10 + trouble) {
		c.Strong = bios(own)
	}
	if d.chance(70) {
		c.Identity = uuid(own)
	}
	if d.chance(50) {
		c.Ref = ref(own)
	}
	if d.chance(50) {
		c.Weak = []infra.Key{weakly(own)}
	}
	if d.chance(50) {
		c.Witness = []infra.Key{key("place", own)}
	}
	if d.chance(70) {
		c.Blind = []infra.Key{ref(own), named(own)}
	}
	if d.chance(70) {
		c.Expect = []infra.Expectation{{Key: named(own), Warning: "Renamed"}, {Key: key("folder", "f1"), Warning: "Moved"}}
	}
	if d.chance(trouble / 3) {
		c.Conflict = "two ids"
		c.Doubted = []infra.Key{bios(fmt.Sprintf("new%d", d.IntN(8)))}
	}
	if d.chance(trouble / 3) {
		c.Unnamed = "odd"
	}
	c.InfraMissing = c.Orphan == nil && d.chance(trouble/3)
}

func (d dice) listings(s *scene, ids []backup.ClusterID, trouble int) {
	for _, target := range []string{"vc1/a", "vc1/b", "vc2", "vc3"} {
		if d.chance(trouble) {
			continue
		}
		l := s.list(target)
		l.Endpoint, l.Account, _ = strings.Cut(target, "/")
		l.Clusters, l.ProbesFound = nil, nil
		if d.chance(trouble) {
			l.State = pick(d, code.ScopePartial, code.ScopeFailed)
			l.Fault = pick(d, nil, &infra.Fault{Reason: "Unreachable", Message: "no route"})
		}
		for _, f := range []string{"f1", "f2"} {
			if !d.chance(trouble) {
				l.ProbesFound = append(l.ProbesFound, key("folder", f))
			}
		}
	}
	for _, id := range ids {
		for _, target := range []string{"vc1/a", "vc1/b", "vc2"} {
			p := infra.VisibilityProof{Cluster: id, Target: target, All: []infra.Key{key("folder", "f1")}, Hint: "look", Copied: d.chance(60)}
			switch {
			case d.chance(trouble):
				continue
			case d.chance(20):
				p.All = append(p.All, key("folder", "f2"))
			case d.chance(20):
				p.All, p.Any = nil, []infra.Key{bios(fmt.Sprintf("%s%d0", id.Name, id.Backup)), key("folder", "f2")}
				p.Nodes = d.chance(50)
			}
			s.expected.Proofs = append(s.expected.Proofs, p)
			for _, expectedPart := range []string{"p1", "p2"} {
				if !d.chance(trouble) {
					s.expected.Proofs = append(s.expected.Proofs, infra.VisibilityProof{Cluster: id, Target: target, Folder: expectedPart, All: []infra.Key{key("folder", pick(d, "f1", "f2"))}, Hint: "look"})
				}
			}
		}
	}
}

// instances adds an instance for most claims, with some keys lost or changed,
// and others that nobody claims.
func (d dice) instances(s *scene, trouble int) {
	if len(s.listings) == 0 {
		return
	}
	n := 0
	add := func(own, name string, home infra.HomeScope) {
		n++
		datacenter := key("datacenter", pick(d, "DC0", "DC1"))
		if !home.Within.IsZero() && !d.chance(trouble) {
			datacenter = home.Within
		}
		i := infra.Instance{Identity: fmt.Sprintf("vm%d", n), Name: name, Keys: []infra.Key{datacenter}}
		for _, k := range []infra.Key{bios(own), uuid(own), ref(own), named(name), weakly(own), key("folder", "f1"), key("place", name)} {
			switch {
			case d.chance(trouble):
			case d.chance(trouble):
				i.Keys = append(i.Keys, key(k.Kind.String(), pick(d, "prod00", "prod01", "prod-eu00", "else")))
			default:
				i.Keys = append(i.Keys, k)
			}
		}
		i.ID = idAmong(i.Keys)
		if d.chance(10) {
			i.Keys = append(i.Keys, asg(pick(d, "prod", "prod-eu")))
		}
		if d.chance(20) {
			i.Keys = append(i.Keys, key("joins", pick(d, "prod", "prod-eu", "else")))
		}
		if d.chance(20) {
			i.Keys = append(i.Keys, key("stem", pick(d, "cp", "md", "lone", "new")), key("endpoint", pick(d, "prod", "prod-eu")))
		}
		if d.chance(10) {
			i.Keys = append(i.Keys, key("anywhere", pick(d, "prod", "prod-eu")))
		}
		d.conditions(&i, trouble)
		d.show(s, i, home.Target, trouble)
	}
	for _, c := range s.expected.Machines {
		if own := cmp.Or(c.Strong.Value, c.Identity.Value, "none"); !d.chance(20 + trouble) {
			name := own
			if d.chance(10) {
				name = "renamed-" + own
			}
			add(own, name, c.Home)
			if d.chance(trouble) {
				add(own, own+"-copy", c.Home)
			}
		}
	}
	for range d.IntN(5) {
		add(fmt.Sprintf("new%d", d.IntN(9)), pick(d, "md-zzzzz-bbbbb", "jump", "prod00", "cp-xxxxx"), infra.HomeScope{})
	}
}

func (d dice) conditions(i *infra.Instance, trouble int) {
	i.Unreadable = d.chance(trouble / 2)
	i.Gone = d.chance(trouble / 2)
	if d.chance(trouble / 2) {
		i.Exclude = pick(d, infra.Template, infra.Managed, "vCLS")
	}
	if d.chance(10) {
		i.Warnings = []code.Reason{"PoweredOff"}
	}
	if d.chance(10) {
		i.Host = key("host", pick(d, "prod00", "prod-eu00", "jump"))
	}
	i.Created = pick(d, time.Time{}, written.Add(-time.Hour), written.Add(clockSkew/2), noon)
}

// show lists an instance at one vCenter, usually that of its home, under one or
// both of its accounts.
func (d dice) show(s *scene, i infra.Instance, home string, trouble int) {
	at := s.listings[d.IntN(len(s.listings))]
	if n := slices.IndexFunc(s.listings, func(l *infra.Listing) bool { return l.IDs[0] == home }); n >= 0 && !d.chance(trouble) {
		at = s.listings[n]
	}
	at.Instances = append(at.Instances, i)
	for _, l := range s.listings {
		if l != at && l.Endpoint == at.Endpoint && !d.chance(20) {
			second := i
			if d.chance(trouble) {
				second.Unreadable, second.Host, second.Keys = true, infra.Key{}, second.Keys[:1]
			}
			l.Instances = append(l.Instances, second)
		}
	}
}

func (d dice) nodes(s *scene, ids []backup.ClusterID, trouble int) {
	for _, id := range ids {
		if d.chance(30) {
			continue
		}
		l := s.list("workload/" + id.Name)
		l.Provider, l.NodeState, l.Clusters, l.ProbesFound = "workload", "read", []backup.ClusterID{id}, nil
		if d.chance(trouble) {
			l.State, l.NodeState = code.ScopeFailed, pick(d, "unreachable", "denied", "skipped", "noKubeconfig")
			continue
		}
		for n := range d.IntN(5) {
			own := fmt.Sprintf("%s%d%d", id.Name, id.Backup, n)
			if d.chance(40) {
				own = fmt.Sprintf("new%d", d.IntN(9))
			}
			node := infra.Node{
				Cluster: id, Name: fmt.Sprintf("n%d", n), Keys: []infra.Key{bios(own)}, Ready: d.chance(80),
				Heartbeat: noon.Add(pick(d, -time.Minute, -9*time.Minute, -10*time.Minute, 10*time.Minute, 11*time.Minute)),
			}
			node.Unready = !node.Ready && d.chance(50)
			node.NoReady = !node.Ready && !node.Unready && n%2 == 0
			if n == 3 && len(own)%2 == 0 {
				node.Heartbeat = time.Time{}
			}
			if d.chance(80) {
				node.Machine, node.ClusterName, node.ClusterNamespace = pick(d, "m0", "m1", "gone", "gone2"), id.Name, id.Namespace
				node.OwnerKind = pick(d, plane, machineSet, machineSet, "")
				node.OwnerName = map[string]string{plane: "cp", machineSet: pick(d, "md-bcdfg", "md-b-bcdfg", "md-zzzzz", "other")}[node.OwnerKind]
				node.ControlPlane = node.OwnerKind == plane
			}
			if d.chance(trouble) {
				node.Keys = append(node.Keys, uuid(pick(d, "prod00", "prod01", "prod-eu00", "new1")))
			}
			if d.chance(trouble) {
				node.ClusterName = "unrelated"
			}
			l.Nodes = append(l.Nodes, node)
		}
	}
}

func (d dice) hints(s *scene, ids []backup.ClusterID) {
	for _, id := range ids {
		hint := func(g infra.Grade, k infra.Key, kind, name string) {
			if d.chance(60) {
				var expect []infra.Key
				if g == infra.Medium && d.chance(30) {
					expect = []infra.Key{key("joins", id.Name)}
				}
				s.expected.OwnershipHints = append(s.expected.OwnershipHints, infra.OwnershipHint{
					Grade: g, Key: k, Owner: &infra.OwnerID{Cluster: id, Kind: kind, Name: name},
					ControlPlane: kind == plane, Specificity: d.IntN(3), Detail: k.String(), Expect: expect, ByName: g == infra.Medium && d.chance(50),
				})
			}
		}
		hint(infra.Medium, key("stem", "cp"), plane, "cp")
		hint(infra.Medium, key("stem", "md"), machineSet, "md-bcdfg")
		hint(infra.Medium, key("stem", "new"), machineSet, "md-zzzzz")
		hint(infra.Medium, key("stem", "lone"), machineSet, "lone")
		hint(infra.Medium, key("endpoint", id.Name), "", "")
		hint(infra.LocationOnly, key("folder", "f1"), "", "")
		hint(infra.NameOnly, key("anywhere", id.Name), plane, "cp")
		if d.chance(10) {
			hint(infra.Strong, key("endpoint", id.Name), machineDeployment, "md")
		}
		if d.chance(20) {
			s.expected.OwnershipHints = append(s.expected.OwnershipHints, infra.OwnershipHint{
				Grade: infra.Medium, Pattern: &infra.NamePattern{Name: "cp-[a-z]{5}", Within: key("folder", "f1")},
				Owner: &infra.OwnerID{Cluster: id, Kind: plane, Name: "cp"}, ControlPlane: true, Detail: "pattern",
			})
		}
	}
}
