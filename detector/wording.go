package detector

import (
	"cmp"
	"fmt"

	"drift-detector/detector/match"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

// conditions returns what an instance brings along, with what it means.
func conditions(v *match.VM, words map[string]string) (all []report.Warning) {
	for _, w := range v.Warnings {
		message := cmp.Or(words[string(w)], string(w))
		if w == code.PoweredOff {
			message = "the VM is powered off"
		}
		all = append(all, report.Warning{Reason: w, Message: message})
	}
	return all
}

// nameOf returns what a person finds an instance by.
func nameOf(v *match.VM) string {
	return cmp.Or(v.Path, v.Name, v.ID, v.Ref, v.Identity, "an instance without a name")
}

// condition returns the state of a living Node in words.
func condition(n *infra.Node) string {
	if n.Ready {
		return "ready"
	}
	return "not ready, as only a kubelet that runs does"
}

// quantity returns a number with what there are so many of.
func quantity(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
