package list

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"drift-detector/infra"
	"drift-detector/internal/lazyregexp"
)

// answerError says that something answered that is not the AWS service that was
// called, or not in full. The SDK tries again.
type answerError struct {
	what  string
	cause error
}

func (e *answerError) Error() string { return e.what }
func (e *answerError) Unwrap() error { return e.cause }

// RetryableError reports whether the same question may have another answer.
func (e *answerError) RetryableError() bool { return !isBeyond(e.cause) }

func isBeyond(err error) bool {
	var beyond *infra.BoundError
	return errors.As(err, &beyond)
}

// Bounds of answers. The first five levels hold the things that a list is of, which are a
// kilobyte each as the SDK keeps them: 1,000 instances of a page, with their reservations,
// are 8,000 elements there. The next two hold their interfaces, 300 bytes each: an instance
// with 50 tags has 150 elements there; and below those are its addresses.
var (
	queryBounds = infra.Bounds{Items: 1_000_000, Upper: []infra.Level{{Levels: 5, Items: 50_000}, {Levels: 7, Items: 200_000}}}
	jsonBounds  = infra.Bounds{Items: 100_000, Part: infra.Part{Bytes: 8 << 20}} // of one EKS cluster
)

// whole returns an answer in full, and of a 200 why it is none of AWS's. The SDK takes an empty
// body and any document of XML or JSON for an answer that holds nothing
// (aws-sdk-go-v2/service/ec2 deserializers.go v1.344.0), which would be the end of a
// list. The protocol is that of the request: form values are answered with XML,
// all others with JSON.
func whole(req *http.Request, res *http.Response) (*http.Response, error) {
	operation := middleware.GetOperationName(req.Context())
	isXML := req.Header.Get("Content-Type") == "application/x-www-form-urlencoded"
	bounded := jsonBounds.JSON(res.Body)
	if isXML {
		bounded = queryBounds.XML(res.Body)
	}
	body, err := io.ReadAll(bounded)
	_ = res.Body.Close()
	if isBeyond(err) {
		return nil, &answerError{fmt.Sprintf("%s: %v", operation, err), err}
	}
	if err != nil {
		return nil, &answerError{fmt.Sprintf("the answer to %s was cut off: %v", operation, err), err}
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return res, nil
	}
	why := fmt.Sprintf("%d %s", res.StatusCode, http.StatusText(res.StatusCode))
	if res.StatusCode == http.StatusOK {
		if isXML {
			why = notXML(body, operation+"Response", middleware.GetServiceID(req.Context()) == ec2.ServiceID)
		} else {
			why = notJSON(body)
		}
	}
	if why != "" {
		return nil, &answerError{fmt.Sprintf("what answered %s is not AWS: %s", operation, why), nil}
	}
	return res, nil
}

// Every answer of the query services tells the id of its request; EC2's in another
// place than the others' (AWS Query protocol, EC2 Query API).
var (
	ec2RequestID   = lazyregexp.New(`<requestId>[^<]+</requestId>`)
	queryRequestID = lazyregexp.New(`<RequestId>[^<]+</RequestId>`)
)

// notXML says why a document is not one of a root, from its beginning to its end;
// empty when it is. What is between is for the SDK to read.
func notXML(body []byte, root string, isEC2 bool) string {
	if len(bytes.TrimSpace(body)) == 0 {
		return "it is empty"
	}
	dec := xml.NewDecoder(bytes.NewReader(body))
	for {
		t, err := dec.Token()
		if err != nil {
			return "it is no XML"
		}
		if start, ok := t.(xml.StartElement); ok {
			if start.Name.Local != root {
				return "it is no " + root
			}
			break
		}
	}
	id := queryRequestID
	if isEC2 {
		id = ec2RequestID
	}
	switch {
	case !bytes.HasSuffix(bytes.TrimRight(body, " \t\r\n"), []byte("</"+root+">")):
		return "its end is missing"
	case !id.Match(body):
		return "it has no request id"
	}
	return ""
}

// notJSON says why a document is no object of JSON with something in it.
func notJSON(body []byte) string {
	var members map[string]json.RawMessage
	switch err := json.Unmarshal(body, &members); {
	case len(bytes.TrimSpace(body)) == 0:
		return "it is empty"
	case err != nil:
		return "it is no JSON object"
	case len(members) == 0:
		return "its JSON object is empty"
	}
	return ""
}

// checked returns an operation whose answers are looked at before they are believed.
func checked[I, O, F any](op operation[I, O, F], check func(*I, *O) error) operation[I, O, F] {
	return func(ctx context.Context, in *I, options ...func(*F)) (*O, error) {
		out, err := op(ctx, in, options...)
		if err == nil {
			err = check(in, out)
		}
		if err != nil {
			return nil, err
		}
		return out, nil
	}
}

// lacking returns the error of an answer in which something is missing that AWS never
// leaves out.
func lacking(operation, what string) error {
	return &answerError{fmt.Sprintf("the answer to %s %s", operation, what), nil}
}

// complete checks a list whose elements all have an id: that there is a list, be it
// empty, which AWS always gives; that each element has its id; and that there is
// no more than this one answer.
func complete[T any](operation string, list []T, id func(*T) *string, next *string) error {
	if list == nil {
		return lacking(operation, "holds no list")
	}
	for i := range list {
		if aws.ToString(id(&list[i])) == "" {
			return lacking(operation, "holds an element without its id or name")
		}
	}
	if aws.ToString(next) != "" {
		return lacking(operation, "is one page of several, where there can be only one")
	}
	return nil
}

