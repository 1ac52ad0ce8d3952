package detector

import (
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// This file is how a truth looks to a listing, as a provider would make it.

// sees reports whether the account sees a VM, and reads whether also its metadata.
func (s *site) sees(v *trueVM) bool {
	return v.site == s && s.state != code.ScopeFailed && !s.hidden[v.folder] && !v.gone
}

func (s *site) reads(v *trueVM) bool { return !s.dark[v.folder] && !v.unreadable }

// look lists a site.
func (w *truth) look(s *scene, at *site) {
	l := s.list(at.name)
	l.State, l.ProbesFound, l.Clusters, l.Endpoint = at.state, nil, nil, at.name
	if at.state != code.ScopeComplete {
		l.Fault = &infra.Fault{Reason: "ListingBroken", Message: "it broke off"}
	}
	for _, c := range w.clusters {
		if c.site == at {
			l.Clusters = append(l.Clusters, c.id)
		}
	}
	inhabited, knownHere := map[string]bool{}, false
	for _, v := range w.vms {
		if !at.sees(v) {
			continue
		}
		l.Instances = append(l.Instances, w.instance(v))
		inhabited[v.folder] = inhabited[v.folder] || !v.template && !v.unreadable && v.dc == "DC0"
		for _, m := range w.machines {
			knownHere = knownHere || m.inBackup() && m.recorded && m.site == at && m.bios == v.bios && !v.unreadable
		}
	}
	if knownHere {
		l.ProbesFound = append(l.ProbesFound, key("known", at.name))
	}
	for _, f := range []string{"f0", "f1", "f2"} {
		if inhabited[f] || !at.hidden[f] { // what is empty shows by its permissions
			l.ProbesFound = append(l.ProbesFound, key("inhabited", at.name+"/"+f))
		}
		if !at.dark[f] {
			l.ProbesFound = append(l.ProbesFound, key("read", at.name+"/"+f))
		}
	}
}

// ownerOf returns what precedes the random characters of a name.
func ownerOf(name string) string { return name[:max(strings.LastIndexByte(name, '-'), 0)] }

// instance returns a VM as a listing shows it.
func (w *truth) instance(v *trueVM) infra.Instance {
	at := v.site.name + "/" + v.folder
	i := infra.Instance{Identity: v.identity, ID: v.bios, Ref: v.ref, Name: v.name, Path: at + "/" + v.name, Created: v.created, Unreadable: v.unreadable}
	i.Keys = []infra.Key{ref(v.ref), named(v.name), key("alias", strings.ToLower(v.name)), key("datacenter", v.dc), key("folder", at), key("place", at+"/"+strings.ToLower(v.name))}
	i.Keys = append(i.Keys, key("stem", at+"|"+ownerOf(v.name)), key("stem", "*|"+ownerOf(strings.ToLower(v.name))))
	if parent, _, below := strings.Cut(v.folder, "/"); below {
		i.Keys = append(i.Keys, key("below", v.site.name+"/"+parent))
	}
	for _, m := range w.machines {
		if m.inBackup() && strings.HasPrefix(strings.ToLower(v.name), m.name+"-") {
			if i.Keys = append(i.Keys, key("after", m.id.Name)); v.unreadable {
				i.Keys = append(i.Keys, key("within", at+"/"+m.name))
			}
		}
	}
	if v.unreadable {
		i.ID, i.Created = "", time.Time{}
		return i
	}
	i.Keys = append(i.Keys, bios(v.bios), uuid(v.uid), key("path+ref", at+"/"+v.name+" "+v.ref))
	if v.template {
		i.Exclude = infra.Template
	}
	if !v.on {
		i.Warnings = []code.Reason{code.PoweredOff}
	}
	if v.site.reads(v) && w.looksInto(v) {
		host := strings.ToLower(v.host)
		i.Host = key("host", host)
		i.Keys = append(i.Keys, i.Host, key("place", at+"/"+host), key("stem", "*|"+ownerOf(host)))
		if v.joins != "" {
			i.Keys = append(i.Keys, key("joins", v.joins))
		}
	}
	return i
}

// looksInto reports whether the metadata of a VM is asked for: it is in a folder of
// the clusters, or has a name of theirs.
func (w *truth) looksInto(v *trueVM) bool {
	for _, c := range w.clusters {
		if c.site == v.site && c.folder == v.folder || strings.HasPrefix(strings.ToLower(v.name), c.id.Name+"-") {
			return true
		}
	}
	return false
}

// nodeList asks a cluster for its Nodes.
func (w *truth) nodeList(s *scene, c *trueCluster) {
	l := &infra.Listing{
		IDs: []string{"workload/" + c.id.Name}, Provider: "workload", State: code.ScopeComplete, NodeState: c.nodes,
		Clusters: []backup.ClusterID{c.id}, ListedAt: noon,
	}
	s.listings = append(s.listings, l)
	if c.nodes != "read" {
		if l.State = code.ScopeFailed; c.nodes != "skipped" {
			l.Fault = &infra.Fault{Reason: "Unreachable", Message: "no route"}
		}
		return
	}
	for _, v := range slices.Concat(w.vms, w.away) {
		if v.node != c {
			continue
		}
		n := infra.Node{Cluster: c.id, Name: v.nodeMachine, Keys: []infra.Key{bios(v.nodeID)}, Ready: !v.nodeNotReady, Heartbeat: noon.Add(-time.Minute), ControlPlane: v.nodePlane}
		if !v.nodeUnmarked {
			n.Machine, n.ClusterName, n.ClusterNamespace = v.nodeMachine, c.id.Name, c.id.Namespace
			n.OwnerKind, n.OwnerName = machineSet, ownerOf(v.nodeMachine)
			if v.nodePlane {
				n.OwnerKind = plane
			}
		}
		l.Nodes = append(l.Nodes, n)
	}
}
