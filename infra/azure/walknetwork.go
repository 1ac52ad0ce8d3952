package azure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of what AzureCluster sets back in its network.
var (
	rowC2 = &walk.Row{
		ID: "azure.C2", Of: clusterKind,
		Asks:      "the rules of each subnet's securityGroup, by name and port, in the network security group of that name, where the virtual network is one that CAPZ made; and there none that it applied before and the object names no more",
		Differs:   walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPZ opens again what was closed since the backup, SSH too, and deletes the rules that its object names no more"},
		Condition: code.InfrastructureUnasked,
		Source:    "Parameters, ruleExists: azure/services/securitygroups/spec.go v1.13.0 to v1.26.0",
	}
	rowC3 = &walk.Row{
		ID: "azure.C3", Of: clusterKind,
		Asks:      "the frontends, backend pool, rules and probe of its load balancers, and for each machine of the control plane an inbound NAT rule for SSH, by their names",
		Differs:   walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPZ adds what was taken off the load balancer since the backup, and takes off its other tags"},
		Condition: code.InfrastructureUnasked,
		Source:    "Parameters: azure/services/loadbalancers/spec.go; InboundNatSpecs: azure/scope/machine.go; Parameters: azure/services/inboundnatrules/spec.go v1.13.0 to v1.26.0",
	}
	rowC4 = &walk.Row{
		ID: "azure.C4", Of: clusterKind,
		Asks:      "both peerings with each virtual network of spec.networkSpec.vnet.peerings, by their names",
		Differs:   walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPZ peers the networks again"},
		Condition: code.InfrastructureUnasked,
		Source:    "VnetPeeringSpecs: azure/scope/cluster.go; Parameters: azure/services/vnetpeerings/spec.go v1.13.0 to v1.26.0",
	}
	rowC5 = &walk.Row{
		ID: "azure.C5", Of: clusterKind,
		Asks:      "the record of a private API server in its DNS zone, which it writes each time, and the links of the zone with its virtual networks",
		Condition: code.InfrastructureUnasked,
		Source:    "PrivateDNSSpec: azure/scope/cluster.go; Parameters: azure/services/privatedns/record_spec.go, link_spec.go v1.13.0 to v1.26.0",
	}
	networkRows = []*walk.Row{rowC2, rowC3, rowC4, rowC5}
)

// askNetwork asks what AzureCluster compares.
func (q *questions) askNetwork(id backup.ClusterID, l *location) {
	if l.groupID() == "" {
		return
	}
	n := l.record.Data.network()
	q.compare(rowC2, id, q.securityParts(id, l, &n))
	q.compare(rowC3, id, q.balancerParts(id, l, &n))
	q.compare(rowC4, id, peeringParts(l, &n))
	q.noteUnseen(rowC5, id, n.zone(id.Name) != "")
}

// part is something that CAPZ compares. lacks says what it would set back, or "" where it sets back
// nothing; seen is false where the listing does not show it.
type part struct {
	object, arm string
	lacks       func(*infra.Lookup) (why string, seen bool)
}

// compare asks a row of parts. Of one that is gone a resource says it.
func (q *questions) compare(r *walk.Row, id backup.ClusterID, parts []part) {
	if len(parts) == 0 {
		q.Note(r, id, pass)
		return
	}
	q.look(of(r, id, infra.ClusterTitle(id)), func(at *infra.Lookup) walk.Answer {
		found := pass
		for _, p := range parts {
			if at.Lacks(resourceKey(p.arm)) {
				continue
			}
			switch why, seen := p.lacks(at); {
			case why != "":
				return answer(walk.Differs, p.object, p.object+" "+why, "is as its cluster's object says")
			case !seen:
				found = unseen(infra.ClusterTitle(id))
			}
		}
		return found
	})
}

// securityParts returns the network security groups, unless CAPZ was given the network.
func (q *questions) securityParts(id backup.ClusterID, l *location, n *network) (parts []part) {
	if !l.made(n, id.Name) {
		return nil
	}
	var applied map[string]map[string]string
	_ = json.Unmarshal([]byte(l.record.Data.Applied), &applied)
	for i := range n.Subnets {
		g := &n.Subnets[i].SecurityGroup
		if g.Name == "" {
			continue
		}
		arm := thing(l.networkGroup(n), thingSecurity, g.Name)
		parts = append(parts, part{thingSecurity + " " + g.Name, arm, func(at *infra.Lookup) (string, bool) {
			have, seen := readFact[[]SecurityRule](at, FactSecurity, arm)
			if !seen {
				return "", false
			}
			return g.lacks(have, applied[g.Name]), true
		}})
	}
	return parts
}

// lacks says which rule CAPZ would write or delete in a group that has these.
func (g *securityGroup) lacks(have []SecurityRule, applied map[string]string) string {
	names := map[string]bool{}
	for _, r := range g.SecurityRules {
		names[r.Name] = true
		if !slices.ContainsFunc(have, r.isAs) {
			return fmt.Sprintf("has no rule %s for port %s as CAPZ looks for it", r.Name, cmp.Or(r.DestinationPorts, "*"))
		}
	}
	for _, r := range have {
		if _, once := applied[r.Name]; once && !names[r.Name] {
			return "has rule " + r.Name + ", which the object does not name any more"
		}
	}
	return ""
}

