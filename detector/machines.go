package detector

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// machineFacts is all that a row of the table for machines may look at.
type machineFacts struct {
	*factsOfMachine
	subject code.Subject      // of sentences
	words   map[string]string // of its provider
	read    time.Time         // when its management cluster was, where it is one that runs
	named   []*vm             // beside the verdict's own instance
}

// machineRows is the table for machines: the first row that applies decides.
var machineRows = []machineRow{
	{
		"being-deleted",
		"The Machine, or an object without which it has no instance, is being deleted.",
		[]outcome{{code.Unknown, code.BeingDeleted}},
		func(f *machineFacts) bool { return f.expected.Dying != nil },
		func(f *machineFacts) Verdict {
			v := f.undecided(code.BeingDeleted, f.expected.Dying.Text)
			if since := &f.expected.Dying.Since; !since.IsZero() {
				v.Deleting = since
			}
			return v
		},
	},
	{
		"kind-unread",
		"Objects that say what to look for could not be read.",
		[]outcome{{code.Unknown, code.KindUnread}},
		func(f *machineFacts) bool { return f.unread != "" },
		func(f *machineFacts) Verdict { return f.undecided(code.KindUnread, f.unread) },
	},
	{
		"provider-unsupported",
		"No provider of this version reads this kind of machine.",
		[]outcome{{code.Unknown, code.UnsupportedProvider}},
		func(f *machineFacts) bool { return f.expected.Provider == "" },
		func(f *machineFacts) Verdict {
			return unknown(code.UnsupportedProvider, "no provider of this version reads "+cmp.Or(f.expected.Source, "this kind of machine"))
		},
	},
	{
		"id-recorded-twice",
		"Another machine of the backup records the same id.",
		[]outcome{{code.Unknown, code.ClaimedTwice}},
		func(f *machineFacts) bool { return len(f.expected.conflicting) > 0 },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(code.ClaimedTwice, f.id()+" is recorded by "+conflictingNames(f.expected)+" too"), f.home, f.copies)
		},
	},
	{
		"recorded-ids-differ",
		"The backup records two ids for the machine.",
		[]outcome{{code.Unknown, code.ConflictingIDs}},
		func(f *machineFacts) bool { return f.expected.Conflict != "" },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(code.ConflictingIDs, f.subject.The()+" records two ids: "+f.expected.Conflict), f.home, f.copies, f.doubted)
		},
	},
	{
		"unreadable-at-home",
		"An instance that cannot be read may be the machine.",
		[]outcome{{code.Unknown, code.InstanceUnreadable}},
		func(f *machineFacts) bool { return len(f.blind) > 0 },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(code.InstanceUnreadable, fmt.Sprintf("%s may be it, but its properties cannot be read", nameOf(f.blind[0]))), f.blind, f.copies)
		},
	},
	{
		"id-at-contradicted-home",
		"An instance at home has the recorded id, but more names than ids say that this is another place.",
		[]outcome{{code.Unknown, code.ScopeIncomplete}},
		func(f *machineFacts) bool { return len(f.home) > 0 && f.scope.contradicted },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(code.ScopeIncomplete, nameOf(f.home[0])+" has its id, but nothing shows that this is where its controllers look: "+f.scope.fault.Hint), f.home)
		},
	},
	{
		"id-on-several-at-home",
		"Two or more instances at home have the recorded id.",
		append(matchOutcomes(), outcome{code.Unknown, code.InfraObjectMissing}, outcome{code.Unknown, code.ScopeIncomplete}),
		func(f *machineFacts) bool { return len(f.home) > 1 },
		decideDuplicates,
	},
	{
		"id-at-home-without-infra-object",
		"One instance at home has the recorded id, but the backup lacks the infrastructure object.",
		[]outcome{{code.Unknown, code.InfraObjectMissing}},
		func(f *machineFacts) bool { return len(f.home) == 1 && f.expected.InfraMissing },
		func(f *machineFacts) Verdict {
			return f.with(f.infraMissing(f.home[0]), f.home[0], code.Strong)
		},
	},
	{
		"pool-member-ended",
		"The instance with the recorded id has ended, and the machine is a member of a pool.",
		[]outcome{{code.Stale, code.PoolMember}, {code.Unknown, code.PoolMember}},
		func(f *machineFacts) bool { return len(f.home) == 1 && f.home[0].Gone && f.inPool() },
		func(f *machineFacts) Verdict {
			return f.with(f.leftPool(fmt.Sprintf("%s is listed as %s", nameOf(f.home[0]), cmp.Or(f.home[0].State, "ended"))), f.home[0], code.Strong)
		},
	},
	remadeRow,
	{
		"instance-ended",
		"The instance with the recorded id has ended.",
		[]outcome{{code.Stale, code.InstanceTerminated}},
		func(f *machineFacts) bool { return len(f.home) == 1 && f.home[0].Gone },
		func(f *machineFacts) Verdict {
			return f.with(stale(code.InstanceTerminated, fmt.Sprintf("%s is listed as %s", nameOf(f.home[0]), cmp.Or(f.home[0].State, "ended"))), f.home[0], code.Strong)
		},
	},
	droppedRow,
	{
		"id-at-home",
		"Exactly one instance at home has the recorded id.",
		append(matchOutcomes(), outcome{code.Unknown, code.ScopeIncomplete}),
		func(f *machineFacts) bool { return len(f.home) == 1 },
		decideMatch,
	},
	{
		"moved-within-listing",
		"An instance with the machine's id was listed together with its home, but is outside of it.",
		[]outcome{{code.Unknown, code.FoundElsewhere}},
		func(f *machineFacts) bool {
			return !f.scope.contradicted && f.listedWithHome()
		},
		decideElsewhere,
	},
	{
		"home-incomplete",
		"The machine's home was not listed to the end, or is not proven to be the right place.",
		[]outcome{{code.Unknown, code.ScopeIncomplete}},
		func(f *machineFacts) bool { return !f.scope.complete },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(code.ScopeIncomplete, "not found, but absence cannot be concluded: "+f.scope.fault.Message), f.elsewhere, f.identity, f.weak, f.witness)
		},
	},
	{
		"id-elsewhere",
		"An instance with the machine's id is somewhere else.",
		[]outcome{{code.Unknown, code.FoundElsewhere}},
		func(f *machineFacts) bool { return len(f.elsewhere) > 0 },
		decideElsewhere,
	},
	{
		"found-without-infra-object",
		"The backup has neither the machine's id nor its infrastructure object, but an instance has its second id or a weaker key.",
		[]outcome{{code.Unknown, code.AmbiguousMatch}, {code.Unknown, code.InfraObjectMissing}},
		func(f *machineFacts) bool {
			return f.expected.Strong.IsZero() && f.expected.InfraMissing && len(f.identity)+len(f.weak) > 0
		},
		func(f *machineFacts) Verdict {
			found := f.identity
			if len(found) == 0 {
				found = f.weak
			}
			if len(found) > 1 || f.contested {
				return f.ambiguous(found)
			}
			return f.with(f.infraMissing(found[0]), found[0], code.Medium)
		},
	},
	{
		"second-id",
		"An instance has the machine's second id (vCenter's instance UUID).",
		append(matchOutcomes(), outcome{code.Unknown, code.IdentityChanged}),
		func(f *machineFacts) bool { return len(f.identity) > 0 },
		decideIdentity,
	},
	{
		"other-id-in-its-place",
		"A running instance at home has the machine's name and place, but not the recorded id.",
		[]outcome{{code.Unknown, code.IdentityChanged}},
		func(f *machineFacts) bool { return !f.expected.Strong.IsZero() && len(f.witness) > 0 },
		decideWitness,
	},
	{
		"weaker-key-at-home",
		"The backup records no id, and an instance at home has a weaker key of the machine.",
		matchOutcomes(),
		func(f *machineFacts) bool { return len(f.weak) > 0 },
		func(f *machineFacts) Verdict {
			if len(f.weak) > 1 || f.contested {
				return f.ambiguous(f.weak)
			}
			return f.healthy(f.weak[0], code.Medium)
		},
	},
	{
		"node-alive",
		"No instance was found, but a Node of the cluster reports that it is this machine.",
		[]outcome{{code.Unknown, code.NodeAlive}},
		func(f *machineFacts) bool { return f.node != nil },
		func(f *machineFacts) Verdict {
			return unknown(code.NodeAlive, fmt.Sprintf("%s was not found, but Node %s reports that it is %s", f.id(), f.node.Name, condition(f.node)))
		},
	},
	{
		"pool-member-not-found",
		"No instance was found, and the machine is a member of a pool.",
		[]outcome{{code.Stale, code.PoolMember}, {code.Unknown, code.PoolMember}},
		func(f *machineFacts) bool { return f.inPool() },
		func(f *machineFacts) Verdict {
			return f.leftPool(f.id() + " was not found")
		},
	},
	{
		"no-id-but-namesake",
		"The backup records no id, and a running instance has the machine's name.",
		[]outcome{{code.Unknown, code.AmbiguousMatch}},
		func(f *machineFacts) bool { return f.expected.Strong.IsZero() && len(f.namesakes) > 0 },
		func(f *machineFacts) Verdict { return f.ambiguous(f.namesakes) },
	},
	{
		"no-id-no-infra-object",
		"The backup has neither an id nor the infrastructure object of the machine.",
		[]outcome{{code.Unknown, code.InfraObjectMissing}},
		func(f *machineFacts) bool { return f.expected.Strong.IsZero() && f.expected.InfraMissing },
		func(f *machineFacts) Verdict {
			return unknown(code.InfraObjectMissing, f.subject.The()+" holds neither its infrastructure object nor an id of its instance, so there is nothing to look for")
		},
	},
	{
		"no-id-no-name",
		"The backup records no id, and how the machine's instance would be named is not known.",
		[]outcome{{code.Unknown, code.AmbiguousMatch}},
		func(f *machineFacts) bool { return f.expected.Strong.IsZero() && f.expected.Unnamed != "" },
		func(f *machineFacts) Verdict {
			return unknown(code.AmbiguousMatch, f.subject.The()+" records no id for it, and the name of an instance created since is not known: "+f.expected.Unnamed)
		},
	},
	{
		"node-list-unread",
		"No instance was found, but the cluster's Node list could not be read, or does not say whether the machine's Node is ready, and may contradict that.",
		[]outcome{{code.Unknown, code.NodeListUnread}},
		func(f *machineFacts) bool { return f.unlisted != "" },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(code.NodeListUnread, fmt.Sprintf("%s was not found, but a Node may contradict that, and %s; --skip-access-apiserver decides without Nodes", f.id(), f.unlisted)), f.namesakes)
		},
	},
	{
		"never-provisioned",
		"The backup records no id, and no instance was found.",
		[]outcome{{code.Stale, code.NotProvisioned}},
		func(f *machineFacts) bool { return f.expected.Strong.IsZero() },
		func(f *machineFacts) Verdict {
			v := stale(code.NotProvisioned, f.subject.The()+" records no id for it, and no instance was created since")
			v.Evidence = f.reservations()
			return v
		},
	},
	{
		"not-found",
		"No instance was found in a complete listing of the machine's home.",
		[]outcome{{code.Stale, code.InstanceNotFound}},
		func(*machineFacts) bool { return true },
		decideNothing,
	},
}

