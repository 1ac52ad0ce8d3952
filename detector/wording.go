package detector

import "cmp"

// labels are the words for kinds of keys in messages; other kinds stand for themselves.
var labels = map[string]string{
	"biosUUID":     "BIOS UUID",
	"instanceUUID": "instance UUID",
	"vmRef":        "managed object id",
	"instanceID":   "instance id",
}

func label(kind string) string { return cmp.Or(labels[kind], kind) }

// conditions are the words for warnings that instances bring along; others
// stand for themselves.
var conditions = map[string]string{
	"PoweredOff":   "the VM is powered off",
	"Disconnected": "the host of the VM is disconnected",
}

func conditionText(reason string) string { return cmp.Or(conditions[reason], reason) }

// nameOf is what a person finds an instance by.
func nameOf(v *vm) string {
	return cmp.Or(v.Path, v.Name, v.ID, v.Ref, v.Identity, "an instance without a name")
}
