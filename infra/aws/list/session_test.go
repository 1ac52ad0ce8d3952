package list

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/infra"
	capa "drift-detector/infra/aws"
	"drift-detector/infra/aws/awstest"
	"drift-detector/infra/infratest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// Roles are assumed one after the other, with the external id that each asks for.
func TestRolesAreAssumed(t *testing.T) {
	b := awstest.One(awstest.RoleIdentity, "b").Keys().
		Identity(awstest.RoleIdentity, "b", awstest.RoleSpec(awstest.RoleB, "ext", awstest.RoleIdentity, "a")).
		Identity(awstest.RoleIdentity, "a", awstest.RoleSpec(awstest.RoleA, "", "", ""))
	s, secrets := load(t, b.Bytes())
	roles := []lab.EC2Role{{ARN: awstest.RoleA, Trusts: []string{awstest.LabKey}}, {ARN: awstest.RoleB, ExternalID: "ext", Trusts: []string{awstest.RoleA}}}
	f := serve(t, lab.EC2Options{Roles: roles, Backup: awstest.Save(t, b)}, nil)
	l := listAll(t, New(), s, secrets, infra.Access{}).Listings[0]
	if l.State != code.ScopeComplete || l.Account != fleetAccount || !slices.Contains(l.ProbesFound, infra.Key{Kind: capa.KeyVPC, Value: "vpc-1"}) {
		t.Errorf("it is %s of %s, %v: %+v", l.State, l.Account, l.ProbesFound, l.Fault)
	}
	if n := f.counts()["AssumeRole"]; n != 2 {
		t.Errorf("%d roles were assumed", n)
	}
	serve(t, lab.EC2Options{Roles: roles[1:]}, nil)
	l = listAll(t, New(), s, secrets, infra.Access{}).Listings[0]
	if l.State != code.ScopeFailed || l.Fault.Reason != "NoPermission" || !strings.Contains(l.Fault.Message, awstest.RoleA) || strings.Contains(l.Fault.Message, awstest.LabKey) {
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
	if err := os.WriteFile(file, []byte("[dr]\naws_access_key_id = "+awstest.LabKey+"\naws_secret_access_key = "+awstest.LabSecret+"\naws_session_token = "+awstest.LabToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(dir, "none"))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAENVENVENVENVENV1")
	t.Setenv("AWS_SECRET_ACCESS_KEY", awstest.LabSecret)
	serve(t, lab.EC2Options{Keys: []lab.EC2Key{
		{ID: awstest.LabKey, Secret: awstest.LabSecret, Token: awstest.LabToken, Account: "111111111111"},
		{ID: "AKIAENVENVENVENVENV1", Secret: awstest.LabSecret, Account: "444444444444"},
	}}, nil)
	s, secrets := load(t, awstest.One().Bytes())
	for name, c := range map[string]struct {
		access  infra.Access
		account string
	}{
		"a profile": {infra.Access{Options: map[string]string{awstest.FlagProfile: "dr"}}, "111111111111"},
		"all of it": {infra.Access{Options: map[string]string{awstest.FlagAmbient: "true"}}, "444444444444"},
		"not asked": {infra.Access{}, ""},
	} {
		l := listAll(t, small(pageSize), s, secrets, c.access).Listings[0]
		if l.Account != c.account || (l.State == code.ScopeComplete) != (c.account != "") {
			t.Errorf("%s: it is %s of %q: %+v", name, l.State, l.Account, l.Fault)
		}
	}
	if l := listAll(t, small(pageSize), s, secrets, infra.Access{Options: map[string]string{awstest.FlagProfile: "no such"}}).Listings[0]; l.State != code.ScopeFailed || l.Fault == nil {
		t.Errorf("a profile that does not exist: %s", l.State)
	}
}

// The operator's environment says where services are, for all of them and for
// single ones, as it does for every program that uses the SDK.
func TestEndpointsFromTheEnvironment(t *testing.T) {
	b := awstest.One().Keys()
	s, secrets := load(t, b.Bytes())
	serve(t, lab.EC2Options{Backup: awstest.Save(t, b)}, nil)
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
	s, secrets := load(t, awstest.One().Bytes())
	targets := p.Targets(s, secrets, infra.Access{Options: map[string]string{awstest.FlagProfile: "dr"}})
	if len(targets) != 1 {
		t.Fatalf("there are %d targets", len(targets))
	}
	if l := p.List(ctx, targets[0]); l.State != code.ScopeFailed || ctx.Err() != nil {
		t.Errorf("it is %s: %+v", l.State, l.Fault)
	}
	if n := contacts(); n != 0 {
		t.Errorf("the machine was asked %d times", n)
	}
}

// Nothing that a backup's profile names is run.
func TestACredentialProcessDoesNotRun(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "ran")
	s, secrets := load(t, fleet(t, "[default]\ncredential_process = touch "+trace+"\n"))
	l := listAll(t, New(), s, secrets, infra.Access{}).Listings[0]
	if l.State != code.ScopeFailed || l.Fault.Reason != "NoCredential" || !strings.Contains(l.Fault.Message, "credential_process") {
		t.Errorf("it is %s: %+v", l.State, l.Fault)
	}
	if _, err := os.Stat(trace); !os.IsNotExist(err) {
		t.Error("the program was run")
	}
}