// undecided returns the verdict where what was found decides nothing. The one instance that has
// its id is the machine's all the same.
func (f *machineFacts) undecided(reason code.Reason, message string) Verdict {
	if len(f.home) == 1 && len(f.expected.conflicting) == 0 {
		return f.others(f.with(unknown(reason, message), f.home[0], code.Strong), f.copies)
	}
	return f.naming(unknown(reason, message), f.home, f.copies, f.identity, f.weak)
}

// rivalNames names the other machines that record an expected machine's strong key, or an
// instance of several keys; the first few of them when there are many.
func conflictingNames(c *expectedMachine) string {
	const few = 5
	var names []string
	for _, other := range c.conflicting {
		if other == c {
			continue
		}
		if len(names) == few {
			return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), len(c.conflicting)-1-few)
		}
		names = append(names, other.of.Namespace+"/"+other.of.Name)
	}
	return strings.Join(names, ", ")
}

// decideDuplicates decides on several instances with the recorded id: a second id
// shows which is the machine, or nothing does.
func decideDuplicates(f *machineFacts) Verdict {
	if f.single == nil {
		return f.ambiguous(f.home)
	}
	var v Verdict
	if f.expected.InfraMissing {
		v = f.with(f.infraMissing(f.single), f.single, code.Strong)
	} else {
		v = f.healthy(f.single, code.Strong)
	}
	return f.others(v, f.without(f.single, f.home, f.copies))
}

