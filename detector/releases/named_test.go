package releases

import (
	"regexp"
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

// The same through a comparison: in variables, arguments, annotations and Flux's event.
func TestNoSecretByNameInResult(t *testing.T) {
	w := shop(t)
	const variable, applied = "AZURE_CLIENT_SECRET", "kubectl.kubernetes.io/last-applied-configuration"
	w.edit(t, func(r Object) {
		old := regexp.MustCompile(`LOG_LEVEL(, value: )"warn"`)
		r["manifest"] = old.ReplaceAllString(r["manifest"].(string), variable+"${1}canary1")
	})
	web := list(w.get("deployments.apps", "shop-web"), "spec", "template", "spec", "containers")[0].(Object)
	web["env"].([]any)[0] = Object{"name": variable, "value": "canary2"}

	worker := w.get("deployments.apps", "shop-worker")
	container := list(worker, "spec", "template", "spec", "containers")[0].(Object)
	container["env"] = append(container["env"].([]any), Object{"name": variable, "value": "canary3"}, Object{"name": "PLAIN", "value": "shown"})
	container["args"] = []any{"--client-secret", "canary4", "--aad-client-secret=canary5"}
	put(worker, `{"spec":{"env":[{"name":"AZURE_CLIENT_SECRET","value":"canary6"}]}}`, "metadata", "annotations", applied)
	put(worker, "canary7", "spec", "template", "metadata", "annotations", "clientSecret")
	managed := list(worker, "metadata", "managedFields")
	by := managed[slices.IndexFunc(managed, func(m any) bool { return at(m, "manager") == "kubectl-set" })].(Object)
	put(by, Object{}, "fieldsV1", "f:metadata", "f:annotations", "f:"+applied)
	put(by, Object{}, "fieldsV1", "f:spec", "f:template", "f:metadata", "f:annotations", "f:clientSecret")
	fields := []string{"fieldsV1", "f:spec", "f:template", "f:spec", "f:containers", `k:{"name":"` + container["name"].(string) + `"}`}
	put(by, Object{}, append(slices.Clone(fields), "f:args")...)
	for _, name := range []string{variable, "PLAIN"} {
		put(by, Object{".": Object{}, "f:name": Object{}, "f:value": Object{}}, append(slices.Clone(fields), "f:env", `k:{"name":"`+name+`"}`)...)
	}

	body := show(w.run(t, Options{}))
	if at := strings.Index(body, "canary"); at >= 0 {
		t.Errorf("…%s…", body[max(0, at-600):at+100])
	}
	for _, want := range []string{"env[" + variable + "].value", maskedBefore, maskedAfter, "env[" + variable + "]\"", "shown", applied, "annotations.clientSecret", "containers[worker].args"} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in the result", want)
		}
	}
}
