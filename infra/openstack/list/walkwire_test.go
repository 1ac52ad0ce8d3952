package list

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/openstack"
	"drift-detector/infra/walk"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report/code"
)

// The backup's own credentials are tried, each once, no matter who lists the project.
func TestOwnCredentialsAreTried(t *testing.T) {
	const home = "openstack/Secret/tenant-os-b/cloud-config/mycloud/RegionOne"
	ops, capo := openstacklab.Recorded, openstacklab.Recorded
	ops.User, ops.Password = "ops", "mine"
	rotated := capo
	rotated.Password = "rotated"
	for name, c := range map[string]struct {
		accounts       []openstacklab.Account
		operator       bool
		insecure       bool
		by, own, cert  string
		given, refused int
	}{
		"the backup's own":                                  {[]openstacklab.Account{capo}, false, false, infra.OfBackup, infra.OwnAccepted, infra.CertificateVerified, 1, 0},
		"the backup's own is refused":                       {[]openstacklab.Account{rotated}, false, false, infra.OfBackup, infra.OwnRefused, infra.CertificateVerified, 0, 1},
		"an operator's, and the backup's would do":          {[]openstacklab.Account{capo, ops}, true, false, infra.OfOperator, infra.OwnAccepted, infra.CertificateVerified, 2, 0},
		"an operator's, and the backup's was rotated":       {[]openstacklab.Account{rotated, ops}, true, false, infra.OfOperator, infra.OwnRefused, infra.CertificateVerified, 1, 1},
		"an operator's, sent to a server that nobody knows": {[]openstacklab.Account{capo, ops}, true, true, infra.OfOperator, infra.OwnUntried, infra.CertificateUnverified, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, data := cloudOf(t, openstacklab.Options{Accounts: c.accounts})
			var a infra.Access
			if c.operator {
				a.Credentials = []infra.Credential{{Endpoint: s.Identity, Username: "ops", Password: backup.NewSensitive("mine")}}
			}
			if a.InsecureSkipVerify = c.insecure; c.insecure {
				data = withoutCA(t, data)
			}
			l := only(t, data, a)
			by, own, cert := l.AccessFact(infra.FactCredential, home), l.AccessFact(infra.FactOwn, home), l.AccessFact(infra.FactCertificate, home)
			if by != c.by || own != c.own || cert != c.cert {
				t.Errorf("%s %s %s, want %s %s %s: %v", by, own, cert, c.by, c.own, c.cert, l.Facts)
			}
			if given, refused := s.Logins(); given != c.given || refused != c.refused {
				t.Errorf("%d logins, %d refused, want %d and %d", given, refused, c.given, c.refused)
			}
			if given, _ := s.Logins(); s.Calls()["keystone DELETE /v3/auth/tokens"] != given {
				t.Error("a token was not revoked")
			}
		})
	}
}

// withoutCA takes the CA from the credentials of a backup.
func withoutCA(t *testing.T, data []byte) []byte {
	return openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
		if values, ok := object["data"].(map[string]any); ok && resource == "secrets" {
			delete(values, "cacert")
		}
		return true
	})
}

// What the account of the backup may not read, CAPO may not read either. What nobody could
// read is another thing.
func TestRefusedKinds(t *testing.T) {
	for name, c := range map[string]struct {
		status       int
		own, refused bool
	}{
		"forbidden": {403, true, true}, "forbidden to an operator": {403, false, false}, "broken": {500, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			ops := openstacklab.Recorded
			ops.User, ops.Password = "ops", "mine"
			s, data := cloudOf(t, openstacklab.Options{Accounts: []openstacklab.Account{openstacklab.Recorded, ops}})
			s.Fail(openstacklab.Fault{Call: "neutron GET /v2.0/routers", Status: c.status, Body: "{}"})
			var a infra.Access
			if !c.own {
				a.Credentials = []infra.Credential{{Endpoint: s.Identity, Username: "ops", Password: backup.NewSensitive("mine")}}
			}
			l := only(t, data, a)
			_, refused := l.Facts.Get(openstack.FactRefused + "/" + openstack.KeyRouter.String())
			_, unread := l.FactsUnread.Get(openstack.KeyRouter.String())
			if l.State != code.ScopeComplete || refused != c.refused || unread == c.refused {
				t.Errorf("%s %v %v, refused %v, unread %v", l.State, l.Facts, l.FactsUnread, refused, unread)
			}
		})
	}
}

