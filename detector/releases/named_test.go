package releases

import (
	"slices"
	"strings"
	"testing"
)

// Secrets by their names, among them those of Azure, are masked in every kind; what is
// beside them is not.
func TestSecretsByNameAreMasked(t *testing.T) {
	const secret = `c4n"ary`
	for _, v := range []any{
		Object{"aadClientSecret": secret},
		Object{"azure.json": secret},
		Object{"cloud-config": secret},
		Object{"clientSecret": secret, "clientID": "kept"},
		[]any{Object{"name": "AZURE_CLIENT_SECRET", "value": secret}, Object{"name": "AZURE_CLIENT_ID", "value": "kept"}},
		[]any{"--client-secret", secret, "kept"},
		[]any{"--client-secret=c4nary", "--v=kept"},
		Object{"AZURE_STORAGE_ACCOUNT_KEY": secret, "a": "kept"},
		"aadClientSecret: c4nary\nlocation: kept\n", "[Global]\nclient_secret = c4nary\nuser=kept", `{"aadClientSecret": "c4n\"ary"}`, "- name: AZURE_CLIENT_SECRET\n  value: c4nary\n- name: kept",
		`{"spec":{"env":[{"name":"AZURE_CLIENT_SECRET","value":"c4n\"ary"}]}}`, `{"a":"{\"aadClientSecret\":\"c4n\\\"ary\"}"}`, "H4sIc4nary", "password: |\n  c4nary\n", "postgres://kept:c4nary@db/x",
		"-----BEGIN EC PRIVATE KEY-----\nc4nary",
		Object{"config": Object{"password": secret}},
		`clientSecret: 'c4n ary'`, `client-secret="c4n\" ary" kept`,
	} {
		got := show(maskSecrets(v, false, masked))
		if strings.Contains(got, "c4n") || strings.Contains(got, "ary") || strings.Contains(show(v), "kept") && !strings.Contains(got, "kept") {
			t.Errorf("%s\nbecame %s", show(v), got)
		}
	}
	for _, v := range []any{
		Object{"secretName": "db", "secretRef": Object{"name": "db"}, "secret": Object{"secretName": "tls"}, "automountServiceAccountToken": true, "replicas": 3.0},
		[]any{Object{"name": "PASSWORD_FILE", "value": "/etc/p"}, Object{"name": "AZURE_CLIENT_SECRET", "valueFrom": Object{"secretKeyRef": Object{"name": "capz", "key": "client-secret"}}}},
		"https://host:443/a@b", "registry/image:1.2@sha256:aa", `{"a":1}`, "[]", "tokens are counted: yes",
	} {
		if got := maskSecrets(v, false, masked); !equal(got, v) {
			t.Errorf("%s\nbecame %s", show(v), show(got))
		}
	}
}

// The same through a comparison: in variables, arguments, annotations and files.
func TestNoSecretByNameInResult(t *testing.T) {
	w := shop(t)
	deployment := w[[3]string{"deployments.apps", "shop", "shop-web"}]
	if deployment == nil {
		t.Fatal("the shop has no Deployment")
	}
	container := list(deployment, "spec", "template", "spec", "containers")[0].(Object)
	env, _ := container["env"].([]any)
	container["env"] = append(slices.Clone(env), Object{"name": "AZURE_CLIENT_SECRET", "value": "canary"}, Object{"name": "PLAIN", "value": "shown"})
	container["args"] = []any{"--client-secret", "canary", "--aad-client-secret=canary"}
	put(deployment, `{"spec":{"env":[{"name":"AZURE_CLIENT_SECRET","value":"canary"}]}}`, "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
	put(deployment, "canary", "spec", "template", "metadata", "annotations", "clientSecret")
	last := Object{"manager": "kubectl-edit", "operation": "Update", "apiVersion": "apps/v1", "time": "2026-11-20T10:00:00Z", "fieldsType": "FieldsV1"}
	put(deployment, append(slices.Clone(list(deployment, "metadata", "managedFields")), any(last)), "metadata", "managedFields")
	put(last, Object{}, "fieldsV1", "f:metadata", "f:annotations", "f:kubectl.kubernetes.io/last-applied-configuration")
	put(last, Object{}, "fieldsV1", "f:spec", "f:template", "f:metadata", "f:annotations", "f:clientSecret")
	name := `k:{"name":"` + container["name"].(string) + `"}`
	for _, v := range []string{"AZURE_CLIENT_SECRET", "PLAIN"} {
		put(last, Object{".": Object{}, "f:name": Object{}, "f:value": Object{}}, "fieldsV1", "f:spec", "f:template", "f:spec", "f:containers", name, "f:env", `k:{"name":"`+v+`"}`)
	}
	put(last, Object{}, "fieldsV1", "f:spec", "f:template", "f:spec", "f:containers", name, "f:args")
	body := show(w.run(t, Options{}))
	if strings.Contains(body, "canary") {
		at := strings.Index(body, "canary")
		t.Errorf("…%s…", body[max(0, at-600):at+100])
	}
	for _, want := range []string{"AZURE_CLIENT_SECRET", "shown", masked} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in the result", want)
		}
	}
}