// infraMissing returns the verdict where an instance exists that no controller will tie
// to its Machine.
func (f *machineFacts) infraMissing(v *vm) Verdict {
	return unknown(code.InfraObjectMissing, nameOf(v)+" exists, but its infrastructure object is not in "+f.subject.The())
}

// decideMatch decides on the only instance with the recorded id. When both second ids
// differ and the home was not listed to the end, the machine's own instance may be in
// the rest.
func decideMatch(f *machineFacts) Verdict {
	if f.reidentified && !f.scope.complete {
		return f.ambiguous(f.home)
	}
	v := f.healthy(f.home[0], code.Strong)
	return f.others(v, f.copies)
}

// decideIdentity decides on instances with the second id: vCenter's instance UUID is
// the VSphereVM's uid, but the recorded id is another, or none is recorded.
func decideIdentity(f *machineFacts) Verdict {
	switch {
	case !f.expected.Strong.IsZero():
		v := f.identity[0]
		return f.naming(unknown(code.IdentityChanged, fmt.Sprintf("%s has its %s, but the id %s instead of the recorded %s",
			nameOf(v), f.label(f.expected.Identity.Kind), cmp.Or(v.value(f.expected.Strong.Kind), "of none"), f.expected.Strong.Value)), f.identity)
	case len(f.identity) > 1 || f.contested:
		return f.ambiguous(f.identity)
	default:
		return f.healthy(f.identity[0], code.Strong)
	}
}

