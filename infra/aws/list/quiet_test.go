package list

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"drift-detector/infra"
	capa "drift-detector/infra/aws"
)

// onAndOn leads from each answer to another page than itself.
func onAndOn(end, member string) bent {
	n := 0
	return func(whole []byte) (int, []byte) {
		n++
		return http.StatusOK, []byte(strings.Replace(string(whole), end, fmt.Sprintf("<%s>from-%d</%s>%s", member, n%2, member, end), 1))
	}
}

// TestEndlessPages: pages that bring nothing new, each of which leads to another
// one, are given up, and nothing is concluded from them.
func TestEndlessPages(t *testing.T) {
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
			if n := len(l.ProbesFound) + len(l.PoolSizes); n > 20 {
				t.Errorf("%d probes and sizes were kept of repetitions", n)
			}
		})
	}
}

// TestMoreThanAnyAccountHas: a server that makes instances and groups up has an end.
func TestMoreThanAnyAccountHas(t *testing.T) {
	n := 0
	l := &listing{detail: &capa.Detail{}, Listing: &infra.Listing{Instances: make([]infra.Instance, maxInstances, maxInstances+10)}, page: pageSize, seen: map[string]bool{}, marks: map[infra.Key]bool{}, api: &api{
		instances: func(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
			n++
			one := ec2types.Instance{InstanceId: aws.String(fmt.Sprint("i-", n))}
			return &ec2.DescribeInstancesOutput{NextToken: aws.String(fmt.Sprint(n)), Reservations: []ec2types.Reservation{{Instances: []ec2types.Instance{one}}}}, nil
		},
		groups: func(context.Context, *autoscaling.DescribeAutoScalingGroupsInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
			out := &autoscaling.DescribeAutoScalingGroupsOutput{NextToken: aws.String(fmt.Sprint(n))}
			for range 1000 {
				n++
				out.AutoScalingGroups = append(out.AutoScalingGroups, astypes.AutoScalingGroup{AutoScalingGroupName: aws.String(fmt.Sprint(n))})
			}
			return out, nil
		},
	}}
	if err := l.readPages(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 500000 instances") || n > 2 {
		t.Errorf("%d pages: %v", n, err)
	}
	n = 0
	if err := l.readGroupPages(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 100000 groups") || n > 2*maxGroups {
		t.Errorf("%d groups: %v", n, err)
	}
}
