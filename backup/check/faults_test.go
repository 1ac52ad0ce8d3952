package check_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/backup/check"
)

// change edits the items whose path fits; nil leaves an item out.
type change func(path string, body []byte) []byte

// without leaves out what is at these places: "resource/namespace/name",
// where an empty part fits all.
func without(places ...string) change {
	return func(path string, body []byte) []byte {
		if slices.ContainsFunc(places, func(place string) bool { return isAt(path, place) }) {
			return nil
		}
		return body
	}
}

func isAt(path, place string) bool {
	part := strings.Split(place, "/")
	return strings.HasPrefix(path, "resources/"+part[0]) &&
		strings.Contains(path, "/namespaces/"+part[1]) && (part[2] == "" || strings.HasSuffix(path, "/"+part[2]+".json"))
}

// replacing changes the text of one item; the test fails when it is not there.
func replacing(place, from, to string) change {
	return func(path string, body []byte) []byte {
		if !isAt(path, place) {
			return body
		}
		if !bytes.Contains(body, []byte(from)) {
			panic(place + " does not hold " + from)
		}
		return bytes.ReplaceAll(body, []byte(from), []byte(to))
	}
}

// editing changes the object of one item.
func editing(place string, edit func(map[string]any)) change {
	return func(path string, body []byte) []byte {
		if !isAt(path, place) {
			return body
		}
		var object map[string]any
		if err := json.Unmarshal(body, &object); err != nil {
			panic(err)
		}
		edit(object)
		text, err := json.Marshal(object)
		if err != nil {
			panic(err)
		}
		return text
	}
}

// item is one entry of a tarball.
type item struct {
	path string
	body []byte
}

// itemsOf unpacks a tarball once for all tests.
var unpacked = map[string][]item{}

func itemsOf(t testing.TB, tarball string) []item {
	t.Helper()
	if unpacked[tarball] == nil {
		backuptest.Rewrite(t, tarball, func(path string, body []byte) ([]byte, bool) {
			unpacked[tarball] = append(unpacked[tarball], item{path, body})
			return body, true
		})
	}
	return unpacked[tarball]
}

// derive makes a changed copy of a tarball, all of it written at one moment of
// the time when the lab's backup ran.
func derive(t testing.TB, from string, c change) []byte {
	t.Helper()
	return deriveAt(t, from, time.Date(2026, 11, 21, 4, 6, 30, 0, time.UTC), c)
}

// deriveAt does what derive does, with another time of writing.
func deriveAt(t testing.TB, from string, at time.Time, c change) []byte {
	t.Helper()
	b := backuptest.NewFormat("").At(at)
	for _, i := range itemsOf(t, from) {
		if body := c(i.path, i.body); body != nil {
			b.Raw(i.path, body)
		}
	}
	return b.Tar()
}

// signs returns findings by what they are and what they are about.
func signs(all []check.Finding) []string {
	var out []string
	for _, f := range all {
		out = append(out, string(f.Severity)+" "+string(f.Code)+": "+f.Object)
	}
	return out
}

// difference returns what is in one list only: "+" in the second, "-" in the first.
func difference(before, after []string) []string {
	var out []string
	for _, s := range after {
		if !slices.Contains(before, s) {
			out = append(out, "+"+s)
		}
	}
	for _, s := range before {
		if !slices.Contains(after, s) {
			out = append(out, "-"+s)
		}
	}
	slices.Sort(out)
	return out
}

