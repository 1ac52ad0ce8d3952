package detector

import (
	"fmt"

	"drift-detector/backup"
	"drift-detector/infra"
)

// pools adds pools, with members that are and are not recorded, machines that
// are members, resources, and exclusions.
func (d dice) pools(s *scene, ids []backup.ClusterID, trouble int) {
	for _, id := range ids {
		if d.chance(50) {
			d.pool(s, id, trouble)
		}
		for _, f := range []string{"f1", "f2", "f3"} {
			s.expected.Resources = append(s.expected.Resources, infra.Resource{
				Cluster: id, Target: pick(d, "vc1/a", "vc2", "vc9"), Kind: "folder", Name: f, Keys: []infra.Key{key("folder", f)},
			})
		}
	}
	for _, l := range s.listings {
		for _, name := range []string{"prod", "prod-eu"} {
			if !d.chance(20 + trouble) {
				l.ProbesFound = append(l.ProbesFound, asg(name))
			}
		}
		if d.chance(trouble) {
			l.Unread = []infra.KeyKind{infra.KeyKindOf(pick(d, "asg", "folder"))}
		}
		if d.chance(trouble) {
			l.Asked = []infra.Key{} // made for another backup
			for _, k := range []infra.Key{asg("prod"), asg("prod-eu"), key("folder", "f1"), key("folder", "f2"), key("folder", "f3")} {
				if d.chance(50) {
					l.Asked = append(l.Asked, k)
				}
			}
		}
	}
	if d.chance(20) {
		s.expected.Exclude = []infra.Exclusion{{Key: bios(fmt.Sprintf("new%d", d.IntN(9))), Cause: "bastion"}, {Key: bios("prod00"), Cause: "nat"}}
	}
}

func (d dice) pool(s *scene, id backup.ClusterID, trouble int) {
	name := "mp-" + id.Name
	if !d.chance(trouble) {
		s.snap.Groups = append(s.snap.Groups, backup.Group{
			Meta: backup.Meta{Backup: id.Backup, Namespace: id.Namespace, Name: name}, Kind: machinePool, Cluster: id, Replicas: known(2),
		})
	}
	if d.chance(20) {
		return // of a provider that knows no pools
	}
	p := infra.Pool{
		Cluster: id, Kind: machinePool, Name: name, Target: pick(d, "vc1/a", "vc2"), Key: asg(id.Name), Probe: asg(id.Name), Desired: known(2),
	}
	for range d.IntN(3) {
		p.Members = append(p.Members, bios(fmt.Sprintf("new%d", d.IntN(9))))
	}
	s.expected.Pools = append(s.expected.Pools, p)
	for i := range s.expected.Machines {
		if c := &s.expected.Machines[i]; d.chance(15) && c.Provider != "" {
			c.Pool = p.Key
		}
	}
}
