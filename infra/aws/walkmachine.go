package aws

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of AWSMachine. Which instance it takes is its verdict.
var (
	rowM3 = &walk.Row{
		ID: "aws.M3", Of: machineKind,
		Asks:   "spec.bootstrap.dataSecretName of its Machine, which Cluster API writes again where there is a KubeadmConfig",
		None:   walk.Waits.Says("CAPA waits for the bootstrap data, although the instance runs"),
		Source: "reconcileNormal: controllers/awsmachine_controller.go v2.0.0 to v2.13.0",
	}
	rowM10 = &walk.Row{
		ID: "aws.M10", Of: machineKind,
		Asks:    "spec.cloudInit.secretCount, where spec.cloudInit.secretPrefix says that bootstrap data was left in AWS",
		Differs: walk.NotReady.Says("CAPA can delete no bootstrap data without the number of its parts, and goes no further"),
		Source:  "deleteBootstrapData: controllers/awsmachine_controller.go v2.0.0 to v2.13.0",
	}
	rowM15 = &walk.Row{
		ID: "aws.M15", Of: machineKind,
		Asks:      "the security groups of the instance, which are to be CAPA's own, or those of spec.securityGroupOverrides, and those that spec adds",
		Differs:   walk.Does{Effect: walk.Writes, What: "CAPA takes off every other group, one that was attached by hand too, and attaches its own again", Code: code.ChangesUndone},
		Condition: conditionAsked,
		Source:    "ensureSecurityGroups: controllers/awsmachine_security_groups.go v2.0.0 to v2.13.0",
	}
	rowM16 = &walk.Row{
		ID: "aws.M16", Of: machineKind,
		Asks:      "the metadata options of the instance, which are to be those of spec.instanceMetadataOptions, or CAPA's defaults",
		Differs:   walk.Does{Effect: walk.Writes, What: "CAPA sets them back", Code: code.ChangesUndone},
		Condition: conditionAsked,
		Source:    "ensureInstanceMetadataOptions: controllers/awsmachine_controller.go v2.1.0 to v2.13.0",
	}
	machineRows = []*walk.Row{rowW2, rowM3, rowM10, rowM13, rowM15, rowM16}
)

// askMachine asks what the backup says of a machine.
func (q *questions) askMachine(m *member) {
	machine := &q.objs.snapshot.Machines[m.index]
	subject := fmt.Sprintf("Machine %s/%s", machine.Namespace, machine.Name)
	object := fmt.Sprintf("%s %s/%s", machineKind, m.machine.Namespace, m.machine.Name)
	note := func(r *walk.Row, a walk.Answer) {
		q.Keep(walk.Step{Row: r, Cluster: m.cluster, Subject: subject, Machine: m.index, Answer: a})
	}
	note(rowW2, m.machine.Data.Hosting.asked(q.releases[m.machine.Backup], object, false))
	if m.machine.Paused || !q.objs.poolOf(m).IsZero() {
		return // nobody acts, or the pool does
	}
	if m.machine.Data.ProviderID != "" {
		a := pass
		if !machine.Bootstrapped {
			a = answer(walk.None, subject, "it names no bootstrap data", "names it")
		}
		note(rowM3, a)
	}
	switch d := &m.machine.Data; {
	case d.SecretPrefix == "":
	case d.SecretCount.Known && d.SecretCount.N != 0:
		note(rowM10, pass)
	default:
		note(rowM10, answer(walk.Differs, object, object+" has secretPrefix and no secretCount", "has its secretCount, or no secretPrefix"))
	}
}

// inspection answers the rows of instances. Those of a machine that pass are made once.
type inspection struct {
	objs    *objects
	members []*member // by index into Snapshot.Machines
	passing map[uint][]walk.Step
	groups  map[groupsOf][]string // CAPA's own, by their ids; nil where one was not seen

	listings infra.Lookups
}

type groupsOf struct {
	listing *infra.Listing
	at      *clusterLocation
	plane   bool
}

// onInstance returns what asks the rows of the instance that a machine's controller takes.
func (objs *objects) onInstance() func(int, infra.Sight) []walk.Step {
	x := &inspection{objs: objs, members: make([]*member, len(objs.snapshot.Machines)), passing: map[uint][]walk.Step{}, groups: map[groupsOf][]string{}}
	for i := range objs.members {
		if m := &objs.members[i]; m.index >= 0 && m.machine != nil && m.machine.Data.ProviderID != "" && !m.machine.Paused {
			x.members[m.index] = m
		}
	}
	return x.inspect
}

