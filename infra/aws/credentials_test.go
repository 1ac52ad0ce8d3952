package aws

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/aws/awstest"
)

// pure is the provider as the program has it, but for its list.
var pure = &Provider{Getenv: os.Getenv}

// onlyTarget loads a backup that has one target.
func onlyTarget(t *testing.T, b awstest.Backup, a infra.Access) infra.Target {
	t.Helper()
	s, secrets := awstest.Load(t, want, b.Bytes())
	targets := pure.Targets(s, secrets, a)
	if len(targets) != 1 {
		t.Fatalf("there are %d targets", len(targets))
	}
	return targets[0]
}

func TestWhereCredentialsComeFrom(t *testing.T) {
	ambient := infra.Access{Options: map[string]string{flagAmbient: "true"}}
	for name, c := range map[string]struct {
		backup awstest.Backup
		access infra.Access
		source string // empty: refused
		reason string
		says   string
	}{
		"the controller's":                  {backup: awstest.One().Keys(), source: "Secret capa-system/capa-manager-bootstrap-credentials"},
		"the controller's, named":           {backup: awstest.One(controllerIdentity, "default").Keys(), source: "Secret capa-system/capa-manager-bootstrap-credentials"},
		"none":                              {backup: awstest.One(), reason: "NoCredential", says: managerSecret},
		"none, the operator's own":          {backup: awstest.One(), access: ambient, source: "your own AWS credentials (--aws-ambient)"},
		"the operator's own comes first":    {backup: awstest.One().Keys(), access: infra.Access{Options: map[string]string{flagProfile: "dr"}}, source: "your own AWS profile dr (--aws-profile)"},
		"static":                            {backup: awstest.One(staticIdentity, "s").Identity(staticIdentity, "s", map[string]any{"secretRef": "x"}).Static("capa-system", "x", ""), source: "Secret capa-system/x"},
		"static, its own before ambient":    {backup: awstest.One(staticIdentity, "s").Static("capa-system", "x", "s"), access: ambient, source: "Secret capa-system/x"},
		"static, by owner":                  {backup: awstest.One(staticIdentity, "s").Static("elsewhere", "x", "s"), source: "Secret elsewhere/x"},
		"static, by owner among two":        {backup: awstest.One(staticIdentity, "s").Identity(staticIdentity, "s", map[string]any{"secretRef": "x"}).Static("a", "x", "s").Static("b", "x", ""), source: "Secret a/x"},
		"static, of another owner":          {backup: awstest.One(staticIdentity, "s").Static("capa-system", "x", "t"), reason: "NoCredential", says: "AWSClusterStaticIdentity s"},
		"static, in two namespaces":         {backup: awstest.One(staticIdentity, "s").Static("a", "x", "s").Static("b", "y", "s"), reason: "NoCredential", says: "2 namespaces"},
		"static, missing, ambient":          {backup: awstest.One(staticIdentity, "s"), access: ambient, source: "your own AWS credentials (--aws-ambient)"},
		"a role":                            {backup: awstest.One(roleIdentity, "a").Identity(roleIdentity, "a", awstest.RoleSpec(awstest.RoleA, "", "", "")).Keys(), source: "Secret capa-system/capa-manager-bootstrap-credentials, then role " + awstest.RoleA},
		"a role, without keys":              {backup: awstest.One(roleIdentity, "a").Identity(roleIdentity, "a", awstest.RoleSpec(awstest.RoleA, "", "", "")), reason: "NoCredential", says: managerSecret},
		"a role, missing":                   {backup: awstest.One(roleIdentity, "a").Keys(), reason: "NoCredential", says: "AWSClusterRoleIdentity a is not in the backup"},
		"a chain":                           {backup: awstest.One(roleIdentity, "b").Identity(roleIdentity, "b", awstest.RoleSpec(awstest.RoleB, "x", roleIdentity, "a")).Identity(roleIdentity, "a", awstest.RoleSpec(awstest.RoleA, "", controllerIdentity, "default")).Keys(), source: "Secret capa-system/capa-manager-bootstrap-credentials, then role " + awstest.RoleA + ", then role " + awstest.RoleB},
		"a chain from static":               {backup: awstest.One(roleIdentity, "a").Identity(roleIdentity, "a", awstest.RoleSpec(awstest.RoleA, "", staticIdentity, "s")).Static("capa-system", "x", "s"), source: "Secret capa-system/x, then role " + awstest.RoleA},
		"a loop":                            {backup: awstest.One(roleIdentity, "a").Identity(roleIdentity, "a", awstest.RoleSpec(awstest.RoleA, "", roleIdentity, "b")).Identity(roleIdentity, "b", awstest.RoleSpec(awstest.RoleB, "", roleIdentity, "a")).Keys(), reason: "BadIdentity", says: "assumed with itself: a, b, a"},
		"a loop, ambient":                   {backup: awstest.One(roleIdentity, "a").Identity(roleIdentity, "a", awstest.RoleSpec(awstest.RoleA, "", roleIdentity, "a")), access: ambient, source: "your own AWS credentials (--aws-ambient)"},
		"no ARN":                            {backup: awstest.One(roleIdentity, "a").Identity(roleIdentity, "a", awstest.RoleSpec("arn:aws:iam::1:user/x", "", "", "")).Keys(), reason: "BadIdentity", says: "not the ARN of a role"},
		"unknown kind":                      {backup: awstest.One("Secret", "x").Keys(), reason: "BadIdentity", says: `"Secret"`},
		"unknown kind, ambient":             {backup: awstest.One("Secret", "x"), access: ambient, source: "your own AWS credentials (--aws-ambient)"},
		"a hostile chain, the operator has": {backup: awstest.One(roleIdentity, "a").Identity(roleIdentity, "a", awstest.RoleSpec(awstest.RoleA, "", "", "")), access: ambient, source: "your own AWS credentials (--aws-ambient), then role " + awstest.RoleA},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := awstest.Load(t, want, c.backup.Bytes())
			if halts := haltsIn(s); (c.reason == "BadIdentity") != (len(halts) > 0) && c.access.Options == nil {
				t.Errorf("halts %+v", halts)
			}
			target := onlyTarget(t, c.backup, c.access)
			if c.source != "" {
				if target.Refused != nil || target.Source != c.source {
					t.Errorf("it is %q, refused %+v", target.Source, target.Refused)
				}
				if !strings.Contains(target.Use, c.source) {
					t.Errorf("it is announced as %q", target.Use)
				}
				if role := strings.Contains(strings.Join(target.Warnings, "\n"), "is assumed with your own AWS credentials"); role != (strings.Contains(c.source, "your own") && strings.Contains(c.source, "then role")) {
					t.Errorf("the operator reads %q", target.Warnings)
				}
				return
			}
			if target.Refused == nil || string(target.Refused.Reason) != c.reason || !strings.Contains(target.Refused.Message, c.says) || target.Refused.Hint == "" {
				t.Errorf("it is %q, refused %+v", target.Source, target.Refused)
			}
			if target.Credential != nil || target.Use != "" {
				t.Errorf("a refused target has a credential, or is announced as %q", target.Use)
			}
		})
	}
}

