package vsphere

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/vsphere/vspheretest"
)

// shared is a cluster that names VSphereClusterIdentity shared, whose Secret is
// there. The object itself is made of values, absent when they are nil.
// nameLabel is the label of a Namespace that repeats its name.
const nameLabel = "kubernetes.io/metadata.name"

func shared(values fields, labels fields) *vspheretest.Backup {
	b := vspheretest.NewBackup().Set(clusters.Resource(), "spec.identityRef", fields{"kind": identityKind, "name": "shared"})
	b.Secret(managerSpace, "creds", vspheretest.Login("anna", "m4rk3r"), "shared")
	if values != nil {
		values["spec.secretName"] = "creds"
		b.Put(identities.Resource(), vspheretest.Object(group+"/v1beta1", identityKind, "", "shared", values))
	}
	if labels != nil {
		b.Put(namespaces.Resource(), vspheretest.Object("v1", "Namespace", "", "team", fields{"metadata.labels": labels}))
	}
	return b
}

func allowing(selector any) fields {
	return fields{"spec.allowedNamespaces": fields{"selector": selector}}
}

// TestWhoMayUseAnIdentity: CAPV gives the password of a VSphereClusterIdentity to
// the namespaces that it selects, and the server is named by the namespace.
func TestWhoMayUseAnIdentity(t *testing.T) {
	platform := fields{"matchLabels": fields{"team": "platform"}}
	expression := func(operator string, values ...any) fields {
		e := fields{"key": "team", "operator": operator}
		if len(values) > 0 {
			e["values"] = values
		}
		return fields{"matchExpressions": []any{e}}
	}
	loggedIn := func(b *vspheretest.Backup, status string, generation any) *vspheretest.Backup {
		c := fields{"type": "VCenterAvailable", "status": status}
		if generation != nil {
			c["observedGeneration"] = generation
		}
		return proven(b).Set(clusters.Resource(), "status.conditions", []any{fields{"type": "Ready", "status": "True"}, c})
	}
	condition := func(status string, generation any) *vspheretest.Backup {
		return loggedIn(shared(nil, nil), status, generation)
	}
	// both is what CAPV v1.13 to v1.15 write.
	both := func(status string, generation any) *vspheretest.Backup {
		return condition(status, nil).Set(clusters.Resource(), "status.v1beta2", fields{"conditions": []any{
			fields{"type": "VCenterAvailable", "status": status, "observedGeneration": generation},
		}})
	}
	team := fields{"matchLabels": fields{nameLabel: "team"}}
	teams := fields{"matchExpressions": []any{fields{"key": nameLabel, "operator": "In", "values": []any{"red", "team"}}}}
	teamAndMore := fields{"matchLabels": fields{nameLabel: "team", "team": "platform"}}
	paused := func(b *vspheretest.Backup) *vspheretest.Backup {
		return b.Set("clusters"+vspheretest.CAPIGroup, "spec.paused", true)
	}
	for name, c := range map[string]struct {
		b       *vspheretest.Backup
		refused string // part of the message; empty: used
	}{
		"selected":                               {shared(allowing(platform), fields{"team": "platform", "x": "y"}), ""},
		"everybody":                              {shared(allowing(fields{}), nil), ""},
		"everybody, no selector":                 {shared(fields{"spec.allowedNamespaces": fields{}}, nil), ""},
		"selected by expression":                 {shared(allowing(expression("In", "a", "platform")), fields{"team": "platform"}), ""},
		"nobody":                                 {shared(fields{}, fields{"team": "platform"}), "no allowedNamespaces"},
		"nobody, null":                           {shared(fields{"spec.allowedNamespaces": nil}, fields{"team": "platform"}), "no allowedNamespaces"},
		"another value":                          {shared(allowing(platform), fields{"team": "evil"}), "does not select Namespace team"},
		"no label":                               {shared(allowing(platform), fields{}), "does not select Namespace team"},
		"excluded by expression":                 {shared(allowing(expression("NotIn", "platform")), fields{"team": "platform"}), "does not select Namespace team"},
		"the Namespace is not there":             {shared(allowing(platform), nil), "Namespace team is not in the backup"},
		"nor does its absence select":            {shared(allowing(expression("DoesNotExist")), nil), "Namespace team is not in the backup"},
		"it is not there, CAPV has logged in":    {loggedIn(shared(allowing(platform), nil), "True", 3), ""},
		"it is not there, CAPV could not log in": {loggedIn(shared(allowing(platform), nil), "False", 3), "Namespace team is not in the backup"},
		"it is not there, CAPV has logged in before changes": {loggedIn(shared(allowing(platform), nil), "True", 2), "Namespace team is not in the backup"},
		"it is there without the label, CAPV has logged in":  {loggedIn(shared(allowing(platform), fields{}), "True", 3), "does not select Namespace team"},
		"selected by name, it is not there":                  {shared(allowing(team), nil), ""},
		"selected by names, it is not there":                 {shared(allowing(teams), nil), ""},
		"selected by another name, it is not there":          {shared(allowing(fields{"matchLabels": fields{nameLabel: "red"}}), nil), "does not select Namespace team"},
		"another name, it is not there, CAPV has logged in":  {loggedIn(shared(allowing(fields{"matchLabels": fields{nameLabel: "red"}}), nil), "True", 3), "does not select Namespace team"},
		"selected by name and a label, it is not there":      {shared(allowing(teamAndMore), nil), "Namespace team is not in the backup"},
		"no selector at all":                                 {shared(fields{"spec.allowedNamespaces": "all"}, fields{}), "no label selector"},
		"an operator that is none":                           {shared(allowing(expression("Is", "x")), fields{}), "no label selector"},
		"absent":                                             {shared(nil, fields{"team": "platform"}), "is not in the backup"},
		"absent, CAPV has logged in":                         {condition("True", 3), ""},
		"absent, CAPV could not log in":                      {condition("False", 3), "is not in the backup"},
		"absent, logged in before changes":                   {condition("True", 2), "is not in the backup"},
		"absent, older CAPV has logged in":                   {condition("True", nil), ""},
		"absent, logged in, now paused":                      {paused(condition("True", 3)), ""},
		"absent, older CAPV, now paused":                     {paused(condition("True", nil)), "is not in the backup"},
		"absent, CAPV v1.15 has logged in":                   {both("True", 3), ""},
		"absent, CAPV v1.15, now paused":                     {paused(both("True", 3)), ""},
		"absent, CAPV v1.15, paused before changes":          {paused(both("True", 2)), "is not in the backup"},
		"absent, CAPV v1.15, stopped before changes":         {both("True", 2), "is not in the backup"},
		"absent, CAPV v1.15 could not log in":                {both("False", 3), "is not in the backup"},
	} {
		t.Run(name, func(t *testing.T) {
			target, user, _ := sole(t, c.b, infra.Access{})
			f := refusal(target)
			if c.refused == "" {
				if user != "anna" || target.Refused != nil {
					t.Errorf("user %q, refused %+v", user, f)
				}
				return
			}
			if user != "" || f.Reason != "NoCredential" || !strings.Contains(f.Message, c.refused) || !strings.Contains(f.Hint, "--credentials") {
				t.Errorf("user %q, refused %+v, want %q", user, f, c.refused)
			}
			given := infra.Credential{Endpoint: "vc1.example", Username: "ops", Password: backup.NewSensitive("q")}
			if target, user, _ := sole(t, c.b, infra.Access{Credentials: []infra.Credential{given}}); user != "ops" || target.Refused != nil {
				t.Errorf("the operator's own credential is not used: %q, %+v", user, refusal(target))
			}
		})
	}
}