// The groups that CAPO made in a real cloud have the rules that it asks for, and neither one that is
// made by hand in the name of CAPO's nor one that was taken away passes for them.
func TestRulesOfRealGroups(t *testing.T) {
	for name, c := range map[string]struct {
		change func([]any) []any
		want   walk.Found
	}{
		"as CAPO made them":    {func(rules []any) []any { return rules }, walk.Passed},
		"with one by hand":     {func(rules []any) []any { return append(rules, byHand) }, walk.Differs},
		"without one of its":   {func(rules []any) []any { return rules[1:] }, walk.None},
		"with nothing at all":  {func([]any) []any { return []any{} }, walk.None},
		"with other labels":    {relabelled, walk.Passed},
		"by hand, and without": {func(rules []any) []any { return append(rules[1:], byHand) }, walk.Differs},
	} {
		s, data := cloudOf(t, openstacklab.Options{})
		s.Edit("security_groups", func(o openstacklab.Object) bool {
			if rules, _ := o["security_group_rules"].([]any); strings.HasPrefix(fmt.Sprint(o["name"]), "k8s-cluster-") {
				o["security_group_rules"] = c.change(rules)
			}
			return true
		})
		answers := answersOf(t, data, "openstack.C18c")
		for _, a := range answers {
			if a.Found != c.want {
				t.Errorf("%s: %v is %v (%s), want %v", name, a.Objects, a.Found, a.Why, c.want)
			}
		}
		if len(answers) == 0 {
			t.Errorf("%s: no rules were asked for", name)
		}
	}
}

// An operator's account may see more external networks than the backup's: one is the one, and of
// several nobody knows which the backup's sees.
func TestExternalNetworksOfAnOperator(t *testing.T) {
	for name, c := range map[string]struct {
		operator, second bool
		external, list   walk.Found // openstack.C5 and L7
	}{
		"one": {false, false, walk.Passed, walk.Passed}, "two": {false, true, walk.Several, walk.Passed},
		"an operator sees one": {true, false, walk.Passed, walk.Passed}, "an operator sees two": {true, true, "", walk.Unread},
	} {
		t.Run(name, func(t *testing.T) {
			ops := openstacklab.Recorded
			ops.User, ops.Password = "ops", "mine"
			s, data := cloudOf(t, openstacklab.Options{Accounts: []openstacklab.Account{openstacklab.Recorded, ops}})
			data = openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
				if strings.HasPrefix(resource, "openstackclusters.") {
					spec := object["spec"].(map[string]any)
					delete(spec, "externalNetwork")
					delete(spec, "disableExternalNetwork")
					delete(spec, "disableAPIServerFloatingIP")
					spec["apiServerLoadBalancer"] = map[string]any{"enabled": true}
				}
				return true
			})
			if c.second {
				s.Add("networks", openstacklab.Object{"id": "11111111-2222-4333-8444-555555555555", "name": "more", "router:external": true})
			}
			var a infra.Access
			if c.operator {
				a.Credentials = []infra.Credential{{Endpoint: s.Identity, Username: "ops", Password: backup.NewSensitive("mine")}}
			}
			for row, want := range map[string]walk.Found{"openstack.C5": c.external, "openstack.L7": c.list} {
				answers := answersBy(t, data, row, a)
				for _, got := range answers {
					if got.Found != want && (row == "openstack.C5" || want == walk.Unread || strings.Contains(got.Why, "external")) {
						t.Errorf("%s: %v (%s), want %q", row, got.Found, got.Why, want)
					}
				}
				if (len(answers) > 0) != (want != "") {
					t.Errorf("%s: %d answers, want %q", row, len(answers), want)
				}
			}
		})
	}
}

