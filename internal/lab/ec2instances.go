package lab

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// EC2Instance is an instance as `aws ec2 describe-instances` prints it (JSON)
// and as EC2 answers it (XML).
type EC2Instance struct {
	InstanceID   string    `json:"InstanceId" xml:"instanceId"`
	ImageID      string    `json:"ImageId" xml:"imageId,omitempty"`
	State        EC2State  `json:"State" xml:"instanceState"`
	InstanceType string    `json:"InstanceType" xml:"instanceType,omitempty"`
	LaunchTime   time.Time `json:"LaunchTime" xml:"launchTime"`
	Placement    struct {
		AvailabilityZone string `json:"AvailabilityZone" xml:"availabilityZone"`
	} `json:"Placement" xml:"placement"`
	VPC              string   `json:"VpcId" xml:"vpcId,omitempty"`
	Subnet           string   `json:"SubnetId" xml:"subnetId,omitempty"`
	PrivateIPAddress string   `json:"PrivateIpAddress" xml:"privateIpAddress,omitempty"`
	PrivateDNSName   string   `json:"PrivateDnsName" xml:"privateDnsName,omitempty"`
	SecurityGroups   []EC2Ref `json:"SecurityGroups" xml:"groupSet>item"`
	Tags             []EC2Tag `json:"Tags" xml:"tagSet>item"`
	// MetadataOptions are CAPA's defaults where they are not given.
	MetadataOptions *EC2Metadata `json:"MetadataOptions" xml:"metadataOptions,omitempty"`
}

// EC2Metadata are the options of an instance's metadata service.
type EC2Metadata struct {
	HTTPEndpoint string `json:"HttpEndpoint" xml:"httpEndpoint"`
	HTTPTokens   string `json:"HttpTokens" xml:"httpTokens"`
	Hops         int    `json:"HttpPutResponseHopLimit" xml:"httpPutResponseHopLimit"`
	Tags         string `json:"InstanceMetadataTags" xml:"instanceMetadataTags"`
}

var usualMetadata = EC2Metadata{"enabled", "optional", 1, "disabled"}

// EC2Ref is a security group of an instance.
type EC2Ref struct {
	ID string `json:"GroupId" xml:"groupId"`
}

// EC2State is the state of an instance: 16 running, 48 terminated, 80 stopped.
type EC2State struct {
	Code int    `json:"Code" xml:"code"`
	Name string `json:"Name" xml:"name"`
}

// EC2Tag is one tag.
type EC2Tag struct {
	Key   string `json:"Key" xml:"key"`
	Value string `json:"Value" xml:"value"`
}

// Tag returns the value of a tag; ok says whether the instance has it.
func (i *EC2Instance) Tag(key string) (value string, ok bool) {
	for _, t := range i.Tags {
		if t.Key == key {
			return t.Value, true
		}
	}
	return "", false
}

// region returns what precedes the first number of the zone, and that number: us-west-2 of
// us-west-2a, of the local zone us-west-2-lax-1a and of us-west-2-wl1-las-wlz-1.
func (i *EC2Instance) region() string {
	zone := i.Placement.AvailabilityZone
	return zone[:strings.IndexAny(zone, "0123456789")+1]
}

// readInstances reads what `aws ec2 describe-instances` printed.
func readInstances(file string) ([]EC2Instance, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var saved struct {
		Reservations []struct{ Instances []EC2Instance }
	}
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	var all []EC2Instance
	for _, r := range saved.Reservations {
		all = append(all, r.Instances...)
	}
	return all, nil
}

// synthetic makes instances that no cluster has to do with.
func synthetic(n int) []EC2Instance {
	all := make([]EC2Instance, n)
	for i := range all {
		all[i] = EC2Instance{
			InstanceID: fmt.Sprintf("i-%017x", i+1), InstanceType: "m5.large", State: EC2State{16, "running"},
			LaunchTime: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), VPC: "vpc-0fffffffffffffff0",
			Tags: []EC2Tag{{"Name", fmt.Sprintf("web-%d", i+1)}, {"team", "shop"}},
		}
		all[i].Placement.AvailabilityZone = "us-east-1c"
	}
	return all
}

// Bounds of DescribeInstances (EC2 API reference).
const (
	leastResults    = 5
	mostResults     = 1000
	mostFilterItems = 200
)

type describeInstancesResponse struct {
	RequestID    string         `xml:"requestId"`
	Reservations reservationSet `xml:"reservationSet"`
	NextToken    string         `xml:"nextToken,omitempty"`
}

// reservationSet is an element of its own, so that EC2's answer has it when it is empty.
type reservationSet struct {
	Items []reservation `xml:"item"`
}

type reservation struct {
	ID        string        `xml:"reservationId"`
	Owner     string        `xml:"ownerId"`
	Instances []EC2Instance `xml:"instancesSet>item"`
}

