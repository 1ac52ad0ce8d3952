package list

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra/vsphere"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

func containsText(s, part string) bool { return strings.Contains(s, part) }

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func zipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	must(t, w.Close())
	return b.String()
}

const (
	metadata = "instance-id: \"web-1\"\nnetwork:\n  version: 2\nlocal-hostname: \"web-1\"\n"
	joinData = `## template: jinja
#cloud-config
write_files:
-   path: /run/kubeadm/kubeadm-join-config.yaml
    content: |
      ---
      discovery:
        bootstrapToken:
          apiServerEndpoint: 10.0.0.9:6443
          token: m4rk3r.m4rk3rm4rk3rm4rk
`
)

func options(pairs ...string) []types.BaseOptionValue {
	var list []types.BaseOptionValue
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, &types.OptionValue{Key: pairs[i], Value: pairs[i+1]})
	}
	return list
}

func TestGuestinfo(t *testing.T) {
	ignition := `{"storage":{"files":[{"path":"/etc/kubeadm.yml","contents":{"source":"data:,` + url.PathEscape("discovery:\n  apiServerEndpoint: \"10.0.0.9:6443\"\n") + `"}}]}}`
	for name, c := range map[string]struct {
		options        []types.BaseOptionValue
		metadata       bool
		host, endpoint string
	}{
		"cloud-init":            {options(guestMetadata, b64(metadata), guestUserdata, b64(joinData)), true, "web-1", "10.0.0.9:6443"},
		"encoded twice":         {options(guestMetadata, b64(b64(metadata)), guestUserdata, b64(b64(b64(joinData)))), true, "web-1", "10.0.0.9:6443"},
		"compressed":            {options(guestMetadata, b64(zipped(t, metadata)), guestUserdata, b64(zipped(t, joinData))), true, "web-1", "10.0.0.9:6443"},
		"not encoded":           {options(guestMetadata, metadata, guestUserdata, joinData), true, "web-1", "10.0.0.9:6443"},
		"Ignition":              {options(guestMetadata, b64(metadata), guestIgnition, b64(ignition)), true, "web-1", "10.0.0.9:6443"},
		"init":                  {options(guestUserdata, b64("controlPlaneEndpoint: API.example:6443\n")), false, "", "api.example:6443"},
		"IPv6":                  {options(guestUserdata, b64("apiServerEndpoint: '[2001:db8::1]:6443'")), false, "", "[2001:db8::1]:6443"},
		"two endpoints":         {options(guestUserdata, b64("apiServerEndpoint: a:1\napiServerEndpoint: b:1\n")), false, "", ""},
		"nothing of use":        {options("guestinfo.other", b64(metadata), guestUserdata, "%%%", guestMetadata, b64("x: y")), true, "", ""},
		"empty metadata":        {options(guestMetadata, ""), false, "", ""},
		"no strings, no values": {[]types.BaseOptionValue{nil, &types.OptionValue{Key: guestMetadata, Value: 7}}, false, "", ""},
	} {
		if g := fromExtraConfig(c.options); g != (vsphere.Guest{Metadata: c.metadata, Host: c.host, Endpoint: c.endpoint}) {
			t.Errorf("%s: %+v", name, g)
		}
	}
	bomb := zipped(t, strings.Repeat("\x00", maxGuestinfo+1000))
	if n := len(decoded(bomb)); n > maxGuestinfo {
		t.Errorf("a compressed value became %d bytes", n)
	}
}

// setExtra replaces the extraConfig of a VM in the simulator.
func setExtra(t *testing.T, v *lab.VCenter, ref string, extra []types.BaseOptionValue) {
	t.Helper()
	m := v.Service.Context.Map.Get(types.ManagedObjectReference{Type: "VirtualMachine", Value: ref}).(*simulator.VirtualMachine)
	config := *m.Config
	config.ExtraConfig = extra
	m.Config = &config
}

