package vsphere

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"drift-detector/infra"
	"drift-detector/infra/walk"
)

// Rows of the host of a VM.
var (
	rowR14 = &walk.Row{
		ID: "vsphere.R14", Of: vmKind,
		Asks:    "the host of the VM, and its name",
		None:    walk.Waits.Says("CAPV cannot read the host and goes no further"),
		Refused: "hosts, to an account that is not CAPV's",
		Source:  "reconcileHostInfo: pkg/services/govmomi/service.go v1.5.8 to v1.16.1",
	}
	rowM9 = &walk.Row{
		ID: "vsphere.M9", Of: machineKind,
		Asks:    "the name of the VM's host, as the value of a label of its Machine",
		Differs: walk.NotReady.Says("the host's name is no value for a label: CAPV fails to write it, and the VSphereMachine does not become Ready"),
		Source:  "patchMachineLabelsWithHostInfo: controllers/vspheremachine_controller.go; SanitizeHostInfoLabel: pkg/util/label.go v1.5.8 to v1.16.1",
	}
)

// host asks R14. A VM that is off may have no host until it is started.
func (s *sight) host() walk.Answer {
	if !s.read || s.off {
		return walk.Answer{}
	}
	if _, ok := s.Facts.Get(FactHost); !ok {
		why, refused := s.listing.FactsUnread.Get(FactHost)
		if of, _ := s.listing.Facts.Get(infra.FactCredential); refused || of == infra.OfOperator {
			return walk.Answer{Found: walk.Unread, Why: cmp.Or(why, "the account that listed may not read the host of "+s.title()), Objects: []string{s.title()}}
		}
		return answer(walk.None, "host of "+s.title(), "the host of "+s.title()+" could not be read", "may be read by the account")
	}
	return pass
}

// hostLabel asks M9, once for each host.
func (x *inspection) hostLabel(s *sight) walk.Answer {
	host, seen := s.Facts.Get(FactHost)
	if !seen || s.off {
		return walk.Answer{}
	}
	valid, known := x.labels[host]
	if !known {
		valid = len(validation.IsValidLabelValue(asLabel(host))) == 0
		x.labels[host] = valid
	}
	if !valid {
		return answer(walk.Differs, s.title(), fmt.Sprintf("the host of %s is called %q", s.title(), host), "is on a host whose name is a value for a label")
	}
	return pass
}

// asLabel returns what CAPV makes of the name of a host: without a zone, of IPv6 with dashes, of a long
// one without its last parts.
func asLabel(host string) string {
	plain := host
	if at := strings.LastIndexByte(host, '%'); at >= 0 {
		plain = host[:at]
	}
	if a, err := netip.ParseAddr(plain); err == nil {
		if a.Is4() {
			return plain
		}
		return strings.ReplaceAll(plain, ":", "-") + ".ipv6-literal"
	}
	for len(host) > validation.LabelValueMaxLength {
		at := strings.LastIndexByte(host, '.')
		if at < 0 {
			return host[:validation.LabelValueMaxLength]
		}
		host = host[:at]
	}
	return host
}
