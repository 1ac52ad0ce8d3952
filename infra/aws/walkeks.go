package aws

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of what a control plane of EKS has: access entries, add-ons, Fargate profiles.
var (
	rowE14 = &walk.Row{
		ID: "aws.E14", Of: planeKind,
		Asks:      "the access entries of EKS that have its tag, which are to be spec.accessEntries, where spec has any and its authentication mode knows them",
		None:      walk.Does{Effect: walk.Writes, What: "CAPA lets the principal in again", Code: code.ChangesUndone},
		Several:   walk.Does{Effect: walk.Writes, What: "EKS has an entry that CAPA did not create and refuses a second one, so that CAPA does nothing of what comes later: tags, OIDC provider and add-ons", Code: code.ChangesUndone},
		Differs:   walk.Does{Effect: walk.Writes, What: "CAPA deletes every other entry, and sets back type, user, groups and policies", Code: code.ChangesUndone},
		Refused:   "the access entries of EKS",
		Condition: conditionAsked,
		Versions:  "v2.11 and later",
		Source:    "reconcileAccessEntries: pkg/cloud/services/eks/accessentry.go v2.11.0 to v2.13.0",
	}
	rowE18 = &walk.Row{
		ID: "aws.E18", Of: planeKind,
		Asks:      "the add-ons of EKS, which are to be spec.addons, with their versions, roles and configuration",
		None:      walk.Does{Effect: walk.Writes, What: "CAPA installs the add-on", Code: code.ChangesUndone},
		Several:   walk.Does{Effect: walk.Writes, What: "CAPA waits in vain until the add-on is active, and does nothing of what comes later: identity provider, VPC CNI, kube-proxy and aws-auth", Code: code.ChangesUndone},
		Differs:   walk.Does{Effect: walk.Writes, What: "CAPA deletes every other add-on with its Pods, and sets back version, role and configuration", Code: code.ChangesUndone},
		Refused:   "the add-ons of EKS",
		Condition: conditionAsked,
		Source:    "reconcileAddons: pkg/cloud/services/eks/addons.go; Create: pkg/eks/addons/plan.go v2.0.0 to v2.13.0",
	}
	rowE19 = &walk.Row{
		ID: "aws.E19", Of: planeKind,
		Asks:      "the identity provider (OIDC) of EKS, which is to be spec.oidcIdentityProviderConfig, where spec has one",
		None:      walk.Does{Effect: walk.Writes, What: "CAPA lets everyone in again whom that provider knows", Code: code.ChangesUndone},
		Differs:   walk.Does{Effect: walk.Writes, What: "CAPA takes the provider off, and in its next pass puts the backup's in its place", Code: code.ChangesUndone},
		Refused:   "the identity providers of EKS",
		Condition: conditionAsked,
		Source:    "reconcileIdentityProvider: pkg/cloud/services/eks/identity_provider.go; Create: pkg/eks/identityprovider/plan.go v2.0.0 to v2.13.0",
	}
	rowF2 = &walk.Row{
		ID: "aws.F2", Of: fargateKind,
		Asks:      "the Fargate profile of its name, with the tag kubernetes.io/cluster/CLUSTER",
		None:      walk.Does{Effect: walk.Writes, What: "CAPA creates it, and Pods that it selects run on Fargate from then on", Code: code.ResourceMade},
		Differs:   walk.OwnerHalts.Says("CAPA does nothing more for the profile"),
		Refused:   "Fargate profiles",
		Condition: conditionAsked,
		Source:    "reconcileFargateProfile: pkg/cloud/services/eks/fargate.go v2.0.0 to v2.13.0",
	}
	rowE17 = &walk.Row{
		ID: "aws.E17", Of: planeKind,
		Asks:      "where spec.associateOIDCProvider is set, the provider of IAM for the issuer of EKS, with one audience and one thumbprint, that of the certificate which the issuer shows today: its ARN is in the status, which a restore drops; of another thumbprint CAPA tries to create a second one, which IAM refuses, and does nothing of what comes later: add-ons, identity provider, VPC CNI, kube-proxy and aws-auth",
		Condition: code.OIDCProviderVerified,
		Source:    "reconcileOIDCProvider: pkg/cloud/services/eks/oidc.go; FindAndVerifyOIDCProvider: pkg/cloud/services/eks/iam/iam.go v2.0.0 to v2.11.1",
	}
	rowE23 = &walk.Row{
		ID: "aws.E23", Of: planeKind,
		Asks:     "the AWSMachineTemplate of each MachineDeployment, also of one without machines, for the roles that are to be in aws-auth",
		None:     walk.Does{Effect: walk.Writes, Code: code.CannotReplace, What: "CAPA's last step fails in every pass: it writes no role and no mapping of spec.iamAuthenticatorConfig into aws-auth, and machines of a role that is not there cannot join"},
		Versions: "v2.1 and later",
		Source:   "ReconcileIAMAuthenticator, getRolesForMachineDeployments: pkg/cloud/services/iamauth/reconcile.go v2.1.0 to v2.13.0",
	}
	eksRows = []*walk.Row{rowE3, rowE14, rowE17, rowE18, rowE19, rowE23, rowF1, rowF2}
)

