package vsphere

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
)

func (b *smallBackup) secret(namespace, name string, data map[string]string, owner ...string) *smallBackup {
	values := fields{}
	for k, v := range data {
		values[k] = b64(v)
	}
	o := newObject("v1", "Secret", namespace, name, fields{"data": values})
	if len(owner) > 0 {
		backuptest.Inside(o, "metadata")["ownerReferences"] = []any{fields{"apiVersion": group + "/v1beta1", "kind": identityKind, "name": owner[0], "uid": "z"}}
	}
	b.objects["secrets "+namespace+"/"+name] = o
	return b
}

// proven says that CAPV has logged in with the cluster's identity.
func proven(b *smallBackup) *smallBackup {
	b.set(clusters.Resource(), "metadata.generation", 3)
	return b.set(clusters.Resource(), "status.conditions", []any{fields{"type": "VCenterAvailable", "status": "True", "observedGeneration": 3}})
}

func login(user, password string) map[string]string {
	return map[string]string{userKey: user, passKey: password}
}

func (b *smallBackup) targets(t *testing.T, a infra.Access) []infra.Target {
	t.Helper()
	s, secrets := b.load(t)
	return New().Targets(s, secrets, a)
}

// sole returns the only target, and what it would log in with.
func (b *smallBackup) sole(t *testing.T, a infra.Access) (target infra.Target, user, password string) {
	t.Helper()
	all := b.targets(t, a)
	if len(all) != 1 {
		t.Fatalf("%d targets: %+v", len(all), all)
	}
	c, _ := all[0].Credential.(credential)
	return all[0], c.user.Reveal(), c.password.Reveal()
}

func refusal(target infra.Target) infra.Fault {
	if target.Refused == nil {
		return infra.Fault{}
	}
	return *target.Refused
}

func TestCredentialOrder(t *testing.T) {
	identity := func(b *smallBackup) *smallBackup {
		return b.set(clusters.Resource(), "spec.identityRef", fields{"kind": identityKind, "name": "shared"})
	}
	object := func(b *smallBackup, values fields) *smallBackup {
		values["spec.secretName"] = "creds"
		b.put(identities.Resource(), newObject(group+"/v1beta1", identityKind, "", "shared", values))
		return b
	}
	allows := fields{"spec.allowedNamespaces": fields{"selector": fields{}}}
	manager := func(b *smallBackup) *smallBackup { return b.set(clusters.Resource(), "spec.identityRef", nil) }
	yamlOf := func(text string) map[string]string { return map[string]string{managerKey: text} }
	for _, c := range []struct {
		name       string
		b          *smallBackup
		user, from string // empty: refused
	}{
		{"Secret", newSmallBackup().secret("team", "prod", login("anna", "p")).secret("other", "prod", login("bob", "p")), "anna", "Secret team/prod"},
		{"Secret is absent", newSmallBackup().secret("other", "prod", login("bob", "p")), "", ""},
		{"Secret is empty", newSmallBackup().secret("team", "prod", login("anna", "")), "", ""},
		{"identity", object(identity(newSmallBackup()), allows).secret(managerSpace, "creds", login("anna", "p")).secret("team", "prod", login("bob", "p")), "anna", "Secret capv-system/creds"},
		{"identity in KCM's namespace", object(identity(newSmallBackup()), allows).secret("kcm-system", "creds", login("anna", "p")), "anna", "Secret kcm-system/creds"},
		{"owned before merely named", object(identity(newSmallBackup()), allows).secret("a", "creds", login("bob", "p")).secret("kcm", "creds", login("anna", "p"), "shared"), "anna", "Secret kcm/creds"},
		{"two of that name", object(identity(newSmallBackup()), allows).secret("a", "creds", login("bob", "p")).secret("b", "creds", login("eve", "p")), "", ""},
		{"identity is absent, its Secret is not", proven(identity(newSmallBackup())).secret("kcm", "whatever", login("anna", "p"), "shared").secret("kcm", "x", login("bob", "p"), "another"), "anna", "Secret kcm/whatever"},
		{"identity and Secret are absent", identity(newSmallBackup()).secret("kcm", "x", login("bob", "p")), "", ""},
		{"manager", manager(newSmallBackup()).secret(managerSpace, managerSecret, yamlOf("username: 'anna'\npassword: 'p'\n")).secret("x", managerSecret, yamlOf("username: bob\npassword: p")), "anna", "Secret capv-system/" + managerSecret},
		{"manager's YAML is broken", manager(newSmallBackup()).secret(managerSpace, managerSecret, yamlOf("password: m4rk3r\n\t: {")), "", ""},
		{"manager's YAML is empty", manager(newSmallBackup()).secret(managerSpace, managerSecret, yamlOf("username: anna")), "", ""},
		{"identity of unknown kind", newSmallBackup().set(clusters.Resource(), "spec.identityRef", fields{"kind": "Vault", "name": "x"}), "", ""},
		{"VSphereCluster is absent", newSmallBackup().drop(clusters.Resource()).secret("team", "prod", login("bob", "p")), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			reason := map[bool]string{true: "NoCredential"}[c.user == ""]
			if strings.Contains(c.name, "unknown kind") {
				reason = "BadIdentity"
			}
			target, user, _ := c.b.sole(t, infra.Access{})
			if user != c.user || target.Source != c.from || string(refusal(target).Reason) != reason {
				t.Errorf("user %q from %q, refused %+v", user, target.Source, refusal(target))
			}
			if f := refusal(target); c.user == "" && (f.Hint == "" || strings.Contains(f.Message, "m4rk3r")) {
				t.Errorf("refused %+v", f)
			}
		})
	}
}

