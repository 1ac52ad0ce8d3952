package list

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
)

// limits bound what one target may take, whatever its vCenter answers.
type limits struct {
	vms    int
	things int // folders, or things of another kind that machines need
	text   int // bytes of text that is kept of VMs
}

// standard is far above what the largest vCenter needs: it holds 40,000 VMs,
// which are 40 pages of one or two seconds and 1 KB of text each.
var standard = limits{vms: 500_000, things: 100_000, text: 512 << 20}

// Bounds on single texts. vCenter's own limit on names is 80 characters.
const (
	maxString = 1024
	maxPath   = 4096
)

var (
	errLongText = fmt.Errorf("it answered with a name or an id of more than %d bytes", maxString)
	errManyText = errors.New("its VMs have more text than is kept of one vCenter")
)

// checkTexts refuses what no vCenter answers: objects with endless ids and names.
// What a guest may write itself is not its vCenter's fault, see readVM.
func checkTexts(o types.ObjectContent) error {
	if len(o.Obj.Value) > maxString || len(o.Obj.Type) > maxString {
		return errLongText
	}
	for _, p := range o.PropSet {
		if p.Name == propVMX || p.Name == propAddress {
			continue
		}
		if len(word(p.Val)) > maxString || len(reference(p.Val)) > maxString {
			return errLongText
		}
	}
	return nil
}

// short returns a text that is left out when it is too long to be kept.
func short(s string) string {
	if len(s) > maxString {
		return ""
	}
	return s
}

// begin returns a copy of the beginning of a text, so that what the text is a part of
// does not stay in memory.
func begin(s string) string { return strings.Clone(s[:min(len(s), maxString)]) }

// textOf returns about as many bytes as an instance keeps in memory.
func textOf(i *infra.Instance) int {
	n := len(i.Identity) + len(i.ID) + len(i.Ref) + len(i.Name) + len(i.Path) + len(i.State)
	for _, k := range i.Keys {
		n += len(k.Value)
	}
	return n
}

// dateOf returns a date in UTC, zero when an offset pushes it out of the years that
// an inventory can be saved with.
func dateOf(t time.Time) time.Time {
	t = t.UTC()
	if year := t.Year(); year < 1 || year > 9999 {
		return time.Time{}
	}
	return t
}