func (x *inspection) inspect(machine int, at infra.Sight) []walk.Step {
	m := x.members[machine]
	if m == nil || at.Listing == nil {
		return nil
	}
	var passed uint
	var open []walk.Step
	for i, ask := range [...]struct {
		row *walk.Row
		a   walk.Answer
	}{{rowM13, x.registered(m, at)}, {rowM15, x.grouped(m, at)}, {rowM16, x.optioned(m, at)}} {
		switch ask.a.Found {
		case "":
		case walk.Passed:
			passed |= 1 << i
			if x.passing[passed] == nil {
				x.passing[passed] = append(slices.Clone(x.passing[passed&^(1<<i)]), walk.Step{Row: ask.row, Answer: pass})
			}
		default:
			open = append(open, walk.Step{Row: ask.row, Answer: ask.a})
		}
	}
	if open == nil {
		return x.passing[passed]
	}
	return append(slices.Clip(x.passing[passed]), open...)
}

// grouped asks M15. Groups that spec names by filters are not resolved here, so that it is not
// seen which of the instance's they are, or lack; nor which groups EKS has made.
func (x *inspection) grouped(m *member, at infra.Sight) walk.Answer {
	have, seen := at.Instance.Facts.Get(factGroups)
	object := "instance " + at.Instance.ID
	unseen := walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	if !seen {
		return unseen
	}
	want := x.ownGroups(m, at.Listing)
	switch s := x.objs.locations[m.cluster]; {
	case s.record != nil && s.kind == planeKind:
		return unseen
	case want == nil:
		return walk.Answer{} // A17 says what is open
	}
	added, filtered := m.machine.Data.added()
	attached := strings.Split(have, ",")
	for i, id := range append(slices.Clip(want), added...) {
		if !slices.Contains(attached, id) {
			whose := "CAPA"
			if i >= len(want) {
				whose = fmt.Sprintf("%s %s/%s", machineKind, m.machine.Namespace, m.machine.Name)
			}
			return answer(walk.Differs, object, fmt.Sprintf("%s lacks security group %s, which %s gives to it", object, id, whose), "has it, or nothing that has to be kept apart runs on it")
		}
	}
	if filtered {
		return unseen
	}
	for _, id := range attached {
		if id != "" && !slices.Contains(want, id) && !slices.Contains(added, id) {
			return answer(walk.Differs, object, fmt.Sprintf("%s has security group %s, which %s %s/%s does not ask for", object, id, machineKind, m.machine.Namespace, m.machine.Name), "has it no more, or the object asks for it")
		}
	}
	return pass
}

// added returns the ids of spec.additionalSecurityGroups, and whether filters choose others.
func (d *awsMachine) added() (ids []string, filtered bool) {
	if d.Groups == "" {
		return nil, false
	}
	return chosen(d.Groups)
}

// ownGroups returns the ids of the groups that CAPA gives to the instance of a machine of a cluster of
// its own control plane (GetCoreSecurityGroups in pkg/cloud/services/ec2/instances.go v2.13.0).
func (x *inspection) ownGroups(m *member, l *infra.Listing) []string {
	ids := x.clusterGroups(m, l)
	if ids == nil || m.machine.Data.GroupOverrides == "" {
		return ids
	}
	var by map[string]string
	_ = json.Unmarshal([]byte(m.machine.Data.GroupOverrides), &by)
	ids = slices.Clone(ids)
	for i, role := range machineRoles[:len(ids)] {
		ids[i] = cmp.Or(by[role], ids[i])
	}
	return ids
}

// machineRoles are the roles of the groups of an instance; the last is that of a control plane.
var machineRoles = []string{"node", "lb", "controlplane"}

// clusterGroups returns those that all machines of a cluster have which say nothing else.
func (x *inspection) clusterGroups(m *member, l *infra.Listing) []string {
	s := x.objs.locations[m.cluster]
	if s.record == nil || s.kind != clusterKind || s.vpc == "" {
		return nil
	}
	k := groupsOf{l, s, x.objs.snapshot.Machines[m.index].ControlPlane}
	if known, ok := x.groups[k]; ok {
		return known
	}
	roles := machineRoles
	if !k.plane {
		roles = roles[:2]
	}
	var ids []string
	p := &place{x.listings.Of(l)}
	for _, role := range roles {
		id := s.groupID(p, m.cluster, role)
		if id == "" {
			ids = nil
			break
		}
		ids = append(ids, id)
	}
	x.groups[k] = ids
	return ids
}

// optioned asks M16. Where spec has no options CAPA sets its defaults, on each pass and in memory alone
// (SetDefaults_AWSMachineSpec in api/v1beta2/defaults.go v2.1.0 to v2.13.0).
func (x *inspection) optioned(m *member, at infra.Sight) walk.Answer {
	want := cmp.Or(readMetadata(m.machine.Data.Metadata), readMetadata("{}"))
	have, seen := at.Instance.Facts.Get(factMetadata)
	object := "instance " + at.Instance.ID
	switch {
	case !seen:
		return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	case have != want.String():
		return answer(walk.Differs, object, fmt.Sprintf("%s has metadata options %s, and %s %s/%s specifies %s", object, have, machineKind, m.machine.Namespace, m.machine.Name, want), "has these")
	}
	return pass
}
