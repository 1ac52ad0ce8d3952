package openstack

import (
	"cmp"
	_ "embed"
	"strings"

	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/openstack/openstackcli"
	"drift-detector/internal/lazyregexp"
)

// Name is the provider's name in reports.
const Name = "openstack"

//go:embed permissions.md
var role string

// flagCloud lets the operator's own credential be used: an entry of the operator's own
// clouds.yaml, or what the OS_ variables of the openstack command say, which that command
// calls by the name of ofVariables, too.
const (
	flagCloud   = "openstack-cloud"
	ofVariables = "envvars"
)

// Provider is all of the OpenStack provider but List, which package list adds. Its field says what
// the operator has, and is asked only where a flag lets that be used.
type Provider struct {
	Getenv func(name string) string // a variable of the environment
}

// Spec says what the provider reads from a backup.
func (p *Provider) Spec() infra.Spec {
	return infra.Spec{
		Name: Name, Title: "OpenStack", Scope: "OpenStack project",
		Supports:      "CAPO v1alpha6 to v1beta2, OpenStackServers",
		Want:          want,
		Rules:         []check.Rule{ruleCredential, ruleBadIdentity, rulesForbidden.Decided, rulesForbidden.Undecided, ruleOtherCloud, ruleAddress, ruleBootstrap},
		Keys:          providerIDKeys,
		MachineKinds:  []infra.Kind{{Group: group, Kind: machineKind, Plural: "openstackmachines"}, {Group: group, Kind: serverKind, Plural: "openstackservers"}},
		ClusterKind:   infra.Kind{Group: group, Kind: clusterKind, Plural: "openstackclusters"},
		IdentityKinds: []infra.Kind{{Group: group, Kind: identityKind, Plural: "openstackclusteridentities"}},
		Controller:    controllerOf(withServers),
		// Floating IPs: removeAPIServerEndpoint in controllers/openstackmachine_controller.go
		// v0.14.7, and reconcileDelete before.
		OnDelete: "deleting a Machine makes CAPO delete the server that it took for it, which after a restore is any one of its name, and with one of a control plane without a load balancer of CAPO's its floating IPs",
		// A project sees none of another's servers.
		SeparateAccounts: true,
		Tool:             openstackcli.Tool{},
		Words: map[string]string{
			KeyServer.String():       "server id",
			KeyPort.String():         "port id",
			string(infra.NotActive):  "Nova is still making or changing the server",
			string(infra.ErrorState): "Nova calls the server broken (ERROR)",
		},
		Permissions: infra.Permissions{
			About: "says which role the account needs, in which project, and what is not seen when a part of it is missing",
			Text:  role, File: "permissions.md",
		},
		Remedies: remedies, Walk: walkRows(),
		Flags: []infra.Flag{
			{Name: flagCloud, Usage: "cloud `NAME` of your own clouds.yaml instead; where the backup's credential is missing or refused, and envvars for your OS_ variables"},
		},
	}
}

