package list

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// oddVCenter speaks as much of vCenter's protocol as a listing needs, and says
// whatever a test wants.
type oddVCenter struct {
	objects func(kind string, page int) string // of one page
	endless string                             // kind whose pages do not end
	before  func(method string)                // may wait
	fault   func(method string) string         // text of a fault instead of an answer

	kind string
	page atomic.Int32
}

const (
	envelope = `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body>%s</soapenv:Body></soapenv:Envelope>`
	content  = `<rootFolder type="Folder">group-d1</rootFolder><propertyCollector type="PropertyCollector">propertyCollector</propertyCollector><viewManager type="ViewManager">ViewManager</viewManager>` +
		`<about><name>VMware vCenter Server</name><fullName>x</fullName><vendor>v</vendor><version>8.0</version><build>1</build><osType>linux</osType><productLineId>vpx</productLineId><apiType>VirtualCenter</apiType><apiVersion>8.0</apiVersion><instanceUuid>dbed6e0c-bd88-4ef6-b594-21283e1c677f</instanceUuid></about><sessionManager type="SessionManager">SessionManager</sessionManager>`
	session1 = `<key>k</key><userName>u</userName><fullName>f</fullName><loginTime>2024-01-01T00:00:00Z</loginTime><lastActiveTime>2024-01-01T00:00:00Z</lastActiveTime><locale>en</locale><messageLocale>en</messageLocale>`
)

var methodName = regexp.MustCompile(`<(?:\w+:)?Body[^>]*><(\w+)`)

func (v *oddVCenter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m := methodName.FindStringSubmatch(string(body))
	if m == nil {
		http.Error(w, "no method", http.StatusBadRequest)
		return
	}
	method := m[1]
	if v.before != nil {
		v.before(method)
	}
	if v.fault != nil {
		if text := v.fault(method); text != "" {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, envelope, "<soapenv:Fault><faultcode>x</faultcode><faultstring>"+text+"</faultstring></soapenv:Fault>")
			return
		}
	}
	answer := ""
	switch method {
	case "RetrieveServiceContent":
		answer = "<returnval>" + content + "</returnval>"
	case "Login":
		answer = "<returnval>" + session1 + "</returnval>"
	case "CreateContainerView":
		v.kind = "Folder"
		if strings.Contains(string(body), "<type>"+vmType) {
			v.kind = vmType
		}
		answer = `<returnval type="ContainerView">v</returnval>`
	case "RetrievePropertiesEx", "ContinueRetrievePropertiesEx":
		if strings.Contains(string(body), "<pathSet>view</pathSet>") { // it counts none, and lists more
			answer = `<returnval><objects><obj type="ContainerView">v</obj><propSet><name>view</name><val xsi:type="ArrayOfManagedObjectReference"></val></propSet></objects></returnval>`
			break
		}
		answer = "<returnval>"
		if v.endless == v.kind {
			answer += "<token>t</token>"
		}
		answer += v.objects(v.kind, int(v.page.Add(1))) + "</returnval>"
	}
	fmt.Fprintf(w, envelope, fmt.Sprintf(`<%[1]sResponse xmlns="urn:vim25">%[2]s</%[1]sResponse>`, method, answer))
}

// list lists the server under limits.
func (v *oddVCenter) list(t *testing.T, most limits) infra.Listing {
	t.Helper()
	server := httptest.NewTLSServer(v)
	t.Cleanup(server.Close)
	p := &provider{logins: &infra.Logins{}, page: 20, limits: most}
	s, secrets := load(t, fleet(t))
	targets := p.Targets(s, secrets, infra.Access{
		Reroutes:    []infra.Reroute{{From: fleetServer, To: server.Listener.Addr().String()}},
		Credentials: []infra.Credential{{Endpoint: fleetServer, Thumbprint: infra.Thumbprint(server.Certificate())}},
	})
	registry := infra.NewRegistry(p)
	if v.before != nil {
		registry.Timeout = 300 * time.Millisecond
	}
	return registry.Collect(t.Context(), targets[:1], nil).Listings[0]
}

// vmXML returns one VM, or another object with a name.
func vmXML(kind string, n int, name string, more string) string {
	return fmt.Sprintf(`<objects><obj type="%s">o-%d</obj><propSet><name>name</name><val xsi:type="xsd:string">%s</val></propSet>%s</objects>`, kind, n, name, more)
}

func plainVM(kind string, page int) string { return vmXML(kind, page, "vm", "") }

