package backup_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

var (
	kubeconfigs = backup.SecretRule{Name: "*-kubeconfig", Type: "cluster.x-k8s.io/secret", Keys: []string{"value"}}
	logins      = backup.SecretRule{Keys: []string{"username", "password"}, Optional: []string{"tls.crt"}}
)

func TestLabSecrets(t *testing.T) {
	_, secrets := loadPath(t, lab, backup.Want{Secrets: []backup.SecretRule{kubeconfigs, logins}})
	var names []string
	for s := range secrets.All() {
		names = append(names, s.Namespace+"/"+s.Name)
	}
	want := []string{
		"capv-system/vcenter-shared-creds", "tenant-alpha/alpha-dev", "tenant-alpha/alpha-dev-kubeconfig", "tenant-alpha/alpha-prod",
		"tenant-alpha/alpha-prod-kubeconfig", "tenant-aws/aws-prod-kubeconfig", "tenant-beta/beta-prod-kubeconfig", "tenant-gamma/gamma-edge",
		"tenant-gamma/gamma-edge-kubeconfig",
	}
	if !slices.Equal(names, want) {
		t.Fatalf("secrets %q", names)
	}
	shared := secrets.Named(0, "capv-system", "vcenter-shared-creds")
	if shared == nil || len(shared.Values) != 2 || shared.Value("username").Reveal() != "user" || shared.Value("password").IsZero() {
		t.Errorf("shared credentials %+v", shared)
	}
	if len(shared.Owners) != 1 || shared.Owners[0].Kind != "VSphereClusterIdentity" {
		t.Errorf("owners of the shared credentials %+v", shared.Owners)
	}
	if v := secrets.Named(0, "tenant-beta", "beta-prod-kubeconfig").Value("value").Reveal(); !strings.Contains(v, "https://127.0.0.1:20002") {
		t.Error("the kubeconfig was not decoded")
	}
	if secrets.Named(1, "tenant-beta", "beta-prod-kubeconfig") != nil || secrets.Named(0, "tenant-beta", "none") != nil {
		t.Error("a secret that does not exist was found")
	}
	secrets.Drop()
	for s := range secrets.All() {
		t.Errorf("%s is still there", s.Name)
	}
	var none *backup.Secrets
	none.Drop()
	if none.Named(0, "a", "b") != nil {
		t.Error("no secrets, and one was found")
	}
	for range none.All() {
		t.Error("no secrets, and one was walked")
	}
}

func secret(name, typ string, data object) object {
	return object{
		"apiVersion": "v1", "kind": "Secret", "type": typ,
		"metadata": object{"namespace": "ns", "name": name}, "data": data,
	}
}

// withCluster returns a backup that holds one cluster and therefore is accepted.
func withCluster() *backuptest.Tarball {
	return backuptest.New().Add("clusters.cluster.x-k8s.io", object{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": object{"namespace": "ns", "name": "c"}, "spec": object{},
	})
}