const fargateKind = "AWSFargateProfile"

// fargateProfile is one of the backup.
type fargateProfile struct {
	cluster backup.ClusterID
	title   string
	name    NodegroupName // as EKS calls it
	role    string
}

// fargateProfiles returns those of the backup that somebody acts on.
func (objs *objects) fargateProfiles() (all []fargateProfile) {
	for f := range fargates.In(objs.snapshot).All() {
		if f.ClusterName == "" || f.Paused {
			continue
		}
		id := capi.ClusterOf(&f.Meta)
		if s := objs.locations[id]; s != nil && s.record != nil && s.kind == planeKind && f.Data.Name != "" {
			all = append(all, fargateProfile{id, fmt.Sprintf("%s %s/%s", fargateKind, f.Namespace, f.Name), NodegroupName{s.tag, f.Data.Name}, f.Data.Role})
		}
	}
	return all
}

// admits reports whether CAPA looks at access entries.
func (s *clusterLocation) admits() bool {
	mode := strings.ToLower(s.record.Data.EKS.Mode)
	return given(s.record.Data.EKS.Access) && (mode == "api" || mode == "api_and_config_map")
}

// ofPlane answers a row from a Fact of a control plane that is there.
func ofPlane[T any](kind, plane, object string, ask func(T) walk.Answer) func(*place) walk.Answer {
	return func(p *place) walk.Answer {
		if _, there, _ := read[PlaneFact](p, FactPlane, plane, object); !there {
			return walk.Answer{} // E4, or the resource, says it
		}
		f, there, open := read[T](p, kind, plane, object)
		if !there {
			return open
		}
		return ask(f)
	}
}

// askEKS asks for what a control plane has.
func (q *questions) askEKS(id backup.ClusterID, s *clusterLocation) {
	title, object := infra.ClusterTitle(id), "EKS control plane "+s.tag
	q.askRole(rowE3, id, title, s.record.Data.EKS.Role)
	if s.admits() {
		q.look(rowE14, id, title, ofPlane(FactAccess, s.tag, object, func(f []AccessFact) walk.Answer { return s.admitted(id, f) }))
	}
	if s.record.Data.EKS.Associate {
		q.Note(rowE17, id, walk.Answer{Found: walk.Unseen, Objects: []string{s.title()}})
	} else {
		q.Note(rowE17, id, pass)
	}
	q.look(rowE18, id, title, ofPlane(FactAddons, s.tag, object, s.added))
	if s.identified() {
		q.look(rowE19, id, title, func(p *place) walk.Answer { return s.provided(p, object) })
	} else {
		q.Note(rowE19, id, pass)
	}
	mapped := pass
	if g := q.untemplated[id]; g != nil {
		by, template := fmt.Sprintf("MachineDeployment %s/%s", g.Namespace, g.Name), fmt.Sprintf("%s %s/%s", templateKind, g.Namespace, g.Infrastructure.Name)
		mapped = answer(walk.None, template, fmt.Sprintf("%s of %s is not in the backup", template, by), "exists")
	}
	q.Note(rowE23, id, mapped)
}

