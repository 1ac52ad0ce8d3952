package openstack

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"drift-detector/infra"
)

// portAnswer is what is read of a port.
type portAnswer struct {
	ID, Name, Description string
	Device                string   `json:"device_id"`
	Owner                 string   `json:"device_owner"` // read with a few ports alone
	Network               string   `json:"network_id"`
	Project               string   `json:"project_id"`
	Groups                []string `json:"security_groups"`
	lacks                 string   // a member that was asked for
}

// UnmarshalJSON notes what a port lacks: what is not said is not empty.
func (p *portAnswer) UnmarshalJSON(text []byte) error {
	type plain portAnswer
	var said map[string]json.RawMessage
	if err := json.Unmarshal(text, (*plain)(p)); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return err
	}
	for _, field := range portFields {
		if v := said[field]; p.lacks == "" && (v == nil || string(v) == "null") {
			p.lacks = field
		}
	}
	return nil
}

// portFields are the members of a port that Neutron is asked for: with the others a port
// is four times as long.
var portFields = []string{"id", "name", "description", "device_id", "network_id", "project_id", "security_groups"}

// ports are those of a project that say something of the backup's clusters.
type ports struct {
	at map[string]*attached // by server id
	// first are the servers that CAPO's first port of each name is attached to; "" for one
	// that is attached to none, because its server was deleted behind CAPO's back.
	first    map[string][]string
	attached bool                 // one of the project is a server's or a router's
	used     map[string]bool      // ids of security groups that any is in
	held     []held               // that are looked for and attached
	holders  map[string]string    // names of the servers that have them, by id
	named    map[infra.Key]string // the first port of a network and a name that is looked for
}

// attached is what the ports of one server say.
type attached struct {
	made             []made
	groups, networks []string // that the backup records, and that CAPO made
}

func newPorts() ports {
	return ports{at: map[string]*attached{}, first: map[string][]string{}, used: map[string]bool{}, holders: map[string]string{}, named: map[infra.Key]string{}}
}

// of returns those of a server.
func (p *ports) of(server string) attached {
	if a := p.at[server]; a != nil {
		return *a
	}
	return attached{}
}

// mayStandIn reports whether a server that has the name may have the place of the machine
// of that name: nothing shows that CAPO's own port of that name is another's, or free.
func (p *ports) mayStandIn(name, id string) bool {
	of, known := p.first[name]
	return !known || slices.Contains(of, id)
}

// readPorts reads the ports of the project before its servers, so that each server is
// complete as it comes in.
func (l *listing) readPorts(ctx context.Context) *infra.Fault {
	network := l.cloud.services[typeNetwork]
	base, marker := v2(network.Endpoint)+"ports", ""
	var markers markers
	for range maxPages {
		query := url.Values{"fields": portFields}
		if marker != "" {
			query.Set("marker", marker)
		}
		page, err := readPage[portAnswer](ctx, l, network, base+"?"+query.Encode(), "ports")
		if err == nil {
			err = l.takePorts(page.items)
		}
		if err != nil {
			return listFault(ctx, l.target, "listing ports", err)
		}
		if !page.more {
			return nil
		}
		marker = page.items[len(page.items)-1].ID
		if err := markers.add(marker); err != nil {
			return listFault(ctx, l.target, "listing ports", err)
		}
	}
	return listFault(ctx, l.target, "listing ports", answerError("there is no end of pages"))
}

// v2 returns the versioned address of a service whose catalogue entry may name no version.
func v2(endpoint string) string {
	if strings.HasSuffix(endpoint, "/v2.0/") {
		return endpoint
	}
	return endpoint + "v2.0/"
}

// takePorts keeps of ports what the backup's clusters and machines have to do with.
func (l *listing) takePorts(all []portAnswer) error {
	for i := range all {
		p := &all[i]
		if p.ID = uuidOf(p.ID); p.ID == "" {
			return answerError("the answer holds a port without an id")
		}
		// Of a cloud without security groups the backup records none.
		if p.lacks != "" && (p.lacks != "security_groups" || len(l.recorded.groups) > 0) {
			return lacking(p.lacks + " of a port")
		}
		if l.cloud.own || p.Project == l.Identity {
			l.noteTwins(p)
		}
		if p.Project != l.Identity {
			continue // an administrator and the owner of a network see those of others, too
		}
		l.found(keyPort, p.ID)
		if l.marks[infra.Key{Kind: keyTrunk, Value: byName + p.Name}] && p.Device != "" {
			l.Facts = append(l.Facts, infra.Fact{Name: factHeld + "/" + p.Name, Value: uuidOf(p.Device)})
		}
		l.noteHolder(p)
		var groups []string
		for _, g := range p.Groups {
			if !l.ports.used[g] {
				l.ports.used[strings.Clone(strings.ToLower(g))] = true
			}
			if g = uuidOf(g); l.recorded.groups[g] {
				groups = append(groups, strings.Clone(g))
			}
		}
		p.Network = uuidOf(p.Network)
		onNetwork := l.recorded.networks[p.Network]
		cluster, name := madeFor(p)
		isMade := cluster != "" && (l.recorded.clusters[cluster] || l.recorded.names[name])
		if of := l.recorded.first[p.Name]; isMade && of != "" {
			l.ports.first[of] = append(l.ports.first[of], uuidOf(p.Device))
		}
		device := uuidOf(p.Device)
		l.ports.attached = l.ports.attached || device != ""
		if device == "" || !isMade && !onNetwork && len(groups) == 0 {
			continue
		}
		a := l.ports.at[device]
		if a == nil {
			a = &attached{}
			l.ports.at[device] = a
		}
		if isMade {
			a.made = append(a.made, made{cluster: cluster, name: name, port: strings.Clone(p.Name), network: p.Network, groups: groups})
		}
		for _, g := range groups {
			if !slices.Contains(a.groups, g) {
				a.groups = append(a.groups, g)
			}
		}
		if onNetwork && !slices.Contains(a.networks, p.Network) {
			a.networks = append(a.networks, p.Network)
		}
	}
	return nil
}

// madeFor reads from a port that CAPO made the cluster, as its description has it, and the
// name of the server that it was made for; both are empty for any other port. Ports of
// one server are numbered, or have a suffix of their own
// (getPortName in pkg/cloud/services/networking/port.go v0.14.7).
func madeFor(p *portAnswer) (cluster, name string) {
	cluster, ok := strings.CutPrefix(p.Description, portDescription)
	i := strings.LastIndexByte(p.Name, '-')
	if !ok || cluster == "" || i <= 0 || len(p.Name) > maxName || len(cluster) > maxName {
		return "", ""
	}
	return strings.Clone(cluster), strings.Clone(p.Name[:i])
}