// answersOf returns the answers to a row of the clusters of a backup, whose cloud is listed.
func answersOf(t *testing.T, data []byte, row string) []walk.Answer {
	t.Helper()
	return answersBy(t, data, row, infra.Access{})
}

// answersBy returns them where the operator gives what to list with.
func answersBy(t *testing.T, data []byte, row string, a infra.Access) (all []walk.Answer) {
	t.Helper()
	r := infra.NewRegistry(small())
	snapshot, secrets := openstacklab.Load(t, New(), data)
	inv := r.Collect(t.Context(), r.Targets(snapshot, secrets, a), nil)
	for _, s := range r.Expected(snapshot).Steps {
		if s.Row.ID == row && s.Look != nil {
			if a := s.Look(&inv); a.Found != "" {
				all = append(all, a)
			}
		}
	}
	return all
}

// What is around the networks of a real cloud is as CAPO made it, and is seen over the wire where it
// is not.
func TestAroundRealNetworks(t *testing.T) {
	for name, c := range map[string]struct {
		collection string
		change     func(openstacklab.Object)
		row        string
		want       walk.Found
	}{
		"as CAPO made it":                {"routers", func(openstacklab.Object) {}, "", walk.Passed},
		"other DNS servers":              {"subnets", func(o openstacklab.Object) { o["dns_nameservers"] = []any{"203.0.113.53"} }, "openstack.C13b", walk.Differs},
		"an interface that is gone":      {"ports", detached(""), "openstack.C14c", walk.None},
		"an interface of another router": {"ports", detached("77777777-0000-4000-8000-000000000001"), "openstack.C14c", walk.Differs},
	} {
		s, data := cloudOf(t, openstacklab.Options{})
		s.Edit(c.collection, func(o openstacklab.Object) bool { c.change(o); return true })
		seen := 0
		for _, row := range []string{"openstack.C13b", "openstack.C14c"} {
			want := walk.Passed
			if row == c.row {
				want = c.want
			}
			for _, a := range answersOf(t, data, row) {
				if seen++; a.Found != want {
					t.Errorf("%s: %s of %v is %v (%s), want %v", name, row, a.Objects, a.Found, a.Why, want)
				}
			}
		}
		if seen == 0 {
			t.Errorf("%s: nothing was asked for", name)
		}
	}
}

// detached gives the interfaces of routers to another device.
func detached(device string) func(openstacklab.Object) {
	return func(o openstacklab.Object) {
		if o["device_owner"] == "network:router_interface" {
			o["device_id"] = device
		}
	}
}

// What a filter finds is compared over the wire with what the backup records, and subnets count in all
// networks where the cluster names none.
func TestAnotherThingOfTheName(t *testing.T) {
	project := openstacklab.Recorded.ProjectID
	network := openstacklab.Object{"id": "11111111-2222-4333-8444-555555555555", "name": "corp-shared", "project_id": project}
	subnet := openstacklab.Object{"id": "22222222-3333-4444-8555-666666666666", "name": "corp-shared-v4", "network_id": network["id"], "project_id": project}
	beside := openstacklab.Object{"id": subnet["id"], "name": subnet["name"], "network_id": "c47ce825-6d66-4882-9be5-1cbccd4536f7", "project_id": project}
	for name, c := range map[string]struct {
		unnamed bool   // the cluster names no network
		renamed string // collection of what is called otherwise now
		add     openstacklab.Object
		network walk.Found // openstack.C8b
		subnet  walk.Found // openstack.C10
	}{
		"as CAPO found them":          {false, "", nil, walk.Passed, walk.Passed},
		"another network":             {false, "networks", network, walk.Differs, walk.Passed},
		"no network":                  {false, "networks", nil, "", walk.Passed},
		"two networks":                {false, "", network, "", walk.Passed},
		"another subnet":              {false, "subnets", beside, walk.Passed, walk.Differs},
		"a subnet elsewhere":          {false, "", subnet, walk.Passed, walk.Passed},
		"no network is named":         {true, "", nil, walk.Passed, walk.Passed},
		"and a subnet is elsewhere":   {true, "", subnet, "", walk.Several},
		"and the subnet is another's": {true, "subnets", subnet, walk.Differs, walk.Passed},
	} {
		s, data := cloudOf(t, openstacklab.Options{})
		if c.renamed != "" {
			s.Edit(c.renamed, func(o openstacklab.Object) bool {
				if strings.HasPrefix(fmt.Sprint(o["name"]), "corp-shared") {
					o["name"] = "old"
				}
				return true
			})
		}
		if c.add != nil {
			kind := map[bool]string{true: "networks", false: "subnets"}[c.add["network_id"] == nil]
			s.Add(kind, c.add)
		}
		data = openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
			if c.unnamed && strings.HasPrefix(resource, "openstackclusters.") {
				delete(object["spec"].(map[string]any), "network")
			}
			return true
		})
		for row, want := range map[string]walk.Found{"openstack.C8b": c.network, "openstack.C10": c.subnet} {
			var got walk.Found
			for _, a := range answersOf(t, data, row) {
				if got == "" || a.Found != walk.Passed {
					got = a.Found
				}
			}
			if got != want {
				t.Errorf("%s: %s is %q, want %q", name, row, got, want)
			}
		}
	}
}