// A role may be assumed with another, five of them in all.
func TestAChainOfRolesIsBounded(t *testing.T) {
	chain := func(roles int) awstest.Backup {
		b := awstest.One(roleIdentity, "r1").Keys()
		for n := 1; n < roles; n++ {
			b.Identity(roleIdentity, fmt.Sprint("r", n), awstest.RoleSpec(awstest.RoleA, "", roleIdentity, fmt.Sprint("r", n+1)))
		}
		return b.Identity(roleIdentity, fmt.Sprint("r", roles), awstest.RoleSpec(awstest.RoleA, "", "", ""))
	}
	if target := onlyTarget(t, chain(5), infra.Access{}); target.Refused != nil || target.Credential == nil {
		t.Errorf("five roles: refused %+v", target.Refused)
	}
	if f := onlyTarget(t, chain(6), infra.Access{}).Refused; f == nil || f.Reason != "BadIdentity" || !strings.Contains(f.Message, "more than 5 roles") {
		t.Errorf("six roles: the refusal is %+v", f)
	}
}

// Clusters that share region and credential are one target, others are not.
func TestTargetsMerge(t *testing.T) {
	b := awstest.NewBackup().Keys().
		Cluster("ns", "a", "us-east-1", "vpc-1").Cluster("ns", "b", "us-east-1", "vpc-2").
		Cluster("ns", "c", "eu-west-1", "vpc-3").
		Cluster("ns", "d", "us-east-1", "vpc-4", staticIdentity, "same").Static("capa-system", "same", "same").
		Cluster("ns", "e", "us-east-1", "vpc-5", roleIdentity, "a").Identity(roleIdentity, "a", awstest.RoleSpec(awstest.RoleA, "", "", ""))
	s, secrets := awstest.Load(t, want, b.Bytes())
	var got []string
	for _, target := range pure.Targets(s, secrets, infra.Access{}) {
		got = append(got, fmt.Sprintf("%v %s %s %d %d", target.IDs, target.Location, target.Endpoint, len(target.Clusters), len(target.Probes)))
	}
	want := []string{
		"[aws/eu-west-1/AWSClusterControllerIdentity/default] eu-west-1 ec2.eu-west-1.amazonaws.com 1 3",
		"[aws/us-east-1/AWSClusterControllerIdentity/default aws/us-east-1/AWSClusterStaticIdentity/same] us-east-1 ec2.us-east-1.amazonaws.com 3 9",
		"[aws/us-east-1/AWSClusterRoleIdentity/a] us-east-1 ec2.us-east-1.amazonaws.com 1 3",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the targets are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A management cluster is backed up namespace by namespace, and the identities
// are in each of the backups.
func TestSplitBackupsShareIdentities(t *testing.T) {
	part := func(namespace string, n int) backup.Source {
		return backuptest.Source(namespace, awstest.NewBackup().Keys().
			Cluster(namespace, "a", awstest.Region, "vpc-1", roleIdentity, "r").Machine(namespace, "a", "a-1", awstest.InstanceID(n)).
			Cluster(namespace, "b", awstest.Region, "vpc-1", staticIdentity, "s").Machine(namespace, "b", "b-1", awstest.InstanceID(n+1)).
			Identity(roleIdentity, "r", awstest.RoleSpec(awstest.RoleA, "", "", "")).
			Identity(staticIdentity, "s", map[string]any{"secretRef": "x"}).Static(managerSpace, "x", "").Bytes())
	}
	s, secrets, err := backup.Load(t.Context(), []backup.Source{part("one", 1), part("two", 3)}, want)
	if err != nil {
		t.Fatal(err)
	}
	reached := 0
	for _, target := range pure.Targets(s, secrets, infra.Access{}) {
		reached += len(target.Clusters)
		if target.Refused != nil {
			t.Errorf("%v: %s", target.Clusters, target.Refused.Message)
		}
	}
	if reached != 4 {
		t.Errorf("%d clusters are reached", reached)
	}
	if absent := pure.Expected(s).Absent; len(absent) > 0 {
		t.Errorf("absent: %+v", absent)
	}
}