// Kinds of keys, see the package documentation.
var (
	KeyServer    = infra.KeyKindOf("serverID")
	keyName      = infra.KeyKindOf("name")
	KeySought    = infra.KeyKindOf("soughtName") // name of a machine that Nova's filter finds a server of another name by
	KeyPort      = infra.KeyKindOf("port")
	keyMade      = infra.KeyKindOf("cluster+name")
	keyStandIn   = infra.KeyKindOf("standIn")
	keyGroup     = infra.KeyKindOf("group+port")
	keyGroupStem = infra.KeyKindOf("group+stem1")
	keyGroupTwo  = infra.KeyKindOf("group+stem2")
	keyNetMade   = infra.KeyKindOf("cluster+network")
	keyNetStem   = infra.KeyKindOf("network+stem1")
	keyNetTwo    = infra.KeyKindOf("network+stem2")
	keyNamed     = infra.KeyKindOf("group+named1")
	keyNamedTwo  = infra.KeyKindOf("group+named2")
	KeyNetwork   = infra.KeyKindOf("network")
	keyLent      = infra.KeyKindOf("lentPort")
	keyMark      = infra.KeyKindOf("mark")
	keyStem1     = infra.KeyKindOf("stem1")
	keyStem2     = infra.KeyKindOf("stem2")
	keyNameless  = infra.KeyKindOf("nameless")
	KeyHost      = infra.KeyKindOf("hostName")
	// Probes.
	KeySubnet      = infra.KeyKindOf("subnet")
	KeyRouter      = infra.KeyKindOf("router")
	KeySecurity    = infra.KeyKindOf("securityGroup")
	KeyBalancer    = infra.KeyKindOf("loadBalancer")
	KeyFloating    = infra.KeyKindOf("floatingIP")
	KeyImage       = infra.KeyKindOf("image")
	KeyFlavor      = infra.KeyKindOf("flavor")
	KeyServerGroup = infra.KeyKindOf("serverGroup")
	KeyKeyPair     = infra.KeyKindOf("keyPair")
	KeyBastion     = infra.KeyKindOf("bastion")
	KeyTaken       = infra.KeyKindOf("takenPort")      // network/name of a port that a server has which the backup does not record
	KeyTwinImages  = infra.KeyKindOf("twinImages")     // an image that is asked for, of which there are several
	KeyTwins       = infra.KeyKindOf("twinPorts")      // network/name of several ports
	KeyRenamed     = infra.KeyKindOf("renamed")        // kind/id/name of what CAPO made and no longer has its name
	KeyNamesakes   = infra.KeyKindOf("namesakes")      // kind/name of several things, of which CAPO made one
	KeyElsewhere   = infra.KeyKindOf("elsewhere")      // floating IP of an API server or a bastion that another server has
	KeyLost        = infra.KeyKindOf("lostFloatingIP") // server/address of a floating IP that the server is to have and has not
	KeyStuck       = infra.KeyKindOf("stuckBastion")   // name of a server in ERROR or BUILD
	KeyPortless    = infra.KeyKindOf("portless")       // network/name/address of a port that is not there, while a server has the address
	KeyExternal    = infra.KeyKindOf("externalNetwork")
	KeyHeld        = infra.KeyKindOf("heldPort")  // network/name of a port that a server has
	KeyTagged      = infra.KeyKindOf("portTags")  // network/name of a port whose tags are read
	KeyManaged     = infra.KeyKindOf("managed")   // kind/name of what CAPO made, under its name
	KeyUsed        = infra.KeyKindOf("usedGroup") // name of a security group that ports are in
	KeyInside      = infra.KeyKindOf("subnetsOf") // id of a network, whose subnets are counted
	KeyListener    = infra.KeyKindOf("listener")
	KeyPool        = infra.KeyKindOf("pool")
	KeyZone        = infra.KeyKindOf("availabilityZone")
	KeyExtension   = infra.KeyKindOf("extension") // of Neutron
	KeyTrunk       = infra.KeyKindOf("trunk")
	KeyOwn         = infra.KeyKindOf("own") // one of the above that the project owns
)

// called are the kinds of things that are looked for, as people call them.
var called = map[infra.KeyKind]string{
	KeyNetwork:     "networks",
	KeyExternal:    "external networks",
	KeySubnet:      "subnets",
	KeyInside:      "subnets",
	KeyRouter:      "routers",
	KeySecurity:    "security groups",
	KeyFloating:    "floating IPs",
	KeyBalancer:    "load balancers",
	KeyListener:    "listeners of load balancers",
	KeyPool:        "pools of load balancers",
	KeyExtension:   "extensions of Neutron",
	KeyTrunk:       "trunks",
	KeyZone:        "availability zones",
	KeyImage:       "images",
	KeyFlavor:      "flavors",
	KeyServerGroup: "server groups",
	KeyKeyPair:     "key pairs",
}

// PeopleCall returns what people call the things of a kind.
func PeopleCall(k infra.KeyKind) string { return cmp.Or(called[k], k.String()) }

// Nameless is a key of servers of which Nova said no name: their cell is down.
var Nameless = infra.Key{Kind: keyNameless, Value: "cell down"}

const providerIDPrefix = "openstack://"

// providerIDKeys reads ids of the forms openstack:///<uuid> and openstack://<region>/<uuid>.
// The region is in some and not in others of one server, so that the UUID alone counts.
func providerIDKeys(providerID string) []infra.Key {
	id := strings.TrimSpace(providerID)
	if len(id) < len(providerIDPrefix) || !strings.EqualFold(id[:len(providerIDPrefix)], providerIDPrefix) {
		return nil
	}
	rest := id[len(providerIDPrefix):]
	if u := UUIDOf(rest[strings.LastIndex(rest, "/")+1:]); u != "" {
		return []infra.Key{{Kind: KeyServer, Value: u}}
	}
	return nil
}

var uuidForm = lazyregexp.New(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// UUIDOf returns the UUID in lower case, or empty when s is none.
func UUIDOf(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if !uuidForm.MatchString(s) {
		return ""
	}
	return s
}
