package list

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
)

// portAnswer is what is read of a port.
type portAnswer struct {
	openstack.Port
	ID      string
	Network string   `json:"network_id"`
	Project string   `json:"project_id"`
	Groups  []string `json:"security_groups"`
	Tags    []string // of a cloud that has them
	lacks   string   // a member that was asked for
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
	at map[string]*openstack.Attached // by server id
	// first are the servers that CAPO's first port of each name is attached to; "" for one
	// that is attached to none, because its server was deleted behind CAPO's back.
	first    map[string][]string
	attached bool                 // one of the project is a server's or a router's
	used     map[string]bool      // ids of security groups that any is in
	held     []held               // that are looked for and attached
	holders  map[string]string    // names of the servers that have them, by id
	named    map[infra.Key]string // the first port of a network and a name that is looked for
}

func newPorts() ports {
	return ports{at: map[string]*openstack.Attached{}, first: map[string][]string{}, used: map[string]bool{}, holders: map[string]string{}, named: map[infra.Key]string{}}
}

// of returns those of a server.
func (p *ports) of(server string) openstack.Attached {
	if a := p.at[server]; a != nil {
		return *a
	}
	return openstack.Attached{}
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
		query := url.Values{"fields": append(slices.Clone(portFields), "tags")}
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
	everyone := false // an administrator deletes no security group that another project's port is in, either
	for k := range l.marks {
		everyone = everyone || l.cloud.own && k.Kind == openstack.KeyUsed
	}
	for i := range all {
		p := &all[i]
		if p.ID = openstack.UUIDOf(p.ID); p.ID == "" {
			return answerError("the answer holds a port without an id")
		}
		// Of a cloud without security groups the backup records none.
		if p.lacks != "" && (p.lacks != "security_groups" || len(l.recorded.Groups) > 0) {
			return lacking(p.lacks + " of a port")
		}
		if l.cloud.own || p.Project == l.Identity {
			l.noteTwins(p)
		}
		if everyone || p.Project == l.Identity {
			for _, g := range p.Groups {
				if !l.ports.used[g] {
					l.ports.used[strings.Clone(strings.ToLower(g))] = true
				}
			}
		}
		if p.Project != l.Identity {
			continue // an administrator and the owner of a network see those of others, too
		}
		l.found(openstack.KeyPort, p.ID)
		if l.marks[infra.Key{Kind: openstack.KeyTrunk, Value: openstack.ByName + p.Name}] && p.Device != "" {
			l.Facts = append(l.Facts, infra.Fact{Name: openstack.FactHeld + "/" + p.Name, Value: openstack.UUIDOf(p.Device)})
		}
		l.noteHolder(p)
		var groups []string
		for _, g := range p.Groups {
			if g = openstack.UUIDOf(g); l.recorded.Groups[g] {
				groups = append(groups, strings.Clone(g))
			}
		}
		p.Network = openstack.UUIDOf(p.Network)
		onNetwork := l.recorded.Networks[p.Network]
		cluster, name := p.MadeFor()
		isMade := cluster != "" && (l.recorded.Clusters[cluster] || l.recorded.Names[name])
		if of := l.recorded.First[p.Name]; isMade && of != "" {
			l.ports.first[of] = append(l.ports.first[of], openstack.UUIDOf(p.Device))
		}
		device := openstack.UUIDOf(p.Device)
		l.ports.attached = l.ports.attached || device != ""
		if device == "" || !isMade && !onNetwork && len(groups) == 0 {
			continue
		}
		a := l.ports.at[device]
		if a == nil {
			a = &openstack.Attached{}
			l.ports.at[device] = a
		}
		if isMade {
			a.Made = append(a.Made, openstack.Made{Cluster: cluster, Name: name, Port: strings.Clone(p.Name), Network: p.Network, Groups: groups})
		}
		for _, g := range groups {
			if !slices.Contains(a.Groups, g) {
				a.Groups = append(a.Groups, g)
			}
		}
		if onNetwork && !slices.Contains(a.Networks, p.Network) {
			a.Networks = append(a.Networks, p.Network)
		}
	}
	return nil
}