// TestSplitBackupsShareClusterScopedObjects: a management cluster is backed up
// namespace by namespace, and what is cluster-scoped is in each of the backups.
func TestSplitBackupsShareClusterScopedObjects(t *testing.T) {
	platform := fields{"team": "platform"}
	a := shared(allowing(fields{"matchLabels": platform}), platform).Drop(vms.Resource()).Set("machines"+vspheretest.CAPIGroup, "spec.failureDomain", "z")
	a.Put(namespaces.Resource(), vspheretest.Object("v1", "Namespace", "", "blue", fields{"metadata.labels": platform}))
	a.Put(zones.Resource(), vspheretest.Object(group+"/v1beta1", zoneKind, "", "z", fields{"spec.server": "vc1.example", "spec.failureDomain": "d"}))
	a.Put(domains.Resource(), vspheretest.Object(group+"/v1beta1", domainKind, "", "d", fields{"spec.topology.datacenter": "DC0"}))
	one, two := backuptest.Source("a", a.Bytes()), backuptest.Source("b", a.InNamespace(t, "blue").Bytes())
	for _, sources := range [][]backup.Source{{one, two}, {two, one}} {
		s, secrets, err := backup.Load(t.Context(), sources, want)
		if err != nil {
			t.Fatal(err)
		}
		reached := 0
		for _, target := range new(Provider).Targets(s, secrets, infra.Access{}) {
			reached += len(target.Clusters)
			if target.Refused != nil {
				t.Errorf("%v: %s", target.Clusters, target.Refused.Message)
			}
		}
		if reached != 2 {
			t.Errorf("%d clusters are reached", reached)
		}
		expected := new(Provider).Expected(s)
		if len(expected.Absent) > 0 {
			t.Errorf("absent: %+v", expected.Absent)
		}
		for _, m := range expected.Machines {
			if m.Home.Within.Value != "DC0" || strings.HasSuffix(m.Home.Target, unplacedSuffix) {
				t.Errorf("home of %s is %+v", s.Machines[m.Machine].Name, m.Home)
			}
		}
	}
}