// isAs reports whether CAPZ takes a rule of a group for this one (ruleExists in
// azure/services/securitygroups/spec.go): it compares no more than this.
func (r specRule) isAs(have SecurityRule) bool {
	p := &have.Properties
	return strings.EqualFold(have.Name, r.Name) && strings.EqualFold(p.DestinationPortRange, r.DestinationPorts) &&
		(p.Protocol == "Tcp" || p.Access == "Allow" || p.Direction == "Inbound") &&
		(p.SourcePortRange == "*" || p.SourceAddressPrefix == "*" || p.DestinationAddressPrefix == "*")
}

// balancerParts returns the load balancers (LBSpecs in azure/scope/cluster.go).
func (q *questions) balancerParts(id backup.ClusterID, l *location, n *network) (parts []part) {
	for i, lb := range n.balancers() {
		if lb.Name == "" {
			continue
		}
		want := lb.wanted([...]string{lb.Name + "-backendPool", lb.Name + "-outboundBackendPool", id.Name + "-outbound-lb-outboundBackendPool", ""}[i])
		if i == 0 {
			want.FrontendIPConfigurations = want.FrontendIPConfigurations[:min(1, len(want.FrontendIPConfigurations))]
			want.InboundNATRules = q.natRules(id)
		}
		if i == 0 || i == 3 { // before the API server
			want.LoadBalancingRules = append([]Named{{"LBRuleHTTPS"}}, n.AdditionalAPIServerLBPorts...)
			want.Probes = []Named{{"HTTPSProbe"}}
		}
		arm := thing(l.groupID(), thingBalancer, lb.Name)
		parts = append(parts, part{thingBalancer + " " + lb.Name, arm, func(at *infra.Lookup) (string, bool) {
			have, seen := readFact[Balancer](at, FactBalancer, arm)
			if !seen {
				return "", false
			}
			return want.missing(&have)
		}})
	}
	return parts
}

// wanted returns what CAPZ wants each load balancer to have. One before the API server has one
// frontend, which is the first with a public address where it is not internal.
func (lb *balancer) wanted(pool string) *Balancer {
	want := &Balancer{BackendAddressPools: []Named{{cmp.Or(lb.BackendPool.Name, pool)}}}
	internal := lb.Type == "Internal"
	for _, ip := range lb.FrontendIPs {
		if internal || ip.PublicIP.Name != "" {
			want.FrontendIPConfigurations = append(want.FrontendIPConfigurations, Named{ip.Name})
		}
	}
	if !internal {
		want.OutboundRules = []Named{{"OutboundNATAllProtocols"}}
	}
	return want
}

// natRules returns the inbound NAT rules of a cluster's control plane, which are called as its VMs.
func (q *questions) natRules(id backup.ClusterID) (rules []Named) {
	for _, m := range q.objs.machinesOf[id] {
		if m.index >= 0 && m.record != nil && !m.record.Paused && q.objs.snapshot.Machines[m.index].ControlPlane {
			vm, _ := ParseID(vmOf(m.record.Data.ProviderID))
			rules = append(rules, Named{cmp.Or(vm.Name, m.vmName())})
		}
	}
	return rules
}

// missing says what a load balancer lacks that is wanted. Where one of its lists is not known, what
// it has of others is no proof.
func (want *Balancer) missing(have *Balancer) (why string, seen bool) {
	seen = true
	for i, kind := range []string{"frontend", "backend pool", "rule", "outbound rule", "probe", "inbound NAT rule"} {
		wanted, there := want.lists()[i], have.lists()[i]
		if len(wanted) > 0 && there == nil {
			seen = false
			continue
		}
		for _, w := range wanted {
			if !slices.ContainsFunc(there, w.isAs) {
				return "has no " + kind + " " + w.Name, true
			}
		}
	}
	return "", seen
}

func (n Named) isAs(other Named) bool { return strings.EqualFold(n.Name, other.Name) }

func (b *Balancer) lists() [6][]Named {
	return [...][]Named{b.FrontendIPConfigurations, b.BackendAddressPools, b.LoadBalancingRules, b.OutboundRules, b.Probes, b.InboundNATRules}
}

// peeringParts returns both ends of each peering.
func peeringParts(l *location, n *network) (parts []part) {
	add := func(group, from, to string) {
		arm, name := thing(group, thingNetwork, from), from+"-To-"+to
		parts = append(parts, part{thingNetwork + " " + from, arm, func(at *infra.Lookup) (string, bool) {
			have, seen := readFact[Network](at, FactNetwork, arm)
			if seen = seen && have.Peerings != nil; !seen || slices.ContainsFunc(have.Peerings, Named{name}.isAs) {
				return "", seen
			}
			return "has no peering " + name, true
		}})
	}
	for _, p := range n.VNet.Peerings {
		add(l.networkGroup(n), n.VNet.Name, p.RemoteVnetName)
		add(groupID(l.subscription, p.ResourceGroup), p.RemoteVnetName, n.VNet.Name)
	}
	return parts
}