func TestOperatorsCredentialWins(t *testing.T) {
	b := newSmallBackup().secret("team", "prod", login("anna", "p"))
	given := infra.Credential{Endpoint: "https://VC1.example/sdk", Source: "--credentials f.yaml", Username: "ops", Password: backup.NewSensitive("q")}
	target, user, password := b.sole(t, infra.Access{Credentials: []infra.Credential{given}})
	if user != "ops" || password != "q" || target.Account != "ops" || target.Source != given.Source {
		t.Errorf("%s %s from %s", target.Account, user, target.Source)
	}
	given.Username, given.Password, given.Thumbprint = "", backup.Sensitive{}, "AA:BB"
	target, user, _ = b.sole(t, infra.Access{Credentials: []infra.Credential{given}})
	if d := target.Detail.(*detail); user != "anna" || d.trust.Thumbprint != "AA:BB" {
		t.Errorf("user %s, trust %+v", user, d.trust)
	}
	given.Endpoint = "vc1.example:8443"
	target, _, _ = b.sole(t, infra.Access{Credentials: []infra.Credential{given}})
	if d := target.Detail.(*detail); d.trust.Thumbprint != "" {
		t.Errorf("what belongs to another port is trusted: %+v", d.trust)
	}
}

func TestSharedCredentialsAreOneTarget(t *testing.T) {
	build := func(password string) *smallBackup {
		b := newSmallBackup().secret("team", "prod", login("anna", "m4rk3r")).secret("team", "dev", login("anna", password))
		b.put("clusters"+capiGroup, newObject("cluster.x-k8s.io/v1beta1", "Cluster", "team", "dev", fields{
			"spec.infrastructureRef": fields{"apiVersion": group + "/v1beta1", "kind": clusterKind, "name": "dev", "namespace": "team"},
		}))
		b.put(clusters.Resource(), newObject(group+"/v1beta1", clusterKind, "team", "dev", fields{
			"spec.server": "https://VC1.example:443/sdk", "spec.identityRef": fields{"kind": "Secret", "name": "dev"}, "spec.thumbprint": "CC:DD",
		}))
		return b
	}
	target, _, _ := build("m4rk3r").sole(t, infra.Access{})
	if want := []string{"vsphere/vc1.example:443/Secret/team/dev", "vsphere/vc1.example:443/Secret/team/prod"}; !slices.Equal(target.IDs, want) {
		t.Errorf("ids %v", target.IDs)
	}
	if len(target.Clusters) != 2 || target.Source != "Secret team/dev, Secret team/prod" || !slices.Equal(target.Detail.(*detail).thumbprints, []string{"CC:DD"}) {
		t.Errorf("%+v, %+v", target, target.Detail)
	}
	if use := target.Use; !strings.Contains(use, "vc1.example:443") || !strings.Contains(use, target.Source) || strings.Contains(use, "m4rk3r") {
		t.Errorf("said %q", use)
	}
	if all := build("another").targets(t, infra.Access{}); len(all) != 2 {
		t.Errorf("two passwords, %d targets", len(all))
	}
}

