package openstack

import (
	_ "embed"
	"os"
	"regexp"
	"strings"

	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/openstack/openstackcli"
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

// provider implements infra.Provider. Its only state is the count of failed logins,
// which must outlive a single listing.
type provider struct {
	logins   *infra.Logins
	accounts accounts
	retry    infra.Retry
	getenv   func(string) string
}

// New returns the OpenStack provider. One value serves one run: it counts the logins that
// failed, so that no account is locked.
func New() infra.Provider {
	retry := infra.Patient
	retry.Also = overloaded
	return &provider{logins: &infra.Logins{}, retry: retry, getenv: os.Getenv}
}

// Spec says what the provider reads from a backup.
func (p *provider) Spec() infra.Spec {
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
			keyServer.String():       "server id",
			keyPort.String():         "port id",
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
	keyServer    = infra.KeyKindOf("serverID")
	keyName      = infra.KeyKindOf("name")
	keyPort      = infra.KeyKindOf("port")
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
	keyNetwork   = infra.KeyKindOf("network")
	keyLent      = infra.KeyKindOf("lentPort")
	keyMark      = infra.KeyKindOf("mark")
	keyStem1     = infra.KeyKindOf("stem1")
	keyStem2     = infra.KeyKindOf("stem2")
	keyNameless  = infra.KeyKindOf("nameless")
	keyHost      = infra.KeyKindOf("hostName")
	// Probes.
	keySubnet      = infra.KeyKindOf("subnet")
	keyRouter      = infra.KeyKindOf("router")
	keySecurity    = infra.KeyKindOf("securityGroup")
	keyBalancer    = infra.KeyKindOf("loadBalancer")
	keyFloating    = infra.KeyKindOf("floatingIP")
	keyImage       = infra.KeyKindOf("image")
	keyFlavor      = infra.KeyKindOf("flavor")
	keyServerGroup = infra.KeyKindOf("serverGroup")
	keyKeyPair     = infra.KeyKindOf("keyPair")
	keyBastion     = infra.KeyKindOf("bastion")
	keyTaken       = infra.KeyKindOf("takenPort")      // network/name of a port that a server has which the backup does not record
	keyTwinImages  = infra.KeyKindOf("twinImages")     // an image that is asked for, of which there are several
	keyTwins       = infra.KeyKindOf("twinPorts")      // network/name of several ports
	keyRenamed     = infra.KeyKindOf("renamed")        // kind/id/name of what CAPO made and no longer has its name
	keyNamesakes   = infra.KeyKindOf("namesakes")      // kind/name of several things, of which CAPO made one
	keyElsewhere   = infra.KeyKindOf("elsewhere")      // floating IP of an API server or a bastion that another server has
	keyLost        = infra.KeyKindOf("lostFloatingIP") // server/address of a floating IP that the server is to have and has not
	keyStuck       = infra.KeyKindOf("stuckBastion")   // name of a server in ERROR or BUILD
	keyPortless    = infra.KeyKindOf("portless")       // network/name/address of a port that is not there, while a server has the address
	keyExternal    = infra.KeyKindOf("externalNetwork")
	keyHeld        = infra.KeyKindOf("heldPort")  // network/name of a port that a server has
	keyManaged     = infra.KeyKindOf("managed")   // kind/name of what CAPO made, under its name
	keyUsed        = infra.KeyKindOf("usedGroup") // name of a security group that ports are in
	keyInside      = infra.KeyKindOf("subnetsOf") // id of a network, whose subnets are counted
	keyListener    = infra.KeyKindOf("listener")
	keyPool        = infra.KeyKindOf("pool")
	keyZone        = infra.KeyKindOf("availabilityZone")
	keyExtension   = infra.KeyKindOf("extension") // of Neutron
	keyTrunk       = infra.KeyKindOf("trunk")
	keyOwn         = infra.KeyKindOf("own") // one of the above that the project owns
)

// nameless is a key of servers of which Nova said no name: their cell is down.
var nameless = infra.Key{Kind: keyNameless, Value: "cell down"}

const providerIDPrefix = "openstack://"

// providerIDKeys reads ids of the forms openstack:///<uuid> and openstack://<region>/<uuid>.
// The region is in some and not in others of one server, so that the UUID alone counts.
func providerIDKeys(providerID string) []infra.Key {
	id := strings.TrimSpace(providerID)
	if len(id) < len(providerIDPrefix) || !strings.EqualFold(id[:len(providerIDPrefix)], providerIDPrefix) {
		return nil
	}
	rest := id[len(providerIDPrefix):]
	if u := uuidOf(rest[strings.LastIndex(rest, "/")+1:]); u != "" {
		return []infra.Key{{Kind: keyServer, Value: u}}
	}
	return nil
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// uuidOf returns the UUID in lower case, or empty when s is none.
func uuidOf(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if !uuidForm.MatchString(s) {
		return ""
	}
	return s
}
