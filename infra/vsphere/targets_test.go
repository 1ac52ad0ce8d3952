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
	"drift-detector/infra/capi"
	"drift-detector/infra/vsphere/vspheretest"
)

// proven says that CAPV has logged in with the cluster's identity.
func proven(b *vspheretest.Backup) *vspheretest.Backup {
	b.Set(clusters.Resource(), "metadata.generation", 3)
	return b.Set(clusters.Resource(), "status.conditions", []any{fields{"type": "VCenterAvailable", "status": "True", "observedGeneration": 3}})
}

func targets(t *testing.T, b *vspheretest.Backup, a infra.Access) []infra.Target {
	t.Helper()
	s, secrets := b.Load(t, want)
	return new(Provider).Targets(s, secrets, a)
}

// sole returns the only target, and what it would log in with.
func sole(t *testing.T, b *vspheretest.Backup, a infra.Access) (target infra.Target, user, password string) {
	t.Helper()
	all := targets(t, b, a)
	if len(all) != 1 {
		t.Fatalf("%d targets: %+v", len(all), all)
	}
	c, _ := all[0].Credential.(Credential)
	return all[0], c.User.Reveal(), c.Password.Reveal()
}

func refusal(target infra.Target) infra.Fault {
	if target.Refused == nil {
		return infra.Fault{}
	}
	return *target.Refused
}

// deployed puts the Deployment of CAPV into a namespace.
func deployed(b *vspheretest.Backup, namespace string) *vspheretest.Backup {
	b.Put(capi.Deployments.Resource(), vspheretest.Object("apps/v1", "Deployment", namespace, "capv-controller-manager", nil))
	return b
}

