package aws

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of AWSMachinePool. Whether the autoscaling group exists is said of the pool.
var (
	rowP1 = &walk.Row{
		ID: "aws.P1", Of: poolKind,
		Asks:   "spec.template.spec.bootstrap.dataSecretName of its MachinePool",
		None:   walk.OwnerHalts.Says("CAPA sets no size and replaces no member of the pool until it is written"),
		Source: "reconcileNormal: exp/controllers/awsmachinepool_controller.go v2.0.0 to v2.13.0",
	}
	rowP4 = &walk.Row{
		ID: "aws.P4", Of: poolKind,
		Asks:   "the bootstrap Secret, with key value, for an AWSManagedMachinePool with spec.awsLaunchTemplate too; a KubeadmConfig or EKSConfig writes it again",
		None:   walk.OwnerHalts.Says("CAPA sets no size and replaces no member of the pool until it exists"),
		Source: "GetRawBootstrapData: pkg/cloud/scope/machinepool.go, managednodegroup.go; ReconcileLaunchTemplate: pkg/cloud/services/ec2/launchtemplate.go v2.0.0 to v2.13.0",
	}
	rowP5 = &walk.Row{
		ID: "aws.P5", Of: poolKind,
		Asks:      "the newest version of the launch template of its name",
		None:      walk.Does{Effect: walk.Writes, What: "CAPA creates another template, and the autoscaling group keeps the id of the one that is gone: it can launch nothing", Code: code.CannotReplace},
		Refused:   "launch templates",
		Condition: code.PoolsUncompared,
		Source:    "GetLaunchTemplate: pkg/cloud/services/ec2/launchtemplate.go v2.0.0 to v2.13.0",
	}
	rowP6 = &walk.Row{
		ID: "aws.P6", Of: poolKind,
		Asks:      "the image of the launch template, which is to be ami.id, else the newest of its owner and name",
		Differs:   walk.Replaces.Says("CAPA creates a new version of the template, and a refresh replaces all members"),
		Condition: code.PoolsUncompared,
		Source:    "DiscoverLaunchTemplateAMI, ReconcileLaunchTemplate: pkg/cloud/services/ec2/launchtemplate.go v2.0.0 to v2.13.0",
	}
	rowP7 = &walk.Row{
		ID: "aws.P7", Of: poolKind,
		Asks:      "type, profile, key, metadata options, enclaves, spot, groups and tags of the launch template, and the name of the bootstrap Secret in it",
		Differs:   walk.Replaces.Says("CAPA creates a new version of the template, and a refresh replaces all members"),
		Condition: code.PoolsUncompared,
		Source:    "LaunchTemplateNeedsUpdate, ReconcileLaunchTemplate: pkg/cloud/services/ec2/launchtemplate.go v2.0.0 to v2.13.0",
	}
	rowP16 = &walk.Row{
		ID: "aws.P16", Of: poolKind,
		Asks:    "replicas within minSize and maxSize, and a group that is not being deleted",
		Differs: walk.OwnerHalts.Says("AWS refuses the update, and nothing more is done for the pool"),
		Source:  "UpdateASG: pkg/cloud/services/autoscaling/autoscalinggroup.go v2.0.0 to v2.13.0",
	}
	rowP18 = &walk.Row{
		ID: "aws.P18", Of: poolKind,
		Asks:      "the suspended processes of the group, which are to be those of spec.suspendProcesses",
		Differs:   walk.Does{Effect: walk.Writes, What: "CAPA resumes every other process: unhealthy and surplus members are terminated, and missing ones are created", Code: code.ChangesUndone},
		Condition: conditionAsked,
		Source:    "updatePool: exp/controllers/awsmachinepool_controller.go v2.0.0 to v2.13.0",
	}
	poolRows = []*walk.Row{rowP1, rowP2, rowP4, rowP5, rowP6, rowP7, rowP12, rowP15, rowP16, rowP18, rowP20}
)

