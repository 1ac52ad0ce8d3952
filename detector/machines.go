package detector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Reason codes of machines.
const (
	UnsupportedProvider = "UnsupportedProvider"
	ClaimedTwice        = "ClaimedTwice"
	ConflictingIDs      = "ConflictingIDs"
	InstanceUnreadable  = "InstanceUnreadable"
	AmbiguousMatch      = "AmbiguousMatch"
	InfraObjectMissing  = "InfraObjectMissing"
	InstanceTerminated  = "InstanceTerminated"
	ScopeIncomplete     = "ScopeIncomplete"
	FoundElsewhere      = "FoundElsewhere"
	IdentityChanged     = "IdentityChanged"
	NodeAlive           = "NodeAlive"
	NotProvisioned      = "NotProvisioned"
	InstanceNotFound    = "InstanceNotFound"
)

// Reason codes of warnings, beside those that providers give.
const (
	DuplicateID       = "DuplicateID"
	Reidentified      = "Reidentified"
	Template          = "Template"
	MachineMissing    = "MachineMissing"
	SameNameElsewhere = "SameNameElsewhere"
)

// machineRow is one row of the table for machines.
type machineRow struct {
	Name   string
	Fits   func(*machineFacts) bool
	Decide func(*machineFacts) Verdict
}

