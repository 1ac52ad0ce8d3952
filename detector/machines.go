package detector

import (
	"cmp"
	"fmt"
	"strings"

	"drift-detector/detector/match"
	"drift-detector/report"
	"drift-detector/report/code"
)

// machineRows is the table for machines: the first row that applies decides.
var machineRows = []machineRow{
	{
		"being-deleted",
		"The Machine, or an object without which it has no instance, is being deleted.",
		[]outcome{{code.Unknown, code.BeingDeleted}},
		func(f *machineFacts) bool { return f.Machine.Dying != nil },
		func(f *machineFacts) Verdict {
			v := f.undecided(code.BeingDeleted, f.Machine.Dying.Text)
			if since := &f.Machine.Dying.Since; !since.IsZero() {
				v.Deleting = since
			}
			return v
		},
	},
	{
		"kind-unread",
		"Objects that say what to look for could not be read.",
		[]outcome{{code.Unknown, code.KindUnread}},
		func(f *machineFacts) bool { return f.Unread != "" },
		func(f *machineFacts) Verdict { return f.undecided(code.KindUnread, f.Unread) },
	},
	{
		"provider-unsupported",
		"No provider of this version reads this kind of machine.",
		[]outcome{{code.Unknown, code.UnsupportedProvider}},
		func(f *machineFacts) bool { return f.Machine.Provider == "" },
		func(f *machineFacts) Verdict {
			return unknown(code.UnsupportedProvider, "no provider of this version reads "+cmp.Or(f.Machine.Source, "this kind of machine"))
		},
	},
	{
		"id-recorded-twice",
		"Another machine of the backup records the same id.",
		[]outcome{{code.Unknown, code.ClaimedTwice}},
		func(f *machineFacts) bool { return len(f.Machine.Conflicting) > 0 },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(code.ClaimedTwice, f.id()+" is recorded by "+conflictingNames(f.Machine)+" too"), f.AtHome, f.Copies)
		},
	},
	{
		"recorded-ids-differ",
		"The backup records two ids for the machine.",
		[]outcome{{code.Unknown, code.ConflictingIDs}},
		func(f *machineFacts) bool { return f.Machine.Conflict != "" },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(code.ConflictingIDs, f.subject.The()+" records two ids: "+f.Machine.Conflict), f.AtHome, f.Copies, f.Doubted)
		},
	},
	{
		"unreadable-at-home",
		"An instance that cannot be read may be the machine.",
		[]outcome{{code.Unknown, code.InstanceUnreadable}},
		func(f *machineFacts) bool { return len(f.Blind) > 0 },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(code.InstanceUnreadable, fmt.Sprintf("%s may be it, but its properties cannot be read", nameOf(f.Blind[0]))), f.Blind, f.Copies)
		},
	},
	{
		"id-at-contradicted-home",
		"An instance at home has the recorded id, but more names than ids say that this is another place.",
		[]outcome{{code.Unknown, code.ScopeIncomplete}},
		func(f *machineFacts) bool { return len(f.AtHome) > 0 && f.Place.Contradicted },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(code.ScopeIncomplete, nameOf(f.AtHome[0])+" has its id, but nothing shows that this is where its controllers look: "+f.Place.Fault.Hint), f.AtHome)
		},
	},
	{
		"id-on-several-at-home",
		"Two or more instances at home have the recorded id.",
		append(matchOutcomes(), outcome{code.Unknown, code.InfraObjectMissing}, outcome{code.Unknown, code.ScopeIncomplete}),
		func(f *machineFacts) bool { return len(f.AtHome) > 1 },
		decideDuplicates,
	},
	{
		"id-at-home-without-infra-object",
		"One instance at home has the recorded id, but the backup lacks the infrastructure object.",
		[]outcome{{code.Unknown, code.InfraObjectMissing}},
		func(f *machineFacts) bool { return len(f.AtHome) == 1 && f.Machine.InfraMissing },
		func(f *machineFacts) Verdict {
			return f.with(f.infraMissing(f.AtHome[0]), f.AtHome[0], code.Strong)
		},
	},
	{
		"pool-member-ended",
		"The instance with the recorded id has ended, and the machine is a member of a pool.",
		[]outcome{{code.Stale, code.PoolMember}, {code.Unknown, code.PoolMember}},
		func(f *machineFacts) bool { return len(f.AtHome) == 1 && f.AtHome[0].Gone && f.InPool() },
		func(f *machineFacts) Verdict {
			return f.with(f.leftPool(fmt.Sprintf("%s is listed as %s", nameOf(f.AtHome[0]), cmp.Or(f.AtHome[0].State, "ended"))), f.AtHome[0], code.Strong)
		},
	},
	remadeRow,
	{
		"instance-ended",
		"The instance with the recorded id has ended.",
		[]outcome{{code.Stale, code.InstanceTerminated}},
		func(f *machineFacts) bool { return len(f.AtHome) == 1 && f.AtHome[0].Gone },
		func(f *machineFacts) Verdict {
			return f.with(stale(code.InstanceTerminated, fmt.Sprintf("%s is listed as %s", nameOf(f.AtHome[0]), cmp.Or(f.AtHome[0].State, "ended"))), f.AtHome[0], code.Strong)
		},
	},
	droppedRow,
	{
		"id-at-home",
		"Exactly one instance at home has the recorded id.",
		append(matchOutcomes(), outcome{code.Unknown, code.ScopeIncomplete}),
		func(f *machineFacts) bool { return len(f.AtHome) == 1 },
		decideMatch,
	},
	{
		"moved-within-listing",
		"An instance with the machine's id was listed together with its home, but is outside of it.",
		[]outcome{{code.Unknown, code.FoundElsewhere}},
		func(f *machineFacts) bool {
			return !f.Place.Contradicted && f.ListedWithHome()
		},
		decideElsewhere,
	},
	{
		"home-incomplete",
		"The machine's home was not listed to the end, or is not proven to be the right place.",
		[]outcome{{code.Unknown, code.ScopeIncomplete}},
		func(f *machineFacts) bool { return !f.Place.Complete },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(code.ScopeIncomplete, "not found, but absence cannot be concluded: "+f.Place.Fault.Message), f.Elsewhere, f.Identity, f.Weak, f.Witness)
		},
	},
	{
		"id-elsewhere",
		"An instance with the machine's id is somewhere else.",
		[]outcome{{code.Unknown, code.FoundElsewhere}},
		func(f *machineFacts) bool { return len(f.Elsewhere) > 0 },
		decideElsewhere,
	},
	{
		"found-without-infra-object",
		"The backup has neither the machine's id nor its infrastructure object, but an instance has its second id or a weaker key.",
		[]outcome{{code.Unknown, code.AmbiguousMatch}, {code.Unknown, code.InfraObjectMissing}},
		func(f *machineFacts) bool {
			return f.Machine.Strong.IsZero() && f.Machine.InfraMissing && len(f.Identity)+len(f.Weak) > 0
		},
		func(f *machineFacts) Verdict {
			found := f.Identity
			if len(found) == 0 {
				found = f.Weak
			}
			if len(found) > 1 || f.Contested {
				return f.ambiguous(found)
			}
			return f.with(f.infraMissing(found[0]), found[0], code.Medium)
		},
	},
	{
		"second-id",
		"An instance has the machine's second id (vCenter's instance UUID).",
		append(matchOutcomes(), outcome{code.Unknown, code.IdentityChanged}),
		func(f *machineFacts) bool { return len(f.Identity) > 0 },
		decideIdentity,
	},
	{
		"other-id-in-its-place",
		"A running instance at home has the machine's name and place, but not the recorded id.",
		[]outcome{{code.Unknown, code.IdentityChanged}},
		func(f *machineFacts) bool { return !f.Machine.Strong.IsZero() && len(f.Witness) > 0 },
		decideWitness,
	},
	{
		"weaker-key-at-home",
		"The backup records no id, and an instance at home has a weaker key of the machine.",
		matchOutcomes(),
		func(f *machineFacts) bool { return len(f.Weak) > 0 },
		func(f *machineFacts) Verdict {
			if len(f.Weak) > 1 || f.Contested {
				return f.ambiguous(f.Weak)
			}
			return f.healthy(f.Weak[0], code.Medium)
		},
	},
	{
		"node-alive",
		"No instance was found, but a Node of the cluster reports that it is this machine.",
		[]outcome{{code.Unknown, code.NodeAlive}},
		func(f *machineFacts) bool { return f.Node != nil },
		func(f *machineFacts) Verdict {
			return unknown(code.NodeAlive, fmt.Sprintf("%s was not found, but Node %s reports that it is %s", f.id(), f.Node.Name, condition(f.Node)))
		},
	},
	{
		"pool-member-not-found",
		"No instance was found, and the machine is a member of a pool.",
		[]outcome{{code.Stale, code.PoolMember}, {code.Unknown, code.PoolMember}},
		func(f *machineFacts) bool { return f.InPool() },
		func(f *machineFacts) Verdict {
			return f.leftPool(f.id() + " was not found")
		},
	},
	{
		"no-id-but-namesake",
		"The backup records no id, and a running instance has the machine's name.",
		[]outcome{{code.Unknown, code.AmbiguousMatch}},
		func(f *machineFacts) bool { return f.Machine.Strong.IsZero() && len(f.Namesakes) > 0 },
		func(f *machineFacts) Verdict { return f.ambiguous(f.Namesakes) },
	},
	{
		"no-id-no-infra-object",
		"The backup has neither an id nor the infrastructure object of the machine.",
		[]outcome{{code.Unknown, code.InfraObjectMissing}},
		func(f *machineFacts) bool { return f.Machine.Strong.IsZero() && f.Machine.InfraMissing },
		func(f *machineFacts) Verdict {
			return unknown(code.InfraObjectMissing, f.subject.The()+" holds neither its infrastructure object nor an id of its instance, so there is nothing to look for")
		},
	},
	{
		"no-id-no-name",
		"The backup records no id, and how the machine's instance would be named is not known.",
		[]outcome{{code.Unknown, code.AmbiguousMatch}},
		func(f *machineFacts) bool { return f.Machine.Strong.IsZero() && f.Machine.Unnamed != "" },
		func(f *machineFacts) Verdict {
			return unknown(code.AmbiguousMatch, f.subject.The()+" records no id for it, and the name of an instance created since is not known: "+f.Machine.Unnamed)
		},
	},
	{
		"node-list-unread",
		"No instance was found, but the cluster's Node list could not be read, or does not say whether the machine's Node is ready, and may contradict that.",
		[]outcome{{code.Unknown, code.NodeListUnread}},
		func(f *machineFacts) bool { return f.Unlisted != "" },
		func(f *machineFacts) Verdict {
			return f.naming(unknown(code.NodeListUnread, fmt.Sprintf("%s was not found, but a Node may contradict that, and %s; --skip-access-apiserver decides without Nodes", f.id(), f.Unlisted)), f.Namesakes)
		},
	},
	{
		"never-provisioned",
		"The backup records no id, and no instance was found.",
		[]outcome{{code.Stale, code.NotProvisioned}},
		func(f *machineFacts) bool { return f.Machine.Strong.IsZero() },
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
	if len(f.AtHome) == 1 && len(f.Machine.Conflicting) == 0 {
		return f.others(f.with(unknown(reason, message), f.AtHome[0], code.Strong), f.Copies)
	}
	return f.naming(unknown(reason, message), f.AtHome, f.Copies, f.Identity, f.Weak)
}

