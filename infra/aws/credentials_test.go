package aws

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/infratest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

const arnA, arnB = "arn:aws:iam::222222222222:role/a", "arn:aws:iam::" + fleetAccount + ":role/path/b"

func roleSpec(arn, externalID, sourceKind, sourceName string) map[string]any {
	s := map[string]any{"roleARN": arn, "externalID": externalID}
	if sourceKind != "" {
		s["sourceIdentityRef"] = map[string]any{"kind": sourceKind, "name": sourceName}
	}
	return s
}

// one returns a backup of one empty cluster under an identity.
func one(identityRef ...string) made {
	return newMade().cluster("ns", "alpha", fleetRegion, "vpc-1", identityRef...).set("ns", "alpha", "alpha-md", 0)
}

// static adds the Secret of an AWSClusterStaticIdentity as CAPA leaves it.
func (m made) static(namespace, name, owner string) made {
	o := secretObject(namespace, name, map[string]string{accessKey: labKey, secretKey: labSecret, tokenKey: labToken + "\n"})
	if owner != "" {
		o["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"kind": staticIdentity, "name": owner, "uid": "u"}}
	}
	m.Add("secrets", o)
	return m
}

// onlyTarget loads a backup that has one target.
func onlyTarget(t *testing.T, b made, a infra.Access) infra.Target {
	t.Helper()
	s, secrets := load(t, b.Bytes())
	targets := New().Targets(s, secrets, a)
	if len(targets) != 1 {
		t.Fatalf("there are %d targets", len(targets))
	}
	return targets[0]
}

func TestWhereCredentialsComeFrom(t *testing.T) {
	ambient := infra.Access{Options: map[string]string{flagAmbient: "true"}}
	for name, c := range map[string]struct {
		backup made
		access infra.Access
		source string // empty: refused
		reason string
		says   string
	}{
		"the controller's":                  {backup: one().keys(), source: "Secret capa-system/capa-manager-bootstrap-credentials"},
		"the controller's, named":           {backup: one(controllerIdentity, "default").keys(), source: "Secret capa-system/capa-manager-bootstrap-credentials"},
		"none":                              {backup: one(), reason: "NoCredential", says: managerSecret},
		"none, the operator's own":          {backup: one(), access: ambient, source: "your own AWS credentials (--aws-ambient)"},
		"the operator's own comes first":    {backup: one().keys(), access: infra.Access{Options: map[string]string{flagProfile: "dr"}}, source: "your own AWS profile dr (--aws-profile)"},
		"static":                            {backup: one(staticIdentity, "s").identity(staticIdentity, "s", map[string]any{"secretRef": "x"}).static("capa-system", "x", ""), source: "Secret capa-system/x"},
		"static, its own before ambient":    {backup: one(staticIdentity, "s").static("capa-system", "x", "s"), access: ambient, source: "Secret capa-system/x"},
		"static, by owner":                  {backup: one(staticIdentity, "s").static("elsewhere", "x", "s"), source: "Secret elsewhere/x"},
		"static, by owner among two":        {backup: one(staticIdentity, "s").identity(staticIdentity, "s", map[string]any{"secretRef": "x"}).static("a", "x", "s").static("b", "x", ""), source: "Secret a/x"},
		"static, of another owner":          {backup: one(staticIdentity, "s").static("capa-system", "x", "t"), reason: "NoCredential", says: "AWSClusterStaticIdentity s"},
		"static, in two namespaces":         {backup: one(staticIdentity, "s").static("a", "x", "s").static("b", "y", "s"), reason: "NoCredential", says: "2 namespaces"},
		"static, missing, ambient":          {backup: one(staticIdentity, "s"), access: ambient, source: "your own AWS credentials (--aws-ambient)"},
		"a role":                            {backup: one(roleIdentity, "a").identity(roleIdentity, "a", roleSpec(arnA, "", "", "")).keys(), source: "Secret capa-system/capa-manager-bootstrap-credentials, then role " + arnA},
		"a role, without keys":              {backup: one(roleIdentity, "a").identity(roleIdentity, "a", roleSpec(arnA, "", "", "")), reason: "NoCredential", says: managerSecret},
		"a role, missing":                   {backup: one(roleIdentity, "a").keys(), reason: "NoCredential", says: "AWSClusterRoleIdentity a is not in the backup"},
		"a chain":                           {backup: one(roleIdentity, "b").identity(roleIdentity, "b", roleSpec(arnB, "x", roleIdentity, "a")).identity(roleIdentity, "a", roleSpec(arnA, "", controllerIdentity, "default")).keys(), source: "Secret capa-system/capa-manager-bootstrap-credentials, then role " + arnA + ", then role " + arnB},
		"a chain from static":               {backup: one(roleIdentity, "a").identity(roleIdentity, "a", roleSpec(arnA, "", staticIdentity, "s")).static("capa-system", "x", "s"), source: "Secret capa-system/x, then role " + arnA},
		"a loop":                            {backup: one(roleIdentity, "a").identity(roleIdentity, "a", roleSpec(arnA, "", roleIdentity, "b")).identity(roleIdentity, "b", roleSpec(arnB, "", roleIdentity, "a")).keys(), reason: "BadIdentity", says: "assumed with itself: a, b, a"},
		"a loop, ambient":                   {backup: one(roleIdentity, "a").identity(roleIdentity, "a", roleSpec(arnA, "", roleIdentity, "a")), access: ambient, source: "your own AWS credentials (--aws-ambient)"},
		"no ARN":                            {backup: one(roleIdentity, "a").identity(roleIdentity, "a", roleSpec("arn:aws:iam::1:user/x", "", "", "")).keys(), reason: "BadIdentity", says: "not the ARN of a role"},
		"unknown kind":                      {backup: one("Secret", "x").keys(), reason: "BadIdentity", says: `"Secret"`},
		"unknown kind, ambient":             {backup: one("Secret", "x"), access: ambient, source: "your own AWS credentials (--aws-ambient)"},
		"a hostile chain, the operator has": {backup: one(roleIdentity, "a").identity(roleIdentity, "a", roleSpec(arnA, "", "", "")), access: ambient, source: "your own AWS credentials (--aws-ambient), then role " + arnA},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := load(t, c.backup.Bytes())
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
	chain := func(roles int) made {
		b := one(roleIdentity, "r1").keys()
		for n := 1; n < roles; n++ {
			b.identity(roleIdentity, fmt.Sprint("r", n), roleSpec(arnA, "", roleIdentity, fmt.Sprint("r", n+1)))
		}
		return b.identity(roleIdentity, fmt.Sprint("r", roles), roleSpec(arnA, "", "", ""))
	}
	if target := onlyTarget(t, chain(5), infra.Access{}); target.Refused != nil || target.Credential == nil {
		t.Errorf("five roles: refused %+v", target.Refused)
	}
	if f := onlyTarget(t, chain(6), infra.Access{}).Refused; f == nil || f.Reason != "BadIdentity" || !strings.Contains(f.Message, "more than 5 roles") {
		t.Errorf("six roles: the refusal is %+v", f)
	}
}

// Roles are assumed one after the other, with the external id that each asks for.
func TestRolesAreAssumed(t *testing.T) {
	b := one(roleIdentity, "b").keys().
		identity(roleIdentity, "b", roleSpec(arnB, "ext", roleIdentity, "a")).
		identity(roleIdentity, "a", roleSpec(arnA, "", "", ""))
	s, secrets := load(t, b.Bytes())
	roles := []lab.EC2Role{{ARN: arnA, Trusts: []string{labKey}}, {ARN: arnB, ExternalID: "ext", Trusts: []string{arnA}}}
	f := serve(t, lab.EC2Options{Roles: roles, Backup: saved(t, b)}, nil)
	l := listAll(t, New(), s, secrets, infra.Access{}).Listings[0]
	if l.State != code.ScopeComplete || l.Account != fleetAccount || !slices.Contains(l.ProbesFound, infra.Key{Kind: keyVPC, Value: "vpc-1"}) {
		t.Errorf("it is %s of %s, %v: %+v", l.State, l.Account, l.ProbesFound, l.Fault)
	}
	if n := f.counts()["AssumeRole"]; n != 2 {
		t.Errorf("%d roles were assumed", n)
	}
	serve(t, lab.EC2Options{Roles: roles[1:]}, nil)
	l = listAll(t, New(), s, secrets, infra.Access{}).Listings[0]
	if l.State != code.ScopeFailed || l.Fault.Reason != "NoPermission" || !strings.Contains(l.Fault.Message, arnA) || strings.Contains(l.Fault.Message, labKey) {
		t.Errorf("it is %s: %+v", l.State, l.Fault)
	}
	if l.Account != fleetAccount {
		t.Errorf("the account that was meant is %q", l.Account)
	}
}

// The operator's own chain is read only when it was asked for. Then what the
// backup names as roles is assumed with it.
func TestOperatorsOwnCredentials(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "credentials")
	if err := os.WriteFile(file, []byte("[dr]\naws_access_key_id = "+labKey+"\naws_secret_access_key = "+labSecret+"\naws_session_token = "+labToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(dir, "none"))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAENVENVENVENVENV1")
	t.Setenv("AWS_SECRET_ACCESS_KEY", labSecret)
	serve(t, lab.EC2Options{Keys: []lab.EC2Key{
		{ID: labKey, Secret: labSecret, Token: labToken, Account: "111111111111"},
		{ID: "AKIAENVENVENVENVENV1", Secret: labSecret, Account: "444444444444"},
	}}, nil)
	s, secrets := load(t, one().Bytes())
	for name, c := range map[string]struct {
		access  infra.Access
		account string
	}{
		"a profile": {infra.Access{Options: map[string]string{flagProfile: "dr"}}, "111111111111"},
		"all of it": {infra.Access{Options: map[string]string{flagAmbient: "true"}}, "444444444444"},
		"not asked": {infra.Access{}, ""},
	} {
		l := listAll(t, small(pageSize), s, secrets, c.access).Listings[0]
		if l.Account != c.account || (l.State == code.ScopeComplete) != (c.account != "") {
			t.Errorf("%s: it is %s of %q: %+v", name, l.State, l.Account, l.Fault)
		}
	}
	if l := listAll(t, small(pageSize), s, secrets, infra.Access{Options: map[string]string{flagProfile: "no such"}}).Listings[0]; l.State != code.ScopeFailed || l.Fault == nil {
		t.Errorf("a profile that does not exist: %s", l.State)
	}
}

// Clusters that share region and credential are one target, others are not.
func TestTargetsMerge(t *testing.T) {
	b := newMade().keys().
		cluster("ns", "a", "us-east-1", "vpc-1").cluster("ns", "b", "us-east-1", "vpc-2").
		cluster("ns", "c", "eu-west-1", "vpc-3").
		cluster("ns", "d", "us-east-1", "vpc-4", staticIdentity, "same").static("capa-system", "same", "same").
		cluster("ns", "e", "us-east-1", "vpc-5", roleIdentity, "a").identity(roleIdentity, "a", roleSpec(arnA, "", "", ""))
	s, secrets := load(t, b.Bytes())
	var got []string
	for _, target := range New().Targets(s, secrets, infra.Access{}) {
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

// The operator's environment says where services are, for all of them and for
// single ones, as it does for every program that uses the SDK.
func TestEndpointsFromTheEnvironment(t *testing.T) {
	b := one().keys()
	s, secrets := load(t, b.Bytes())
	serve(t, lab.EC2Options{Backup: saved(t, b)}, nil)
	server, nobody := os.Getenv("AWS_ENDPOINT_URL"), "http://"+infratest.ClosedPort(t)
	for name, c := range map[string]struct {
		env    map[string]string
		state  code.ScopeState
		reason string
	}{
		"all":          {map[string]string{"AWS_ENDPOINT_URL": server}, code.ScopeComplete, ""},
		"each":         {map[string]string{"AWS_ENDPOINT_URL": nobody, "AWS_ENDPOINT_URL_EC2": server, "AWS_ENDPOINT_URL_STS": server}, code.ScopeComplete, ""},
		"one is wrong": {map[string]string{"AWS_ENDPOINT_URL": server, "AWS_ENDPOINT_URL_STS": nobody}, code.ScopeFailed, "Unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			l := listAll(t, small(pageSize), s, secrets, infra.Access{}).Listings[0]
			if l.State != c.state || (l.Fault != nil && string(l.Fault.Reason) != c.reason) || len(l.Unread) > 0 {
				t.Errorf("it is %s, unread %v: %+v", l.State, l.Unread, l.Fault)
			}
			want := strings.TrimPrefix(server, "http://")
			if c.env["AWS_ENDPOINT_URL_STS"] == nobody {
				return
			}
			if target := New().Targets(s, secrets, infra.Access{})[0]; target.Dial != want || target.Endpoint != "ec2.us-east-1.amazonaws.com" {
				t.Errorf("it is announced as %s at %s", target.Endpoint, target.Dial)
			}
		})
	}
}

// A profile without a credential is not made up for by the machine that this
// runs on.
func TestAProfileDoesNotAskTheMachine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte("[profile dr]\nregion = us-east-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	machine, contacts := infratest.Listen(t)
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": file, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "",
		"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://" + machine, "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "",
	} {
		t.Setenv(name, value)
	}
	serve(t, lab.EC2Options{}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	p := small(pageSize)
	if l := p.List(ctx, onlyTarget(t, one(), infra.Access{Options: map[string]string{flagProfile: "dr"}})); l.State != code.ScopeFailed || ctx.Err() != nil {
		t.Errorf("it is %s: %+v", l.State, l.Fault)
	}
	if n := contacts(); n != 0 {
		t.Errorf("the machine was asked %d times", n)
	}
}

// A management cluster is backed up namespace by namespace, and the identities
// are in each of the backups.
func TestSplitBackupsShareIdentities(t *testing.T) {
	part := func(namespace string, n int) backup.Source {
		return backuptest.Source(namespace, newMade().keys().
			cluster(namespace, "a", fleetRegion, "vpc-1", roleIdentity, "r").machine(namespace, "a", "a-1", idOf(n)).
			cluster(namespace, "b", fleetRegion, "vpc-1", staticIdentity, "s").machine(namespace, "b", "b-1", idOf(n+1)).
			identity(roleIdentity, "r", roleSpec(arnA, "", "", "")).
			identity(staticIdentity, "s", map[string]any{"secretRef": "x"}).static(managerSpace, "x", "").Bytes())
	}
	s, secrets, err := backup.Load(t.Context(), []backup.Source{part("one", 1), part("two", 3)}, want)
	if err != nil {
		t.Fatal(err)
	}
	reached := 0
	for _, target := range New().Targets(s, secrets, infra.Access{}) {
		reached += len(target.Clusters)
		if target.Refused != nil {
			t.Errorf("%v: %s", target.Clusters, target.Refused.Message)
		}
	}
	if reached != 4 {
		t.Errorf("%d clusters are reached", reached)
	}
	if absent := New().Expected(s).Absent; len(absent) > 0 {
		t.Errorf("absent: %+v", absent)
	}
}
