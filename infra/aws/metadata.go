package aws

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// Metadata are options of the instance metadata service, with CAPA's defaults (SetDefaults in
// api/v1beta2/types.go v2.13.0).
type Metadata struct {
	Endpoint string `json:"httpEndpoint"`
	Tokens   string `json:"httpTokens"`
	Tags     string `json:"instanceMetadataTags"`
	Hops     int64  `json:"httpPutResponseHopLimit"`
}

// readMetadata reads those of an object; nil when it has none.
func readMetadata(text string) *Metadata {
	var m *Metadata
	if text == "" || json.Unmarshal([]byte(text), &m) != nil || m == nil {
		return nil
	}
	m.Endpoint, m.Tokens = cmp.Or(m.Endpoint, "enabled"), cmp.Or(m.Tokens, "optional")
	m.Tags, m.Hops = cmp.Or(m.Tags, "disabled"), cmp.Or(m.Hops, 1)
	return m
}

func (m *Metadata) String() string {
	return fmt.Sprintf("%s,%s,%d,%s", m.Endpoint, m.Tokens, m.Hops, m.Tags)
}