// rivalNames names the other machines that record an expected machine's strong key, or an
// instance of several keys; the first few of them when there are many.
func conflictingNames(c *match.Machine) string {
	const few = 5
	var names []string
	for _, other := range c.Conflicting {
		if other == c {
			continue
		}
		if len(names) == few {
			return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), len(c.Conflicting)-1-few)
		}
		names = append(names, other.Of.Namespace+"/"+other.Of.Name)
	}
	return strings.Join(names, ", ")
}

// decideDuplicates decides on several instances with the recorded id: a second id
// shows which is the machine, or nothing does.
func decideDuplicates(f *machineFacts) Verdict {
	if f.Single == nil {
		return f.ambiguous(f.AtHome)
	}
	var v Verdict
	if f.Machine.InfraMissing {
		v = f.with(f.infraMissing(f.Single), f.Single, code.Strong)
	} else {
		v = f.healthy(f.Single, code.Strong)
	}
	return f.others(v, f.Without(f.Single, f.AtHome, f.Copies))
}

// infraMissing returns the verdict where an instance exists that no controller will tie
// to its Machine.
func (f *machineFacts) infraMissing(v *match.VM) Verdict {
	return unknown(code.InfraObjectMissing, nameOf(v)+" exists, but its infrastructure object is not in "+f.subject.The())
}

