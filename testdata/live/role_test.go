package live

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const account = "system:serviceaccount:drift-detector:drift-detector"

// bindRole does what the printed role asks for, and returns the account's token.
func bindRole(t *testing.T, s *apiserver) (token string, role map[string]any) {
	t.Helper()
	printed := run(t, nil, "permissions", "kubernetes")
	printed.demand(t, 0)
	s.change(t, http.MethodPost, "/api/v1/namespaces", object("v1", "Namespace", "drift-detector"))
	s.change(t, http.MethodPost, "/api/v1/namespaces/drift-detector/serviceaccounts", object("v1", "ServiceAccount", "drift-detector"))
	for doc := range strings.SplitSeq(printed.stdout, "---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		s.change(t, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/"+strings.ToLower(o["kind"].(string))+"s", o)
		if o["kind"] == "ClusterRole" {
			role = o
		}
	}
	request := object("authentication.k8s.io/v1", "TokenRequest", "")
	request["spec"] = map[string]any{"expirationSeconds": 3600}
	answer := s.change(t, http.MethodPost, "/api/v1/namespaces/drift-detector/serviceaccounts/drift-detector/token", request)
	token = answer["status"].(map[string]any)["token"].(string)
	wait(t, "the role", func() bool {
		return s.status(t, token, "/apis/cluster.x-k8s.io/v1beta2/machines?limit=1") == http.StatusOK
	})
	return token, role
}

func object(apiVersion, kind, name string) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
}

// minimal holds what the account with the printed role finds against what an administrator finds.
func minimal(t *testing.T, w *world, s *apiserver) {
	token, role := bindRole(t, s)
	asAdmin, asAccount := s.kubeconfig(t, admin), s.kubeconfig(t, token)
	want, got := w.detect(t, "--kubeconfig", asAdmin), w.detect(t, "--kubeconfig", asAccount)
	want.demand(t, 0)
	got.demand(t, 0)
	a, _ := machines(t, want.Report)
	b, _ := machines(t, got.Report)
	differ(t, a, b)
	for _, e := range got.Errors {
		if !strings.Contains(e.Object, ".vcsim.") { // of the lab's simulator: nobody reads it
			t.Errorf("%+v", e)
		}
	}
	if a, b := findings(t, runTo(t, "check.json", nil, "check", "--kubeconfig", asAdmin)), findings(t, runTo(t, "check.json", nil, "check", "--kubeconfig", asAccount)); !slices.Equal(a, b) || len(a) < 5 {
		t.Errorf("check finds %v, and an administrator %v", b, a)
	}
	asks(t, s, account)
	for n, less := range without(role) {
		bindLess(t, s, n, less.role)
		t.Run("without "+less.id, func(t *testing.T) {
			_, token := user(n)
			o := runTo(t, "check.json", nil, "check", "--kubeconfig", s.kubeconfig(t, token))
			if o.code != 3 || !strings.Contains(o.stderr, less.id) {
				t.Errorf("exit status %d, %s", o.code, o.stderr)
			}
		})
	}
}

// findings returns those of a check.
func findings(t *testing.T, o outcome) (all []string) {
	t.Helper()
	o.demand(t, 0)
	var doc struct {
		Checks []struct{ Code, Object, Message string }
	}
	if err := json.Unmarshal(o.file, &doc); err != nil {
		t.Fatal(err)
	}
	for _, c := range doc.Checks {
		if strings.HasPrefix(c.Object, "backup ") || strings.HasPrefix(c.Object, "management cluster ") { // as a whole: its age, and what Velero says of it
			continue
		}
		all = append(all, ofCluster.Replace(c.Code+" "+c.Object+" "+c.Message))
	}
	slices.Sort(all)
	return all
}

// asks holds what a user asked for against what the documentation says: lists, and two objects by
// their names.
func asks(t *testing.T, s *apiserver, user string) {
	t.Helper()
	f, err := os.Open(filepath.Join(s.folder, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e struct {
			Verb, RequestURI string
			User             struct{ Username string }
			ResponseStatus   struct{ Code int }
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.User.Username != user {
			continue
		}
		n[e.Verb]++
		if e.Verb == "watch" || e.Verb != "list" && e.Verb != "get" || strings.Contains(e.RequestURI, "watch=") {
			t.Errorf("it asks for %s %s", e.Verb, e.RequestURI)
		}
		absent := e.ResponseStatus.Code == http.StatusNotFound && strings.Contains(e.RequestURI, "/configmaps/")
		if e.ResponseStatus.Code != http.StatusOK && !absent && !strings.Contains(e.RequestURI, "/vcsim.") {
			t.Errorf("%s is answered with %d", e.RequestURI, e.ResponseStatus.Code)
		}
	}
	if n["list"] < 20 || n["get"] < 2 {
		t.Errorf("it asked for %v", n)
	}
}

// reduced is the role without a part.
type reduced struct {
	id   string // in the name of what can't be read
	role map[string]any
}

// without returns the roles that lack one part each: a group of a rule, a resource or a name.
func without(role map[string]any) (all []reduced) {
	rules := role["rules"].([]any)
	for i := range rules {
		for _, part := range []string{"apiGroups", "resources", "resourceNames"} {
			list, _ := rules[i].(map[string]any)[part].([]any)
			if len(list) < 2 && part != "resources" {
				continue
			}
			for j, what := range list {
				if what == "*" || what == "clusterctl.cluster.x-k8s.io" || part == "resources" && rules[i].(map[string]any)["resourceNames"] != nil {
					continue // of clusterctl nothing is read
				}
				rule := map[string]any{}
				for k, v := range rules[i].(map[string]any) {
					rule[k] = v
				}
				rule[part] = slices.Concat(list[:j], list[j+1:])
				left := slices.Concat(rules[:i], []any{rule}, rules[i+1:])
				if len(list) == 1 {
					left = slices.Concat(rules[:i], rules[i+1:])
				}
				id := what.(string)
				if part == "resourceNames" {
					id = "configmaps"
				}
				all = append(all, reduced{id, map[string]any{"apiVersion": role["apiVersion"], "kind": "ClusterRole", "metadata": map[string]any{"name": fmt.Sprintf("less-%d", len(all))}, "rules": left}})
			}
		}
	}
	return all
}

// bindLess binds such a role to a user.
func bindLess(t *testing.T, s *apiserver, n int, role map[string]any) {
	t.Helper()
	name, token := user(n)
	role["metadata"] = map[string]any{"name": name}
	s.change(t, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/clusterroles", role)
	binding := object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", name)
	binding["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
	binding["subjects"] = []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}}
	s.change(t, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
	wait(t, "the role of "+name, func() bool {
		return s.status(t, token, "/api/v1/namespaces?limit=1") == http.StatusOK || s.status(t, token, "/apis/apps/v1/deployments?limit=1") == http.StatusOK
	})
}