// untemplated returns the first MachineDeployment of each cluster whose template the backup lacks.
func (objs *objects) untemplated() map[backup.ClusterID]*backup.Group {
	type key struct {
		backup          int
		namespace, name string
	}
	absent := map[key]bool{}
	for _, a := range objs.snapshot.Absent {
		if a.Kind == templateKind {
			absent[key{a.Backup, a.Namespace, a.Name}] = true
		}
	}
	first := map[backup.ClusterID]*backup.Group{}
	for i := range objs.snapshot.Groups {
		g := &objs.snapshot.Groups[i]
		if g.Kind != "MachineDeployment" || g.Infrastructure.Kind != templateKind || first[g.Cluster] != nil {
			continue
		}
		if absent[key{g.Backup, g.Namespace, g.Infrastructure.Name}] || absent[key{g.Backup, "", "*"}] {
			first[g.Cluster] = g
		}
	}
	return first
}

// identified reports whether the backup has an identity provider.
func (s *clusterLocation) identified() bool {
	named := s.record.Data.EKS.OIDC
	return named != "" && named != "null"
}

// provided asks E19.
func (s *clusterLocation) provided(p *place, object string) walk.Answer {
	if _, there, _ := read[PlaneFact](p, FactPlane, s.tag, object); !there {
		return walk.Answer{}
	}
	f, there, open := read[OIDCFact](p, FactOIDC, s.tag, object)
	var spec struct {
		IdentityProviderConfigName, IssuerURL, ClientID          string
		GroupsClaim, GroupsPrefix, UsernameClaim, UsernamePrefix string
		RequiredClaims                                           map[string]string
	}
	_ = json.Unmarshal([]byte(s.record.Data.EKS.OIDC), &spec)
	want := OIDCFact{spec.IdentityProviderConfigName, spec.IssuerURL, spec.ClientID, spec.GroupsClaim, spec.GroupsPrefix, spec.UsernameClaim, spec.UsernamePrefix, spec.RequiredClaims}
	switch {
	case open.Found != "":
		return open
	case !there:
		return answer(walk.None, object, object+" has no identity provider", "has it, or "+s.title()+" does not")
	case !f.is(want):
		return answer(walk.Differs, object, fmt.Sprintf("the identity provider of %s is not as %s has it", object, s.title()), "is as the object has it")
	}
	return pass
}