// TestFaults removes or changes one thing of the lab's backup at a time: just
// that fault is found beyond what is wrong with the lab anyway.
func TestFaults(t *testing.T) {
	before := signs(checked(t, derive(t, lab, without()), afterwards, nil))
	for _, test := range []struct {
		name   string
		change change
		want   []string
		says   string // part of the first new finding's message
	}{
		{
			"the authority of a cluster is gone", without("secrets/tenant-alpha/alpha-prod-ca"),
			[]string{"+error CertificateAbsent: Secret tenant-alpha/alpha-prod-ca"},
			"not in the backup",
		},
		{
			"an authority has no private key", editing("secrets/tenant-alpha/alpha-prod-sa", func(o map[string]any) { delete(o["data"].(map[string]any), "tls.key") }),
			[]string{"+warning AuthorityKeyAbsent: Secret tenant-alpha/alpha-prod-sa"},
			"no private key in its tls.key",
		},
		{
			"an authority has an empty one", editing("secrets/tenant-alpha/alpha-prod-ca", func(o map[string]any) { o["data"].(map[string]any)["tls.key"] = "" }),
			[]string{"+warning AuthorityKeyAbsent: Secret tenant-alpha/alpha-prod-ca"},
			"no private key in its tls.key",
		},
		{
			"the kubeconfig of a cluster is gone", without("secrets/tenant-beta/beta-prod-kubeconfig"),
			[]string{"+warning KubeconfigAbsent: Secret tenant-beta/beta-prod-kubeconfig"},
			"not in the backup",
		},
		{
			"the kubeconfig of a cluster has expired", editing("secrets/tenant-beta/beta-prod-kubeconfig", expiredKubeconfig(t)),
			[]string{"+warning KubeconfigExpired: Secret tenant-beta/beta-prod-kubeconfig"},
			"expired on 2026-11-20",
		},
		{
			"the credential of a cluster is gone", without("secrets/tenant-alpha/alpha-prod"),
			[]string{"+error CredentialAbsent: Secret tenant-alpha/alpha-prod"},
			"used by 1 cluster",
		},
		{
			"the credential behind an identity is gone", without("secrets/capv-system/vcenter-shared-creds"),
			[]string{"+error CredentialAbsent: credential of VSphereClusterIdentity vcenter-shared"},
			"used by 1 cluster",
		},
		{
			"no Secret is there", without("secrets//"),
			[]string{"+error SecretsAbsent: every Secret", "-warning CredentialAbsent: Secret capa-system/capa-manager-bootstrap-credentials"},
			"none of 5 clusters",
		},
		{
			"the bootstrap data of a machine without VM is gone", without("secrets/tenant-gamma/gamma-edge-md-broken-7hlgf-9hlj8"),
			[]string{"+error BootstrapDataAbsent: Secret tenant-gamma/gamma-edge-md-broken-7hlgf-9hlj8"},
			"of Machine gamma-edge-md-broken",
		},
		{
			"a cluster is paused", editing("clusters.cluster.x-k8s.io/tenant-beta/beta-prod", func(o map[string]any) { o["spec"].(map[string]any)["paused"] = true }),
			[]string{"+info ClusterPaused: Cluster tenant-beta/beta-prod", "-warning ClusterNotPaused: Cluster tenant-beta/beta-prod"},
			"paused",
		},
		{
			"a Cluster object is gone", without("clusters.cluster.x-k8s.io/tenant-alpha/alpha-dev"),
			[]string{"+error ClusterAbsent: Cluster tenant-alpha/alpha-dev", "-warning ClusterNotPaused: Cluster tenant-alpha/alpha-dev"},
			"not in the backup",
		},
		{
			"a control plane is gone", without("kubeadmcontrolplanes.controlplane.cluster.x-k8s.io/tenant-alpha/alpha-dev"),
			[]string{"+error ControlPlaneAbsent: KubeadmControlPlane tenant-alpha/alpha-dev"},
			"referred to by Cluster tenant-alpha/alpha-dev",
		},
		{
			"an infrastructure cluster is gone", without("vsphereclusters.infrastructure.cluster.x-k8s.io/tenant-alpha/alpha-dev"),
			[]string{"+error InfraClusterAbsent: VSphereCluster tenant-alpha/alpha-dev"},
			"referred to by Cluster tenant-alpha/alpha-dev",
		},
		{
			"an infrastructure machine is gone", without("vspheremachines.infrastructure.cluster.x-k8s.io/tenant-alpha/alpha-prod-nnxbq"),
			[]string{"+error InfraMachineAbsent: VSphereMachine tenant-alpha/alpha-prod-nnxbq"},
			"referred to by Machine tenant-alpha/alpha-prod-nnxbq",
		},
		{
			"all infrastructure machines of a kind are gone", without("awsmachines.infrastructure.cluster.x-k8s.io//"),
			[]string{"+error InfraMachineAbsent: every AWSMachine"},
			"none is in the backup; referred to by 6 objects",
		},
		{
			"a bootstrap config is gone", without("kubeadmconfigs.bootstrap.cluster.x-k8s.io/tenant-alpha/alpha-prod-nnxbq"),
			[]string{"+warning BootstrapConfigAbsent: KubeadmConfig tenant-alpha/alpha-prod-nnxbq"},
			"referred to by Machine",
		},
		{
			"a template is gone", without("vspheremachinetemplates.infrastructure.cluster.x-k8s.io/tenant-alpha/alpha-prod-md-0"),
			[]string{"+warning TemplateAbsent: VSphereMachineTemplate tenant-alpha/alpha-prod-md-0"},
			"referred to by MachineDeployment tenant-alpha/alpha-prod-md-0",
		},
		{
			"a MachineSet is gone", without("machinesets.cluster.x-k8s.io/tenant-beta/beta-prod-md-1-69knr"),
			[]string{"+error OwnerAbsent: MachineSet tenant-beta/beta-prod-md-1-69knr"},
			"owns 4 machines",
		},
		{
			"a MachineDeployment is gone", without("machinedeployments.cluster.x-k8s.io/tenant-beta/beta-prod-md-1"),
			[]string{"+error OwnerAbsent: MachineDeployment tenant-beta/beta-prod-md-1"},
			"owns 1 MachineSet",
		},
		{
			"a Machine was being deleted", without("machines.cluster.x-k8s.io/tenant-alpha/alpha-prod-nnxbq"),
			[]string{"+warning MachineAbsent: VSphereMachine tenant-alpha/alpha-prod-nnxbq", "+warning MachinesMissing: KubeadmControlPlane tenant-alpha/alpha-prod"},
			"its Machine is not in the backup",
		},
		{
			"a Machine was being created", editing("machines.cluster.x-k8s.io/tenant-alpha/alpha-prod-md-1-jqqjv-wvlnf", func(o map[string]any) { delete(o["spec"].(map[string]any), "providerID") }),
			[]string{
				"+warning BootstrapTokenExpired: Machine tenant-alpha/alpha-prod-md-1-jqqjv-wvlnf",
				"+warning MachineProvisioning: Machine tenant-alpha/alpha-prod-md-1-jqqjv-wvlnf",
			},
			"15 minutes",
		},
		{
			"a MachineDeployment selects the machines of its neighbours",
			replacing("machinedeployments.cluster.x-k8s.io/tenant-gamma/gamma-edge-md-0",
				`"matchLabels":{"cluster.x-k8s.io/cluster-name":"gamma-edge","cluster.x-k8s.io/deployment-name":"gamma-edge-md-0"}`,
				`"matchLabels":{"cluster.x-k8s.io/cluster-name":"gamma-edge"}`),
			[]string{"+error SelectorsOverlap: MachineDeployment tenant-gamma/gamma-edge-md-0"},
			"MachineDeployment tenant-gamma/gamma-edge-md-1, MachineDeployment tenant-gamma/gamma-edge-md-broken",
		},
		{
			"a MachineSet selects the control plane's machines",
			editing("machinesets.cluster.x-k8s.io/tenant-alpha/alpha-dev-md-1-zhpr5", func(o map[string]any) {
				o["spec"].(map[string]any)["selector"] = map[string]any{"matchExpressions": []any{
					map[string]any{"key": "cluster.x-k8s.io/control-plane", "operator": "Exists"},
				}}
			}),
			[]string{"+error SelectorsOverlap: MachineSet tenant-alpha/alpha-dev-md-1-zhpr5"},
			"KubeadmControlPlane tenant-alpha/alpha-dev, KubeadmControlPlane tenant-alpha/alpha-prod",
		},
		{
			"a VM was gone, and only its VSphereVM said so",
			replacing("vspherevms.infrastructure.cluster.x-k8s.io/tenant-alpha/alpha-prod-nnxbq",
				`"reason":"Provisioned","status":"True"`, `"reason":"NotFoundByBIOSUUID","status":"False"`),
			[]string{"+warning VMGone: VSphereVM tenant-alpha/alpha-prod-nnxbq"},
			"its Machine says Running",
		},
		{
			"an object is of a version that is no longer served",
			replacing("clusters.cluster.x-k8s.io/tenant-alpha/alpha-dev", `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster"`, `{"apiVersion":"cluster.x-k8s.io/v1alpha4","kind":"Cluster"`),
			[]string{"+error APIVersionNotServed: clusters.cluster.x-k8s.io"},
			"1 object in v1alpha4",
		},
		{
			"an object is of a version that will not be served long",
			replacing("kubeadmcontrolplanes.controlplane.cluster.x-k8s.io/tenant-alpha/alpha-dev", `{"apiVersion":"controlplane.cluster.x-k8s.io/v1beta2"`, `{"apiVersion":"controlplane.cluster.x-k8s.io/v1beta1"`),
			[]string{"+info APIVersionEnding: kubeadmcontrolplanes.controlplane.cluster.x-k8s.io"},
			"v1.16",
		},
		{
			"an object of an old version of the infrastructure provider",
			replacing("vsphereclusters.infrastructure.cluster.x-k8s.io/tenant-alpha/alpha-dev", `{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta2"`, `{"apiVersion":"infrastructure.cluster.x-k8s.io/v1alpha3"`),
			[]string{"+error APIVersionNotServed: vsphereclusters.infrastructure.cluster.x-k8s.io"},
			"1 object in v1alpha3",
		},
		{
			"an item can't be read", replacing("machinepools.cluster.x-k8s.io/tenant-aws/aws-prod-mp-0", `"kind":"MachinePool"`, `"kind":`),
			[]string{"+warning ItemsUnreadable: backup backup.tar.gz"},
			"first resources/machinepools.cluster.x-k8s.io/",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			after := checked(t, derive(t, lab, test.change), afterwards, nil)
			if got := difference(before, signs(after)); !slices.Equal(got, test.want) {
				t.Fatalf("difference\n %s\nwant\n %s", strings.Join(got, "\n "), strings.Join(test.want, "\n "))
			}
			i := slices.IndexFunc(after, func(f check.Finding) bool {
				return strings.HasSuffix(test.want[0], " "+string(f.Code)+": "+f.Object)
			})
			if !strings.Contains(after[i].Message, test.says) {
				t.Errorf("message %q does not say %q", after[i].Message, test.says)
			}
		})
	}
}

var clientCertificate = regexp.MustCompile(`client-certificate-data: \S+`)

// expiredKubeconfig puts a certificate into a kubeconfig that ended a day before.
func expiredKubeconfig(t *testing.T) func(map[string]any) {
	text := base64.StdEncoding.EncodeToString(certificate(t, afterwards.AddDate(0, 0, -1)))
	return func(o map[string]any) {
		data := o["data"].(map[string]any)
		old, err := base64.StdEncoding.DecodeString(data["value"].(string))
		if err != nil || !clientCertificate.Match(old) {
			t.Fatalf("no kubeconfig with a client certificate: %v", err)
		}
		data["value"] = base64.StdEncoding.EncodeToString(clientCertificate.ReplaceAll(old, []byte("client-certificate-data: "+text)))
	}
}

func certificate(t *testing.T, end time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.AddDate(-1, 0, 0), NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
