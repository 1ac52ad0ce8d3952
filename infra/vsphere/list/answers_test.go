package list

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"drift-detector/infra/vsphere"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// bent is what becomes of an answer on the way.
type bent func(whole []byte) []byte

func answering(s string) bent { return func([]byte) []byte { return []byte(s) } }

func instead(pattern, by string) bent {
	re := regexp.MustCompile(pattern)
	return func(whole []byte) []byte { return re.ReplaceAll(whole, []byte(by)) }
}

// between is between the program and a vCenter. It bends answers to a method
// from the n-th on, counted from 1.
type between struct {
	method string
	n      int
	bend   bent

	mu    sync.Mutex
	calls map[string]int
}

// list lists the fleet's vCenter through it.
func (b *between) list(t *testing.T, v *lab.VCenter) (infra.Listing, detector.Result) {
	t.Helper()
	b.calls = map[string]int{}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: v.Addr})
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	proxy.ModifyResponse = b.modify
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if m := methodName.FindSubmatch(body); m != nil {
			r.Header.Set("Test-Method", string(m[1]))
		}
		proxy.ServeHTTP(w, r)
	}))
	defer server.Close()
	p := small()
	s, secrets := load(t, fleet(t))
	targets := p.Targets(s, secrets, infra.Access{
		Reroutes:    []infra.Reroute{{From: fleetServer, To: server.Listener.Addr().String()}},
		Credentials: []infra.Credential{{Endpoint: fleetServer, Thumbprint: infra.Thumbprint(server.Certificate())}},
	})
	inv := infra.NewRegistry(p).Collect(t.Context(), targets, nil)
	expected := p.Expected(s)
	return inv.Listings[0], detector.Detect(s, expected, inv, detector.Options{
		Now: time.Unix(1_800_000_000, 0), Only: func(id backup.ClusterID) bool { return expected.Providers[id] == vsphere.Name },
	})
}

func (b *between) modify(res *http.Response) error {
	method := res.Request.Header.Get("Test-Method")
	b.mu.Lock()
	b.calls[method]++
	n := b.calls[method]
	b.mu.Unlock()
	if method != b.method || n < b.n {
		return nil
	}
	whole, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	whole = b.bend(whole)
	res.Body = io.NopCloser(bytes.NewReader(whole))
	res.ContentLength = int64(len(whole))
	res.Header.Set("Content-Length", strconv.Itoa(len(whole)))
	return nil
}

func machinesOf(r detector.Result) (all []*detector.Verdict) {
	for _, c := range r.Clusters {
		for _, set := range append([]detector.Set{c.ControlPlane}, c.WorkerGroups...) {
			all = append(all, set.Machines...)
		}
	}
	return all
}

// nothingConcluded says what was concluded from a listing that is not whole.
func nothingConcluded(l infra.Listing, r detector.Result) string {
	if l.Fault != nil && l.Fault.Reason == "InternalError" {
		return "the program broke: " + l.Fault.Message
	}
	if r.Complete {
		return fmt.Sprintf("the result is complete, the listing %s with %d VMs", l.State, l.Count())
	}
	for _, v := range machinesOf(r) {
		if v.Status == code.Stale {
			return fmt.Sprintf("%s is Stale %s", v.Name, v.Reason)
		}
	}
	return ""
}

const emptyAnswer = `<?xml version="1.0"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>%s</soapenv:Body></soapenv:Envelope>`

// An answer that holds nothing, is foreign or ends early is no answer, and no end of
// a list, whatever was asked.
func TestAnswersOfAVCenter(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	if l, r := (&between{}).list(t, v); l.State != code.ScopeComplete || !r.Complete || l.Count() != fleetVMs {
		t.Fatalf("without faults it is %s with %d VMs, complete: %t: %+v", l.State, l.Count(), r.Complete, l.Fault)
	}
	for _, call := range []struct {
		method string
		n      int
	}{
		{"RetrieveServiceContent", 1},
		{"Login", 1},
		{"CreateContainerView", 1},
		{"CreateContainerView", 2},  // of the VMs
		{"RetrievePropertiesEx", 1}, // counts the folders
		{"RetrievePropertiesEx", 2},
		{"RetrievePropertiesEx", 3}, // counts the VMs
		{"RetrievePropertiesEx", 4},
		{"ContinueRetrievePropertiesEx", 1},
		{"ContinueRetrievePropertiesEx", 2},
	} {
		response := "<" + call.method + `Response xmlns="urn:vim25">%s</` + call.method + "Response>"
		cases := map[string]bent{
			"nothing":           answering(""),
			"HTML":              answering("<html><body>Sign in</body></html>"),
			"JSON":              answering("{}"),
			"an empty body":     answering(fmt.Sprintf(emptyAnswer, "")),
			"no value":          answering(fmt.Sprintf(emptyAnswer, fmt.Sprintf(response, ""))),
			"an empty value":    answering(fmt.Sprintf(emptyAnswer, fmt.Sprintf(response, "<returnval/>"))),
			"a token alone":     answering(fmt.Sprintf(emptyAnswer, fmt.Sprintf(response, "<returnval><token>t</token></returnval>"))),
			"another's value":   answering(fmt.Sprintf(emptyAnswer, `<LogoutResponse xmlns="urn:vim25"/>`)),
			"no root, no pages": instead(`<(rootFolder|propertyCollector)[^>]*>[^<]*</(rootFolder|propertyCollector)>`, ""),
		}
		if call.method != "RetrieveServiceContent" {
			delete(cases, "no root, no pages")
		}
		for i := range 4 {
			cases[fmt.Sprintf("cut after %d/4", i)] = func(whole []byte) []byte { return whole[:len(whole)*i/4] }
		}
		for name, bend := range cases {
			t.Run(fmt.Sprintf("%s %d/%s", call.method, call.n, name), func(t *testing.T) {
				b := &between{method: call.method, n: call.n, bend: bend}
				l, r := b.list(t, v)
				if bad := nothingConcluded(l, r); bad != "" {
					t.Error(bad)
				}
				// What is left of the list may be a part, but is never called whole.
				if call.method == "ContinueRetrievePropertiesEx" && (l.State != code.ScopePartial || l.Fault == nil || l.Fault.Hint == "") {
					t.Errorf("it is %s with %d VMs: %+v", l.State, l.Count(), l.Fault)
				}
			})
		}
	}
}

