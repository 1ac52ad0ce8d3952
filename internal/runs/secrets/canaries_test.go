package secrets_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
	"drift-detector/report/formats"
)

// canaries is a world in which each place that can hold a credential holds one of its own,
// and all that was written of it by processes of their own, as a user starts them: proxies
// and clouds read the environment themselves.
type canaries struct {
	*runs.World
	runs.Markers
	env []string
	out string // the folder of what they write
	all strings.Builder
}

// token returns a marker for places where other signs may not be: in URLs and variables.
func (c *canaries) token(of string) string {
	return c.Add(fmt.Sprintf("MARK%dtoken%s", len(c.Markers), of))
}

// program runs the program in the environment of the canaries and keeps what it says.
func (c *canaries) program(args ...string) {
	c.T.Helper()
	self, err := os.Executable()
	c.Ensure(err)
	cmd := exec.Command(self, append([]string{"-D"}, args...)...)
	cmd.Args[0], cmd.Env = "drift-detector", append(os.Environ(), c.env...)
	said, _ := cmd.CombinedOutput()
	fmt.Fprintf(&c.all, "== %v: %s\n%s\n", args[0], cmd.ProcessState, said)
}

// written adds the files that were written.
func (c *canaries) written() string {
	c.Ensure(filepath.WalkDir(c.out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&c.all, "== %s\n%s\n", path, text)
		return err
	}))
	return c.all.String()
}

// plant puts canaries into the backup beside those of mark, and into the environment.
func (c *canaries) plant() {
	c.Mark(&c.Markers)
	c.Change("userinfo", func(resource, name string, o runs.Object) bool {
		switch {
		case resource == "clusters" && name == "alpha-dev", resource == "vsphereclusters" && name == "alpha-dev":
			runs.In(o, "spec", "controlPlaneEndpoint")["host"] = "user:" + c.token("endpoint") + "@127.0.0.1"
			if resource == "vsphereclusters" {
				runs.In(o, "spec")["server"] = "https://user:" + c.token("server") + "@vcenter.invalid/sdk"
			}
		case resource == "secrets" && name == "beta-prod-kubeconfig":
			text := "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster: {server: \"https://u:" + c.token("kubeconfig") + "@api.invalid:6443\", proxy-url: \"http://u:" + c.token("proxy") + "@127.0.0.1:1\"}\n" +
				"contexts:\n- name: x\n  context: {cluster: c, user: u}\ncurrent-context: x\nusers:\n- name: u\n  user: {username: u, password: " + c.token("basic") + "}\n"
			runs.In(o, "data")["value"] = base64.StdEncoding.EncodeToString([]byte(text))
		}
		return true
	})
	c.Added("manager", func(b *backuptest.Tarball) {
		profile := "[default]\naws_access_key_id = AKIAMARKED0000000000\naws_secret_access_key = " + c.token("ini") + "\naws_session_token = " + c.token("session") + "\nregion = us-east-1\n"
		b.Add("secrets", runs.Object{
			"apiVersion": "v1", "kind": "Secret", "metadata": runs.Object{"namespace": "capa-system", "name": "capa-manager-bootstrap-credentials"},
			"data": runs.Object{"credentials": base64.StdEncoding.EncodeToString([]byte(profile))},
		})
	})
	c.plantAzure()
	for _, of := range []string{"AWS_SESSION_TOKEN", "AWS_SECRET_ACCESS_KEY", "GOVC_PASSWORD", "OS_PASSWORD", "OS_TOKEN", "OS_APPLICATION_CREDENTIAL_SECRET"} {
		c.env = append(c.env, of+"="+c.token(of))
	}
	c.env = append(c.env, "AWS_ACCESS_KEY_ID=AKIAMARKED0000000001", "GOVC_USERNAME=user", "GOVC_URL=https://user:"+c.token("govc")+"@vcenter.invalid/sdk",
		"HTTPS_PROXY=http://user:"+c.token("https-proxy")+"@127.0.0.1:1", "OS_AUTH_URL=https://user:"+c.token("os-auth")+"@keystone.invalid/v3", "OS_USERNAME=user")
}

