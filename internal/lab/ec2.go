package lab

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

// The account and the access key that the lab's EC2 knows unless EC2Options say
// otherwise. The key is AWS's own example of one.
const (
	EC2Account = "123456789012"
	EC2KeyID   = "AKIAIOSFODNN7EXAMPLE"
	EC2Secret  = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
)

// EC2Options say what StartEC2 serves.
type EC2Options struct {
	// Instances is the path of a file as `aws ec2 describe-instances` prints
	// it. Empty serves none. The zone of an instance says in which region it is.
	Instances string
	// Backup is the path of a backup. What its AWSClusters name (VPCs, subnets,
	// security groups, NAT gateways, load balancers) exists, each in the
	// region of its cluster. Empty serves none of these.
	Backup string
	// Absent are ids and names out of Backup that do not exist any more.
	Absent []string
	// State is the path of a folder with what `aws ec2 describe-instances` and the
	// other calls printed, one file per region and call, as testdata/capa/aws has
	// them. It is served beside what Instances and Backup say. Empty serves none.
	State string
	// SharedVPCs are ids of VPCs that were there before their clusters, and the
	// account that owns each and shares it with every other.
	SharedVPCs map[string]string
	// Groups are autoscaling groups. Their members are the instances that name the
	// group in a tag; a group that instances name and that is not here has what
	// members it has, and wants as many.
	Groups []EC2Group
	// Synthetic is a number of further instances in us-east-1 that are nobody's.
	Synthetic int
	// Keys may call. Nil stands for EC2KeyID with EC2Secret.
	Keys []EC2Key
	// Roles may be assumed.
	Roles []EC2Role
	// PageSize is the most instances in one answer, whatever MaxResults asks
	// for. Zero leaves it at what EC2 itself gives, 1000.
	PageSize int
	Faults   EC2Faults
	// Secure serves TLS, with a certificate that CA verifies.
	Secure bool
}

// EC2Key is an access key. All instances and networks are EC2Account's: a key
// of another account is answered everything with nothing.
type EC2Key struct {
	ID, Secret string
	Token      string // the session token that goes with it, if any
	Account    string // empty: EC2Account
	arn        string // who it is, when not a user
}

// EC2Group is an autoscaling group.
type EC2Group struct {
	Name, ARN string
	Subnets   []string
	Tags      []EC2Tag
	Region    string // empty: us-east-1
	Account   string // empty: EC2Account
	Desired   *int   // nil: as many as it has members
}

// EC2Role is a role that sts:AssumeRole gives.
type EC2Role struct {
	ARN        string
	ExternalID string   // that has to be given; empty: none is asked for
	Trusts     []string // ids of keys and ARNs of roles that may assume it; nil: anybody
}

// EC2 is a running server of the AWS services that drift-detector calls: EC2,
// STS, Auto Scaling, Elastic Load Balancing and EKS, all at one address. It speaks
// their query protocol, of EKS JSON, verifies signatures, and only ever reads. Its
// methods may be called while it serves.
type EC2 struct {
	// URL is what AWS_ENDPOINT_URL takes, "http://127.0.0.1:port" or, where it is
	// Secure, "https://".
	URL string
	// CA is what AWS_CA_BUNDLE has to hold where it is Secure, PEM.
	CA []byte

	server   *http.Server
	front    front
	greeting greeting
	first    EC2Key

	mu        sync.Mutex
	keys      map[string]EC2Key
	roles     []EC2Role
	instances []EC2Instance
	network   []networkObject
	shared    map[string]string
	groups    []EC2Group
	pageSize  int
	faults    EC2Faults
	seen      int // calls that ThrottleEvery counts
	calls     map[string]int
	callers   map[string]bool
	assumed   []string
}