// A list that ends early or lacks a VM is not whole: the view counts more than the pages
// hold.
func TestFaultAListThatLacksVMs(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	object := regexp.MustCompile(`(?s)<objects>.*?</objects>`)
	for name, b := range map[string]*between{
		"the token after page 1":    {method: "RetrievePropertiesEx", n: 4, bend: instead(`<token>[^<]*</token>`, "")},
		"the token after page 2":    {method: "ContinueRetrievePropertiesEx", n: 1, bend: instead(`<token>[^<]*</token>`, "")},
		"all VMs of page 1":         {method: "RetrievePropertiesEx", n: 4, bend: func(whole []byte) []byte { return object.ReplaceAll(whole, nil) }},
		"the first VM of page 1":    {method: "RetrievePropertiesEx", n: 4, bend: func(whole []byte) []byte { return bytes.Replace(whole, object.Find(whole), nil, 1) }},
		"the first VM of page 2":    {method: "ContinueRetrievePropertiesEx", n: 1, bend: func(whole []byte) []byte { return bytes.Replace(whole, object.Find(whole), nil, 1) }},
		"the first of the folders":  {method: "RetrievePropertiesEx", n: 2, bend: func(whole []byte) []byte { return bytes.Replace(whole, object.Find(whole), nil, 1) }},
		"the count of what it sees": {method: "RetrievePropertiesEx", n: 3, bend: func(whole []byte) []byte { return object.ReplaceAll(whole, nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			l, r := b.list(t, v)
			if bad := nothingConcluded(l, r); bad != "" {
				t.Error(bad)
			}
			if l.State == code.ScopeComplete || l.Fault == nil || l.Fault.Reason != "ListingBroken" {
				t.Errorf("it is %s with %d VMs: %+v", l.State, l.Count(), l.Fault)
			}
		})
	}
}

// A VM of which vCenter leaves out what it never leaves out is unreadable: it is listed,
// and no machine is Healthy by it, nor Stale.
func TestVMsWithoutTheirProperties(t *testing.T) {
	property := func(name string) string { return `<propSet><name>` + regexp.QuoteMeta(name) + `</name>.*?</propSet>` }
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	_, plain := (&between{}).list(t, v)
	healthy := ""
	for _, m := range machinesOf(plain) {
		if m.Status == code.Healthy && len(m.Warnings) == 0 && m.Instance != nil && strings.HasPrefix(m.Instance.Path, "/DC0/vm/capi/tenant-alpha/") {
			healthy = m.Name
			break
		}
	}
	for name, patterns := range map[string][]string{
		"no property at all":   {`<propSet>.*?</propSet>`},
		"no power state":       {property(propPower)},
		"no connection state":  {property(propConnection)},
		"nothing of templates": {property(propTemplate), property(propSummaryTemplate)},
	} {
		t.Run(name, func(t *testing.T) {
			object := regexp.MustCompile(`(?s)<objects>.*?</objects>`)
			bend := func(whole []byte) []byte {
				return object.ReplaceAllFunc(whole, func(one []byte) []byte {
					if !bytes.Contains(one, []byte(">"+healthy+"<")) {
						return one
					}
					for _, p := range patterns {
						one = regexp.MustCompile("(?s)"+p).ReplaceAll(one, nil)
					}
					return one
				})
			}
			for _, method := range []string{"RetrievePropertiesEx", "ContinueRetrievePropertiesEx"} {
				b := &between{method: method, n: 1, bend: bend}
				l, r := b.list(t, v)
				if l.Count() != fleetVMs {
					t.Errorf("%d VMs are listed", l.Count())
				}
				if bad := nothingConcluded(l, r); bad != "" && l.State != code.ScopeComplete {
					t.Error(bad)
				}
				for _, m := range machinesOf(r) {
					if m.Name != healthy {
						continue
					}
					if changed := m.Status != code.Healthy; changed && (m.Status != code.Unknown || m.Reason != code.InstanceUnreadable) {
						t.Errorf("%s is %s %s", m.Name, m.Status, m.Reason)
					} else if changed {
						if l.State != code.ScopePartial || l.Fault == nil || r.Complete {
							t.Errorf("the listing is %s: %+v", l.State, l.Fault)
						}
						return
					}
				}
			}
			t.Errorf("%s is Healthy whatever is left out", healthy)
		})
	}
}
