package list

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"
	"time"
	"unique"

	"drift-detector/infra"
	"drift-detector/infra/azure"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// vmAnswer is what is read of a VM, of a scale set or not.
type vmAnswer struct {
	ID       string
	Name     string
	Tags     map[string]string
	Plan     *struct{}
	Identity *struct {
		Users map[string]struct{} `json:"userAssignedIdentities"`
	}
	Properties *struct {
		Network *struct {
			NICs []struct{ ID string } `json:"networkInterfaces"`
		} `json:"networkProfile"`
		StorageProfile    storageAnswer
		VMID              string `json:"vmId"`
		Created           string `json:"timeCreated"`
		ProvisioningState string
		Priority          string
		Set               *struct{ ID string }           `json:"virtualMachineScaleSet"`
		OS                *struct{ ComputerName string } `json:"osProfile"`
		View              *viewAnswer                    `json:"instanceView"`
	}
}

type viewAnswer struct{ Statuses []struct{ Code string } }

// power returns what an instance view says of the power state: "running", "deallocated"; empty:
// nothing.
func (v *viewAnswer) power() string {
	if v == nil {
		return ""
	}
	for _, s := range v.Statuses {
		if prefix := "powerstate/"; len(s.Code) > len(prefix) && strings.EqualFold(s.Code[:len(prefix)], prefix) {
			return strings.ToLower(s.Code[len(prefix):])
		}
	}
	return ""
}

func (v *vmAnswer) power() string {
	if v.Properties == nil {
		return ""
	}
	return v.Properties.View.power()
}

// Power states (https://learn.microsoft.com/azure/virtual-machines/states-billing). CAPZ
// looks at none of them.
var (
	running = []string{"running", "starting"}
	off     = []string{"stopping", "stopped", "deallocating", "deallocated"}
)

// maxName bounds names and states; Azure's own limit for names is 80 characters.
const maxName = 1024

// instance makes an Instance of a VM. power is its power state, or "" where Azure did not
// say, sets are the ids of the scale sets that list it as theirs.
func (l *listing) instance(v *vmAnswer, id azure.ID, power string, sets []string) infra.Instance {
	out := infra.Instance{
		Identity: l.session.at.Manager.Host + id.Text, ID: id.Text, Name: v.Name, Tags: tagsOf(v.Tags),
	}
	if out.Name == "" {
		out.Name = id.Name
	}
	out.Path = strings.Join([]string{id.Subscription, id.Group, out.Name}, "/")
	p := v.Properties
	if p != nil && p.Set != nil {
		if set, ok := azure.ParseID(p.Set.ID); ok && set.Kind == azure.KindSet {
			sets = append(slices.Clone(sets), set.Text)
		}
	}
	out.Keys = azure.KeysOf(id, out.Name, v.Tags, sets)
	if p == nil || azure.UUIDOf(p.VMID) == "" || p.ProvisioningState == "" || dateOf(p.Created).IsZero() || power == "" {
		out.Unreadable = true
		l.noteOdd(id, v)
		return out
	}
	out.Ref, out.Created = azure.UUIDOf(p.VMID), dateOf(p.Created)
	out.Keys = append(out.Keys, l.seek.OwnKeys(id.Text, out.Ref, out.Created)...)
	out.State, out.Facts = power, l.facts(v, id)
	state := strings.ToLower(p.ProvisioningState)
	switch {
	case state == "deleting":
		out.State, out.Unreadable = state, true // it may be gone in a moment
	case slices.Contains(off, power):
		out.Warnings = append(out.Warnings, code.PoweredOff)
	case !slices.Contains(running, power):
		out.Unreadable = true // it may run, or not
	}
	switch state {
	case "failed":
		out.Warnings = append(out.Warnings, code.Reason(infra.ErrorState))
	case "creating":
		out.Warnings = append(out.Warnings, code.Reason(infra.NotActive))
	}
	if strings.EqualFold(p.Priority, "Spot") && power == "deallocated" {
		out.State = "deallocated (spot)" // evicted, or deallocated by hand
	}
	return out
}

// facts returns those of a VM that the backup records.
func (l *listing) facts(v *vmAnswer, id azure.ID) infra.Facts {
	if _, recorded := l.seek.VMs[id.Text]; !recorded || v.Properties.Network == nil {
		return nil
	}
	nics, users := []string{}, []string{}
	for _, nic := range v.Properties.Network.NICs {
		nics = append(nics, strings.ToLower(nic.ID))
	}
	if v.Identity != nil {
		for user := range v.Identity.Users {
			users = append(users, user)
		}
	}
	slices.Sort(users)
	return azure.FactsOf(nics, users)
}

// noteOdd notes a VM of which Azure does not say what it says of each.
func (l *listing) noteOdd(id azure.ID, v *vmAnswer) {
	if l.isRelated(id, v) && l.odd == "" {
		l.odd = id.Text
	}
}

// isRelated reports whether the backup records a VM, or it is where machines of the backup are,
// or has tags of any cluster.
func (l *listing) isRelated(id azure.ID, v *vmAnswer) bool {
	_, recorded := l.seek.VMs[id.Text]
	return recorded || l.seek.Groups[id.GroupID()] || len(azure.ClustersIn(v.Tags)) > 0
}

// tagsOf returns tags, as people gave them. Their keys are few: all VMs share them.
func tagsOf(tags map[string]string) []infra.Tag {
	var out []infra.Tag
	for k, v := range tags {
		out = append(out, infra.Tag{Key: unique.Make(k).Value(), Value: v})
	}
	sorting.By(out, func(a, b infra.Tag) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// dateOf returns a date in UTC, zero when it is none that an inventory can be saved with.
func dateOf(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	t = t.UTC()
	if year := t.Year(); t.IsZero() || year < 1 || year > 9999 {
		return time.Time{}
	}
	return t
}

// short returns an id in a list of many, in 16 bytes.
func short(id string) [16]byte {
	sum := sha256.Sum256([]byte(id))
	return [16]byte(sum[:16])
}