// alone returns the token of a next page where none may follow: what asks for a size takes pages.
func alone(size *int32, next *string) *string {
	if size != nil {
		return nil
	}
	return next
}

// repeats checks that a page leads to another than itself.
func repeats(operation string, asked, next *string) error {
	if asked != nil && next != nil && *asked != "" && *asked == *next {
		return lacking(operation, "leads to the same page again")
	}
	return nil
}

func checkIdentity(_ *sts.GetCallerIdentityInput, out *sts.GetCallerIdentityOutput) error {
	if aws.ToString(out.Account) == "" {
		return lacking("GetCallerIdentity", "names no account")
	}
	return nil
}

func checkInstances(in *ec2.DescribeInstancesInput, out *ec2.DescribeInstancesOutput) error {
	const operation = "DescribeInstances"
	if out.Reservations == nil {
		return lacking(operation, "holds no list")
	}
	for i := range out.Reservations {
		instances := out.Reservations[i].Instances
		if err := complete(operation, instances, func(i *ec2types.Instance) *string { return i.InstanceId }, nil); err != nil {
			return err
		}
		if len(instances) == 0 {
			return lacking(operation, "holds a reservation without its instances")
		}
		if slices.ContainsFunc(instances, func(i ec2types.Instance) bool { return !strings.HasPrefix(*i.InstanceId, "i-") }) {
			return lacking(operation, "holds an instance whose id is none")
		}
	}
	return repeats(operation, in.NextToken, out.NextToken)
}

func checkGroups(in *autoscaling.DescribeAutoScalingGroupsInput, out *autoscaling.DescribeAutoScalingGroupsOutput) error {
	const operation = "DescribeAutoScalingGroups"
	if err := complete(operation, out.AutoScalingGroups, func(g *astypes.AutoScalingGroup) *string { return g.AutoScalingGroupName }, nil); err != nil {
		return err
	}
	for i := range out.AutoScalingGroups {
		members := out.AutoScalingGroups[i].Instances
		if slices.ContainsFunc(members, func(m astypes.Instance) bool { return aws.ToString(m.InstanceId) == "" }) {
			return lacking(operation, "holds a member without its id")
		}
	}
	return repeats(operation, in.NextToken, out.NextToken)
}

func checkVPCs(_ *ec2.DescribeVpcsInput, out *ec2.DescribeVpcsOutput) error {
	return complete("DescribeVpcs", out.Vpcs, func(v *ec2types.Vpc) *string { return v.VpcId }, out.NextToken)
}

func checkSubnets(in *ec2.DescribeSubnetsInput, out *ec2.DescribeSubnetsOutput) error {
	return complete("DescribeSubnets", out.Subnets, func(s *ec2types.Subnet) *string { return s.SubnetId }, alone(in.MaxResults, out.NextToken))
}

func checkSecurityGroups(in *ec2.DescribeSecurityGroupsInput, out *ec2.DescribeSecurityGroupsOutput) error {
	return complete("DescribeSecurityGroups", out.SecurityGroups, func(g *ec2types.SecurityGroup) *string { return g.GroupId }, alone(in.MaxResults, out.NextToken))
}

func checkRoutes(_ *ec2.DescribeRouteTablesInput, out *ec2.DescribeRouteTablesOutput) error {
	return complete("DescribeRouteTables", out.RouteTables, func(t *ec2types.RouteTable) *string { return t.RouteTableId }, nil)
}

func checkNATs(in *ec2.DescribeNatGatewaysInput, out *ec2.DescribeNatGatewaysOutput) error {
	for i := range out.NatGateways {
		if out.NatGateways[i].State == "" {
			return lacking("DescribeNatGateways", "holds a gateway without its state")
		}
	}
	return complete("DescribeNatGateways", out.NatGateways, func(n *ec2types.NatGateway) *string { return n.NatGatewayId }, alone(in.MaxResults, out.NextToken))
}

// Load balancers are asked for by name: of a name that there is none of, AWS says so
// in an error.
func checkClassicLBs(in *elb.DescribeLoadBalancersInput, out *elb.DescribeLoadBalancersOutput) error {
	all := out.LoadBalancerDescriptions
	if len(all) < len(in.LoadBalancerNames) {
		return lacking("DescribeLoadBalancers", "holds fewer load balancers than were asked for by name")
	}
	return complete("DescribeLoadBalancers", all, func(b *elbtypes.LoadBalancerDescription) *string { return b.LoadBalancerName }, out.NextMarker)
}

func checkLBs(in *elbv2.DescribeLoadBalancersInput, out *elbv2.DescribeLoadBalancersOutput) error {
	if len(out.LoadBalancers) < len(in.Names) {
		return lacking("DescribeLoadBalancers", "holds fewer load balancers than were asked for by name")
	}
	return complete("DescribeLoadBalancers", out.LoadBalancers, func(b *elbv2types.LoadBalancer) *string { return b.LoadBalancerName }, out.NextMarker)
}

func checkPlane(in *eks.DescribeClusterInput, out *eks.DescribeClusterOutput) error {
	if out.Cluster == nil || aws.ToString(out.Cluster.Name) != aws.ToString(in.Name) || out.Cluster.Status == "" {
		return lacking("DescribeCluster", "is not about the cluster that was asked for, or lacks its status")
	}
	return nil
}