// TestNobodyGetsACredentialByWayOfOthers: two namespaces name one server and one
// identity, and one of them may not use it.
func TestNobodyGetsACredentialByWayOfOthers(t *testing.T) {
	b := shared(allowing(fields{"matchLabels": fields{"team": "platform"}}), fields{"team": "platform"})
	b.Put("clusters"+vspheretest.CAPIGroup, vspheretest.Object("cluster.x-k8s.io/v1beta1", "Cluster", "evil", "e", fields{
		"spec.infrastructureRef": fields{"apiVersion": group + "/v1beta1", "kind": clusterKind, "name": "e", "namespace": "evil"},
	}))
	b.Put(clusters.Resource(), vspheretest.Object(group+"/v1beta1", clusterKind, "evil", "e", fields{
		"spec.server": "vc1.example", "spec.identityRef": fields{"kind": identityKind, "name": "shared"}, "spec.thumbprint": "EE:EE",
	}))
	all := targets(t, b, infra.Access{})
	if len(all) != 2 {
		t.Fatalf("%d targets", len(all))
	}
	for _, target := range all {
		evil := target.Clusters[0].Namespace == "evil"
		if len(target.Clusters) != 1 || evil != (target.Refused != nil) || evil != (target.Credential == nil) {
			t.Errorf("%v: clusters %v, refused %+v", target.IDs, target.Clusters, refusal(target))
		}
		if d, ok := target.Detail.(*Detail); ok && slices.Contains(d.Thumbprints, "EE:EE") {
			t.Error("the certificate that the other namespace names is trusted")
		}
	}
}

// TestReferencesStayInTheirNamespace: Cluster API forbids others, so following
// one would hand a tenant the credentials and the machines of another.
func TestReferencesStayInTheirNamespace(t *testing.T) {
	b := vspheretest.NewBackup().Secret("team", "prod", vspheretest.Login("anna", "m4rk3r"))
	b.Put("clusters"+vspheretest.CAPIGroup, vspheretest.Object("cluster.x-k8s.io/v1beta1", "Cluster", "evil", "e", fields{
		"spec.infrastructureRef": fields{"apiVersion": group + "/v1beta1", "kind": clusterKind, "name": "prod", "namespace": "team"},
	}))
	b.Put("machines"+vspheretest.CAPIGroup, vspheretest.Object("cluster.x-k8s.io/v1beta1", "Machine", "evil", "m1", fields{
		"metadata.labels": fields{"cluster.x-k8s.io/cluster-name": "e"}, "spec.clusterName": "e",
		"spec.infrastructureRef": fields{"apiVersion": group + "/v1beta1", "kind": machineKind, "name": "prod-md-0-tpl-12345", "namespace": "team"},
	}))
	b.Put("machines"+vspheretest.CAPIGroup, vspheretest.Object("cluster.x-k8s.io/v1beta1", "Machine", "evil", "m2", fields{
		"metadata.labels": fields{"cluster.x-k8s.io/cluster-name": "e"}, "spec.clusterName": "e",
		"spec.infrastructureRef": fields{"apiVersion": group + "/v1beta1", "kind": machineKind, "name": "m2", "namespace": "evil"},
	}))
	b.Put(machines.Resource(), vspheretest.Object(group+"/v1beta1", machineKind, "evil", "m2", fields{
		"metadata.labels": fields{"cluster.x-k8s.io/cluster-name": "e"}, "spec.server": "attacker.example",
	}))
	said := ""
	for _, target := range targets(t, b, infra.Access{}) {
		ours := target.Clusters[0].Namespace == "team"
		if len(target.Clusters) != 1 || ours != (target.Refused == nil) {
			t.Errorf("%v at %s: clusters %v, refused %+v", target.IDs, target.Endpoint, target.Clusters, refusal(target))
		}
		if target.Endpoint == "attacker.example:443" {
			said = refusal(target).Message
		}
	}
	if !strings.Contains(said, "in namespace team") {
		t.Errorf("refused with %q", said)
	}
	s, _ := b.Load(t, want)
	for _, c := range new(Provider).Expected(s).Machines {
		if m := c.Machine; m >= 0 && s.Machines[m].Name == "m1" && (!c.Strong.IsZero() || !c.InfraMissing) {
			t.Errorf("the machine claims %v, infrastructure missing %t", c.Strong, c.InfraMissing)
		}
	}
}
