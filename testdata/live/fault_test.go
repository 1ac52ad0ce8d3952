package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

const (
	machineKind = "machines.cluster.x-k8s.io"
	vmKind      = "vspherevms.infrastructure.cluster.x-k8s.io"
)

// fault is something that is wrong with the server, or between.
type fault struct {
	name string
	// spoil does it and returns when it is seen; heal takes it back.
	spoil, heal func(t *testing.T, s *apiserver)
	// unread is the kind that can't be read; empty where all can be, all the same.
	unread string
}

// redefine changes the definition of a kind.
func redefine(id string, change func(spec, status map[string]any)) func(*testing.T, *apiserver) {
	return func(t *testing.T, s *apiserver) {
		t.Helper()
		d := s.etcd.get(t, definitionKey(id))
		change(d["spec"].(map[string]any), d["status"].(map[string]any))
		s.etcd.put(t, definitionKey(id), d)
	}
}

// unserve has no version of a kind served.
func unserve(id string) fault {
	set := func(served bool) func(t *testing.T, s *apiserver) {
		return func(t *testing.T, s *apiserver) {
			t.Helper()
			redefine(id, func(spec, _ map[string]any) { spec["versions"].([]any)[0].(map[string]any)["served"] = served })(t, s)
			wait(t, "discovery of "+id, func() bool { return s.serves(t, id) == served })
		}
	}
	return fault{"no version of " + id + " is served", set(false), set(true), id}
}

// versions returns those of a kind in discovery.
func (s *apiserver) versions(t *testing.T, id string) (all []string) {
	t.Helper()
	name, group, _ := strings.Cut(id, ".")
	_, answer := s.ask(t, admin, http.MethodGet, "/apis", nil)
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var discovery struct {
		Items []struct {
			Metadata struct{ Name string }
			Versions []struct {
				Version   string
				Resources []struct{ Resource string }
			}
		}
	}
	if err := json.Unmarshal(text, &discovery); err != nil || len(discovery.Items) == 0 {
		t.Fatalf("no discovery: %s %v", text, err)
	}
	for _, g := range discovery.Items {
		for _, v := range g.Versions {
			for _, r := range v.Resources {
				if g.Metadata.Name == group && r.Resource == name {
					all = append(all, v.Version)
				}
			}
		}
	}
	return all
}

func (s *apiserver) serves(t *testing.T, id string) bool {
	t.Helper()
	return len(s.versions(t, id)) > 0
}

// faults says of each fault that nothing is concluded from what could not be read.
func faults(t *testing.T, w *world, s *apiserver) {
	healthy := w.detect(t, "--kubeconfig", s.kubeconfig(t, admin))
	healthy.demand(t, 0)
	for _, f := range []fault{
		unserve(machineKind), unserve("machinesets.cluster.x-k8s.io"), unserve("kubeadmcontrolplanes.controlplane.cluster.x-k8s.io"), unserve(vmKind),
		undefine(machineKind), undefine("machinesets.cluster.x-k8s.io"), undefine("clusters.cluster.x-k8s.io"),
		takeOver("v1beta2", "cluster.x-k8s.io", machineKind), takeOver("v1beta2", "infrastructure.cluster.x-k8s.io", vmKind),
		convert("no object is stored in the version that is preferred", "", "v1beta2"),
		convert("no object was written since the storage version changed", "", "v1beta2", "v1"),
		mixed(),
	} {
		t.Run(f.name, func(t *testing.T) {
			f.spoil(t, s)
			defer f.heal(t, s)
			holds(t, healthy, w.detect(t, "--kubeconfig", s.kubeconfig(t, admin)), f.unread)
		})
	}
}

// holds demands that a detection says what another one said, or that it does not know; and all of
// it where nothing is unread.
func holds(t *testing.T, healthy, got detection, unread string) {
	t.Helper()
	want, _ := machines(t, healthy.Report)
	all, status := machines(t, got.Report)
	if unread == "" {
		got.demand(t, 0)
		differ(t, want, all)
		return
	}
	got.demand(t, 3)
	if !slices.ContainsFunc(got.Errors, func(e report.Error) bool { return e.Object == unread }) {
		t.Errorf("%s is not named: %s", unread, got.stderr)
	}
	if !strings.Contains(got.stderr, "of the management cluster: ") {
		t.Errorf("it does not say what can't be read: %s", got.stderr)
	}
	for name, m := range status {
		if m.Status != code.Unknown && all[name] != want[name] {
			t.Errorf("%s %s", name, difference(want[name], all[name]))
		}
	}
}