// machineRows is the table for machines: the first row that fits decides. The
// numbers are those of the design.
var machineRows = []machineRow{
	{
		"1 provider not supported",
		func(f *machineFacts) bool { return f.claim.Provider == "" },
		func(f *machineFacts) Verdict {
			return unknown(UnsupportedProvider, "no provider of this version reads "+cmp.Or(f.claim.Source, "this kind of machine"))
		},
	},
	{
		"2 strong key recorded by two machines",
		func(f *machineFacts) bool { return len(f.claim.rivals) > 0 },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(ClaimedTwice, f.id()+" is recorded by "+rivalNames(f.claim)+" too"), f.home, f.copies)
		},
	},
	{
		"2 two sources of the strong key differ",
		func(f *machineFacts) bool { return f.claim.Conflict != "" },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(ConflictingIDs, "the backup records two ids: "+f.claim.Conflict), f.home, f.copies, f.doubted)
		},
	},
	{
		"3 an unreadable VM at home may be it",
		func(f *machineFacts) bool { return len(f.blind) > 0 },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(InstanceUnreadable, fmt.Sprintf("%s may be it, but its properties cannot be read", nameOf(f.blind[0]))), f.blind, f.copies)
		},
	},
	{
		"3 strong key at a place that names contradict",
		func(f *machineFacts) bool { return len(f.home) > 0 && f.scope.contradicted },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(ScopeIncomplete, nameOf(f.home[0])+" has its id, but nothing shows that this is where its controllers look: "+f.scope.fault.Hint), f.home)
		},
	},
	{
		"4 strong key on two or more at home",
		func(f *machineFacts) bool { return len(f.home) > 1 },
		decideDuplicates,
	},
	{
		"5 strong key on one at home, infrastructure object absent",
		func(f *machineFacts) bool { return len(f.home) == 1 && f.claim.InfraMissing },
		func(f *machineFacts) Verdict {
			return f.with(f.infraMissing(f.home[0]), f.home[0], StrengthStrong)
		},
	},
	{
		"6 member of a pool that has ended",
		func(f *machineFacts) bool { return len(f.home) == 1 && f.home[0].Gone && f.inPool() },
		func(f *machineFacts) Verdict {
			return f.with(f.leftPool(fmt.Sprintf("%s is listed as %s", nameOf(f.home[0]), cmp.Or(f.home[0].State, "ended"))), f.home[0], StrengthStrong)
		},
	},
	remadeRow,
	{
		"6 strong key on one at home that has ended",
		func(f *machineFacts) bool { return len(f.home) == 1 && f.home[0].Gone },
		func(f *machineFacts) Verdict {
			return f.with(stale(InstanceTerminated, fmt.Sprintf("%s is listed as %s", nameOf(f.home[0]), cmp.Or(f.home[0].State, "ended"))), f.home[0], StrengthStrong)
		},
	},
	droppedRow,
	{
		"7 strong key on exactly one at home",
		func(f *machineFacts) bool { return len(f.home) == 1 },
		decideMatch,
	},
	{
		"8 found elsewhere in the listing of its home",
		func(f *machineFacts) bool {
			return !f.scope.contradicted && slices.ContainsFunc(f.elsewhere, func(v *vm) bool { return v.seenIn(f.scope.listings) })
		},
		decideElsewhere,
	},
	{
		"8 home scope partial or failed",
		func(f *machineFacts) bool { return !f.scope.complete },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(ScopeIncomplete, "not found, but absence cannot be concluded: "+f.scope.fault.Message), f.elsewhere, f.identity, f.weak, f.witness)
		},
	},
	{
		"9 found elsewhere",
		func(f *machineFacts) bool { return len(f.elsewhere) > 0 },
		decideElsewhere,
	},
	{
		"10 infrastructure object absent, found by keys beside the strong one that is not recorded",
		func(f *machineFacts) bool {
			return f.claim.Strong.IsZero() && f.claim.InfraMissing && len(f.identity)+len(f.weak) > 0
		},
		func(f *machineFacts) Verdict {
			found := f.identity
			if len(found) == 0 {
				found = f.weak
			}
			if len(found) > 1 || f.contested {
				return f.ambiguous(found)
			}
			return f.with(f.infraMissing(found[0]), found[0], StrengthMedium)
		},
	},
	{
		"10 second key that finds by itself",
		func(f *machineFacts) bool { return len(f.identity) > 0 },
		decideIdentity,
	},
	{
		"10 another id in its place, under its name",
		func(f *machineFacts) bool { return !f.claim.Strong.IsZero() && len(f.witness) > 0 },
		decideWitness,
	},
	{
		"11 no strong key recorded, weaker keys at home",
		func(f *machineFacts) bool { return len(f.weak) > 0 },
		func(f *machineFacts) Verdict {
			if len(f.weak) > 1 || f.contested {
				return f.ambiguous(f.weak)
			}
			return f.healthy(f.weak[0], StrengthMedium)
		},
	},
	{
		"12 a Node of its cluster is alive",
		func(f *machineFacts) bool { return f.node != nil },
		func(f *machineFacts) Verdict {
			return unknown(NodeAlive, fmt.Sprintf("%s was not found, but Node %s reports that it is %s", f.id(), f.node.Name, condition(f.node)))
		},
	},
	{
		"13 member of a pool",
		(*machineFacts).inPool,
		func(f *machineFacts) Verdict {
			return f.leftPool(f.id() + " was not found")
		},
	},
	{
		"13 no strong key recorded, a living instance has its name",
		func(f *machineFacts) bool { return f.claim.Strong.IsZero() && len(f.namesakes) > 0 },
		func(f *machineFacts) Verdict { return f.ambiguous(f.namesakes) },
	},
	{
		"13 no strong key recorded, infrastructure object absent",
		func(f *machineFacts) bool { return f.claim.Strong.IsZero() && f.claim.InfraMissing },
		func(f *machineFacts) Verdict {
			return unknown(InfraObjectMissing, "the backup holds neither its infrastructure object nor an id of its instance, so there is nothing to look for")
		},
	},
	{
		"13 no strong key recorded, nor known what its instance is called",
		func(f *machineFacts) bool { return f.claim.Strong.IsZero() && f.claim.Unnamed != "" },
		func(f *machineFacts) Verdict {
			return unknown(AmbiguousMatch, "the backup records no id for it, and what an instance made since would be called cannot be told: "+f.claim.Unnamed)
		},
	},
	{
		"13 the Node list was asked for and not read",
		func(f *machineFacts) bool { return f.unlisted != "" },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(NodeListUnread, fmt.Sprintf("%s was not found, but a Node may contradict that, and %s; --skip-access-apiserver decides without Nodes", f.id(), f.unlisted)), f.namesakes)
		},
	},
	{
		"13 no strong key recorded",
		func(f *machineFacts) bool { return f.claim.Strong.IsZero() },
		func(f *machineFacts) Verdict {
			v := stale(NotProvisioned, "the backup records no id for it, and no instance was made since")
			v.Evidence = f.reservations()
			return v
		},
	},
	{
		"14 nothing",
		func(*machineFacts) bool { return true },
		decideNothing,
	},
}

