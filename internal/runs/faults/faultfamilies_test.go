package faults_test

import (
	"regexp"
	"strings"
	"testing"

	"drift-detector/internal/lab"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
)

var tenants = []string{"--namespace", "tenant-alpha", "--namespace", "tenant-beta", "--namespace", "tenant-gamma"}

func seatVCenter(w *runs.World, _ *lab.EC2, f lab.Front, g lab.Greeting) {
	w.VCenter.Front(f)
	w.VCenter.Greet(g)
}

// Of AWS there is one at a time: its SDK takes the endpoint from the environment.
var faultFamilies = []faultFamily{
	{
		name: "vSphere", args: tenants, workers: 4, seat: seatVCenter,
		labels: map[string]string{"propSet": "name"},
		// The account may see a VM, and not its folder.
		unseen: evidenceLost("propSet[parent]"),
		others: [][3]string{{"vCenter", "34e42877-2bdc-5d42-8e52-4fe55ea54cf6", "00000000-1111-2222-3333-444444444444"}},
	},
	{name: "vSphere, all well", workers: 4, seat: seatVCenter, fleet: wellVSphere, well: true, labels: map[string]string{"propSet": "name"}, unseen: evidenceLost("propSet[parent]")},
	{name: "vSphere by its authority", args: tenants, workers: 4, seat: seatVCenter, byAuthority: true},
	{
		name: "Nodes", args: tenants, workers: 2,
		seat: seatNodes,
		// A VM is gone, and its Node is alive: without the Node its machine would be Stale.
		prepare: func(w *runs.World) {
			w.Ensure(w.VCenter.Remove("alpha-prod-md-0-cjzhw-dm6x8"))
			w.ServeNodes(runs.Alive)
		},
		unseen: nodeEvidence,
		undecided: map[string]string{
			"conditions/lastHeartbeatTime lacks": noHeartbeats, "conditions/lastHeartbeatTime empty": noHeartbeats,
		},
	},
	{name: "Nodes, all well", workers: 2, seat: seatNodes, fleet: wellVSphere, well: true, prepare: func(w *runs.World) { w.ServeNodes(runs.Alive) }, unseen: nodeEvidence},
	{
		name: "AWS", args: []string{"--namespace", "tenant-aws", "--skip-access-apiserver"}, workers: 1,
		seat:   seatEC2,
		labels: map[string]string{"item": "key"},
		unseen: awsEvidence,
		others: [][3]string{{"account", lab.EC2Account, "999999999999"}},
	},
	{
		name: "OpenStack", args: []string{"--skip-access-apiserver"}, workers: 4, seat: seatOpenStack,
		fleet: func(t *testing.T) (*runs.World, *lab.EC2) {
			w, cloud := runs.OpenStackFleet(t, openstacklab.Options{PageSize: 10})
			w.Cloud = cloud
			return w, nil
		},
		unseen: openstackEvidence,
		others: [][3]string{{"project", openstacklab.Recorded.ProjectID, "99999999999999999999999999999999"}},
	},
	{
		name: "OpenStack, all well", workers: 4, seat: seatOpenStack, well: true, unseen: openstackEvidence,
		fleet: func(t *testing.T) (*runs.World, *lab.EC2) {
			w, cloud := runs.WellOpenStack(t, openstacklab.Options{PageSize: 2})
			w.Cloud = cloud
			w.WithOpenStackNodes()
			return w, nil
		},
	},
	{
		name: "AWS, all well", workers: 1, seat: seatEC2, well: true, labels: map[string]string{"item": "key"}, unseen: awsEvidence,
		fleet: func(t *testing.T) (*runs.World, *lab.EC2) {
			return runs.WellAWS(t, func(o *lab.EC2Options) { o.PageSize, o.Secure = 3, true })
		},
	},
	{
		name: "Azure", args: []string{"--skip-access-apiserver"}, workers: 4, seat: seatAzure,
		fleet:  func(t *testing.T) (*runs.World, *lab.EC2) { return wholeAzure(t), nil },
		unseen: azureEvidence,
		others: [][3]string{{"subscription", runs.AzureRetail, "99999999-9999-4999-8999-999999999999"}},
	},
	{
		name: "Azure, all well", workers: 4, seat: seatAzure, well: true, byPlan: true, unseen: azureEvidence,
		fleet: func(t *testing.T) (*runs.World, *lab.EC2) { return wellAzure(t), nil },
	},
	{name: "OpenStack, all parts", workers: 4, seat: seatOpenStack, fleet: wholeOpenStack, well: true, unseen: openstackEvidence},
	{name: "AWS, all parts", workers: 1, seat: seatEC2, fleet: wholeAWS, well: true, labels: map[string]string{"item": "key"}, unseen: awsEvidence},
}

func seatNodes(w *runs.World, _ *lab.EC2, f lab.Front, g lab.Greeting) {
	w.Nodes.Front(f)
	w.Nodes.Greet(g)
}

func seatEC2(_ *runs.World, e *lab.EC2, f lab.Front, g lab.Greeting) { e.Front(f); e.Greet(g) }

func seatOpenStack(w *runs.World, _ *lab.EC2, f lab.Front, g lab.Greeting) {
	w.Cloud.Front(f)
	w.Cloud.Greet(g)
}

func seatAzure(w *runs.World, _ *lab.EC2, f lab.Front, g lab.Greeting) {
	w.Azure.Front(f)
	w.Azure.Greet(g)
}

func wellVSphere(t *testing.T) (*runs.World, *lab.EC2) { return runs.Well(t), nil }

// What a Node and an instance may really lack.
var (
	nodeEvidence      = evidenceLost("/items", "/spec", "/providerID", "/annotations", "annotations/")
	awsEvidence       = evidenceLost("/tagSet", "/vpcId", "item[")
	azureEvidence     = evidenceLost("/tags", "tags/", "/virtualMachineScaleSet", "/capacity", "/sku", "/subnets", "/priority") // a VM may have no tags
	openstackEvidence = evidenceLost("/security_groups", "security_groups/")                                                    // a port may be in no group
)

// noHeartbeats is the Node list of a lab: where no Node at all has a heartbeat, Nodes show
// nothing either way, as with --skip-access-apiserver, and the verdict says so.
const noHeartbeats = "Nodes of which none ever had a heartbeat"

// evidenceLost matches names of faults by what is in them: parts that an answer may
// really lack.
func evidenceLost(parts ...string) *regexp.Regexp {
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(" + strings.Join(parts, "|") + ").* (lacks|empty|of another type)$")
}
