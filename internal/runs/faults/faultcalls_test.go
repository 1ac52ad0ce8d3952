package faults_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/runs"
)

// permittedCalls returns the calls that providers make, by what they say that an account must be
// allowed, as callOf names them. (vSphere's list is of privileges; it makes the same calls in
// each run.)
func permittedCalls(t *testing.T) (all []string) {
	t.Helper()
	var policy struct{ Statement []struct{ Action any } }
	if err := json.Unmarshal([]byte(runs.Run(t, "permissions", "aws").Stdout), &policy); err != nil {
		t.Fatal(err)
	}
	for _, s := range policy.Statement {
		actions, several := s.Action.([]any)
		if !several {
			actions = []any{s.Action}
		}
		for _, a := range actions {
			_, call, _ := strings.Cut(a.(string), ":")
			all = append(all, call)
		}
	}
	all = slices.DeleteFunc(all, func(call string) bool { return call == "DescribeLoadBalancers" })
	all = append(all, "DescribeLoadBalancers 2012-06-01", "DescribeLoadBalancers 2015-12-01") // of two services
	paths := regexp.MustCompile("`(?:([A-Z]+) )?(/v[0-9.]+/[^` ]+)`")
	for _, m := range paths.FindAllStringSubmatch(runs.Run(t, "permissions", "openstack").Stdout, -1) {
		method := m[1]
		if method == "" {
			method = "GET"
		}
		all = append(all, method+" "+strings.ReplaceAll(m[2], "*", "{id}"))
	}
	var custom struct{ Actions []string }
	if err := json.Unmarshal([]byte(runs.Run(t, "permissions", "azure").Stdout), &custom); err != nil {
		t.Fatal(err)
	}
	for _, a := range custom.Actions {
		// A network has its subnets in its answer, and members of a set their states in theirs.
		if !strings.HasSuffix(a, "/subnets/read") && !strings.HasSuffix(a, "virtualMachines/instanceView/read") || a == "Microsoft.Compute/virtualMachines/instanceView/read" {
			all = append(all, a)
		}
	}
	if len(all) < 40 {
		t.Fatalf("the lists of permissions hold %v alone", all)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// demandEach fails for each call that a provider makes and that no cell spoils.
func demandEach(t *testing.T, spoilt map[string]bool) {
	t.Helper()
	for _, call := range permittedCalls(t) {
		if !spoilt[call] {
			t.Errorf("no cell spoils %s, which a provider may call: let a family's fleet make it", call)
		}
	}
}