// undefine takes the definition of a kind away. Its objects are still in etcd.
func undefine(id string) fault {
	var definition map[string]any
	return fault{"the definition of " + id + " is gone", func(t *testing.T, s *apiserver) {
		definition = s.etcd.get(t, definitionKey(id))
		s.etcd.delete(t, definitionKey(id))
		wait(t, "discovery of "+id, func() bool { return !s.serves(t, id) })
	}, func(t *testing.T, s *apiserver) {
		s.etcd.put(t, definitionKey(id), definition)
		wait(t, "discovery of "+id, func() bool { return s.serves(t, id) })
	}, id}
}

// takeOver has another server answer for a version of a group, which is down.
func takeOver(version, group, id string) fault {
	name := version + "." + group
	service := func(t *testing.T, s *apiserver) {
		o := object("apiregistration.k8s.io/v1", "APIService", name)
		o["spec"] = map[string]any{
			"group": group, "version": version, "groupPriorityMinimum": 1000, "versionPriority": 100, "insecureSkipTLSVerify": true,
			"service": map[string]any{"namespace": "default", "name": "down", "port": 443},
		}
		_, old := s.ask(t, admin, http.MethodGet, "/apis/apiregistration.k8s.io/v1/apiservices/"+name, nil)
		o["metadata"].(map[string]any)["resourceVersion"] = old["metadata"].(map[string]any)["resourceVersion"]
		s.change(t, http.MethodPut, "/apis/apiregistration.k8s.io/v1/apiservices/"+name, o)
		wait(t, name, func() bool { return !s.serves(t, id) })
	}
	return fault{"another server, which is down, serves " + name, service, func(t *testing.T, s *apiserver) {
		s.change(t, http.MethodDelete, "/apis/apiregistration.k8s.io/v1/apiservices/"+name, nil)
		wait(t, "discovery of "+id, func() bool { return s.serves(t, id) })
	}, id}
}

