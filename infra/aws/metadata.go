package aws

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"drift-detector/infra"
)

// metadata are options of the instance metadata service, with CAPA's defaults (SetDefaults in
// api/v1beta2/types.go v2.13.0).
type metadata struct {
	Endpoint string `json:"httpEndpoint"`
	Tokens   string `json:"httpTokens"`
	Tags     string `json:"instanceMetadataTags"`
	Hops     int64  `json:"httpPutResponseHopLimit"`
}

// readMetadata reads those of an object; nil when it has none.
func readMetadata(text string) *metadata {
	var m *metadata
	if text == "" || json.Unmarshal([]byte(text), &m) != nil || m == nil {
		return nil
	}
	m.Endpoint, m.Tokens = cmp.Or(m.Endpoint, "enabled"), cmp.Or(m.Tokens, "optional")
	m.Tags, m.Hops = cmp.Or(m.Tags, "disabled"), cmp.Or(m.Hops, 1)
	return m
}

func (m *metadata) String() string {
	return fmt.Sprintf("%s,%s,%d,%s", m.Endpoint, m.Tokens, m.Hops, m.Tags)
}

// walkFacts returns what rows ask of the instance of a machine: the groups of its first network
// interface, and its metadata options. Equal ones are kept once.
func (l *listing) walkFacts(i *types.Instance) infra.Facts {
	ids := make([]string, len(i.SecurityGroups))
	for n := range i.SecurityGroups {
		ids[n] = aws.ToString(i.SecurityGroups[n].GroupId)
	}
	slices.Sort(ids)
	groups, options := strings.Join(ids, ","), ""
	if o := i.MetadataOptions; o != nil {
		m := metadata{string(o.HttpEndpoint), string(o.HttpTokens), cmp.Or(string(o.InstanceMetadataTags), "disabled"), int64(aws.ToInt32(o.HttpPutResponseHopLimit))}
		options = m.String()
	}
	key := [2]string{groups, options}
	facts := l.facts[key]
	if facts == nil {
		facts = append(facts, infra.Fact{Name: factGroups, Value: groups})
		if options != "" {
			facts = append(facts, infra.Fact{Name: factMetadata, Value: options})
		}
		facts = slices.Clip(facts)
		if l.facts == nil {
			l.facts = map[[2]string]infra.Facts{}
		}
		l.facts[key] = facts
	}
	return facts
}