// TestEndlessVCenter: nothing that a vCenter answers takes more than its share of
// time and memory, and what was read of it is kept as a part.
func TestEndlessVCenter(t *testing.T) {
	long := strings.Repeat("A", maxString+1)
	path := strings.Repeat("p", maxString)
	few := standard
	few.vms, few.things = 7, 5
	small := standard
	small.text = 4 << 10
	release := make(chan struct{})
	defer close(release)
	for name, c := range map[string]struct {
		v     *oddVCenter
		most  limits
		state code.ScopeState
		vms   int
		says  string
	}{
		"VMs":         {&oddVCenter{objects: plainVM, endless: vmType}, few, code.ScopePartial, 7, "listing VMs broke off after 7: there are more than 7"},
		"pages":       {&oddVCenter{objects: func(string, int) string { return vmXML(vmType, 1, "vm", "") }, endless: vmType}, standard, code.ScopePartial, 1, "100 pages in a row hold nothing new"},
		"empty pages": {&oddVCenter{objects: func(string, int) string { return "" }, endless: vmType}, standard, code.ScopeFailed, 0, "page 2 is empty"},
		"folders": {
			&oddVCenter{objects: func(kind string, page int) string { return vmXML(kind, page, "f", "") }, endless: "Folder"}, few, code.ScopePartial, 1,
			"listing folders: there are more than 5",
		},
		"long names": {&oddVCenter{objects: func(kind string, page int) string {
			if kind == vmType && page > 2 {
				return vmXML(kind, page, long, "")
			}
			return plainVM(kind, page)
		}, endless: vmType}, standard, code.ScopePartial, 1, "more than 1024 bytes"},
		"long ids": {&oddVCenter{objects: func(kind string, page int) string {
			return strings.Replace(plainVM(kind, page), "o-", long, 1)
		}}, standard, code.ScopeFailed, 0, "more than 1024 bytes"},
		"much text": {&oddVCenter{objects: func(kind string, page int) string { return vmXML(kind, page, path, "") }, endless: vmType}, small, code.ScopePartial, 1, "more text than is kept"},
		"slow": {&oddVCenter{objects: plainVM, endless: vmType, before: func(method string) {
			if method == "ContinueRetrievePropertiesEx" {
				select {
				case <-release:
				case <-time.After(2 * time.Second):
				}
			}
		}}, standard, code.ScopePartial, 1, "the 300ms of --timeout are over"},
		"slow from the start": {&oddVCenter{before: func(string) {
			select {
			case <-release:
			case <-time.After(2 * time.Second):
			}
		}}, standard, code.ScopeFailed, 0, "the 300ms of --timeout are over"},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.v.list(t, c.most)
			if l.State != c.state || len(l.Instances) != c.vms || !strings.Contains(faultOf(l).Message, c.says) {
				t.Errorf("%s, %d VMs, %+v; want %s, %d VMs, %q", l.State, len(l.Instances), faultOf(l), c.state, c.vms, c.says)
			}
			if f := faultOf(l); f.Reason == "Interrupted" || f.Hint == "" {
				t.Errorf("%+v", f)
			}
		})
	}
}

// TestFoldersHaveAnEnd: a path that is too long is that of a hidden folder.
func TestFoldersHaveAnEnd(t *testing.T) {
	deep := newTree("group-d1")
	parent := "group-d1"
	for i := range 10 {
		id := fmt.Sprintf("group-%d", i)
		deep.nodes[id] = node{kind: "Folder", name: strings.Repeat("n", 1000), parent: parent}
		parent = id
	}
	f := newFinder(deep)
	if len(f.paths["group-3"].path) < 4000 || f.paths["group-4"].path != "" || f.paths["group-9"].path != "" {
		t.Errorf("paths of %d, %d and %d bytes", len(f.paths["group-3"].path), len(f.paths["group-4"].path), len(f.paths["group-9"].path))
	}
}

// TestForeignTextIsCut: the text of a fault is the server's.
func TestForeignTextIsCut(t *testing.T) {
	flood := strings.Repeat("F", 1<<20)
	for _, method := range []string{"RetrieveServiceContent", "Login", "CreateContainerView", "RetrievePropertiesEx", "Logout"} {
		t.Run(method, func(t *testing.T) {
			v := &oddVCenter{objects: plainVM, fault: func(m string) string {
				if m == method {
					return "why " + flood
				}
				return ""
			}}
			l := v.list(t, standard)
			text, err := json.Marshal(l)
			must(t, err)
			if len(text) > 4<<10 || !strings.Contains(string(text), "why FFF") {
				t.Errorf("%d bytes: %.2000s", len(text), text)
			}
		})
	}
}

// TestDatesThatCannotBeSaved: an offset can push a date out of the years that
// JSON can hold.
func TestDatesThatCannotBeSaved(t *testing.T) {
	for date, want := range map[string]time.Time{
		"9999-12-31T23:59:59-23:00": {},
		"0001-01-01T00:00:00+23:00": {},
		"2026-11-21T01:02:03+01:00": time.Date(2026, 11, 21, 0, 2, 3, 0, time.UTC),
	} {
		v := &oddVCenter{objects: func(kind string, page int) string {
			return vmXML(kind, page, "vm", `<propSet><name>config.createDate</name><val xsi:type="xsd:dateTime">`+date+`</val></propSet>`)
		}}
		l := v.list(t, standard)
		if _, err := json.Marshal(l); err != nil || l.State != code.ScopeComplete || len(l.Instances) != 1 || !l.Instances[0].Created.Equal(want) {
			t.Errorf("%s: %s %+v, %+v, %v", date, l.State, faultOf(l), l.Instances, err)
		}
	}
}

// TestGuestsTextsAreCut: a guest writes its metadata itself, as long as it likes.
func TestGuestsTextsAreCut(t *testing.T) {
	long := strings.Repeat("h", 1<<20)
	said := fromExtraConfig([]types.BaseOptionValue{
		&types.OptionValue{Key: guestMetadata, Value: "local-hostname: " + long},
		&types.OptionValue{Key: guestUserdata, Value: "controlPlaneEndpoint: " + long + ":6443"},
	})
	if len(said.Host) != maxString || len(said.Endpoint) != maxString {
		t.Errorf("host of %d, endpoint of %d bytes", len(said.Host), len(said.Endpoint))
	}
	m := readVM(types.ObjectContent{PropSet: []types.DynamicProperty{{Name: propAddress, Val: long}, {Name: propVMX, Val: long}}})
	if m.address != "" || m.vmx != "" {
		t.Errorf("address of %d, path of %d bytes", len(m.address), len(m.vmx))
	}
}
