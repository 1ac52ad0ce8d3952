package code

// Status is the status of a machine, or the roll-up of what holds machines. Healthy
// is both.
type Status string

// Statuses of a machine.
const (
	Healthy Status = "Healthy" // object and instance match
	Stale   Status = "Stale"   // object without instance
	Ghost   Status = "Ghost"   // instance without object
	Unknown Status = "Unknown" // cannot be decided
)

// Statuses of control plane, workers, group, cluster and summary, worst first;
// the best is Healthy. The third is of the summary only.
const (
	ManualRemediationRequired            Status = "ManualRemediationRequired"
	NeedFurtherConfirmation              Status = "NeedFurtherConfirmation"
	NeedFurtherConfirmationInfraMachines Status = "NeedFurtherConfirmationInfraMachines"
	ManualRemediationNotRequired         Status = "ManualRemediationNotRequired"
)

// statuses are of machines and of what holds them.
var statuses = []Row{
	{
		Code: Reason(Healthy), Kinds: []Kind{OfStatus},
		Happens: "Object and VM match.",
		Why:     "The restored controllers know the VM; read in its forecast what they do with it.",
		Do:      "Nothing, unless it has a warning.",
	},
	{
		Code: Reason(Stale), Kinds: []Kind{OfStatus},
		Happens: "Object without VM.",
		Why:     "Its Machine is restored without a VM and counts as a replica: few controllers replace it by themselves.",
		Do:      "Read its forecast; most often its Machine is deleted after the restore.",
	},
	{
		Code: Reason(Ghost), Kinds: []Kind{OfStatus},
		Happens: "VM without object.",
		Why:     "The VM runs on, keeps its addresses and costs money, and no restored controller knows it.",
		Do:      "Use a newer backup if there is one; else drain its Node and remove the VM after the restore. 'drift-detector plan' has the commands.",
	},
	{
		Code: Reason(Unknown), Kinds: []Kind{OfStatus},
		Happens: "Cannot be decided.",
		Why:     "A decision without knowing may delete a running VM, or leave one behind.",
		Do:      "Correct the cause that its reason names, and run detect again.",
	},
	{
		Code: Reason(ManualRemediationRequired), Kinds: []Kind{OfStatus},
		Happens: "Contains a Ghost.",
		Why:     "VMs run that no restored controller knows.",
		Do:      "Follow 'drift-detector plan'.",
	},
	{
		Code: Reason(NeedFurtherConfirmation), Kinds: []Kind{OfStatus},
		Happens: "Contains an Unknown, an error, or a warning that must be looked at.",
		Why:     "Something could not be decided, so the rest may change.",
		Do:      "Resolve what is Unknown, and run detect again.",
	},
	{
		Code: Reason(NeedFurtherConfirmationInfraMachines), Kinds: []Kind{OfStatus},
		Happens: "Nothing worse than VMs that may or may not belong to a cluster.",
		Why:     "A VM that belongs to a cluster and is not in the backup is a Ghost.",
		Do:      "Ask the owners of these VMs.",
	},
	{
		Code: Reason(ManualRemediationNotRequired), Kinds: []Kind{OfStatus},
		Happens: "Contains a Stale.",
		Why:     "No VM is lost sight of. Machines without a VM may still stay broken: read their forecast.",
		Do:      "Follow 'drift-detector plan'.",
	},
}