func TestGuestinfoOfCandidates(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	add := func(name, folder, host string) {
		m, err := v.Clone("alpha-prod-nnxbq", lab.CloneSpec{Name: name, Folder: folder})
		must(t, err)
		setExtra(t, v, m.Ref, options(
			guestMetadata, b64("local-hostname: \""+host+"\"\n"),
			guestUserdata, b64(strings.ReplaceAll(joinData, "10.0.0.9:6443", "127.0.0.1:20000"))))
	}
	const folder = "/DC0/vm/capi/tenant-alpha"
	add("strange", folder, "strange")
	add("copied", folder, "alpha-prod-nnxbq")
	add("far-away", "/DC0/vm/restored", "far-away")
	l := one(t, t.Context(), fleet(t), reach(v))
	if l.State != code.ScopeComplete || len(l.Warnings) != 0 {
		t.Fatalf("%s, %v, %+v", l.State, l.Warnings, faultOf(l))
	}
	s, _ := load(t, fleet(t))
	hint := slices.IndexFunc(New().Expected(s).OwnershipHints, func(hint infra.OwnershipHint) bool {
		return hint.Key.Kind == keyEndpoint && hint.Owner.Cluster.Name == "alpha-prod" && strings.HasSuffix(hint.Key.Value, ":20000")
	})
	if hint < 0 {
		t.Fatal("no tie by endpoint")
	}
	key := New().Expected(s).OwnershipHints[hint].Key
	if i := instance(t, l, "strange"); i.Host.Value != "strange" || !i.HasKey(key) {
		t.Errorf("host %s, keys %v, want %s", i.Host, i.Keys, key)
	}
	if i := instance(t, l, "copied"); i.Host.Value != "alpha-prod-nnxbq" || i.HasKey(key) {
		t.Errorf("a copy: host %s, keys %v", i.Host, i.Keys)
	}
	if i := instance(t, l, "far-away"); !i.Host.IsZero() {
		t.Errorf("the metadata of a VM that is nowhere near was read: %s", i.Host)
	}
	if i := instance(t, l, "alpha-prod-nnxbq"); !i.Host.IsZero() {
		t.Errorf("the metadata of a known VM was read: %s", i.Host)
	}
	saved, err := json.Marshal(l)
	must(t, err)
	if bytes.Contains(saved, []byte("m4rk3r")) {
		t.Error("bootstrap data was kept")
	}
}

func TestUnreadMetadataIsSaid(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	v.Service.AddFaultRule(&simulator.FaultInjectionRule{
		MethodName: "RetrievePropertiesEx", ObjectType: "*", ObjectName: "*", Probability: 1, Enabled: true, SkipCount: 4,
	})
	l := one(t, t.Context(), fleet(t), reach(v))
	if l.State != code.ScopeComplete || len(l.Instances) != fleetVMs || !containsText(strings.Join(l.Warnings, ""), "the metadata of 12 of the unknown VMs") {
		t.Errorf("%s, %d VMs, %q: %+v", l.State, len(l.Instances), l.Warnings, faultOf(l))
	}
	// What the metadata would have said against a name is not known, so that no
	// name ties any of them to a cluster.
	unread := infra.Key{Kind: keyNamed, Value: "unread"}
	n := 0
	for i := range l.Instances {
		if l.Instances[i].HasKey(unread) {
			n++
		}
	}
	if n != 12 {
		t.Errorf("%d VMs are marked as unread", n)
	}
	s, _ := load(t, fleet(t))
	for _, hint := range New().Expected(s).OwnershipHints {
		if hint.Grade == infra.Medium && hint.Key.Kind != keyEndpoint && !slices.Contains(hint.Expect, ownName) {
			t.Errorf("a tie by a name holds whatever the metadata says: %+v", hint)
		}
	}
}

// Join data of other distributions counts where it is theirs, and names one endpoint.
func TestEndpointInBootstrapData(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"another server line": {"ntp:\n  server: https://10.0.0.1:6443\n", ""},
		"two of them":         {"path: /etc/rancher/rke2/config.yaml\nserver: https://a:9345\nserver: https://b:9345\n", ""},
		"kubeadm beside one":  {"path: /etc/rancher/k3s/config.yaml\nserver: https://b:6443\napiServerEndpoint: a:6443\n", "a:6443"},
		"encoded":             {"path: /etc/rancher/rke2/config.yaml\nencoding: b64\ncontent: " + b64("token: abcdefghijklmnopqrstuvwxyz0123456789\nserver: https://10.0.0.1:9345\n") + "\n", "10.0.0.1:9345"},
	} {
		if got := endpointIn(c.data); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