// decideMatch decides on the only instance with the recorded id. When both second ids
// differ and the home was not listed to the end, the machine's own instance may be in
// the rest.
func decideMatch(f *machineFacts) Verdict {
	if f.Reidentified && !f.Place.Complete {
		return f.ambiguous(f.AtHome)
	}
	v := f.healthy(f.AtHome[0], code.Strong)
	return f.others(v, f.Copies)
}

// decideIdentity decides on instances with the second id: vCenter's instance UUID is
// the VSphereVM's uid, but the recorded id is another, or none is recorded.
func decideIdentity(f *machineFacts) Verdict {
	switch {
	case !f.Machine.Strong.IsZero():
		v := f.Identity[0]
		return f.naming(unknown(code.IdentityChanged, fmt.Sprintf("%s has its %s, but the id %s instead of the recorded %s",
			nameOf(v), f.label(f.Machine.Identity.Kind), cmp.Or(v.Value(f.Machine.Strong.Kind), "of none"), f.Machine.Strong.Value)), f.Identity)
	case len(f.Identity) > 1 || f.Contested:
		return f.ambiguous(f.Identity)
	default:
		return f.healthy(f.Identity[0], code.Strong)
	}
}

// decideElsewhere decides on instances that are not at home. What was listed together
// with the home comes before home-incomplete: a datacenter that was renamed is still
// the machine's.
func decideElsewhere(f *machineFacts) Verdict {
	v := f.Elsewhere[0]
	return f.naming(unknown(code.FoundElsewhere, fmt.Sprintf("%s is not where the controllers look, but at %s", f.id(), nameOf(v))), f.Elsewhere)
}

