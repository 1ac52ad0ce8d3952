package lab

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// EC2Faults make the server misbehave. Several may be set.
type EC2Faults struct {
	// ThrottleEvery refuses every n-th call as one too many; 2 is every second.
	ThrottleEvery int
	// DenyRegions and DenyActions forbid what is named there, "eu-west-1" and
	// "ec2:DescribeInstances". STS is in no region.
	DenyRegions, DenyActions []string
	// Expired says of every key that it has expired.
	Expired bool
	// CutPage cuts the connection in the middle of that page of
	// DescribeInstances, counted from 1, each time that it is asked for.
	CutPage int
	// ZoneOutage are regions in which a zone is disturbed: a call of
	// DescribeInstances that is not about certain instances fails there, as
	// EC2 documents it (service/ec2 api_op_DescribeInstances.go v1.344.0).
	ZoneOutage []string
}

// refusal is an error that a service answers.
type refusal struct {
	status        int
	code, message string
}

func refuse(status int, code, format string, args ...any) *refusal {
	return &refusal{status, code, fmt.Sprintf(format, args...)}
}

// fault says whether a fault refuses the call. The codes are the services' own
// (EC2 API reference, error codes; common errors of the query services).
func (e *EC2) fault(c *apiCall) *refusal {
	f := &e.faults
	isEC2 := c.service == "ec2"
	pick := func(ec2, other string) string {
		if isEC2 {
			return ec2
		}
		return other
	}
	if f.Expired {
		return refuse(http.StatusForbidden, pick("RequestExpired", "ExpiredToken"), "The security token included in the request is expired")
	}
	e.seen++
	if f.ThrottleEvery > 0 && e.seen%f.ThrottleEvery == 0 {
		return refuse(http.StatusServiceUnavailable, pick("RequestLimitExceeded", "Throttling"), "Request limit exceeded.")
	}
	if slices.Contains(f.DenyActions, c.iam()) || c.service != "sts" && slices.Contains(f.DenyRegions, c.region) {
		code := pick("UnauthorizedOperation", "AccessDenied")
		if c.service == "eks" {
			code = "AccessDeniedException"
		}
		return refuse(http.StatusForbidden, code, "You are not authorized to perform: %s", c.iam())
	}
	if c.iam() == "ec2:DescribeInstances" && slices.Contains(f.ZoneOutage, c.region) && !c.aboutCertainInstances() {
		return refuse(http.StatusServiceUnavailable, "Unavailable", "An Availability Zone of %s is impaired.", c.region)
	}
	return nil
}

// aboutCertainInstances reports whether the call names instances.
func (c *apiCall) aboutCertainInstances() bool {
	for name, values := range c.form {
		if strings.HasPrefix(name, "InstanceId.") || strings.HasPrefix(name, "Filter.") && slices.Contains(values, "instance-id") {
			return true
		}
	}
	return false
}