// MarshalXML names the answer as EC2 does.
func (d describeInstancesResponse) MarshalXML(enc *xml.Encoder, _ xml.StartElement) error {
	type plain describeInstancesResponse
	return enc.EncodeElement(plain(d), xml.StartElement{Name: xml.Name{Local: "DescribeInstancesResponse"}})
}

func (e *EC2) describeInstances(c *apiCall) (any, bool, *refusal) {
	ids := c.list("InstanceId")
	size, from, bad := c.page(len(ids) > 0)
	if bad != nil {
		return nil, false, bad
	}
	filters, bad := c.filters()
	if bad != nil {
		return nil, false, bad
	}
	var fit []EC2Instance
	for _, i := range e.instances {
		if c.caller.Account != EC2Account || i.region() != c.region || len(ids) > 0 && !slices.Contains(ids, i.InstanceID) {
			continue
		}
		ok, bad := i.passes(filters)
		if bad != nil {
			return nil, false, bad
		}
		if i.MetadataOptions == nil {
			i.MetadataOptions = &usualMetadata
		}
		if ok {
			fit = append(fit, i)
		}
	}
	unknown := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(fit, func(i EC2Instance) bool { return i.InstanceID == id })
	})
	switch {
	case len(filters) > 0:
	case len(unknown) == 1:
		return nil, false, refuse(http.StatusBadRequest, "InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", unknown[0])
	case len(unknown) > 1:
		return nil, false, refuse(http.StatusBadRequest, "InvalidInstanceID.NotFound", "The instance IDs '%s' do not exist", strings.Join(unknown, ", "))
	}
	if e.pageSize > 0 && len(ids) == 0 { // what is asked for by id comes in one answer
		size = min(size, e.pageSize)
	}
	to := min(from+size, len(fit))
	answer := describeInstancesResponse{RequestID: "lab"}
	for _, i := range fit[min(from, to):to] {
		answer.Reservations.Items = append(answer.Reservations.Items, reservation{"r-" + strings.TrimPrefix(i.InstanceID, "i-"), EC2Account, []EC2Instance{i}})
	}
	if to < len(fit) {
		answer.NextToken = fmt.Sprintf("from-%d", to)
	}
	return answer, e.faults.CutPage > 0 && from/size+1 == e.faults.CutPage, nil
}

// page says how many instances are asked for, and from where on.
func (c *apiCall) page(byID bool) (size, from int, bad *refusal) {
	size = mostResults
	if text := c.form.Get("MaxResults"); text != "" {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil || n < leastResults || n > mostResults:
			return 0, 0, refuse(http.StatusBadRequest, "InvalidParameterValue", "Value ( %s ) for parameter maxResults is invalid.", text)
		case byID:
			return 0, 0, refuse(http.StatusBadRequest, "InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
		}
		size = n
	}
	if token := c.form.Get("NextToken"); token != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(token, "from-"))
		if err != nil || n < 0 {
			return 0, 0, refuse(http.StatusBadRequest, "InvalidNextToken", "The token '%s' is invalid", token)
		}
		from = n
	}
	return size, from, nil
}

// filter is one of a call's filters. Its values are alternatives and may hold
// the wildcards * and ?.
type filter struct {
	name   string
	values []string
}

func (f *filter) fits(value string) bool {
	return slices.ContainsFunc(f.values, func(pattern string) bool {
		// A slash is a character like any other here, not so for path.Match.
		ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(value, "/", "\x00"))
		return err == nil && ok
	})
}

func (c *apiCall) filters() ([]filter, *refusal) {
	var all []filter
	for n := 1; ; n++ {
		prefix := fmt.Sprintf("Filter.%d", n)
		if !c.form.Has(prefix + ".Name") {
			return all, nil
		}
		f := filter{c.form.Get(prefix + ".Name"), c.list(prefix + ".Value")}
		if len(f.values) > mostFilterItems {
			return nil, refuse(http.StatusBadRequest, "FilterLimitExceeded", "The maximum number of filter values specified on a single call is %d", mostFilterItems)
		}
		all = append(all, f)
	}
}

// passes says whether the instance fits all filters.
func (i *EC2Instance) passes(filters []filter) (bool, *refusal) {
	for _, f := range filters {
		fits := false
		switch tag, isTag := strings.CutPrefix(f.name, "tag:"); {
		case isTag:
			value, has := i.Tag(tag)
			fits = has && f.fits(value)
		case f.name == "tag-key":
			fits = slices.ContainsFunc(i.Tags, func(t EC2Tag) bool { return f.fits(t.Key) })
		case f.name == "instance-id":
			fits = f.fits(i.InstanceID)
		case f.name == "owner-id":
			fits = f.fits(EC2Account)
		case f.name == "instance-state-name":
			fits = f.fits(i.State.Name)
		case f.name == "vpc-id":
			fits = f.fits(i.VPC)
		default:
			return false, refuse(http.StatusBadRequest, "InvalidParameterValue", "The filter '%s' is invalid", f.name)
		}
		if !fits {
			return false, nil
		}
	}
	return true, nil
}