// An administrator's account sees the security groups of other projects, in which ports of other
// projects are. Whether the backup's account is one an operator's does not tell.
func TestGroupsOfOtherProjects(t *testing.T) {
	const other, bastion, worker = "99999999aaaa4bbb8ccc999999999999", "k8s-cluster-tenant-os-a-web-old-secgroup-bastion", "k8s-cluster-tenant-os-a-web-prod-secgroup-worker"
	group := func(id, project, name string) openstacklab.Object {
		return openstacklab.Object{"id": id + "1111111-2222-4333-8444-555555555555", "name": name, "project_id": project, "shared": true}
	}
	foreign, mine := group("1", other, bastion), group("2", openstacklab.Recorded.ProjectID, bastion)
	port := openstacklab.Object{
		"id": "33333333-2222-4333-8444-555555555555", "name": "", "description": "", "device_id": "44444444-2222-4333-8444-555555555555",
		"network_id": "55555555-2222-4333-8444-555555555555", "project_id": other, "security_groups": []any{foreign["id"]}, "shared": true,
	}
	for name, c := range map[string]struct {
		operator bool
		groups   []openstacklab.Object
		ports    []openstacklab.Object
		row      string
		want     walk.Found
	}{
		"none":                               {false, nil, nil, "openstack.C17", walk.Passed},
		"another project's":                  {false, []openstacklab.Object{foreign}, nil, "openstack.C17", walk.None},
		"another project's, in use":          {false, []openstacklab.Object{foreign}, []openstacklab.Object{port}, "openstack.C17", walk.Differs},
		"one's own beside that":              {false, []openstacklab.Object{foreign, mine}, nil, "openstack.C17", walk.Several},
		"one's own":                          {false, []openstacklab.Object{mine}, nil, "openstack.C17", walk.Passed},
		"an operator sees another's":         {true, []openstacklab.Object{foreign}, []openstacklab.Object{port}, "openstack.C17", walk.Unseen},
		"and one's own":                      {true, []openstacklab.Object{foreign, mine}, nil, "openstack.C17", walk.Unseen},
		"workers' own":                       {false, nil, nil, "openstack.C18", walk.Passed},
		"workers' own and another's":         {false, []openstacklab.Object{group("6", other, worker)}, nil, "openstack.C18", walk.Several},
		"an operator sees another's workers": {true, []openstacklab.Object{group("6", other, worker)}, nil, "openstack.C18", walk.Unseen},
	} {
		ops := openstacklab.Recorded
		ops.User, ops.Password = "ops", "mine"
		s, data := cloudOf(t, openstacklab.Options{Accounts: []openstacklab.Account{openstacklab.Recorded, ops}})
		s.Add("security_groups", c.groups...)
		s.Add("ports", c.ports...)
		var a infra.Access
		if c.operator {
			a.Credentials = []infra.Credential{{Endpoint: s.Identity, Username: "ops", Password: backup.NewSensitive("mine")}}
		}
		got := walk.Passed
		for _, a := range answersBy(t, data, c.row, a) {
			if objects := fmt.Sprint(a.Objects); a.Found != walk.Passed && (strings.Contains(objects, bastion) || strings.Contains(objects, worker)) {
				got = a.Found
			}
		}
		if got != c.want {
			t.Errorf("%s: %s is %q, want %q", name, c.row, got, c.want)
		}
	}
}

