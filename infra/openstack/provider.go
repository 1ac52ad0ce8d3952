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
		Rules:         []check.Rule{ruleCredential, ruleBadIdentity, rulesForbidden.Decided, rulesForbidden.Undecided, ruleOtherCloud},
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
			keyServer:                "server id",
			keyPort:                  "port id",
			string(infra.NotActive):  "Nova is still making or changing the server",
			string(infra.ErrorState): "Nova calls the server broken (ERROR)",
		},
		Permissions: infra.Permissions{
			About: "says which role the account needs, in which project, and what is not seen when a part of it is missing",
			Text:  role, File: "permissions.md",
		},
		Remedies: remedies,
		Flags: []infra.Flag{
			{Name: flagCloud, Usage: "cloud `NAME` of your own clouds.yaml instead; where the backup's credential is missing or refused, and envvars for your OS_ variables"},
		},
	}
}

// Kinds of keys, see the package documentation.
const (
	keyServer    = "serverID"
	keyName      = "name"
	keyPort      = "port"
	keyMade      = "cluster+name"
	keyStandIn   = "standIn"
	keyGroup     = "group+port"
	keyGroupStem = "group+stem1"
	keyGroupTwo  = "group+stem2"
	keyNetMade   = "cluster+network"
	keyNetStem   = "network+stem1"
	keyNetTwo    = "network+stem2"
	keyNamed     = "group+named1"
	keyNamedTwo  = "group+named2"
	keyNetwork   = "network"
	keyMark      = "mark"
	keyStem1     = "stem1"
	keyStem2     = "stem2"
	keyNameless  = "nameless"
	keyHost      = "hostName"
	// Probes.
	keySubnet      = "subnet"
	keyRouter      = "router"
	keySecurity    = "securityGroup"
	keyBalancer    = "loadBalancer"
	keyFloating    = "floatingIP"
	keyImage       = "image"
	keyFlavor      = "flavor"
	keyServerGroup = "serverGroup"
	keyKeyPair     = "keyPair"
	keyBastion     = "bastion"
	keyTaken       = "takenPort"  // network/name of a port that a server has which the backup does not record
	keyTwinImages  = "twinImages" // an image that is asked for, of which there are several
	keyTwins       = "twinPorts"  // network/name of several ports
	keyBroken      = "brokenBalancer"
	keyRenamed     = "renamed"      // kind/id/name of what CAPO made and no longer has its name
	keyNamesakes   = "namesakes"    // kind/name of several things, of which CAPO made one
	keyElsewhere   = "elsewhere"    // floating IP of an API server that another server has
	keyStuck       = "stuckBastion" // name of a server in ERROR or BUILD
	keyPortless    = "portless"     // network/name/address of a port that is not there, while a server has the address
	keyExternal    = "externalNetwork"
	keyOwn         = "own" // one of the above that the project owns
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

// uuidOf is the UUID in lower case, or empty when s is none.
func uuidOf(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if !uuidForm.MatchString(s) {
		return ""
	}
	return s
}