// plantAzure puts a cluster's secrets of Azure into the backup, which has no provider here:
// what its cloud controller reads, the identity, and the copies that kubectl apply leaves.
func (c *canaries) plantAzure() {
	c.Added("azure", func(b *backuptest.Tarball) {
		coded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
		secret := func(namespace, name, key, text string) {
			applied, _ := json.Marshal(runs.Object{"stringData": runs.Object{key: text}})
			b.Add("secrets", runs.Object{
				"apiVersion": "v1", "kind": "Secret", "data": runs.Object{key: coded(text)},
				"metadata": runs.Object{"namespace": namespace, "name": name, "annotations": runs.Object{"kubectl.kubernetes.io/last-applied-configuration": string(applied)}},
			})
		}
		secret("tenant-alpha", "alpha-prod-azure-json", "control-plane-azure.json", `{"aadClientSecret": "`+c.token("azure-json")+`"}`)
		secret("tenant-alpha", "cloud-config", "cloud-config", "aadClientSecret: "+c.token("cloud-config")+"\n")
		secret("tenant-alpha", "azure-identity", "clientSecret", c.token("identity"))
		secret("capz-system", "capz-manager-bootstrap-credentials", "AZURE_CLIENT_SECRET", c.token("capz"))
		applied := runs.Object{"kubectl.kubernetes.io/last-applied-configuration": `{"spec":{"clientSecret":"` + c.token("applied") + `"}}`}
		identity := runs.Object{"type": "ServicePrincipal", "clientSecret": runs.Object{"name": "azure-identity", "namespace": "tenant-alpha"}}
		b.Add("azureclusteridentities.infrastructure.cluster.x-k8s.io", runs.Object{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "AzureClusterIdentity", "metadata": runs.Object{"namespace": "tenant-alpha", "name": "identity", "annotations": applied}, "spec": identity})
	})
}

// echo answers with all that it was sent.
var echo = runs.WireFault{Name: "echo", Do: func(w http.ResponseWriter, r *http.Request, _ func() *httptest.ResponseRecorder) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = fmt.Fprintf(w, `<?xml version="1.0"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><soapenv:Fault><faultcode>x</faultcode><faultstring><![CDATA[%s %s %s]]></faultstring></soapenv:Fault></soapenv:Body></soapenv:Envelope>`,
		r.URL, r.Header, body)
}}

// No canary shows in what any command writes in any format, whether servers answer, fail,
// or repeat what they were sent.
func TestNoCanaryShows(t *testing.T) {
	t.Parallel()
	c := &canaries{World: runs.Fleet(t), out: t.TempDir()}
	c.plant()
	to := func(name string) string { return filepath.Join(c.out, name) }
	run := func(command string, extra ...string) {
		c.program(slices.Concat([]string{command}, c.Sources(), c.Reach(), []string{"--timeout", "3s"}, extra)...)
	}
	run("detect", "-o", to("report.json"))
	run("detect", "--dry-run")
	run("inventory", "-o", to("inventory.json"))
	for _, format := range append(formats.Report.Names(), "screen") {
		c.program("render", to("report.json"), "--format", format)
	}
	for _, format := range []string{"text", "json", "junit", "markdown"} {
		c.program(slices.Concat([]string{"check", "--format", format}, c.Sources())...)
	}
	for _, how := range []string{"--diff", "--format=json"} {
		c.program(slices.Concat([]string{"releases", how}, c.Sources())...)
	}
	for _, format := range []string{"text", "shell", "markdown", "json"} {
		c.program("plan", to("report.json"), "--format", format)
	}
	c.program("diff", to("report.json"), to("report.json"))
	signed := "https://127.0.0.1:1/velero/b-data.tar.gz?X-Amz-Credential=k&X-Amz-Security-Token=" + c.token("presigned") + "&X-Amz-Signature=" + c.token("signature")
	c.program("check", "--backup", signed)
	c.program("detect", "--backup", strings.Replace(signed, "https://", "https://u:"+c.token("store")+"@", 1), "-o", "-")
	c.program("backups", "s3://velero/mgmt", "--s3-ambient", "--s3-endpoint", "https://u:"+c.token("s3")+"@127.0.0.1:1")
	c.program("backups", "s3://velero/mgmt", "--s3-ambient", "--s3-endpoint", "https://127.0.0.1:1")

	for _, fault := range append(slices.DeleteFunc(slices.Clone(runs.WireFaults), func(f runs.WireFault) bool {
		return !slices.Contains([]string{"cut", "401", "500", "302", "HTML 200", "garbage"}, f.Name)
	}), echo) {
		for _, call := range []string{"Login", "RetrievePropertiesEx", "Nodes"} {
			s := &runs.Saboteur{Call: call, From: 1, To: math.MaxInt, Fault: fault}
			c.VCenter.Front(s.Seat(""))
			c.Nodes.Front(s.Seat(""))
			run("detect", "-o", to(fmt.Sprintf("%s-%s.json", strings.ReplaceAll(fault.Name, " ", ""), call)), "--namespace", "tenant-alpha")
		}
	}
	said := c.written()
	if found := c.In(said); len(found) > 0 {
		for _, one := range found {
			at := strings.Index(said, one[:min(len(one), 8)])
			t.Errorf("%s shows: …%s…", one, said[max(0, at-200):min(len(said), at+200)])
		}
	}
	if len(c.Markers) < 80 || strings.Count(said, "\n== ") < 30 || !strings.Contains(said, `"schemaVersion"`) {
		t.Errorf("%d canaries and %d outputs are too few", len(c.Markers), strings.Count(said, "\n== "))
	}
}