func encode(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func TestSecretRules(t *testing.T) {
	const clusterType = "cluster.x-k8s.io/secret"
	b := withCluster().
		Add("secrets", secret("a-kubeconfig", clusterType, object{"value": encode("kube"), "extra": encode("not asked for")})).
		Add("secrets", secret("b-kubeconfig", "Opaque", object{"value": encode("other type")})).
		Add("secrets", secret("c-kubeconfig", clusterType, object{"value": "MARKER-not-base64"})).
		Add("secrets", secret("d-kubeconfig", clusterType, object{})).
		Add("secrets", secret("e-kubeconfig", clusterType, object{"value": 7})).
		Add("secrets", secret("login", "Opaque", object{"username": encode("u"), "password": encode("p"), "tls.crt": encode("crt")})).
		Add("secrets", secret("half", "Opaque", object{"username": encode("u")})).
		Add("secrets", secret("broken", "Opaque", object{"username": encode("u"), "password": "MARKER-not-base64"})).
		Add("secrets", secret("bad-optional", "Opaque", object{"username": encode("u"), "password": encode(""), "tls.crt": "%"})).
		Add("secrets", secret("both-kubeconfig", clusterType, object{"value": encode("v"), "username": encode("u"), "password": encode("p")})).
		Raw("resources/secrets/namespaces/ns/f-kubeconfig.json", []byte(`{"MARKER`))
	s, secrets := loadAll(t, backup.Want{Secrets: []backup.SecretRule{kubeconfigs, logins}}, backuptest.Source("b", b.Bytes()))
	got := map[string]string{}
	for s := range secrets.All() {
		var keys []string
		for _, v := range s.Values {
			keys = append(keys, v.Key+"="+v.Reveal())
		}
		slices.Sort(keys)
		got[s.Name] = strings.Join(keys, " ")
	}
	want := map[string]string{
		"a-kubeconfig": "value=kube", "login": "password=p tls.crt=crt username=u", "bad-optional": "password= username=u",
		"both-kubeconfig": "password=p username=u value=v",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("secrets %v\nwant %v", got, want)
	}
	reasons := problems(s)
	wantReasons := []string{
		`resources/secrets/namespaces/ns/c-kubeconfig.json: data key "value" is not base64`,
		`resources/secrets/namespaces/ns/d-kubeconfig.json: data key "value" is missing`,
		`resources/secrets/namespaces/ns/e-kubeconfig.json: data key "value" is not a string`,
		`resources/secrets/namespaces/ns/f-kubeconfig.json: invalid JSON at byte 8`,
	}
	if !slices.Equal(withoutDuplicates(reasons), wantReasons) {
		t.Errorf("problems %q", reasons)
	}
	if text := fmt.Sprintf("%+v %#v", s, s.Problems); strings.Contains(text, "MARKER") {
		t.Error("content of a secret is in the snapshot")
	}
}

// A mark tells Secrets of a type from others of the same name, whatever they hold.
func TestSecretMarks(t *testing.T) {
	b := withCluster().
		Add("secrets", secret("a-kubeconfig", "of", object{"value": encode("v")})).
		Add("secrets", secret("b-kubeconfig", "Opaque", object{"value": encode("v")})).
		Add("secrets", secret("c-kubeconfig", "of", object{}))
	_, secrets := loadAll(t, backup.Want{Secrets: []backup.SecretRule{
		{Name: "*-kubeconfig", Optional: []string{"value"}},
		{Name: "*-kubeconfig", Type: "of", Mark: "type of"},
	}}, backuptest.Source("b", b.Bytes()))
	for name, want := range map[string][2]bool{"a-kubeconfig": {true, true}, "b-kubeconfig": {true, false}, "c-kubeconfig": {false, true}} {
		s := secrets.Named(0, "ns", name)
		if s == nil || s.Holds("value") != want[0] || s.Holds("type of") != want[1] {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A Secret that is larger than Kubernetes lets one be is reported and left out, also
// where its own rule has no name or could do without the key.
func TestSecretsTooLarge(t *testing.T) {
	most := strings.Repeat("x", 1<<20)
	b := withCluster().
		Add("secrets", secret("most-kubeconfig", "cluster.x-k8s.io/secret", object{"value": encode(most)})).
		Add("secrets", secret("named-kubeconfig", "cluster.x-k8s.io/secret", object{"value": encode(most + "xxx")})).
		Add("secrets", secret("shape", "Opaque", object{"username": encode("u"), "password": encode(most + "xxx")})).
		Add("secrets", secret("optional", "Opaque", object{"username": encode("u"), "password": encode("p"), "tls.crt": encode(most + "xxx")})).
		Add("secrets", secret("type", strings.Repeat("t", 1<<20), object{"username": encode("u"), "password": encode("p")})).
		Add("secrets", secret("unasked", "Opaque", object{"username": encode("u"), "password": encode("p"), "other": encode(most + "xxx")}))
	s, secrets := loadAll(t, backup.Want{Secrets: []backup.SecretRule{kubeconfigs, logins}}, backuptest.Source("b", b.Bytes()))
	var got []string
	for s := range secrets.All() {
		got = append(got, s.Name)
	}
	if !slices.Equal(got, []string{"most-kubeconfig", "unasked"}) {
		t.Errorf("secrets %q", got)
	}
	const tooLarge = " is larger than 1048576 bytes, which no Secret can be"
	want := []string{
		`resources/secrets/namespaces/ns/named-kubeconfig.json: data key "value"` + tooLarge,
		`resources/secrets/namespaces/ns/optional.json: data key "tls.crt"` + tooLarge,
		`resources/secrets/namespaces/ns/shape.json: data key "password"` + tooLarge,
		`resources/secrets/namespaces/ns/type.json: type is longer than 65536 bytes`,
	}
	reasons := problems(s)
	slices.Sort(reasons)
	if !slices.Equal(reasons, want) {
		t.Errorf("problems %q", reasons)
	}
}

// problems returns the problems of a snapshot as "item: reason".
func problems(s *backup.Snapshot) []string {
	var list []string
	for _, p := range s.Problems {
		list = append(list, p.Item+": "+p.Reason)
	}
	return list
}

// withoutDuplicates leaves out the problems of preferred-version copies.
func withoutDuplicates(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return strings.Contains(s, "-preferredversion/") })
}

func TestSensitivePrintsNothing(t *testing.T) {
	v := struct{ S backup.Sensitive }{backup.NewSensitive("hunter2")}
	secret := backup.Secret{Values: []backup.SecretValue{{Key: "password", Sensitive: v.S}}}
	text := fmt.Sprintf("%v %+v %#v %s %q %x %d %v %+v %#v", v, v, v, v.S, v.S, v.S, v.S, secret, secret, secret)
	out, err := json.Marshal([]any{v, secret})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text+string(out), "hunter2") || !strings.Contains(text, "redacted") {
		t.Errorf("printed as %s, marshalled as %s", text, out)
	}
}

// Of a value that is only checked nothing is kept but its digest.
func TestSecretDigests(t *testing.T) {
	b := withCluster()
	for name, value := range map[string]string{"a-ca": "same", "b-ca": "same", "c-ca": "other", "d-ca": "", "a-login": "word"} {
		b.Add("secrets", secret(name, "Opaque", object{"tls.crt": encode(value)}))
	}
	digest := func(v backup.Sensitive) backup.Digest {
		return backup.Digest{Problem: fmt.Errorf("%d bytes", len(v.Reveal()))}
	}
	for _, offline := range []bool{false, true} {
		_, secrets := loadAll(t, backup.Want{Offline: offline, Secrets: []backup.SecretRule{
			{Name: "*-ca", Keys: []string{"tls.crt"}, Digest: digest},
		}}, backuptest.Source("b", b.Bytes()))
		_, logins := loadAll(t, backup.Want{Offline: offline, Secrets: []backup.SecretRule{
			{Name: "*-login", Keys: []string{"tls.crt"}, Digest: digest, Login: true},
		}}, backuptest.Source("b", b.Bytes()))
		for name, want := range map[string]string{"a-ca": "4 bytes", "b-ca": "4 bytes", "c-ca": "5 bytes"} {
			s := secrets.Named(0, "ns", name)
			if d := s.Digest("tls.crt"); d == nil || d.Problem.Error() != want || !s.Value("tls.crt").IsZero() {
				t.Errorf("%s: digest %v, value kept: %v", name, d, !s.Value("tls.crt").IsZero())
			}
		}
		if s := secrets.Named(0, "ns", "d-ca"); s == nil || s.Digest("tls.crt") != nil || s.Digest("none") != nil {
			t.Errorf("an empty value: %+v", s)
		}
		s := logins.Named(0, "ns", "a-login")
		if kept := s.Value("tls.crt").Reveal() == "word"; kept == offline || s.Digest("tls.crt") == nil {
			t.Errorf("offline %v: value kept: %v, digest %v", offline, kept, s.Digest("tls.crt"))
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("two rules contradict each other, and nobody says so")
		}
	}()
	loadAll(t, backup.Want{Secrets: []backup.SecretRule{{Keys: []string{"a"}}, {Keys: []string{"a"}, Digest: digest}}}, backuptest.Source("b", b.Bytes()))
}
