package aws

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"drift-detector/infra"
)

// onAndOn leads from each answer to another page than itself.
func onAndOn(end, member string) bent {
	n := 0
	return func(whole []byte) (int, []byte) {
		n++
		return http.StatusOK, []byte(strings.Replace(string(whole), end, fmt.Sprintf("<%s>from-%d</%s>%s", member, n%2, member, end), 1))
	}
}

// TestFaultD2EndlessPages: pages that bring nothing new, each of which leads to another
// one, are given up, and nothing is concluded from them.
func TestFaultD2EndlessPages(t *testing.T) {
	for action, bend := range map[string]bent{
		"DescribeInstances":         onAndOn("</DescribeInstancesResponse>", "nextToken"),
		"DescribeAutoScalingGroups": onAndOn("</DescribeAutoScalingGroupsResult>", "NextToken"),
	} {
		t.Run(action, func(t *testing.T) {
			s, secrets, options, instances := everyCall(t, "")
			calls := 0
			serve(t, options, func(c call) *trouble {
				if c.action != action {
					return nil
				}
				calls++
				return &trouble{bend: bend}
			}, instances...)
			inv := listAll(t, small(pageSize), s, secrets, infra.Access{})
			l := &inv.Listings[0]
			if bad := notBelieved(action, l, decide(t, s, inv)); bad != "" {
				t.Error(bad)
			}
			said := strings.Join(l.Warnings, " ")
			if l.Fault != nil {
				said += l.Fault.Message
			}
			if !strings.Contains(said, "100 pages in a row hold nothing new") || calls > infra.MaxQuiet+1 {
				t.Errorf("%d calls: %s", calls, said)
			}
			if n := len(l.ProbesFound); n > 20 {
				t.Errorf("%d probes were found in repetitions", n)
			}
		})
	}
}
