package aws

import (
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/aws/awstest"
	"drift-detector/infra/walk"
)

func TestNamespacesThatAnIdentityAllows(t *testing.T) {
	labels := func(text string) *backup.Labels { l := backup.Labels(text); return &l }
	team := labels(`{"kubernetes.io/metadata.name":"team-a","tenant":"a"}`)
	const (
		byLabel = `{"selector":{"matchLabels":{"tenant":"a"}}}`
		byName  = `{"selector":{"matchLabels":{"kubernetes.io/metadata.name":"team-a"}}}`
	)
	for _, c := range []struct {
		allowed string
		labels  *backup.Labels
		want    Permission
	}{
		{"", team, Forbidden},
		{"{}", team, Allowed},
		{"{}", nil, Allowed},
		{`{"list":null,"selector":{}}`, team, Allowed},
		{`{"selector":{}}`, team, Allowed},
		{`{"list":[]}`, team, Forbidden},
		{`{"list":["team-b"]}`, team, Forbidden},
		{`{"list":["team-b","team-a"]}`, nil, Allowed},
		{`{"list":["team-a-2"]}`, team, Forbidden},
		{`{"selector":{"matchLabels":{}}}`, team, Forbidden},
		{`{"list":["team-b"],"selector":{"matchLabels":{"tenant":"a"}}}`, team, Allowed},
		{byLabel, team, Allowed},
		{byLabel, labels(`{"tenant":"b"}`), Forbidden},
		{byLabel, nil, Undecided},
		{byName, nil, Allowed},
		{`{"selector":{"matchExpressions":[{"key":"tenant","operator":"NotIn","values":["a"]}]}}`, team, Forbidden},
		{`{"selector":{"matchExpressions":[{"key":"tenant","operator":"Exists"}]}}`, team, Allowed},
		{`{"selector":{"matchExpressions":[{"key":"tenant","operator":"Near"}]}}`, team, Forbidden},
		{`[]`, team, Undecided},
	} {
		got, why := Allows(c.allowed, "team-a", c.labels, "is not in the backup")
		if got != c.want || (why == "") != (got == Allowed) {
			t.Errorf("%s: %d %q, want %d", c.allowed, got, why, c.want)
		}
	}
}

// haltsIn returns the steps of the session that the backup alone does not pass.
func haltsIn(s *backup.Snapshot) (out []walk.Step) {
	for _, step := range pure.Expected(s).Steps {
		if step.Each == nil && strings.HasPrefix(step.Row.ID, "aws.S") && step.Look == nil && step.Found != walk.Passed {
			out = append(out, step.Step)
		}
	}
	return out
}

// Every identity in the chain has to allow the namespace, and what forbids it halts
// the cluster. An identity that the backup lacks is a matter of Absent.
func TestTheWholeChainHasToAllow(t *testing.T) {
	only := func(ns string) map[string]any { return map[string]any{"list": []any{ns}} }
	controller := func(b awstest.Backup, allowed map[string]any) awstest.Backup {
		b.Add("awsclustercontrolleridentities."+group, awstest.Object(controllerIdentity, "", defaultIdentity, "", map[string]any{"allowedNamespaces": allowed}))
		return b
	}
	chain := func(first, second map[string]any) awstest.Backup {
		spec := awstest.RoleSpec(awstest.RoleA, "", roleIdentity, "b")
		spec["allowedNamespaces"] = first
		next := awstest.RoleSpec(awstest.RoleB, "", "", "")
		next["allowedNamespaces"] = second
		return awstest.One(roleIdentity, "a").Identity(roleIdentity, "a", spec).Identity(roleIdentity, "b", next)
	}
	for name, c := range map[string]struct {
		backup    awstest.Backup
		halted    string // the object that says so
		undecided bool
	}{
		"all allow it":                  {controller(chain(only("ns"), map[string]any{}), only("ns")), "", false},
		"the first does not":            {chain(only("x"), map[string]any{}), "AWSClusterRoleIdentity a", false},
		"the second does not":           {chain(only("ns"), only("x")), "AWSClusterRoleIdentity b", false},
		"the controller's does not":     {controller(chain(only("ns"), only("ns")), only("x")), "AWSClusterControllerIdentity default", false},
		"the controller's is not there": {chain(only("ns"), only("ns")), "", false},
		"none of them is there":         {awstest.One(roleIdentity, "a"), "", false},
		"no reference":                  {controller(awstest.NewBackup().Cluster("ns", "c", awstest.Region, "vpc-1"), only("x")), "AWSClusterControllerIdentity default", false},
		"the Namespace is not there":    {chain(only("ns"), map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"team": "a"}}}), "AWSClusterRoleIdentity b", true},
	} {
		s, secrets := awstest.Load(t, want, c.backup.Keys().Bytes())
		halts := haltsIn(s)
		target := pure.Targets(s, secrets, infra.Access{})[0]
		if c.halted == "" {
			if len(halts) > 0 {
				t.Errorf("%s: %+v", name, halts)
			}
			continue
		}
		if len(halts) != 1 || halts[0].Objects[0] != c.halted || halts[0].Cluster.Namespace != "ns" || (halts[0].Found == walk.Unread) != c.undecided {
			t.Errorf("%s: %+v, want %s", name, halts, c.halted)
		}
		if refused := target.Refused != nil && strings.Contains(target.Refused.Message, c.halted) && target.Credential == nil; refused == c.undecided {
			t.Errorf("%s: the target has %v, refused %+v", name, target.Source, target.Refused)
		}
	}
}

// Clusters of two namespaces that name one identity are two places when it allows one
// of them.
func TestTwoNamespacesOfOneIdentity(t *testing.T) {
	spec := map[string]any{"secretRef": "x", "allowedNamespaces": map[string]any{"list": []any{"red"}}}
	b := awstest.NewBackup().Cluster("red", "a", awstest.Region, "vpc-1", staticIdentity, "s").Cluster("blue", "b", awstest.Region, "vpc-2", staticIdentity, "s").
		Identity(staticIdentity, "s", spec).Static("capa-system", "x", "s")
	s, secrets := awstest.Load(t, want, b.Bytes())
	targets := pure.Targets(s, secrets, infra.Access{})
	if len(targets) != 2 {
		t.Fatalf("%d targets: %+v", len(targets), targets)
	}
	for _, target := range targets {
		if ns := target.Clusters[0].Namespace; len(target.Clusters) != 1 || (target.Refused == nil) != (ns == "red") {
			t.Errorf("%v of %s is refused: %+v", target.IDs, ns, target.Refused)
		}
	}
}
