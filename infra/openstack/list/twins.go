package list

import (
	"cmp"
	"strings"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
)

// readPortless collects the ports with addresses that are looked for and are not there.
func (l *listing) readPortless() {
	for k := range l.marks {
		if i := strings.LastIndexByte(k.Value, '/'); k.Kind == openstack.KeyPortless {
			if _, there := l.ports.named[infra.Key{Kind: openstack.KeyTwins, Value: k.Value[:i]}]; !there {
				l.portless[k.Value[i+1:]] = append(l.portless[k.Value[i+1:]], k)
			}
		}
	}
}

// noteTwins notes a port of a name that is looked for if it is not the first of its
// network.
func (l *listing) noteTwins(p *portAnswer) {
	here, anywhere := openstack.TwinKey(openstack.UUIDOf(p.Network), p.Name), openstack.TwinKey("", p.Name)
	if !l.marks[here] && !l.marks[anywhere] {
		return
	}
	if first := l.ports.named[here]; cmp.Or(first, p.ID) != p.ID {
		l.found(openstack.KeyTwins, here.Value)
		l.found(openstack.KeyTwins, anywhere.Value)
		return
	}
	l.ports.named[here], l.ports.named[anywhere] = p.ID, p.ID
	for _, k := range []infra.Key{{Kind: openstack.KeyTagged, Value: here.Value}, {Kind: openstack.KeyTagged, Value: anywhere.Value}} {
		if l.marks[k] {
			l.found(k.Kind, k.Value)
			l.noteTags(k, p.Tags)
		}
	}
	if device := openstack.UUIDOf(p.Device); device != "" {
		l.found(openstack.KeyHeld, here.Value)
		l.found(openstack.KeyHeld, anywhere.Value)
		l.ports.held = append(l.ports.held, held{strings.Clone(p.Name), here.Value, device})
		l.ports.holders[device] = ""
		if l.marks[anywhere] { // its object names no network by an id
			l.Facts = append(l.Facts, infra.Fact{Name: openstack.FactPortIn + "/" + p.Name, Value: openstack.UUIDOf(p.Network) + " " + device})
		}
	}
}

// held is a port of a name that is looked for, and the device that has it.
type held struct{ name, here, device string }

// readTaken notes the ports that Nova refuses for a new server: those of a server that is called
// otherwise, and of one that is gone and still has its port.
func (l *listing) readTaken() {
	for _, h := range l.ports.held {
		if server := l.ports.holders[h.device]; server == "" || !strings.HasPrefix(h.name, server+"-") {
			_, name, _ := strings.Cut(h.here, "/")
			l.found(openstack.KeyTaken, h.here)
			l.found(openstack.KeyTaken, "/"+name)
		}
	}
}

// noteHolder notes to which server a port is attached that is named after a server that is
// looked for: CAPO makes the ports of its servers so, and takes and deletes them by these names
// (getPortName in pkg/cloud/services/networking/port.go v0.14.7).
func (l *listing) noteHolder(p *portAnswer) {
	of := l.recorded.Sought
	if of == "" || len(p.Name) <= len(of)+1 || p.Name[:len(of)+1] != of+"-" {
		return
	}
	l.Facts = append(l.Facts, infra.Fact{Name: infra.FactHolder, Value: p.Name + " " + openstack.UUIDOf(p.Device)})
}