// Tags that were set by hand on what CAPO made are seen over the wire.
func TestTagsOfRealThings(t *testing.T) {
	for name, c := range map[string]struct {
		collection, prefix string
		tags               []any
		want               walk.Found
	}{
		"as CAPO made them":      {"ports", "", []any{"env=prod"}, walk.Passed},
		"a group's, by hand":     {"security_groups", "k8s-cluster-", []any{"env=prod", "audited"}, walk.Differs},
		"a port's, by hand":      {"ports", living, []any{"env=prod", "audited"}, walk.Differs},
		"a port's, taken away":   {"ports", living, []any{}, walk.Differs},
		"one of a cloud without": {"ports", living, nil, walk.Differs},
	} {
		s, data := cloudOf(t, openstacklab.Options{})
		tag := func(prefix string, tags []any) func(openstacklab.Object) bool {
			return func(o openstacklab.Object) bool {
				if strings.HasPrefix(fmt.Sprint(o["name"]), prefix) {
					if o["tags"] = tags; tags == nil {
						delete(o, "tags")
					}
				}
				return true
			}
		}
		s.Edit("ports", tag("", []any{"env=prod"}))
		s.Edit(c.collection, tag(c.prefix, c.tags))
		data = openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
			if strings.HasPrefix(resource, "openstackservers.") {
				object["spec"].(map[string]any)["tags"] = []any{"env=prod"}
			}
			return true
		})
		got := walk.Passed
		for _, a := range answersOf(t, data, "openstack.C18d") {
			if a.Found != walk.Passed {
				got = a.Found
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// byHand is a rule that has the description of CAPO's.
var byHand = map[string]any{"direction": "ingress", "ethertype": "IPv4", "description": "SSH", "protocol": "tcp", "port_range_min": 22, "port_range_max": 22, "remote_ip_prefix": "203.0.113.0/24"}

func relabelled(rules []any) (out []any) {
	for _, r := range rules {
		rule := maps.Clone(r.(map[string]any))
		rule["description"] = "mine"
		out = append(out, rule)
	}
	return out
}

// What is behind a load balancer, trunks and zones pass over the wire, and a call that is refused
// leaves what it is needed for unread.
func TestBehindOverTheWire(t *testing.T) {
	const id, name = "11111111-2222-4333-8444-555555555555", "k8s-clusterapi-cluster-tenant-os-b-data-kubeapi"
	served := func(t *testing.T, o openstacklab.Options) (*openstacklab.Server, []byte) {
		s, data := cloudOf(t, o)
		s.Endpoint("load-balancer", s.Network)
		s.Add("loadbalancers", openstacklab.Object{"id": id, "name": name, "project_id": openstacklab.Recorded.ProjectID, "provisioning_status": "ACTIVE"})
		return s, openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
			if strings.HasPrefix(resource, "openstackclusters.") && object["metadata"].(map[string]any)["name"] == "data" {
				object["spec"].(map[string]any)["apiServerLoadBalancer"] = map[string]any{"enabled": true}
			}
			if strings.HasPrefix(resource, "openstackservers.") {
				object["spec"].(map[string]any)["trunk"] = true
			}
			return true
		})
	}
	_, data := served(t, openstacklab.Options{})
	l := only(t, data, infra.Access{})
	const port = "-38102" // of the recorded endpoint
	var f openstack.Listener
	var members map[string]string
	listener, _ := l.Facts.Get(openstack.FactListener + "/" + name + port)
	pool, _ := l.Facts.Get(openstack.FactMembers + "/" + name + port)
	if json.Unmarshal([]byte(listener), &f) != nil || json.Unmarshal([]byte(pool), &members) != nil || f.Balancer != id || f.Pool == "" || len(members) == 0 || len(l.Warnings) > 0 {
		t.Errorf("the listener is %+v, the pool's members are %v: %v", f, members, l.Warnings)
	}
	for _, k := range []infra.Key{{Kind: openstack.KeyExtension, Value: "trunk"}, {Kind: openstack.KeyZone, Value: openstack.Listed}} {
		if !slices.Contains(l.ProbesFound, k) {
			t.Errorf("%s was not found", k)
		}
	}
	held := slices.ContainsFunc(l.Facts, func(f infra.Fact) bool { return strings.HasPrefix(f.Name, openstack.FactHeld+"/") })
	if trunk := slices.ContainsFunc(l.ProbesFound, func(k infra.Key) bool { return k.Kind == openstack.KeyTrunk }); trunk || !held {
		t.Errorf("a trunk that is not there was found (%t), or no port of a server that is to be one (%t)", trunk, held)
	}
	for call, kind := range map[string]infra.KeyKind{
		"neutron GET /v2.0/lbaas/listeners": openstack.KeyListener, "neutron GET /v2.0/lbaas/pools": openstack.KeyPool, "neutron GET /v2.0/lbaas/pools/{id}/members": openstack.KeyPool,
		"neutron GET /v2.0/extensions": openstack.KeyExtension, "neutron GET /v2.0/trunks": openstack.KeyTrunk, "nova GET /v2.1/os-availability-zone": openstack.KeyZone,
	} {
		s, data := served(t, openstacklab.Options{})
		s.Fail(openstacklab.Fault{Call: call, Status: 403, Body: "{}"})
		l := only(t, data, infra.Access{})
		if _, refused := l.Facts.Get(openstack.FactRefused + "/" + kind.String()); !refused || !slices.Contains(l.Unread, kind) {
			t.Errorf("without %s unread are %v: %v", call, l.Unread, l.Warnings)
		}
	}
}