// convert has Machines served in versions v1beta2, in which they are stored, and v1, which is
// preferred, and converted between them by a webhook that is down. The last of the versions stored
// is that of today.
func convert(name, unread string, stored ...any) fault {
	define := func(t *testing.T, s *apiserver, conversion map[string]any, stored []any, versions ...any) {
		t.Helper()
		redefine(machineKind, func(spec, status map[string]any) {
			spec["versions"], spec["conversion"], status["storedVersions"] = versions, conversion, stored
		})(t, s)
	}
	listed := func(t *testing.T, s *apiserver, version string) int {
		return s.status(t, admin, "/apis/cluster.x-k8s.io/"+version+"/machines?limit=500")
	}
	return fault{"the conversion webhook is down and " + name, func(t *testing.T, s *apiserver) {
		last := stored[len(stored)-1]
		define(t, s, map[string]any{"strategy": "Webhook", "webhook": map[string]any{"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"url": "https://127.0.0.1:1/convert"}}},
			stored, served("v1beta2", last == "v1beta2"), served("v1", last == "v1"))
		wait(t, "v1 of Machines", func() bool {
			return slices.Contains(s.versions(t, machineKind), "v1") && listed(t, s, "v1") == http.StatusInternalServerError
		})
	}, func(t *testing.T, s *apiserver) {
		define(t, s, map[string]any{"strategy": "None"}, []any{"v1beta2"}, served("v1beta2", true))
		wait(t, "v1beta2 of Machines", func() bool {
			return !slices.Contains(s.versions(t, machineKind), "v1") && listed(t, s, "v1beta2") == http.StatusOK
		})
	}, unread}
}

// mixed has one Machine stored in another version than the others, too, so that no version can be
// listed.
func mixed() fault {
	const key = "cluster.x-k8s.io/machines/tenant-alpha/alpha-prod-nnxbq"
	f := convert("objects are stored in two versions", machineKind, "v1beta2", "v1")
	set := func(t *testing.T, s *apiserver, version string) {
		t.Helper()
		o := s.etcd.get(t, key)
		o["apiVersion"] = "cluster.x-k8s.io/" + version
		s.etcd.put(t, key, o)
	}
	spoil, heal := f.spoil, f.heal
	f.spoil = func(t *testing.T, s *apiserver) { set(t, s, "v1"); spoil(t, s) }
	f.heal = func(t *testing.T, s *apiserver) { set(t, s, "v1beta2"); heal(t, s) }
	return f
}

// deleting deletes a Machine, as kubectl does. Its finalizers keep it.
func deleting(t *testing.T, w *world, s *apiserver) {
	const name = "alpha-prod-nnxbq"
	healthy := w.detect(t, "--kubeconfig", s.kubeconfig(t, admin))
	key := "cluster.x-k8s.io/machines/tenant-alpha/" + name
	before := s.etcd.get(t, key)
	defer s.etcd.put(t, key, before)
	s.change(t, http.MethodDelete, "/apis/cluster.x-k8s.io/v1beta2/namespaces/tenant-alpha/machines/"+name, nil)
	at := s.etcd.get(t, key)["metadata"].(map[string]any)["deletionTimestamp"]
	got := w.detect(t, "--kubeconfig", s.kubeconfig(t, admin))
	got.demand(t, 0)
	all, status := machines(t, got.Report)
	m := status["alpha-prod "+name]
	if m.Status != code.Unknown || m.Reason != code.BeingDeleted || m.Deleting == nil || m.Deleting.Format("2006-01-02T15:04:05Z07:00") != at {
		t.Errorf("deleted at %s: %+v", at, m)
	}
	want, _ := machines(t, healthy.Report)
	all["alpha-prod "+name] = want["alpha-prod "+name]
	differ(t, want, all)
}

// removing has the definition of Machines deleted, as kubectl does: it goes once all of them are
// gone, which have finalizers, so that all of them are being deleted.
func removing(t *testing.T, w *world, s *apiserver) {
	healthy := w.detect(t, "--kubeconfig", s.kubeconfig(t, admin))
	want, _ := machines(t, healthy.Report)
	s.change(t, http.MethodDelete, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+machineKind, nil)
	deleted := func() (n int) {
		_, list := s.ask(t, admin, http.MethodGet, "/apis/cluster.x-k8s.io/v1beta2/machines", nil)
		items, _ := list["items"].([]any)
		for _, i := range items {
			if i.(map[string]any)["metadata"].(map[string]any)["deletionTimestamp"] != nil {
				n++
			}
		}
		return n
	}
	wait(t, "the deletion of all Machines", func() bool { return deleted() == 42 })
	got := w.detect(t, "--kubeconfig", s.kubeconfig(t, admin))
	got.demand(t, 0)
	all, status := machines(t, got.Report)
	n := 0
	for name, m := range status {
		if m.Reason == code.BeingDeleted {
			n++
		} else if all[name] != want[name] { // it has no Machine
			t.Errorf("%s %s", name, difference(want[name], all[name]))
		}
	}
	if n != 42 {
		t.Errorf("%d machines are being deleted, want 42", n)
	}
	s.etcd.load(t, w.backup)
	wait(t, "the Machines", func() bool { return s.serves(t, machineKind) && deleted() == 0 })
}

// pages tests what happens between the pages of a list: the token of the next one expires, so that
// the list is begun again; and the server goes away.
func pages(t *testing.T, w *world, s *apiserver) {
	healthy := w.detect(t, "--kubeconfig", s.kubeconfig(t, admin))
	many := func(n int) map[string]any {
		secret := object("v1", "Secret", fmt.Sprintf("many-%d", n))
		secret["metadata"].(map[string]any)["namespace"] = "default"
		return secret
	}
	for n := range 600 {
		s.etcd.put(t, "secrets/default/"+fmt.Sprintf("many-%d", n), many(n))
	}
	t.Run("the continue token expires", func(t *testing.T) {
		// The server keeps what it listed for a while, whatever etcd forgets, so it is started again.
		kubeconfig, statuses := s.between(t, "/api/v1/secrets", func() {
			s.etcd.put(t, "secrets/default/many-0", many(0))
			s.etcd.compact(t)
			s.kill()
			s.serve()
		})
		holds(t, healthy, w.detect(t, "--kubeconfig", kubeconfig), "")
		if all := statuses(); !slices.Contains(all, http.StatusGone) {
			t.Errorf("the server answered %v", all)
		}
	})
	t.Run("the server goes away", func(t *testing.T) {
		kubeconfig, _ := s.between(t, "/api/v1/secrets", s.kill)
		holds(t, healthy, w.detect(t, "--kubeconfig", kubeconfig), "secrets")
	})
}