// decideNothing returns the verdict on a machine that was not found by any key.
func decideNothing(f *machineFacts) Verdict {
	v := stale(code.InstanceNotFound, fmt.Sprintf("no VM with %s in %s; %s listed", f.id(), f.Place.Name, quantity(f.Place.Count, "VM", "VMs")))
	v.Evidence = f.reservations()
	if len(f.Namesakes) > 0 {
		v.Warnings = append(v.Warnings, report.Warning{Reason: code.SameNameElsewhere, Message: fmt.Sprintf("%s has its name, but not its id", nameOf(f.Namesakes[0]))})
		v = f.others(v, f.Namesakes)
	}
	return v
}

// decideWitness returns the verdict on a machine whose id was not found, while an
// instance in its place has its name.
func decideWitness(f *machineFacts) Verdict {
	v := f.Witness[0]
	too := ""
	if v.Has(f.Machine.Ref) {
		too = ", and the recorded " + f.label(f.Machine.Ref.Kind) + " too"
	}
	return f.naming(unknown(code.IdentityChanged, fmt.Sprintf("%s has its place and its name%s, but the id %s instead of the recorded %s; its Node, or an administrator of the infrastructure, can say whether it is the machine",
		nameOf(v), too, cmp.Or(v.Value(f.Machine.Strong.Kind), "of none"), f.Machine.Strong.Value)), f.Witness)
}

// reservations returns the evidence of an absence that rests on something which was not
// looked at: that nobody asked for the Node list that could contradict it, and what the
// operator stated.
func (f *machineFacts) reservations() []report.Evidence {
	var out []report.Evidence
	if f.Unasked {
		out = append(out, report.Evidence{Kind: "nodeList", Detail: "no Node list of the cluster was read, which could contradict that", Strength: code.Weak})
	}
	if f.Unvisited != "" {
		out = append(out, report.Evidence{Kind: "scope", Detail: f.Unvisited + ", where " + f.subject.The() + " has other machines, was not listed: it may have been moved there", Strength: code.Weak})
	}
	if f.Undated != "" {
		out = append(out, report.Evidence{Kind: "node", Detail: "Node " + f.Undated + " is still listed, in a list without heartbeats: that shows neither that it is alive nor that it is not", Strength: code.Weak})
	}
	if f.Place.Stated != "" {
		out = append(out, report.Evidence{Kind: "statement", Detail: f.Place.Stated, Strength: code.Medium})
	}
	return out
}