// title names the MachinePool of a pool.
func (p *pool) title() string {
	return fmt.Sprintf("%s %s/%s", machinePoolKind, p.cluster.Namespace, p.name)
}

func (p *pool) object() string {
	return fmt.Sprintf("%s %s/%s", p.kind, p.cluster.Namespace, p.infraName)
}

// notePool keeps an answer of a pool.
func (q *questions) notePool(r *walk.Row, p *pool, a walk.Answer) {
	q.Keep(walk.Step{Row: r, Cluster: p.cluster, Subject: p.title(), Machine: -1, Answer: a})
}

// askPool asks what becomes of a pool whose controller acts.
func (q *questions) askPool(p *pool) {
	if p.record == nil || p.record.Paused || p.group == nil {
		return
	}
	q.notePool(rowP2, p, q.objs.enclosed(p))
	if p.kind == managedPoolKind {
		q.askNodegroup(p)
		return
	}
	object := p.object()
	if p.group.BootstrapSecret == "" {
		if p.group.Bootstrap.IsZero() {
			q.notePool(rowP1, p, answer(walk.None, p.title(), p.title()+" names no bootstrap data", "names it"))
		}
	} else {
		q.notePool(rowP1, p, pass)
		q.askBootstrap(p)
	}
	d := &p.record.Data
	a := pass
	if n := p.desired; n.Known && p.managedBy == "" && (d.Min.Known && n.N < d.Min.N || d.Max.Known && n.N > d.Max.N) {
		a = answer(walk.Differs, p.title(), fmt.Sprintf("%s specifies %d members, and %s allows %d to %d", p.title(), n.N, object, d.Min.N, d.Max.N), "specifies a number that is allowed")
	}
	q.notePool(rowP16, p, a)
	q.askGroup(p)
	if d.Template != "" {
		q.askTemplate(p, rowP5, rowP6, rowP7)
	}
}

// writesData are the bootstrap objects whose controllers write their Secrets anew.
var writesData = []string{"KubeadmConfig", "EKSConfig", "NodeadmConfig"}

// askBootstrap asks P4.
func (q *questions) askBootstrap(p *pool) {
	if slices.Contains(writesData, p.group.Bootstrap.Kind) {
		q.notePool(rowP4, p, pass)
		return
	}
	secret := &infra.SecretAt{Backup: p.cluster.Backup, Namespace: p.cluster.Namespace, Name: p.group.BootstrapSecret}
	object := fmt.Sprintf("Secret %s/%s", secret.Namespace, secret.Name)
	q.Steps = append(q.Steps, infra.Step{
		Step:   walk.Step{Row: rowP4, Cluster: p.cluster, Subject: p.title(), Machine: -1, Answer: answer(walk.None, object, object+", of type cluster.x-k8s.io/secret, is not in the backup", "exists")},
		Secret: secret,
	})
}

// askGroup asks what the autoscaling group says.
func (q *questions) askGroup(p *pool) {
	object := "autoscaling group " + p.infraName
	of := func(ask func(*ASGFact) walk.Answer, whole bool) func(*place) walk.Answer {
		return func(at *place) walk.Answer {
			f, there, open := read[ASGFact](at, FactASG, p.infraName, object)
			switch {
			case open.Found == walk.Unread && whole, open.Found == walk.Unseen && !whole:
				return open
			case !there:
				return walk.Answer{} // it is made, or another row says it
			}
			return ask(&f)
		}
	}
	d := &p.record.Data
	q.look(rowP15, p.cluster, p.title(), func(at *place) walk.Answer {
		f, there, open := read[ASGFact](at, FactASG, p.infraName, object)
		if open.Found != "" {
			open.Objects = []string{p.title()}
			return open
		} else if !there {
			return walk.Answer{}
		}
		return q.placed(at, p, &f, object)
	})
	q.look(rowP12, p.cluster, p.title(), func(at *place) walk.Answer {
		if _, there, _ := read[ASGFact](at, FactASG, p.infraName, object); !there {
			return walk.Answer{} // it is made with the backup's, or another row says it
		}
		f, there, open := read[[]HookFact](at, FactHooks, p.infraName, p.title())
		if !there {
			return open
		}
		return p.hooked(f, object)
	})
	q.look(rowP16, p.cluster, p.title(), of(func(f *ASGFact) walk.Answer {
		if f.Status != "" {
			return answer(walk.Differs, object, fmt.Sprintf("%s is in status %q", object, f.Status), "is gone or is not deleted")
		}
		return walk.Answer{}
	}, true))
	want := suspended(d.Suspend)
	q.look(rowP18, p.cluster, p.title(), of(func(f *ASGFact) walk.Answer {
		if slices.Equal(f.Suspended, want) {
			return pass
		}
		return answer(walk.Differs, object, fmt.Sprintf("%s has suspended %s, and %s %s", object, list(f.Suspended), p.object(), list(want)), "has suspended the same")
	}, false))
	q.look(rowP20, p.cluster, p.title(), of(func(f *ASGFact) walk.Answer { return p.bounded(f, object) }, false))
}