// The same for OpenStack: a password and the secret of an application credential, accepted,
// refused, and repeated by the cloud.
func TestNoCanaryOfOpenStackShows(t *testing.T) {
	t.Parallel()
	w, _ := runs.OpenStackFleet(t, openstacklab.Options{})
	c := &canaries{World: w, out: t.TempDir()}
	good := w.Backups
	c.Add("s3cret-Public-7")
	marked := func(name string, login func() string) {
		w.Backups = good
		w.Change(name, func(resource, secret string, o runs.Object) bool {
			if resource != "secrets" || !strings.Contains(secret, "cloud-config") {
				return true
			}
			text, _ := base64.StdEncoding.DecodeString(runs.In(o, "data")["clouds.yaml"].(string))
			lines := strings.Split(string(text), "\n")
			for i, l := range lines {
				if strings.Contains(l, "password:") {
					lines[i] = l[:strings.Index(l, "password:")] + login()
				}
			}
			runs.In(o, "data")["clouds.yaml"] = base64.StdEncoding.EncodeToString([]byte(strings.Join(lines, "\n")))
			return true
		})
	}
	run := func(name string) {
		for _, how := range [][]string{{"-o", filepath.Join(c.out, name+".json"), "--timeout", "3s"}, {"--dry-run"}} {
			c.program(slices.Concat([]string{"detect", "--skip-access-apiserver"}, w.Sources(), how)...)
		}
		c.program(slices.Concat([]string{"check"}, w.Sources())...)
	}
	run("good")
	marked("password", func() string { q, _ := json.Marshal(c.Next("password")); return "password: " + string(q) })
	run("password")
	marked("application", func() string {
		return "application_credential_id: a\n      application_credential_secret: " + c.token("application")
	})
	run("application")
	parrot := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":{"message":%q}}`, fmt.Sprint(r.Header, string(body)))
	}))
	defer parrot.Close()
	c.program(slices.Concat([]string{"detect", "--skip-access-apiserver", "--insecure-skip-verify", "-o", "-"}, w.Sources(),
		[]string{"--endpoint", "127.0.0.1:6000=" + parrot.Listener.Addr().String()})...)
	said := c.written()
	if found := c.In(said); len(found) > 0 {
		t.Errorf("%q show", found)
	}
	if !strings.Contains(said, `"schemaVersion"`) || len(c.Markers) < 3 {
		t.Errorf("%d canaries, and no report", len(c.Markers))
	}
}

// The same for Azure: the three copies of a service principal's secret, in the Secrets of the
// identity, of ASO and of the nodes' cloud provider, accepted, refused, and repeated.
func TestNoCanaryOfAzureShows(t *testing.T) {
	t.Parallel()
	w := runs.AzureFleet(t, azurelab.Options{})
	c := &canaries{World: w, out: t.TempDir()}
	secret, copies := c.token("principal"), 0
	w.Change("marked", func(resource, _ string, o runs.Object) bool {
		if data, ok := o["data"].(runs.Object); ok && resource == "secrets" {
			for key, value := range data {
				text, _ := base64.StdEncoding.DecodeString(value.(string))
				if strings.Contains(string(text), "lab~Secret8Q.retail") {
					copies++
					data[key] = base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(string(text), "lab~Secret8Q.retail", secret)))
				}
			}
		}
		return true
	})
	if copies < 10 {
		t.Fatalf("the backup holds %d copies of the secret", copies)
	}
	run := func(name string) {
		for _, how := range [][]string{{"-o", filepath.Join(c.out, name+".json"), "--timeout", "3s"}, {"--dry-run"}} {
			c.program(slices.Concat([]string{"detect", "--skip-access-apiserver"}, w.Sources(), w.Reach(), how)...)
		}
		c.program(slices.Concat([]string{"check"}, w.Sources())...)
		c.program(slices.Concat([]string{"releases"}, w.Sources())...)
		c.program(slices.Concat([]string{"extract", "identities", "-o", "-"}, w.Sources())...)
	}
	run("refused")
	w.Azure.Principals(func(p *azurelab.Principal) {
		if len(p.Scopes) > 0 {
			p.Secret = secret
		}
	})
	run("good")
	w.Azure.Front(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":"invalid_client","error_description":%q}`, fmt.Sprint(r.Header, string(body)))
	})
	run("parrot")
	w.Azure.Front(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/token") {
			next.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, `{"error":{"code":"AuthorizationFailed","message":%q}}`, fmt.Sprint(r.Header))
	})
	run("parrot with a token")
	said := c.written()
	if found := c.In(said); len(found) > 0 {
		t.Errorf("%q show", found)
	}
	if strings.Contains(said, "lab-token-") {
		t.Error("a token shows")
	}
	if !strings.Contains(said, `"schemaVersion"`) || !strings.Contains(said, "invalid_client") {
		t.Error("there is no report, or no refusal in it")
	}
}