// admitted asks E14.
func (s *clusterLocation) admitted(id backup.ClusterID, have []AccessFact) walk.Answer {
	type entry struct {
		PrincipalARN, Type, Username string
		KubernetesGroups             []string
		AccessPolicies               []struct {
			PolicyARN   string
			AccessScope struct {
				Type       string
				Namespaces []string
			}
		}
	}
	var want []entry
	_ = json.Unmarshal([]byte(s.record.Data.EKS.Access), &want)
	for _, w := range want {
		object := "access entry " + w.PrincipalARN
		i := slices.IndexFunc(have, func(f AccessFact) bool { return f.ARN == w.PrincipalARN })
		if i < 0 {
			return answer(walk.None, object, object+" is gone", "exists, or is not in spec.accessEntries")
		}
		f := have[i]
		if !slices.Contains(f.Owners, id.Name) {
			return answer(walk.Several, object, fmt.Sprintf("%s lacks the tag %s%s", object, TagCloud, id.Name), "has the tag")
		}
		policies := []string{}
		for _, p := range w.AccessPolicies {
			policies = append(policies, ScopedPolicy(p.PolicyARN, p.AccessScope.Type, p.AccessScope.Namespaces))
		}
		slices.Sort(policies)
		kind := strings.ToUpper(w.Type)
		if kind == "" {
			kind = "STANDARD"
		}
		nodes := kind == "EC2_LINUX" || kind == "EC2_WINDOWS" // CAPA sets no policies of these
		groups := slices.Sorted(slices.Values(w.KubernetesGroups))
		// An entry without username CAPA makes again in every pass, because EKS gives it one.
		if kind != f.Type || w.Username != "" && w.Username != f.User || !slices.Equal(groups, f.Groups) || !nodes && !slices.Equal(policies, f.Policies) {
			return answer(walk.Differs, object, object+" is not as "+s.title()+" has it", "is as the object has it")
		}
	}
	for _, f := range have {
		if slices.Contains(f.Owners, id.Name) && !slices.ContainsFunc(want, func(w entry) bool { return w.PrincipalARN == f.ARN }) {
			object := "access entry " + f.ARN
			return answer(walk.Differs, object, s.title()+" has no "+object, "is in spec.accessEntries, or lacks its tag")
		}
	}
	return pass
}

// added asks E18.
func (s *clusterLocation) added(have []AddonFact) walk.Answer {
	type addon struct{ Name, Version, ServiceAccountRoleARN, Configuration string }
	var want []addon
	_ = json.Unmarshal([]byte(s.record.Data.EKS.Addons), &want)
	for _, f := range have {
		if !slices.ContainsFunc(want, func(w addon) bool { return w.Name == f.Name }) {
			object := "add-on " + f.Name
			return answer(walk.Differs, object, s.title()+" has no "+object, "is in spec.addons")
		}
	}
	for _, w := range want {
		object := "add-on " + w.Name
		i := slices.IndexFunc(have, func(f AddonFact) bool { return f.Name == w.Name })
		if i < 0 {
			return answer(walk.None, object, object+" is not installed", "is installed, or not in spec.addons")
		}
		f := have[i]
		status := f.Status
		if f.Status = ""; f != (AddonFact{Name: w.Name, Version: w.Version, Role: w.ServiceAccountRoleARN, Config: ConfigHash(w.Configuration)}) {
			why := fmt.Sprintf("%s has version %s, and %s specifies %s", object, f.Version, s.title(), w.Version)
			if f.Version == w.Version {
				why = object + " has another role or configuration than in " + s.title()
			}
			return answer(walk.Differs, object, why, "is as the object specifies")
		}
		if strings.HasSuffix(status, "_FAILED") {
			return answer(walk.Several, object, object+" is "+status, "is ACTIVE")
		}
	}
	return pass
}

// askProfile asks F2.
func (q *questions) askProfile(of fargateProfile) {
	q.askRole(rowF1, of.cluster, of.title, of.role)
	object := fmt.Sprintf("Fargate profile %s/%s", of.name.Cluster, of.name.Name)
	q.look(rowF2, of.cluster, of.title, func(p *place) walk.Answer {
		if _, there, _ := read[PlaneFact](p, FactPlane, of.name.Cluster, object); !there {
			return walk.Answer{}
		}
		f, there, open := read[ProfileFact](p, FactProfile, infra.Join(of.name.Cluster, of.name.Name), object)
		switch {
		case open.Found != "":
			return open
		case !there:
			return answer(walk.None, object, object+" is gone", "exists")
		case !slices.Contains(f.Owners, of.cluster.Name):
			return answer(walk.Differs, object, fmt.Sprintf("%s lacks the tag %s%s", object, TagCloud, of.cluster.Name), "has the tag")
		case strings.HasSuffix(f.Status, "_FAILED"):
			return answer(walk.Differs, object, object+" is "+f.Status, "is ACTIVE")
		}
		return pass
	})
}