// An image that is found by its id does not answer for its name: whether it is the only one of the
// name is not known where that call fails.
func TestImageOfANameUnread(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	data = openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
		if meta := object["metadata"].(map[string]any); strings.HasPrefix(resource, "openstackservers.") && meta["name"] == "data-control-plane-cjtfx" {
			object["spec"].(map[string]any)["image"] = map[string]any{"id": "60c55fb5-9684-4c4e-894f-94655d0d0c01"}
		}
		return true
	})
	name := infra.Key{Kind: openstack.KeyImage, Value: openstack.ByName + "ubuntu-2404-kube-v1.34.2"}
	if !slices.Contains(only(t, data, infra.Access{}).ProbesFound, name) {
		t.Fatal("the image is not found by its name")
	}
	s.Fail(openstacklab.Fault{Call: "glance GET /v2/images", Status: 403, Body: "{}"})
	if l := only(t, data, infra.Access{}); slices.Contains(l.ProbesFound, name) || !slices.Contains(l.Unread, openstack.KeyImage) || s.Calls()["glance GET /v2/images/{id}"] == 0 {
		t.Errorf("found are %v, unread %v", l.ProbesFound, l.Unread)
	}
}

// What an account must be allowed names all that is looked up.
func TestPermissionsNameEachLookup(t *testing.T) {
	text := New().Spec().Permissions.Text
	for i := range lookups {
		prefix := map[string]string{typeCompute: "/v2.1/", typeImage: "/v2/"}[lookups[i].service]
		path, _, _ := strings.Cut(cmp.Or(prefix, "/v2.0/")+lookups[i].path, "?")
		if !strings.Contains(text, path+"`") {
			t.Errorf("%s is not in permissions.md", path)
		}
	}
}
