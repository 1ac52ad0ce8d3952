package list

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unique"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// serverAnswer is what is read of a server. One of a cell that is down has no name.
type serverAnswer struct {
	ID             string
	Name           string
	Status         string
	Task           string `json:"OS-EXT-STS:task_state"`
	Project        string `json:"tenant_id"`
	Created        time.Time
	Hostname       string `json:"OS-EXT-SRV-ATTR:hostname"`
	Zone           string `json:"OS-EXT-AZ:availability_zone"`
	Addresses      map[string][]struct{ Addr string }
	SecurityGroups []struct{ Name string } `json:"security_groups"`
	Metadata       map[string]string
	Tags           []string
	Flavor         struct {
		Name             string `json:"original_name"` // as all of it from microversion 2.47 on
		VCPUs, RAM, Disk int64  // MiB, GiB
	}
}

// Statuses of servers (CAPO api/v1beta1/types.go v0.14.7; nova api-ref servers). Of all but
// ACTIVE CAPO waits for another one, and does nothing for it.
var (
	changing = []string{"BUILD", "REBUILD", "REBOOT", "HARD_REBOOT", "PASSWORD", "RESIZE", "VERIFY_RESIZE", "REVERT_RESIZE", "MIGRATING"}
	stopped  = []string{"SHUTOFF", "SUSPENDED", "PAUSED", "SHELVED", "SHELVED_OFFLOADED", "RESCUE"}
	ended    = []string{"DELETED", "SOFT_DELETED"} // CAPO takes both for gone
	// ending are tasks of a server that is being deleted: its status is what it was, for
	// ever where its host does not answer (nova compute/task_states.py 34.0.0).
	ending = []string{"deleting", "soft-deleting"}
)

func (l *listing) instance(s *serverAnswer) infra.Instance {
	out := infra.Instance{
		Identity: l.cloud.id + "/" + s.ID, ID: s.ID, Name: s.Name, State: s.Status, Created: dateOf(s.Created),
		Size: infra.NewSize(s.Flavor.VCPUs, s.Flavor.RAM, s.Flavor.Disk, s.Flavor.Name),
		Keys: []infra.Key{{Kind: openstack.KeyServer, Value: s.ID}},
	}
	if s.Name == "" {
		out.Unreadable = true
		out.Keys = append(out.Keys, openstack.Nameless)
		return out
	}
	switch status := strings.ToUpper(s.Status); {
	case slices.Contains(ending, s.Task) && !slices.Contains(ended, status):
		out.Unreadable = true
	case status == "ACTIVE":
	case slices.Contains(changing, status):
		out.Warnings = []code.Reason{code.NotActive}
	case slices.Contains(stopped, status):
		out.Warnings = []code.Reason{code.PoweredOff}
	case slices.Contains(ended, status):
		out.Gone = true
	case status == "ERROR":
		out.Warnings = []code.Reason{code.ErrorState}
	default: // it may run, or have ended
		out.Unreadable = true
	}
	networks := slices.Sorted(maps.Keys(s.Addresses))
	out.Path = strings.Join(append([]string{cmp.Or(s.Zone, "no zone")}, append(slices.Clone(networks), s.ID)...), "/")
	out.Addresses, out.Tags = addresses(s), tagsOf(s)
	of := openstack.Server{ID: s.ID, Name: s.Name, StandsIn: l.ports.mayStandIn(s.Name, s.ID), Ports: l.ports.of(s.ID), Networks: networks}
	for _, g := range s.SecurityGroups {
		of.Groups = append(of.Groups, g.Name)
	}
	out.Keys = append(out.Keys, l.recorded.KeysOf(&of)...)
	for _, k := range out.Keys {
		if k.Kind == openstack.KeySought && !out.Gone {
			l.Warnings = append(l.Warnings, fmt.Sprintf("%s: CAPO searches for server %s by a regular expression that finds %s, too, unless only upper and lower case differ and the database of Nova is neither MySQL nor MariaDB", where(l.target), infra.Brief(k.Value), infra.Brief(s.Name)))
		}
	}
	if s.Hostname != "" && len(s.Hostname) <= openstack.MaxName {
		out.Host = infra.Key{Kind: openstack.KeyHost, Value: strings.ToLower(s.Hostname)}
		out.Keys = append(out.Keys, out.Host)
	}
	l.noteBastion(s)
	if _, holds := l.ports.holders[s.ID]; holds && !out.Gone {
		l.ports.holders[s.ID] = s.Name
	}
	l.noteLost(s.ID, out.Addresses)
	for _, ip := range out.Addresses {
		l.ProbesFound = append(l.ProbesFound, l.portless[ip]...)
	}
	return out
}

// noteBastion notes a server that CAPO made as a bastion, by its name.
func (l *listing) noteBastion(s *serverAnswer) {
	if status := strings.ToUpper(s.Status); status == "ERROR" || status == "BUILD" {
		l.found(openstack.KeyStuck, s.Name)
	}
	for _, p := range l.ports.of(s.ID).Made {
		if p.Name == s.Name {
			l.found(openstack.KeyBastion, s.Name)
		}
	}
}

// addresses returns the addresses of a server, in order.
func addresses(s *serverAnswer) []string {
	var list []string
	for _, n := range s.Addresses {
		for _, a := range n {
			if ip, err := netip.ParseAddr(a.Addr); err == nil {
				list = append(list, ip.String())
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// tagsOf returns metadata and tags, as people gave them. A tag that looks like an assignment is
// taken for one, as CAPO's users write them. Their keys are few: all servers share them.
func tagsOf(s *serverAnswer) []infra.Tag {
	var out []infra.Tag
	for k, v := range s.Metadata {
		out = append(out, infra.Tag{Key: unique.Make(k).Value(), Value: v})
	}
	for _, t := range s.Tags {
		k, v, _ := strings.Cut(t, "=")
		out = append(out, infra.Tag{Key: unique.Make(k).Value(), Value: v})
	}
	sorting.By(out, func(a, b infra.Tag) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value)) })
	return slices.Compact(out)
}

// dateOf returns a date in UTC, zero when it is none that an inventory can be saved with.
func dateOf(t time.Time) time.Time {
	t = t.UTC()
	if year := t.Year(); t.IsZero() || year < 1 || year > 9999 {
		return time.Time{}
	}
	return t
}