func list(all []string) string {
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}

// processes are those that spec.suspendProcesses names, with AWS's names for them
// (SuspendProcessesTypes in exp/api/v1beta2/awsmachinepool_types.go v2.13.0).
var processes = map[string]string{
	"launch": "Launch", "terminate": "Terminate", "addToLoadBalancer": "AddToLoadBalancer", "alarmNotification": "AlarmNotification", "azRebalance": "AZRebalance",
	"healthCheck": "HealthCheck", "instanceRefresh": "InstanceRefresh", "replaceUnhealthy": "ReplaceUnhealthy", "scheduledActions": "ScheduledActions",
}

func suspended(text string) []string {
	var spec struct {
		All       bool            `json:"all"`
		Processes map[string]bool `json:"processes"`
	}
	_ = json.Unmarshal([]byte(text), &spec)
	var out []string
	for name, process := range processes {
		if spec.All || spec.Processes[name] {
			out = append(out, process)
		}
	}
	slices.Sort(out)
	return out
}

// askTemplate asks for the launch template of a pool, with the rows of its kind.
func (q *questions) askTemplate(p *pool, exists, image, members *walk.Row) {
	var want templateSpec
	d := &p.record.Data
	if json.Unmarshal([]byte(d.Template), &want) != nil {
		return
	}
	name := q.objs.templateName(p)
	object := "launch template " + name
	of := func(ask func(*place, *TemplateFact) walk.Answer) func(*place) walk.Answer {
		return func(at *place) walk.Answer {
			if !at.sees(q.objs.poolKey(p).Kind, q.objs.poolKey(p).Value) {
				return walk.Answer{} // the pool is made again
			}
			f, there, open := read[TemplateFact](at, FactTemplate, name, p.title())
			if open.Found != "" || !there {
				return walk.Answer{} // the row that asks whether it exists says it
			}
			return ask(at, &f)
		}
	}
	q.look(exists, p.cluster, p.title(), func(at *place) walk.Answer {
		if !at.sees(q.objs.poolKey(p).Kind, q.objs.poolKey(p).Value) {
			return walk.Answer{}
		}
		_, there, open := read[TemplateFact](at, FactTemplate, name, p.title())
		if open.Found == "" && !there {
			return answer(walk.None, object, object+" is gone", "exists")
		}
		return orPass(open)
	})
	refreshes := func(a walk.Answer) walk.Answer {
		if d.NoRefresh {
			return pass // a new version is made, and nothing is replaced
		}
		return a
	}
	q.look(image, p.cluster, p.title(), of(func(_ *place, f *TemplateFact) walk.Answer {
		switch {
		case want.AMI.ID == "":
			return refreshes(walk.Answer{Found: walk.Unseen, Objects: []string{p.title()}})
		case want.AMI.ID != f.Image:
			return refreshes(answer(walk.Differs, object, fmt.Sprintf("%s has image %s, and %s specifies %s", object, f.Image, p.object(), want.AMI.ID), "has the same image"))
		}
		return pass
	}))
	q.look(members, p.cluster, p.title(), of(func(at *place, f *TemplateFact) walk.Answer {
		return refreshes(q.compared(at, p, &want, f))
	}))
}