func TestCredentialOrder(t *testing.T) {
	identity := func(b *vspheretest.Backup) *vspheretest.Backup {
		return b.Set(clusters.Resource(), "spec.identityRef", fields{"kind": identityKind, "name": "shared"})
	}
	object := func(b *vspheretest.Backup, values fields) *vspheretest.Backup {
		values["spec.secretName"] = "creds"
		b.Put(identities.Resource(), vspheretest.Object(group+"/v1beta1", identityKind, "", "shared", values))
		return b
	}
	allows := fields{"spec.allowedNamespaces": fields{"selector": fields{}}}
	manager := func(b *vspheretest.Backup) *vspheretest.Backup {
		return b.Set(clusters.Resource(), "spec.identityRef", nil)
	}
	yamlOf := func(text string) map[string]string { return map[string]string{managerKey: text} }
	for _, c := range []struct {
		name       string
		b          *vspheretest.Backup
		user, from string // empty: refused
	}{
		{"Secret", vspheretest.NewBackup().Secret("team", "prod", vspheretest.Login("anna", "p")).Secret("other", "prod", vspheretest.Login("bob", "p")), "anna", "Secret team/prod"},
		{"Secret is absent", vspheretest.NewBackup().Secret("other", "prod", vspheretest.Login("bob", "p")), "", ""},
		{"Secret is empty", vspheretest.NewBackup().Secret("team", "prod", vspheretest.Login("anna", "")), "", ""},
		{"identity", object(identity(vspheretest.NewBackup()), allows).Secret(managerSpace, "creds", vspheretest.Login("anna", "p")).Secret("team", "prod", vspheretest.Login("bob", "p")), "anna", "Secret capv-system/creds"},
		{"identity in KCM's namespace", object(identity(vspheretest.NewBackup()), allows).Secret("kcm-system", "creds", vspheretest.Login("anna", "p"), "shared"), "anna", "Secret kcm-system/creds"},
		{"identity where CAPV runs", deployed(object(identity(vspheretest.NewBackup()), allows).Secret("capv", "creds", vspheretest.Login("anna", "p")), "capv"), "anna", "Secret capv/creds"},
		{"one of the name in another namespace", object(identity(vspheretest.NewBackup()), allows).Secret("team", "creds", vspheretest.Login("anna", "p")), "", ""},
		{"owned before merely named", object(identity(vspheretest.NewBackup()), allows).Secret("a", "creds", vspheretest.Login("bob", "p")).Secret("kcm", "creds", vspheretest.Login("anna", "p"), "shared"), "anna", "Secret kcm/creds"},
		{"two of that name", object(identity(vspheretest.NewBackup()), allows).Secret("a", "creds", vspheretest.Login("bob", "p")).Secret("b", "creds", vspheretest.Login("eve", "p")), "", ""},
		{"identity is absent, its Secret is not", proven(identity(vspheretest.NewBackup())).Secret("kcm", "whatever", vspheretest.Login("anna", "p"), "shared").Secret("kcm", "x", vspheretest.Login("bob", "p"), "another"), "anna", "Secret kcm/whatever"},
		{"identity and Secret are absent", identity(vspheretest.NewBackup()).Secret("kcm", "x", vspheretest.Login("bob", "p")), "", ""},
		{"manager", manager(vspheretest.NewBackup()).Secret(managerSpace, managerSecret, yamlOf("username: 'anna'\npassword: 'p'\n")).Secret("x", managerSecret, yamlOf("username: bob\npassword: p")), "anna", "Secret capv-system/" + managerSecret},
		{"manager's name in a tenant's namespace", manager(vspheretest.NewBackup()).Secret("team", managerSecret, yamlOf("username: bob\npassword: p")), "", ""},
		{"manager where CAPV runs", deployed(manager(vspheretest.NewBackup()).Secret("capv", managerSecret, yamlOf("username: anna\npassword: p")), "capv"), "anna", "Secret capv/" + managerSecret},
		{"manager's YAML is broken", manager(vspheretest.NewBackup()).Secret(managerSpace, managerSecret, yamlOf("password: m4rk3r\n\t: {")), "", ""},
		{"manager's YAML is empty", manager(vspheretest.NewBackup()).Secret(managerSpace, managerSecret, yamlOf("username: anna")), "", ""},
		{"identity of unknown kind", vspheretest.NewBackup().Set(clusters.Resource(), "spec.identityRef", fields{"kind": "Vault", "name": "x"}), "", ""},
		{"VSphereCluster is absent", vspheretest.NewBackup().Drop(clusters.Resource()).Secret("team", "prod", vspheretest.Login("bob", "p")), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			reason := map[bool]string{true: "NoCredential"}[c.user == ""]
			if strings.Contains(c.name, "unknown kind") {
				reason = "BadIdentity"
			}
			target, user, _ := sole(t, c.b, infra.Access{})
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
	b := vspheretest.NewBackup().Secret("team", "prod", vspheretest.Login("anna", "p"))
	given := infra.Credential{Endpoint: "https://VC1.example/sdk", Source: "--credentials f.yaml", Username: "ops", Password: backup.NewSensitive("q")}
	target, user, password := sole(t, b, infra.Access{Credentials: []infra.Credential{given}})
	if user != "ops" || password != "q" || target.Account != "ops" || target.Source != given.Source {
		t.Errorf("%s %s from %s", target.Account, user, target.Source)
	}
	given.Username, given.Password, given.Thumbprint = "", backup.Sensitive{}, "AA:BB"
	target, user, _ = sole(t, b, infra.Access{Credentials: []infra.Credential{given}})
	if d := target.Detail.(*Detail); user != "anna" || d.Trust.Thumbprint != "AA:BB" {
		t.Errorf("user %s, trust %+v", user, d.Trust)
	}
	given.Endpoint = "vc1.example:8443"
	target, _, _ = sole(t, b, infra.Access{Credentials: []infra.Credential{given}})
	if d := target.Detail.(*Detail); d.Trust.Thumbprint != "" {
		t.Errorf("what belongs to another port is trusted: %+v", d.Trust)
	}
}

func TestSharedCredentialsAreOneTarget(t *testing.T) {
	build := func(password string) *vspheretest.Backup {
		b := vspheretest.NewBackup().Secret("team", "prod", vspheretest.Login("anna", "m4rk3r")).Secret("team", "dev", vspheretest.Login("anna", password))
		b.Put("clusters"+vspheretest.CAPIGroup, vspheretest.Object("cluster.x-k8s.io/v1beta1", "Cluster", "team", "dev", fields{
			"spec.infrastructureRef": fields{"apiVersion": group + "/v1beta1", "kind": clusterKind, "name": "dev", "namespace": "team"},
		}))
		b.Put(clusters.Resource(), vspheretest.Object(group+"/v1beta1", clusterKind, "team", "dev", fields{
			"spec.server": "https://VC1.example:443/sdk", "spec.identityRef": fields{"kind": "Secret", "name": "dev"}, "spec.thumbprint": "CC:DD",
		}))
		return b
	}
	target, _, _ := sole(t, build("m4rk3r"), infra.Access{})
	if want := []string{"vsphere/vc1.example:443/Secret/team/dev", "vsphere/vc1.example:443/Secret/team/prod"}; !slices.Equal(target.IDs, want) {
		t.Errorf("ids %v", target.IDs)
	}
	if len(target.Clusters) != 2 || target.Source != "Secret team/dev, Secret team/prod" || !slices.Equal(target.Detail.(*Detail).Thumbprints, []string{"CC:DD"}) {
		t.Errorf("%+v, %+v", target, target.Detail)
	}
	if use := target.Use; !strings.Contains(use, "vc1.example:443") || !strings.Contains(use, target.Source) || strings.Contains(use, "m4rk3r") {
		t.Errorf("said %q", use)
	}
	if all := targets(t, build("another"), infra.Access{}); len(all) != 2 {
		t.Errorf("two passwords, %d targets", len(all))
	}
}

func TestEveryServerOfAClusterIsATarget(t *testing.T) {
	b := vspheretest.NewBackup().Secret("team", "prod", vspheretest.Login("anna", "p"))
	b.Set(vms.Resource(), "spec.server", "vc2.example").Set(templates.Resource(), "spec.template.spec.server", "vc3.example")
	var got []string
	for _, target := range targets(t, b, infra.Access{Reroutes: []infra.Reroute{{From: "vc2.example", To: "127.0.0.1:9"}}}) {
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
		b := vspheretest.NewBackup().Secret("team", "prod", vspheretest.Login("anna", "p"))
		b.Set(vms.Resource(), "spec.server", server).Set(clusters.Resource(), "spec.server", server).Set(templates.Resource(), "spec.template.spec.server", server)
		target, user, _ := sole(t, b, infra.Access{})
		f := refusal(target)
		if f.Reason != "BadEndpoint" || f.Hint == "" || f.Message != want.says || target.Endpoint != want.endpoint || user != "" {
			t.Errorf("%q: %s, %+v; want %+v", server, target.Endpoint, f, want)
		}
		if said := fmt.Sprintf("%+v", target); strings.Contains(said, "m4rk3r") {
			t.Errorf("%q: %s", server, said)
		}
		if c := expectedMachine(t, b); c.Home.Target != target.IDs[0] {
			t.Errorf("%q: the claim's home is %s, the target %v", server, c.Home.Target, target.IDs)
		}
	}
}

// TestEveryCauseIsSaid: servers that share a host and are refused for different
// reasons are different places.
func TestEveryCauseIsSaid(t *testing.T) {
	b := vspheretest.NewBackup().Secret("team", "prod", vspheretest.Login("anna", "p"))
	b.Set(clusters.Resource(), "spec.server", "http://vc.corp").Set(vms.Resource(), "spec.server", "vc.corp:0")
	b.Set(templates.Resource(), "spec.template.spec.server", "ftp://vc.corp")
	var said []string
	for _, target := range targets(t, b, infra.Access{}) {
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
				b := proven(vspheretest.NewBackup()).Set(clusters.Resource(), "spec.identityRef", identity)
				b.Secret("team", "prod", vspheretest.Login(user, "p")).Secret("kcm", "creds", vspheretest.Login(user, "p"), "shared")
				b.Secret(managerSpace, managerSecret, map[string]string{managerKey: "username: " + user + "\npassword: p"})
				for _, o := range b.Objects {
					meta := backuptest.Inside(o, "metadata")
					meta["uid"] = fmt.Sprintf("%v of %s", meta["uid"], user)
				}
				sources = append(sources, backuptest.Source(user+".tar.gz", b.Bytes()))
			}
			s, secrets, err := backup.Load(t.Context(), sources, want)
			if err != nil {
				t.Fatal(err)
			}
			targets := new(Provider).Targets(s, secrets, infra.Access{})
			if len(targets) != 2 || targets[0].Account != "anna" || targets[1].Account != "bob" || targets[1].IDs[0] != targets[0].IDs[0]+"#2" {
				t.Errorf("targets %+v", targets)
			}
			for i, m := range new(Provider).Expected(s).Machines {
				if m.Home.Target != targets[i].IDs[0] {
					t.Errorf("machine %d is at %s", i, m.Home.Target)
				}
			}
		})
	}
}