func TestEveryServerOfAClusterIsATarget(t *testing.T) {
	b := newSmallBackup().secret("team", "prod", login("anna", "p"))
	b.set(vms.Resource(), "spec.server", "vc2.example").set(templates.Resource(), "spec.template.spec.server", "vc3.example")
	var got []string
	for _, target := range b.targets(t, infra.Access{Reroutes: []infra.Reroute{{From: "vc2.example", To: "127.0.0.1:9"}}}) {
		got = append(got, fmt.Sprintf("%s %s %d", target.Endpoint, target.Dial, len(target.Probes)))
	}
	if want := []string{"vc1.example:443  1", "vc2.example:443 127.0.0.1:9 6", "vc3.example:443  6"}; !slices.Equal(got, want) {
		t.Errorf("targets %q, want %q", got, want)
	}
}

func TestServersThatAreRefused(t *testing.T) {
	for server, want := range map[string]struct{ endpoint, says string }{
		"":                                   {"(no server)", "the backup names no vCenter for 1 of its clusters"},
		"vc1 example":                        {"vc1 example", `server "vc1 example" in the backup: it is not a host, host:port or https:// URL`},
		"http://u:m4rk3r@vc1.example":        {"vc1.example", `server "vc1.example" in the backup: http:// is refused, only https:// is used`},
		"ftp://u:m4rk3r@VC1":                 {"vc1", `server "vc1" in the backup: its scheme is not https`},
		"m4rk3r://vc1":                       {"vc1", `server "vc1" in the backup: its scheme is not https`},
		"https://u:m4rk3r%zz@vc1.example/x":  {"vc1.example", `server "vc1.example" in the backup: it is not a host, host:port or https:// URL`},
		"https://a b:m4rk3r@vc1.example":     {"vc1.example", `server "vc1.example" in the backup: it is not a host, host:port or https:// URL`},
		"https://u:m4rk3r@vc1.example:99999": {"vc1.example", `server "vc1.example" in the backup: its port is not a number from 1 to 65535`},
		"u:m4rk3r":                           {"u", `server "u" in the backup: it is not a host, host:port or https:// URL`},
		"https://u:p/m4rk3r@vc1.example":     {"(server not shown)", "a server in the backup: it is not a host, host:port or https:// URL"},
		"vc1..example/sdk?a=%zz#x@m4rk3r":    {"(server not shown)", "a server in the backup: it is not a host, host:port or https:// URL"},
	} {
		b := newSmallBackup().secret("team", "prod", login("anna", "p"))
		b.set(vms.Resource(), "spec.server", server).set(clusters.Resource(), "spec.server", server).set(templates.Resource(), "spec.template.spec.server", server)
		target, user, _ := b.sole(t, infra.Access{})
		f := refusal(target)
		if f.Reason != "BadEndpoint" || f.Hint == "" || f.Message != want.says || target.Endpoint != want.endpoint || user != "" {
			t.Errorf("%q: %s, %+v; want %+v", server, target.Endpoint, f, want)
		}
		if said := fmt.Sprintf("%+v", target); strings.Contains(said, "m4rk3r") {
			t.Errorf("%q: %s", server, said)
		}
		if c := b.expectedMachine(t); c.Home.Target != target.IDs[0] {
			t.Errorf("%q: the claim's home is %s, the target %v", server, c.Home.Target, target.IDs)
		}
	}
}