// compared asks P7.
func (q *questions) compared(at *place, p *pool, want *templateSpec, f *TemplateFact) walk.Answer {
	object := "launch template " + q.objs.templateName(p)
	differ := want.differs(f)
	secret := p.cluster.Namespace + "/" + p.group.BootstrapSecret
	switch {
	case p.group.BootstrapSecret == "" || f.Secret == secret:
	case f.Secret != "":
		differ = append(differ, fmt.Sprintf("the bootstrap Secret (%s, and the backup has %s)", f.Secret, secret))
	case p.kind == managedPoolKind: // the version that gets the tag refreshes no group by itself, but EKS has to have the newest
		differ = append(differ, "the tag that names its bootstrap Secret, which it lacks")
	}
	if tags := q.objs.tagsChanged(p); tags {
		differ = append(differ, "additionalTags, which are not those that were applied last")
	}
	groups, known := q.objs.poolGroups(at, p, want)
	if known && !slices.Equal(groups, f.Groups) {
		differ = append(differ, fmt.Sprintf("security groups (%s, and the backup has %s)", list(f.Groups), list(groups)))
	}
	switch {
	case differ != nil:
		return answer(walk.Differs, object, object+" differs in "+strings.Join(differ, ", "), "is as the backup has it")
	case !known:
		return walk.Answer{Found: walk.Unseen, Objects: []string{p.title()}}
	}
	return pass
}

// tagsChanged reports whether a pool's tags are others than those that were applied last,
// which its annotation holds (tagsChanged in pkg/cloud/services/ec2/launchtemplate.go
// v2.13.0).
func (objs *objects) tagsChanged(p *pool) bool {
	want, applied := map[string]string{}, map[string]string{}
	if s := objs.locations[p.cluster]; s.record != nil {
		_ = json.Unmarshal([]byte(s.record.Data.Tags), &want)
	}
	if want == nil {
		want = map[string]string{}
	}
	_ = json.Unmarshal([]byte(p.record.Data.Tags), &want)
	if p.record.Data.TagsApplied != "" && json.Unmarshal([]byte(p.record.Data.TagsApplied), &applied) != nil {
		return false
	}
	return !maps.Equal(want, applied)
}

// poolGroups returns the ids of the security groups that CAPA wants in a pool's template; they are
// not known where one is named by filters or was not seen (GetCoreNodeSecurityGroups in
// pkg/cloud/services/ec2/instances.go v2.13.0).
func (objs *objects) poolGroups(at *place, p *pool, want *templateSpec) ([]string, bool) {
	s := objs.locations[p.cluster]
	if s.record == nil || s.vpc == "" {
		return nil, false
	}
	var ids []string
	for _, g := range want.Groups {
		if g.ID == "" {
			return nil, false
		}
		ids = append(ids, g.ID)
	}
	roles := []string{"node", "lb"}
	if s.kind == planeKind {
		plane, _, _ := read[PlaneFact](at, FactPlane, s.tag, s.tag)
		if plane.Group == "" {
			return nil, false
		}
		ids, roles = append(ids, plane.Group), []string{"node-eks-additional"}
	}
	for _, role := range roles {
		id := s.groupID(at, p.cluster, role)
		if id == "" {
			return nil, false
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, true
}

// groupID returns the id of the group that CAPA takes for a role; empty when it was not seen.
func (s *clusterLocation) groupID(at *place, id backup.ClusterID, role string) string {
	if i := slices.Index(securityGroupRoles[:], role); s.record.Data.Overrides[i] != "" {
		return s.record.Data.Overrides[i]
	}
	for _, g := range s.groupNames(id) {
		if securityGroupRoles[g.role] == role {
			group, _, _ := read[GroupFact](at, FactGroup, infra.Join(s.vpc, g.name), g.name)
			return group.ID
		}
	}
	return ""
}