func (f *machineFacts) inPool() bool { return !f.claim.Pool.IsZero() }

// rivalNames names the other machines that record a claim's strong key, or an
// instance of several keys; the first few of them when there are many.
func rivalNames(c *claim) string {
	const few = 5
	var names []string
	for _, other := range c.rivals {
		if other == c {
			continue
		}
		if len(names) == few {
			return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), len(c.rivals)-1-few)
		}
		names = append(names, other.namespace+"/"+other.name)
	}
	return strings.Join(names, ", ")
}

// decideDuplicates is row 4: a second key tells the machine from its copies, or
// nothing does.
func decideDuplicates(f *machineFacts) Verdict {
	if f.single == nil {
		return f.ambiguous(f.home)
	}
	v := f.healthy(f.single, StrengthStrong)
	if f.claim.InfraMissing {
		v = f.with(f.infraMissing(f.single), f.single, StrengthStrong)
	}
	return others(v, f.without(f.single, f.home, f.copies))
}

// infraMissing is the verdict where an instance exists that no controller will tie
// to its Machine.
func (f *machineFacts) infraMissing(v *vm) Verdict {
	return unknown(InfraObjectMissing, nameOf(v)+" exists, but its infrastructure object is not in the backup")
}

// decideMatch is row 7. When both second keys differ and parts of the place were
// not seen, the machine's own instance may be among those.
func decideMatch(f *machineFacts) Verdict {
	if f.reidentified && !f.scope.complete {
		return f.ambiguous(f.home)
	}
	v := f.healthy(f.home[0], StrengthStrong)
	return others(v, f.copies)
}

// decideIdentity is row 10: vCenter's instance UUID is the VSphereVM's uid, but
// the recorded id is not that of the instance, or none is recorded.
func decideIdentity(f *machineFacts) Verdict {
	switch {
	case !f.claim.Strong.IsZero():
		v := f.identity[0]
		return f.naming(unknown(IdentityChanged, fmt.Sprintf("%s bears its %s, but the id %s instead of the recorded %s",
			nameOf(v), label(f.claim.Identity.Kind), cmp.Or(valueOf(v, f.claim.Strong.Kind), "of none"), f.claim.Strong.Value)), f.identity)
	case len(f.identity) > 1 || f.contested:
		return f.ambiguous(f.identity)
	default:
		return f.healthy(f.identity[0], StrengthStrong)
	}
}

// decideElsewhere is row 9, which comes before row 8 for what is seen in the same
// listing: a datacenter that has another name now is still the machine's.
func decideElsewhere(f *machineFacts) Verdict {
	v := f.elsewhere[0]
	return f.naming(unknown(FoundElsewhere, fmt.Sprintf("%s is not where the controllers look, but at %s", f.id(), nameOf(v))), f.elsewhere)
}

// decideNothing is row 14.
func decideNothing(f *machineFacts) Verdict {
	v := stale(InstanceNotFound, fmt.Sprintf("no VM with %s in %s; %d VMs listed", f.id(), f.scope.name, f.scope.count))
	v.Evidence = f.reservations()
	if len(f.namesakes) > 0 {
		v.Warnings = append(v.Warnings, Warning{SameNameElsewhere, fmt.Sprintf("%s has its name, but not its id", nameOf(f.namesakes[0]))})
		v = others(v, f.namesakes)
	}
	return v
}

func unknown(reason, message string) Verdict {
	return Verdict{Status: Unknown, Reason: reason, Message: message}
}

func stale(reason, message string) Verdict {
	return Verdict{Status: Stale, Reason: reason, Message: message}
}
