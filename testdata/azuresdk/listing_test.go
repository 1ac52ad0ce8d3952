package azuresdk

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	azure "drift-detector/infra/azure/list"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/report/code"
)

// fleet is the fleet that CAPZ made on a fake Azure.
const fleet = "../azure/"

const (
	retail = "/subscriptions/8a1f3c52-6d0e-4b7a-9c41-2f5e7d9b1a30" // with the groups shop, shop-dr and edge-7, which is gone
	ml     = "/subscriptions/c47e9b06-12d5-4f38-8ab3-6e0f91d7c254" // with a uniform and a flexible scale set
	shop   = retail + "/resourceGroups/shop"
)

// A scenario is one Azure, which both fakes serve.
type scenario struct {
	name  string
	page  int // elements
	lab   func(*azurelab.Server)
	sdk   func(*cloud)
	state code.ScopeState // of the subscription of shop
	shows []string        // what the SDK's answers hold, as RE2
}

var (
	complete, partial = code.ScopeComplete, code.ScopePartial

	scenarios = []scenario{
		{
			name: "groups, one of them gone, power states, both kinds of scale sets", state: complete,
			// The lab's fake says +00:00.
			shows: []string{`"timeCreated":"2026-11-25T[0-9:.]+Z"`, `"orchestrationMode":"Uniform"`, `"orchestrationMode":"Flexible"`, `"code":"ResourceGroupNotFound"`, `"code":"ResourceNotFound"`},
		},
		{name: "pages of 3", page: 3, state: complete, shows: []string{`"nextLink":"https://management.azure.com/[^"]*/fake_page_4\?[^"]*statusOnly=true"`}},
		{
			name: "times in another zone, null where nothing is, other case", page: 5, state: complete, sdk: func(c *cloud) { c.odd = true },
			lab: func(s *azurelab.Server) {
				s.VM("shop-md-9-manual", func(o, _ azurelab.Object) bool { delete(o, "tags"); return true })
			},
			shows: []string{
				`"timeCreated":"2026-11-25T[0-9:.]+\+05:30"`, `"nextLink":null`, `"virtualMachineScaleSet":null`, `"priority":null`, `"identity":null`, `"zones":null`, `"tags":null`, `"instanceView":null`,
				`"id":"/subscriptions/[^/]*/resourceGroups/RG-ML-TRAIN/`, `"vmId":"[0-9A-F-]*[A-F]`, `"code":"PowerState/Running"`,
			},
		},
		{
			name: "a VM that the list of power states lacks", page: 5, state: complete, shows: []string{`^{"statuses":\[`},
			lab: func(s *azurelab.Server) { s.WithoutStatus("shop-md-0-w66kl-wxqkz") },
			sdk: func(c *cloud) { c.stateless = append(c.stateless, "shop-md-0-w66kl-wxqkz") },
		},
		{name: "a group that is refused", lab: deny(shop), sdk: refuse(shop), state: complete, shows: []string{`"code":"AuthorizationFailed"`}},
		{
			name: "the subscription is refused, its groups are not", page: 5, state: complete, shows: []string{`"code":"AuthorizationFailed"`},
			lab: deny(retail+"/providers", ml+"/providers"), sdk: refuse(retail+"/providers", ml+"/providers"),
		},
		{
			name: "throttled", page: 5, state: complete, shows: []string{`"code":"TooManyRequests"`},
			lab: func(s *azurelab.Server) {
				s.Fail(azurelab.Fault{Match: "virtualMachines[?]api-version=[0-9-]*$", From: 1, To: 1, Status: 429, RetryAfter: 1, Body: `{"error":{"code":"TooManyRequests","message":""}}`})
			},
			sdk: func(c *cloud) { c.throttled = 1 },
		},
		{
			name: "the second page fails", page: 5, state: partial, shows: []string{`"code":"InternalServerError"`},
			lab: func(s *azurelab.Server) {
				s.Fail(azurelab.Fault{Match: "skiptoken=5&api-version=[0-9-]*$", Status: 500, Body: `{"error":{"code":"InternalServerError","message":""}}`})
			},
			sdk: func(c *cloud) { c.broken = 2 },
		},
	}
)

func deny(ids ...string) func(*azurelab.Server) {
	return func(s *azurelab.Server) {
		for _, id := range ids {
			s.Deny(id)
		}
	}
}