// StartEC2 serves on a random port of 127.0.0.1 until Close.
func StartEC2(o EC2Options) (*EC2, error) {
	e := &EC2{
		keys: map[string]EC2Key{}, shared: o.SharedVPCs, groups: o.Groups, roles: o.Roles, pageSize: o.PageSize, faults: o.Faults, calls: map[string]int{}, callers: map[string]bool{},
	}
	keys := o.Keys
	if keys == nil {
		keys = []EC2Key{{ID: EC2KeyID, Secret: EC2Secret}}
	}
	for _, k := range keys {
		if k.Account == "" {
			k.Account = EC2Account
		}
		e.keys[k.ID] = k
	}
	if len(keys) > 0 {
		e.first = e.keys[keys[0].ID]
	}
	var err error
	if e.instances, err = readInstances(o.Instances); err != nil {
		return nil, fmt.Errorf("starting the lab's EC2: %w", err)
	}
	e.instances = append(e.instances, synthetic(o.Synthetic)...)
	if e.network, err = readNetwork(o.Backup); err != nil {
		return nil, fmt.Errorf("starting the lab's EC2: %w", err)
	}
	if err := e.readState(o.State); err != nil {
		return nil, fmt.Errorf("starting the lab's EC2: %w", err)
	}
	e.Remove(o.Absent...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the lab's EC2: %w", err)
	}
	e.URL = "http://" + l.Addr().String()
	e.server = &http.Server{
		Handler: e.front.before(e), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		// Clients that break off are part of the tests.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	if o.Secure {
		e.URL = "https://" + l.Addr().String()
		l, err = e.secure(l)
	}
	if err != nil {
		return nil, fmt.Errorf("starting the lab's EC2: %w", err)
	}
	go func() { _ = e.server.Serve(l) }()
	return e, nil
}

func (e *EC2) secure(l net.Listener) (net.Listener, error) {
	pair, err := selfSigned([]string{"127.0.0.1"})
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(pair.der)
	if err != nil {
		return nil, err
	}
	e.CA = pair.certPEM
	conf := &tls.Config{Certificates: []tls.Certificate{pair.tls()}, MinVersion: tls.VersionTLS12}
	return tls.NewListener(l, e.greeting.before(conf, leaf, pair.key)), nil
}

// Close stops serving. It may be called twice.
func (e *EC2) Close() { _ = e.server.Close() }

// Environment returns what a process has to have in its environment to call this
// server with the first of the keys, as "NAME=value": the endpoint, the key, and
// settings that keep the SDK away from every other source of credentials on the
// machine that it runs on.
func (e *EC2) Environment() []string {
	return []string{
		"AWS_ENDPOINT_URL=" + e.URL,
		"AWS_ACCESS_KEY_ID=" + e.first.ID,
		"AWS_SECRET_ACCESS_KEY=" + e.first.Secret,
		"AWS_SESSION_TOKEN=" + e.first.Token,
		"AWS_PROFILE=",
		"AWS_CA_BUNDLE=",
		"AWS_CONFIG_FILE=" + os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"AWS_EC2_METADATA_DISABLED=true",
	}
}

// Calls returns how often each action was called, by its name in IAM policies
// ("ec2:DescribeInstances"), calls that were refused included.
func (e *EC2) Calls() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.calls)
}

// Callers returns the ids of the keys that calls were signed with, sorted.
func (e *EC2) Callers() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.callers))
}

// Assumed returns the ARNs of the roles that were assumed, in order.
func (e *EC2) Assumed() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.assumed)
}

// Add adds instances at the end of the list.
func (e *EC2) Add(instances ...EC2Instance) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.instances = append(e.instances, instances...)
}

// Change calls edit for every instance, and removes those that it does not keep.
func (e *EC2) Change(edit func(*EC2Instance) (keep bool)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var kept []EC2Instance
	for _, i := range e.instances {
		if edit(&i) {
			kept = append(kept, i)
		}
	}
	e.instances = kept
}

// Remove lets parts of the network be gone, by their ids and names.
func (e *EC2) Remove(ids ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.network = slices.DeleteFunc(e.network, func(p networkObject) bool { return p.id == "" || slices.Contains(ids, p.id) })
}

// SetGroup adds an autoscaling group, or replaces the one of its name.
func (e *EC2) SetGroup(g EC2Group) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.groups = append(slices.DeleteFunc(e.groups, func(have EC2Group) bool { return have.Name == g.Name }), g)
}

// Bend replaces the faults.
func (e *EC2) Bend(f EC2Faults) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults, e.seen = f, 0
}
