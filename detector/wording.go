package detector

import (
	"cmp"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// label returns what people call a kind of key of the machine's provider.
func (f *machineFacts) label(kind infra.KeyKind) string {
	name := kind.String()
	return cmp.Or(f.words[name], name)
}

// condition returns what a warning means that an instance brings along.
func (f *machineFacts) condition(reason code.Reason) string {
	if reason == code.PoweredOff {
		return "the VM is powered off"
	}
	return cmp.Or(f.words[string(reason)], string(reason))
}

// nameOf is what a person finds an instance by.
func nameOf(v *vm) string {
	return cmp.Or(v.Path, v.Name, v.ID, v.Ref, v.Identity, "an instance without a name")
}