func TestSettingsThatAreIgnoredAreSaid(t *testing.T) {
	b := vspheretest.NewBackup().Secret("team", "prod", vspheretest.Login("anna", "p"))
	b.Set(clusters.Resource(), "spec.insecure", true).Set(clusters.Resource(), "spec.server", "https://root:m4rk3r@vc1.example/sdk")
	target, user, _ := sole(t, b, infra.Access{})
	said := strings.Join(target.Warnings, "\n")
	if user != "anna" || len(target.Warnings) != 2 || !strings.Contains(said, "insecure") || !strings.Contains(said, "user info") || strings.Contains(said, "m4rk3r") {
		t.Errorf("user %s, warnings %q", user, target.Warnings)
	}
	if target.Detail.(*Detail).Trust.Insecure {
		t.Error("the backup turned verification off")
	}
}

func TestClusterScopedBackupNamesTheSameTargets(t *testing.T) {
	var targets [2]infra.Target
	for i, name := range []string{"fleet-data", "fleet-cluster-scoped-data"} {
		source, err := archive.FileSource("../../testdata/" + name + ".tar.gz")
		if err != nil {
			t.Fatal(err)
		}
		s, secrets, err := backup.Load(t.Context(), []backup.Source{source}, want)
		if err != nil {
			t.Fatal(err)
		}
		all := new(Provider).Targets(s, secrets, infra.Access{})
		if len(all) != 1 {
			t.Fatalf("%s: %+v", name, all)
		}
		targets[i] = all[0]
		if a := new(Provider).Expected(s).Absent; i == 1 && len(a) != 0 {
			t.Errorf("%s: absent %+v", name, a)
		}
	}
	if fleet, scoped := targets[0], targets[1]; !slices.Equal(fleet.IDs, scoped.IDs) || fleet.Source != scoped.Source {
		t.Errorf("%+v\n%+v", fleet, scoped)
	}
}
