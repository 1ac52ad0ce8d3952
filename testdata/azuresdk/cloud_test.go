package azuresdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"drift-detector/internal/lab/azurelab"
)

// cloud is what the SDK's fakes serve: the resources of the lab, each read into the SDK's type
// for it. Which of them a list holds, and who may read what, is said here once more, and not by
// the lab's fake.
type cloud struct {
	test      *testing.T
	resources map[string]azurelab.Object // by id in lower case
	page      int
	denied    []string // in lower case
	stateless []string // names of VMs that the list of power states lacks
	throttled int      // how often the first page of VMs is refused with a 429
	broken    int      // the page of VMs that fails; zero: none
	odd       bool     // writes all in the other ways in which Azure may

	mu       sync.Mutex         // of what follows
	services map[string]service // by client and subscription, which the SDK's fakes do not ask for
	answers  []byte             // a line each
}

// service is one of the SDK's fakes.
type service interface {
	Do(*http.Request) (*http.Response, error)
}

func newCloud(t *testing.T, s *azurelab.Server, page int) *cloud {
	c := &cloud{test: t, resources: map[string]azurelab.Object{}, page: page, services: map[string]service{}}
	s.Edit(func(id string, o azurelab.Object) bool {
		c.resources[id] = o
		return true
	})
	return c
}

// words are the segments of paths as the SDK's fakes match them. Azure takes any case, and
// drift-detector asks in lower case for what it has the id of.
var words = map[string]string{
	"resourcegroups": "resourceGroups", "microsoft.compute": "Microsoft.Compute", "virtualmachines": "virtualMachines",
	"virtualmachinescalesets": "virtualMachineScaleSets", "instanceview": "instanceView",
	"microsoft.network": "Microsoft.Network", "virtualnetworks": "virtualNetworks", "natgateways": "natGateways", "loadbalancers": "loadBalancers",
	"publicipaddresses": "publicIPAddresses", "networksecuritygroups": "networkSecurityGroups", "routetables": "routeTables",
}

var pageOf = regexp.MustCompile(`/fake_page_[0-9]+$`)

