package azure

import (
	"testing"

	"drift-detector/infra"
	"drift-detector/internal/lab/azurelab"
)

// Who looks once more looks through the az command, at one subscription.
func TestReach(t *testing.T) {
	p := &Provider{Az: func() (string, error) { return "az", nil }}
	target := p.Reach(azurelab.Retail, infra.Sought{IDs: []string{groupID(azurelab.Retail, "shop") + "/providers/" + KindVM + "/shop-md-0-w66kl-wxqkz", "no id"}})
	if target.Refused != nil || target.Account != azurelab.Retail || len(target.Probes) != 1 || len(target.Detail.(*Detail).Seek.VMs) != 1 || !target.Credential.(Credential).CLI {
		t.Errorf("%+v", target)
	}
	for _, at := range []string{"", "x", "--help", azurelab.Retail + ";x"} {
		if target := p.Reach(at, infra.Sought{}); target.Refused == nil {
			t.Errorf("%q leads to %+v", at, target)
		}
	}
}