// TestEveryCauseIsSaid: servers that share a host and are refused for different
// reasons are different places.
func TestEveryCauseIsSaid(t *testing.T) {
	b := newSmallBackup().secret("team", "prod", login("anna", "p"))
	b.set(clusters.Resource(), "spec.server", "http://vc.corp").set(vms.Resource(), "spec.server", "vc.corp:0")
	b.set(templates.Resource(), "spec.template.spec.server", "ftp://vc.corp")
	var said []string
	for _, target := range b.targets(t, infra.Access{}) {
		said = append(said, target.Endpoint+": "+refusal(target).Message)
	}
	slices.Sort(said)
	want := []string{
		`vc.corp: server "vc.corp" in the backup: http:// is refused, only https:// is used`,
		`vc.corp: server "vc.corp" in the backup: its port is not a number from 1 to 65535`,
		`vc.corp: server "vc.corp" in the backup: its scheme is not https`,
	}
	if !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
}

// TestBackupsKeepTheirCredentials: two management clusters call different
// credentials by one name.
func TestBackupsKeepTheirCredentials(t *testing.T) {
	for name, identity := range map[string]any{
		"Secret": fields{"kind": "Secret", "name": "prod"}, "identity": fields{"kind": identityKind, "name": "shared"}, "manager": nil,
	} {
		t.Run(name, func(t *testing.T) {
			var sources []backup.Source
			for _, user := range []string{"anna", "bob"} {
				b := proven(newSmallBackup()).set(clusters.Resource(), "spec.identityRef", identity)
				b.secret("team", "prod", login(user, "p")).secret("kcm", "creds", login(user, "p"), "shared")
				b.secret(managerSpace, managerSecret, map[string]string{managerKey: "username: " + user + "\npassword: p"})
				for _, o := range b.objects {
					meta := backuptest.Inside(o, "metadata")
					meta["uid"] = fmt.Sprintf("%v of %s", meta["uid"], user)
				}
				sources = append(sources, backuptest.Source(user+".tar.gz", b.bytes()))
			}
			s, secrets, err := backup.Load(t.Context(), sources, want)
			must(t, err)
			targets := New().Targets(s, secrets, infra.Access{})
			if len(targets) != 2 || targets[0].Account != "anna" || targets[1].Account != "bob" || targets[1].IDs[0] != targets[0].IDs[0]+"#2" {
				t.Errorf("targets %+v", targets)
			}
			for i, m := range New().Expected(s).Machines {
				if m.Home.Target != targets[i].IDs[0] {
					t.Errorf("machine %d is at %s", i, m.Home.Target)
				}
			}
		})
	}
}

func TestSettingsThatAreIgnoredAreSaid(t *testing.T) {
	b := newSmallBackup().secret("team", "prod", login("anna", "p"))
	b.set(clusters.Resource(), "spec.insecure", true).set(clusters.Resource(), "spec.server", "https://root:m4rk3r@vc1.example/sdk")
	target, user, _ := b.sole(t, infra.Access{})
	said := strings.Join(target.Warnings, "\n")
	if user != "anna" || len(target.Warnings) != 2 || !strings.Contains(said, "insecure") || !strings.Contains(said, "user info") || strings.Contains(said, "m4rk3r") {
		t.Errorf("user %s, warnings %q", user, target.Warnings)
	}
	if target.Detail.(*detail).trust.Insecure {
		t.Error("the backup turned verification off")
	}
}

func TestClusterScopedBackupNamesTheSameTargets(t *testing.T) {
	s, secrets := load(t, fleet(t))
	fleetTargets := New().Targets(s, secrets, infra.Access{})
	source, err := archive.FileSource("../../testdata/fleet-cluster-scoped-data.tar.gz")
	must(t, err)
	s, secrets, err = backup.Load(t.Context(), []backup.Source{source}, want)
	must(t, err)
	scoped := New().Targets(s, secrets, infra.Access{})
	if len(fleetTargets) != 1 || len(scoped) != 1 || !slices.Equal(fleetTargets[0].IDs, scoped[0].IDs) || fleetTargets[0].Source != scoped[0].Source {
		t.Errorf("%+v\n%+v", fleetTargets, scoped)
	}
	if a := New().Expected(s).Absent; len(a) != 0 {
		t.Errorf("absent %+v", a)
	}
}