// front answers Azure Resource Manager's calls by the SDK's fakes, and leaves logins to the lab.
func (c *cloud) front(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if host, _, _ := strings.Cut(r.Host, ":"); host != azurelab.Manager {
		next.ServeHTTP(w, r)
		return
	}
	parts := strings.Split(r.URL.Path, "/")
	for i, p := range parts {
		if word, ok := words[strings.ToLower(p)]; ok {
			parts[i] = word
		}
	}
	path := strings.Join(parts, "/")
	method, to := c.call(pageOf.ReplaceAllString(path, ""))
	if to == nil {
		c.test.Errorf("nobody answers %s", r.URL)
		http.NotFound(w, r)
		return
	}
	if method == "ResourceGroupsClient.Get" {
		path = strings.ReplaceAll(path, "/resourceGroups/", "/resourcegroups/") // as its own client writes it
	}
	r = r.Clone(context.WithValue(r.Context(), runtime.CtxAPINameKey{}, method))
	r.URL.Scheme, r.URL.Host, r.URL.Path, r.URL.RawPath = "https", azurelab.Manager, path, ""
	res, err := to.Do(r)
	status, body := 0, []byte(nil)
	if err != nil {
		status, body = c.refusal(w, r, err)
		if status < http.StatusTooManyRequests { // a fake would go on with the list that it refused
			c.forget(method, path)
		}
	} else {
		status = res.StatusCode
		if body, err = io.ReadAll(res.Body); err != nil {
			c.test.Error(err)
		}
	}
	c.mu.Lock()
	c.answers = append(append(c.answers, body...), '\n')
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// refusal writes an error of a fake as Azure does: the fakes give it to their own clients past
// the wire.
func (c *cloud) refusal(w http.ResponseWriter, r *http.Request, err error) (status int, body []byte) {
	var says *azcore.ResponseError
	if !errors.As(err, &says) {
		c.test.Errorf("%s: %v", r.URL, err)
		return http.StatusNotImplemented, nil
	}
	if says.StatusCode == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	body, err = json.Marshal(map[string]any{"error": armcompute.APIError{Code: &says.ErrorCode, Message: to.Ptr("")}})
	if err != nil {
		c.test.Error(err)
	}
	return says.StatusCode, body
}

// demand demands that the answers hold texts, so that a scenario is what it is called.
func (c *cloud) demand(t *testing.T, texts []string) {
	t.Helper()
	for _, text := range texts {
		if !regexp.MustCompile("(?m)" + text).Match(c.answers) {
			t.Errorf("no answer of the SDK's fakes holds %s", text)
		}
	}
	if t.Failed() && testing.Verbose() {
		t.Logf("they answered\n%s", c.answers)
	}
}

// may returns why nobody may read something, or whether it is not there; nil: it is, and anybody may.
func (c *cloud) may(id string) *azcore.ResponseError {
	group := groupOf(id)
	exists := false
	for of := range c.resources {
		exists = exists || groupOf(of) == group
	}
	switch {
	case slices.ContainsFunc(c.denied, func(d string) bool { return id == d || strings.HasPrefix(id, d+"/") }):
		return &azcore.ResponseError{StatusCode: http.StatusForbidden, ErrorCode: "AuthorizationFailed"}
	case group != "" && !exists:
		return &azcore.ResponseError{StatusCode: http.StatusNotFound, ErrorCode: "ResourceGroupNotFound"}
	}
	return nil
}

// groupOf returns the id of the resource group that an id is in, if it is in one.
func groupOf(id string) string {
	parts := strings.Split(id, "/")
	if len(parts) < 5 || parts[3] != "resourcegroups" {
		return ""
	}
	return strings.Join(parts[:5], "/")
}

// single answers with one resource. The SDK's type for it is T, and R that of the answer.
func single[T, R any](c *cloud, id string, wrap func(T) R) (resp azfake.Responder[R], errResp azfake.ErrorResponder) {
	id = strings.ToLower(id)
	if no := c.may(id); no != nil {
		errResp.SetResponseError(no.StatusCode, no.ErrorCode)
		return resp, errResp
	}
	o := c.resources[id]
	if o == nil {
		errResp.SetResponseError(http.StatusNotFound, "ResourceNotFound")
		return resp, errResp
	}
	resp.SetResponse(http.StatusOK, wrap(*read[T](c, o)), nil)
	return resp, errResp
}

// read reads a resource into the SDK's type for it, without what is the lab's own.
func read[T any](c *cloud, o azurelab.Object) *T {
	o = maps.Clone(o)
	maps.DeleteFunc(o, func(k string, _ any) bool { return strings.HasPrefix(k, "_") })
	text, err := json.Marshal(o)
	out := new(T)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(text)).Decode(out)
	}
	if err != nil {
		c.test.Errorf("the SDK does not read %s: %v", o["id"], err)
	}
	return out
}

// find returns the resources that a list at a path holds, in the order of their ids.
func (c *cloud) find(under, kind string) (all []azurelab.Object) {
	for _, id := range slices.Sorted(maps.Keys(c.resources)) {
		o := c.resources[id]
		if strings.HasPrefix(id, strings.ToLower(under)+"/") && strings.EqualFold(o["type"].(string), kind) && c.may(id) == nil {
			all = append(all, o)
		}
	}
	return all
}

// paged adds a list to an answer in pages, or why there is none. broken is the page that fails
// however often it is asked for; zero: none.
func paged[T, R any](c *cloud, resp *azfake.PagerResponder[R], at string, all []*T, broken int, wrap func([]*T, *string) R) {
	if no := c.may(strings.ToLower(at)); no != nil {
		resp.AddResponseError(no.StatusCode, no.ErrorCode)
		return
	}
	size := c.page
	if size == 0 {
		size = max(len(all), 1)
	}
	for n := 1; n == 1 || len(all) > 0; n++ {
		if n == broken {
			for range 10 {
				resp.AddResponseError(http.StatusInternalServerError, "InternalServerError")
			}
			return
		}
		now := min(size, len(all))
		var link *string // which the SDK's fakes write, but for the last
		if c.odd && now == len(all) {
			link = azcore.NullValue[*string]()
		}
		page := append([]*T{}, all[:now]...) // what is nil is left out
		resp.AddPage(http.StatusOK, wrap(page, link), nil)
		all = all[now:]
	}
}
