package lab

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxRequest bounds what one call may send.
const maxRequest = 1 << 20

// apiCall is one call of a query service.
type apiCall struct {
	service, region string // of the signature's scope
	action          string
	version         string // tells the classic load balancers from the others
	form            url.Values
	name            string // of the control plane that EKS is asked for
	caller          EC2Key
}

// iam returns the action's name in IAM policies.
func (c *apiCall) iam() string { return c.service + ":" + c.action }

// list returns the values of a numbered parameter: "InstanceId.1", "InstanceId.2".
func (c *apiCall) list(prefix string) []string {
	var all []string
	for n := 1; ; n++ {
		name := prefix + "." + strconv.Itoa(n)
		if !c.form.Has(name) {
			return all
		}
		all = append(all, c.form.Get(name))
	}
}

// ServeHTTP answers one call.
func (e *EC2) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, bad := e.parse(r)
	if bad != nil {
		writeRefusal(w, c, bad)
		return
	}
	e.mu.Lock()
	e.calls[c.iam()]++
	e.callers[c.caller.ID] = true
	bad = e.fault(c)
	var answer any
	cut := false
	if bad == nil {
		answer, cut, bad = e.answer(c)
	}
	e.mu.Unlock()
	if bad != nil {
		writeRefusal(w, c, bad)
		return
	}
	if c.service == "eks" {
		writeJSON(w, answer, nil)
		return
	}
	text, err := xml.Marshal(answer)
	if err != nil {
		writeRefusal(w, c, refuse(http.StatusInternalServerError, "InternalError", "%v", err))
		return
	}
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if cut {
		// The length says that more is to come; giving up the request closes
		// the connection before it does.
		_, _ = w.Write(text[:len(text)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(text)
}

// answer carries a call out. cut says that the connection is to break off in
// the middle of the answer.
func (e *EC2) answer(c *apiCall) (answer any, cut bool, bad *refusal) {
	switch c.iam() {
	case "ec2:DescribeInstances":
		return e.describeInstances(c)
	case eksAction:
		answer, bad = e.describeCluster(c)
		return answer, false, bad
	case nodegroupAction, profileAction:
		answer, bad = e.describeOfPlane(c)
		return answer, false, bad
	}
	if c.service == "eks" {
		answer, bad = e.describePlaneParts(c)
		return answer, false, bad
	}
	var handle func(*apiCall) (element, *refusal)
	switch c.iam() {
	case "sts:GetCallerIdentity":
		handle = e.callerIdentity
	case "sts:AssumeRole":
		handle = e.assumeRole
	case "autoscaling:DescribeAutoScalingGroups":
		handle = e.describeGroups
	case "elasticloadbalancing:DescribeLoadBalancers":
		handle = e.describeLoadBalancers
	case templatesAction:
		handle = e.describeTemplates
	case "autoscaling:DescribeLifecycleHooks":
		handle = e.describeHooks
	case "elasticloadbalancing:DescribeTags", "elasticloadbalancing:DescribeTargetGroups", "elasticloadbalancing:DescribeListeners", "elasticloadbalancing:DescribeTargetHealth":
		handle = e.describeBehind
	case roleAction:
		handle = e.getRole
	default:
		if kind, ok := networkKinds[c.iam()]; ok {
			handle = func(c *apiCall) (element, *refusal) { return e.describeNetwork(c, kind) }
		}
	}
	if handle == nil {
		return nil, false, refuse(http.StatusBadRequest, "InvalidAction", "the lab does not know the action %s", c.iam())
	}
	tree, bad := handle(c)
	return tree, false, bad
}

// writeRefusal answers an error in the form of the service that was called.
func writeRefusal(w http.ResponseWriter, c *apiCall, r *refusal) {
	if c.service == "eks" {
		writeJSON(w, nil, r)
		return
	}
	fault := branch("Error", leaf("Type", "Sender"), leaf("Code", r.code), leaf("Message", r.message))
	answer := branch("ErrorResponse", fault, leaf("RequestId", "lab"))
	if c.service == "ec2" {
		answer = branch("Response", branch("Errors", fault), leaf("RequestID", "lab"))
	}
	text, _ := xml.Marshal(answer) // it holds nothing but text
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.WriteHeader(r.status)
	_, _ = w.Write(text)
}

// element is a piece of an answer.
type element struct {
	XMLName  xml.Name
	Text     string `xml:",chardata"`
	Children []element
}

func leaf(name, text string) element { return element{XMLName: xml.Name{Local: name}, Text: text} }

func branch(name string, children ...element) element {
	return element{XMLName: xml.Name{Local: name}, Children: children}
}

// result wraps an answer as Auto Scaling, ELB and STS do.
func result(action string, children ...element) element {
	return branch(action+"Response", branch(action+"Result", children...), branch("ResponseMetadata", leaf("RequestId", "lab")))
}

// parse reads a request and verifies who sent it. The call is never nil.
func (e *EC2) parse(r *http.Request) (*apiCall, *refusal) {
	c := &apiCall{service: "ec2"}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
	if err != nil || len(body) > maxRequest {
		return c, refuse(http.StatusBadRequest, "MalformedQueryString", "the request can't be read or is too long")
	}
	s, err := parseSignature(r.Header.Get("Authorization"))
	if err != nil {
		return c, refuse(http.StatusForbidden, "MissingAuthenticationToken", "%v", err)
	}
	c.service, c.region = s.service, s.region
	if c.form, err = url.ParseQuery(string(body)); err != nil {
		return c, refuse(http.StatusBadRequest, "MalformedQueryString", "%v", err)
	}
	c.action, c.version = c.form.Get("Action"), c.form.Get("Version")
	if c.service == "eks" {
		c.action, c.name = EKSCall(r)
	}
	e.mu.Lock()
	key, known := e.keys[s.keyID]
	e.mu.Unlock()
	c.caller = key
	switch token := r.Header.Get("X-Amz-Security-Token"); {
	case known && token == key.Token && s.verify(r, body, key.Secret):
		return c, nil
	case c.service == "ec2":
		return c, refuse(http.StatusUnauthorized, "AuthFailure", "AWS was not able to validate the provided access credentials")
	case !known || token != key.Token:
		return c, refuse(http.StatusForbidden, "InvalidClientTokenId", "The security token included in the request is invalid.")
	default:
		return c, refuse(http.StatusForbidden, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided.")
	}
}

// signature is what the header Authorization of version 4 says.
type signature struct {
	keyID, day, region, service string
	headers                     []string
	value                       []byte
}

const algorithm = "AWS4-HMAC-SHA256"

func parseSignature(header string) (s signature, err error) {
	rest, ok := strings.CutPrefix(header, algorithm+" ")
	if !ok {
		return s, errors.New("the request has no authentication token")
	}
	fields := map[string]string{}
	for _, f := range strings.Split(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(f), "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/")
	if len(scope) != 5 || scope[4] != "aws4_request" {
		return s, errors.New("the credential's scope is not key/day/region/service/aws4_request")
	}
	s = signature{keyID: scope[0], day: scope[1], region: scope[2], service: scope[3], headers: strings.Split(fields["SignedHeaders"], ";")}
	if s.value, err = hex.DecodeString(fields["Signature"]); err != nil {
		return s, errors.New("the signature is not hexadecimal")
	}
	return s, nil
}

// verify computes the signature again (IAM user guide, "Create a signed AWS API
// request"). Its age is no matter of the lab.
func (s *signature) verify(r *http.Request, body []byte, secret string) bool {
	var headers strings.Builder
	for _, name := range s.headers {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.TrimSpace(value))
	}
	request := strings.Join([]string{
		r.Method, strings.ReplaceAll(r.URL.EscapedPath(), "%", "%25"), r.URL.RawQuery, headers.String(), strings.Join(s.headers, ";"), digest(body),
	}, "\n")
	scope := strings.Join([]string{s.day, s.region, s.service, "aws4_request"}, "/")
	text := strings.Join([]string{algorithm, r.Header.Get("X-Amz-Date"), scope, digest([]byte(request))}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range []string{s.day, s.region, s.service, "aws4_request", text} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return hmac.Equal(key, s.value)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
