package aws

import "drift-detector/report/code"

// remedies are what to do about a machine that could not be decided: nobody gives an
// instance another id or moves it to another region. CAPA goes by the recorded id, and
// without one by name, VPC and tags of those that run (GetRunningInstanceByTags in
// pkg/cloud/services/ec2/instances.go v2.11.1).
var remedies = map[code.Reason]string{
	code.AmbiguousMatch:     "Several instances may be the machine. First find out which of them its Node runs on: compare the Node's addresses and heartbeat with theirs. That one is left as it is; the owner of another one takes the tags of the machine from it (Name and that of the cluster), or terminates it. Then run detect again. Until then nothing may start, stop or terminate any of them: without a recorded id CAPA takes any that runs and has these tags.",
	code.DuplicateID:        "It has the id of a machine of the backup, and no two instances have one id: two places of the report may show the same account and region. Compare their accounts, and touch neither before that is clear: deleting that Machine terminates the instance.",
	code.FoundElsewhere:     "An instance with its id is where its controller does not look: in another account or region. It cannot be moved. See which is wrong: the region and identity that the backup names for the cluster, or the credentials that detect was given. Correct that, and run detect again; where CAPA looks in the wrong place, the Machine stays broken.",
	code.IdentityChanged:    "An instance that may be it is there under another id, which nobody can change: it may have been created in the machine's place, as from an image of it. Find out by its Node and addresses whether it is the machine. CAPA looks for the recorded id alone and does not take it over: leave the Machine as it is, and its cluster paused, until it is decided whether a new machine takes its place or the instance leaves the cluster. Then run detect again.",
	code.InstanceUnreadable: "An instance that may be this machine could not be read. Find out why (a permission of the credentials is missing, or AWS does not answer for it), and run detect again.",
}
