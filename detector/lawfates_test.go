package detector

import (
	"slices"
	"strings"
)

// This file is what has become of a truth's machines since the backup was written.

// outcome decides what became of a machine's VM.
func (w *truth) outcome(m *trueMachine, v *trueVM) {
	switch w.IntN(19) {
	case 0, 1: // gone
	case 2: // its BIOS UUID was made again
		v.bios = w.id("bios")
		w.lives(m, v)
	case 3: // restored by a backup product: all ids are new
		v.bios, v.uid, v.ref, v.created = w.id("bios"), w.id("uid"), w.id("ref"), w.since()
		v.name = pick(w.dice, m.name, m.name+"-restored", strings.ToUpper(m.name))
		w.lives(m, v)
	case 4:
		v.folder = "elsewhere"
		w.lives(m, v)
	case 5:
		v.name = "zz-" + w.suffix()
		w.lives(m, v)
	case 6:
		v.on = false
		w.lives(m, v)
	case 7:
		v.template, v.on = true, false
		w.lives(m, v)
	case 8:
		v.dc = "DC1"
		w.lives(m, v)
	case 9: // a copy with its id, which runs or does not
		w.lives(m, v)
		w.copyOf(v, v.bios).on = w.chance(30)
	case 10: // the original was kept, off and renamed; a clone of another id runs as the machine
		kept := *v
		kept.name, kept.on = m.name+"-kept", false
		w.vms = append(w.vms, &kept)
		v.bios, v.uid, v.ref = w.id("bios"), w.id("uid"), w.id("ref")
		v.nodeID = pick(w.dice, m.bios, v.bios)
		w.lives(m, v)
	case 11: // the original is off, a copy with its id runs as the machine
		kept := *v
		kept.on = false
		w.vms = append(w.vms, &kept)
		v.ref, v.folder, v.dc = w.id("ref"), pick(w.dice, v.folder, "elsewhere"), pick(w.dice, "DC0", "DC1")
		w.lives(m, v)
	case 12: // gone, and somebody made a VM of its name elsewhere
		n := *v
		n.bios, n.uid, n.ref, n.folder = w.id("bios"), w.id("uid"), w.id("ref"), "elsewhere"
		w.vms = append(w.vms, &n)
	case 13: // it runs where nobody looks
		w.leaves(m, v)
	case 14: // likewise, and the original was left, off
		kept := *v
		kept.on = false
		w.vms = append(w.vms, &kept)
		w.leaves(m, v)
	default:
		w.lives(m, v)
	}
}

// leaves makes a VM that of a machine at a site that is not listed.
func (w *truth) leaves(m *trueMachine, v *trueVM) {
	w.lives(m, v)
	w.vms = w.vms[:len(w.vms)-1]
	w.away = append(w.away, v)
}

func (w *truth) copyOf(v *trueVM, bios string) *trueVM {
	c := *v
	c.bios, c.ref, c.uid, c.of, c.node = bios, w.id("ref"), w.id("uid"), nil, nil
	c.name, c.folder, c.dc = v.name+"-copy", pick(w.dice, v.folder, "elsewhere"), pick(w.dice, "DC0", "DC0", "DC1")
	w.vms = append(w.vms, &c)
	return &c
}

// ghost makes a VM that was made for the cluster since the backup.
func (w *truth) ghost(c *trueCluster) {
	plane := w.chance(25) && !c.hosted
	owner := c.owner(plane)
	if !plane && c.since {
		owner = c.id.Name + "-md-zzzzz"
	}
	name := owner + "-" + w.suffix()
	v := &trueVM{
		site: c.site, bios: w.id("bios"), uid: w.id("uid"), ref: w.id("ref"), name: name, host: name, folder: pick(w.dice, c.folder, c.folder, c.folder, c.folder+"/sub", "elsewhere"),
		dc: "DC0", joins: pick(w.dice, c.id.Name, ""), on: !w.chance(10), created: w.since(), ghost: c,
	}
	v.nodeID = v.bios
	if w.chance(70) {
		v.node, v.nodeMachine, v.nodePlane, v.nodeNotReady = c, name, plane, !v.on
	}
	w.vms = append(w.vms, v)
}

// lookAlike makes a VM of another team with a name like those of the cluster.
func (w *truth) lookAlike(c *trueCluster) {
	name := c.owner(w.chance(30)) + "-" + w.suffix()
	w.vms = append(w.vms, &trueVM{
		site: w.sites[w.IntN(len(w.sites))], bios: w.id("bios"), uid: w.id("uid"), ref: w.id("ref"), name: name, host: name,
		folder: pick(w.dice, c.folder, "elsewhere"), dc: "DC0", joins: pick(w.dice, "", "others"), on: true, created: w.before(),
	})
}

// unrelated makes a VM that is somewhere and has a name of its own; its metadata may be a machine's.
func (w *truth) unrelated(c *trueCluster) *trueVM {
	v := &trueVM{
		site: c.site, bios: w.id("bios"), uid: w.id("uid"), ref: w.id("ref"), name: "web-" + w.suffix(), folder: pick(w.dice, c.folder, "elsewhere"),
		dc: "DC0", on: true, created: w.before(),
	}
	v.host = v.name
	return v
}

// replicate puts the replicas of a site's VMs in its place: other ids under the same
// names, except for a few that were kept.
func (w *truth) replicate(s *site) {
	var recorded []*trueMachine
	for _, m := range w.machines {
		if m.site == s && m.inBackup() && m.recorded {
			recorded = append(recorded, m)
		}
	}
	w.vms = slices.DeleteFunc(w.vms, func(v *trueVM) bool {
		if v.site == s {
			w.away = append(w.away, v)
		}
		return v.site == s
	})
	for n, m := range recorded {
		v := w.vmOf(m)
		if n == 0 && len(recorded) > 2 && w.chance(50) {
			v.uid = w.id("uid")
		} else {
			v.bios, v.uid, v.ref = w.id("bios"), w.id("uid"), w.id("ref")
		}
		v.on = w.chance(50)
		w.vms = append(w.vms, v)
	}
	for _, c := range w.clusters {
		if c.site == s {
			w.ghost(c)
			v := w.vms[len(w.vms)-1]
			v.node = nil // its Node runs at the other site
		}
	}
}