func refuse(ids ...string) func(*cloud) {
	return func(c *cloud) {
		for _, id := range ids {
			c.denied = append(c.denied, strings.ToLower(id))
		}
	}
}

// What is listed of an Azure is the same, whether the lab's fake serves it or the SDK's fakes
// do.
func TestSDKsFakesListTheSame(t *testing.T) {
	for name, value := range map[string]string{
		"AZURE_TENANT_ID": "3d9c2f71-5b8e-4a06-9f12-c7e04b6a8d15", "AZURE_CLIENT_ID": "11111111-aaaa-4bbb-8ccc-000000000001", "AZURE_CLIENT_SECRET": "operator-secret",
	} {
		t.Setenv(name, value)
	}
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			s := azurelab.Serve(t, fleet, azurelab.Options{PageSize: sc.page})
			if sc.lab != nil {
				sc.lab(s)
			}
			c := newCloud(t, s, sc.page)
			if sc.sdk != nil {
				sc.sdk(c)
			}
			ofLab := listed(t, s)
			s.Front(c.front)
			ofSDK := listed(t, s)
			if len(ofLab) != 2 || len(ofSDK) != 2 {
				t.Fatalf("there are %d and %d listings, want 2 of each", len(ofLab), len(ofSDK))
			}
			for i := range ofLab {
				compare(t, &ofLab[i], &ofSDK[i])
				if strings.HasSuffix(retail, ofLab[i].Account) && ofLab[i].State != sc.state {
					t.Errorf("the listing is %s (%v), want %s", ofLab[i].State, ofLab[i].Fault, sc.state)
				}
			}
			c.demand(t, sc.shows)
		})
	}
}

// listed returns what infra/azure lists for the fleet's backup.
func listed(t *testing.T, s *azurelab.Server) []infra.Listing {
	t.Helper()
	data, err := os.ReadFile(fleet + "azure-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	p := azure.New()
	snapshot, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("backup.tar.gz", data)}, p.Spec().Want)
	if err != nil {
		t.Fatal(err)
	}
	a := infra.Access{Options: map[string]string{"azure-ambient": "true"}}
	for _, host := range []string{azurelab.Authority, azurelab.Manager} {
		a.Reroutes = append(a.Reroutes, infra.Reroute{From: host, To: s.Address})
		a.Credentials = append(a.Credentials, infra.Credential{Endpoint: host, CA: s.CA})
	}
	var all []infra.Listing
	for _, target := range p.Targets(snapshot, secrets, a) {
		all = append(all, p.List(t.Context(), target))
	}
	return all
}

// message is the text behind the code of a refusal: the SDK's fakes have none.
var message = regexp.MustCompile(`(it answered [A-Za-z]+): [^;]*`)

// compare demands that two listings are equal in all but their time and Azure's own words.
func compare(t *testing.T, ofLab, ofSDK *infra.Listing) {
	t.Helper()
	var text [2]string
	for i, l := range []*infra.Listing{ofLab, ofSDK} {
		l.ListedAt = time.Time{}
		for w := range l.Warnings {
			l.Warnings[w] = message.ReplaceAllString(l.Warnings[w], "$1")
		}
		if l.Fault != nil {
			l.Fault.Message = message.ReplaceAllString(l.Fault.Message, "$1")
		}
		for k := range l.Instances {
			i := &l.Instances[k]
			slices.SortStableFunc(i.Tags, func(a, b infra.Tag) int { return strings.Compare(a.Key, b.Key) })
		}
		out, err := json.MarshalIndent(l, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		text[i] = string(out)
	}
	if ofLab.Unrelated.Len()+ofSDK.Unrelated.Len() > 0 {
		t.Error("instances are packed, and not compared")
	}
	if text[0] == text[1] {
		return
	}
	one, other := strings.Split(text[0], "\n"), strings.Split(text[1], "\n")
	for n := range max(len(one), len(other)) {
		if n >= len(one) || n >= len(other) || one[n] != other[n] {
			around := func(lines []string) string {
				return strings.Join(lines[min(max(n-6, 0), len(lines)):min(n+4, len(lines))], "\n")
			}
			t.Errorf("%s: of the lab's fake is listed\n%s\nand of the SDK's\n%s", ofLab.Account, around(one), around(other))
			return
		}
	}
}