// decideElsewhere decides on instances that are not at home. What was listed together
// with the home comes before home-incomplete: a datacenter that was renamed is still
// the machine's.
func decideElsewhere(f *machineFacts) Verdict {
	v := f.elsewhere[0]
	return f.naming(unknown(code.FoundElsewhere, fmt.Sprintf("%s is not where the controllers look, but at %s", f.id(), nameOf(v))), f.elsewhere)
}

// decideNothing returns the verdict on a machine that was not found by any key.
func decideNothing(f *machineFacts) Verdict {
	v := stale(code.InstanceNotFound, fmt.Sprintf("no VM with %s in %s; %s listed", f.id(), f.scope.name, quantity(f.scope.count, "VM", "VMs")))
	v.Evidence = f.reservations()
	if len(f.namesakes) > 0 {
		v.Warnings = append(v.Warnings, report.Warning{Reason: code.SameNameElsewhere, Message: fmt.Sprintf("%s has its name, but not its id", nameOf(f.namesakes[0]))})
		v = f.others(v, f.namesakes)
	}
	return v
}

func unknown(reason code.Reason, message string) Verdict {
	return Verdict{Status: code.Unknown, Reason: reason, Message: message}
}

func stale(reason code.Reason, message string) Verdict {
	return Verdict{Status: code.Stale, Reason: reason, Message: message}
}

// decideWitness returns the verdict on a machine whose id was not found, while an
// instance in its place has its name.
func decideWitness(f *machineFacts) Verdict {
	v := f.witness[0]
	too := ""
	if v.has(f.expected.Ref) {
		too = ", and the recorded " + f.label(f.expected.Ref.Kind) + " too"
	}
	return f.naming(unknown(code.IdentityChanged, fmt.Sprintf("%s has its place and its name%s, but the id %s instead of the recorded %s; its Node, or an administrator of the infrastructure, can say whether it is the machine",
		nameOf(v), too, cmp.Or(v.value(f.expected.Strong.Kind), "of none"), f.expected.Strong.Value)), f.witness)
}

// displaced reports what runs in the place of an instance that is off. Whoever
// starts that one makes a second machine of the name.
func (f *machineFacts) displaced(found *vm) (v Verdict, displaced bool) {
	if found.Runs() {
		return v, false
	}
	running := f.running(found)
	switch {
	case f.node != nil:
		v = unknown(code.NodeAlive, fmt.Sprintf("%s does not run, but Node %s reports that it is %s: another instance runs in its place, and powering this one on creates a second", nameOf(found), f.node.Name, condition(f.node)))
	case len(running) > 0:
		v = unknown(code.AmbiguousMatch, fmt.Sprintf("%s does not run, and %s, which has its id or its name, does: powering on creates a second one", nameOf(found), nameOf(running[0])))
	case !f.scope.complete:
		v = unknown(code.ScopeIncomplete, fmt.Sprintf("%s does not run, and what may run in its place is not known: %s", nameOf(found), f.scope.fault.Message))
	case f.unlisted != "":
		v = unknown(code.NodeListUnread, fmt.Sprintf("%s does not run, and whether its Node does is not known: %s", nameOf(found), f.unlisted))
	default:
		return v, false
	}
	return f.others(f.with(v, found, code.Strong), f.without(found, f.home, f.copies, running)), true
}

// reservations returns the evidence of an absence that rests on something which was not
// looked at: that nobody asked for the Node list that could contradict it, and what the
// operator stated.
func (f *machineFacts) reservations() []report.Evidence {
	var out []report.Evidence
	if f.unasked {
		out = append(out, report.Evidence{Kind: "nodeList", Detail: "no Node list of the cluster was read, which could contradict that", Strength: code.Weak})
	}
	if f.unvisited != "" {
		out = append(out, report.Evidence{Kind: "scope", Detail: f.unvisited + ", where " + f.subject.The() + " has other machines, was not listed: it may have been moved there", Strength: code.Weak})
	}
	if f.undated != "" {
		out = append(out, report.Evidence{Kind: "node", Detail: "Node " + f.undated + " is still listed, in a list without heartbeats: that shows neither that it is alive nor that it is not", Strength: code.Weak})
	}
	if f.scope.stated != "" {
		out = append(out, report.Evidence{Kind: "statement", Detail: f.scope.stated, Strength: code.Medium})
	}
	return out
}
