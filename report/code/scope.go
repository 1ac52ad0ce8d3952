package code

// Why a scope is not complete, or a Node list was not read.
const (
	AuthenticationFailed Reason = "AuthenticationFailed"
	BadEndpoint          Reason = "BadEndpoint"
	BadIdentity          Reason = "BadIdentity"
	InternalError        Reason = "InternalError"
	Interrupted          Reason = "Interrupted"
	ListedBeforeBackup   Reason = "ListedBeforeBackup"
	ListingBroken        Reason = "ListingBroken"
	ListingIncomplete    Reason = "ListingIncomplete"
	NoCredential         Reason = "NoCredential"
	NoPermission         Reason = "NoPermission"
	NotAsked             Reason = "NotAsked"
	NotListed            Reason = "NotListed"
	Throttled            Reason = "Throttled"
	TimedOut             Reason = "TimedOut"
	UnexpectedAnswer     Reason = "UnexpectedAnswer"
	Unreachable          Reason = "Unreachable"
	UntrustedCertificate Reason = "UntrustedCertificate"
	VisibilityUnproven   Reason = "VisibilityUnproven"
	KubeconfigRefused    Reason = "KubeconfigRefused"
	NoKubeconfig         Reason = "NoKubeconfig"
)

// scopes are why a place or a Node list could not be read in full.
var scopes = []Row{
	{
		Code: AuthenticationFailed, Kinds: []Kind{OfScope}, Phases: []Phase{Before},
		Happens: "The endpoint refused the credential.",
		Why:     "Nothing was listed there, so that machines of that place are Unknown; a controller with the same credential cannot log in after the restore, either.",
		Do:      "Give a working credential with --credentials or the provider's own options. The one in the backup may have been changed since; its controller fails with it, too.",
	},
	{
		Code: BadEndpoint, Kinds: []Kind{OfScope}, Phases: []Phase{Before},
		Happens: "The backup's endpoint is not valid, or not one that may be contacted.",
		Why:     "No connection was tried, so that machines of that place are Unknown.",
		Do:      "Compare the endpoint with the infrastructure cluster in the backup; --endpoint FROM=TO names another one.",
	},
	{
		Code: BadIdentity, Kinds: []Kind{OfScope}, Phases: []Phase{Before},
		Happens: "The identity of the backup cannot be used; the message says why.",
		Why:     "Nothing was listed with it, so that machines of that place are Unknown; the restored controller cannot log in with it, either.",
		Do:      "Read the message; give a credential of your own, and correct the identity before the Cluster is unpaused.",
	},
	{
		Code: InternalError, Kinds: []Kind{OfScope},
		Happens: "Drift-detector itself failed while listing.",
		Why:     "It is a bug: what that place holds is not known, and its machines are Unknown.",
		Do:      "Run detect again with --debug, and report it as a bug.",
	},
	{
		Code: Interrupted, Kinds: []Kind{OfScope},
		Happens: "The run was interrupted while listing.",
		Why:     "What was not listed by then may hold VMs, so that absence proves nothing.",
		Do:      "Run detect again and let it finish.",
	},
	{
		Code: ListedBeforeBackup, Kinds: []Kind{OfScope},
		Happens: "The inventory is older than the backup.",
		Why:     "A machine that was created between the two is in the backup and not in the inventory, so that absence proves nothing.",
		Do:      "Run 'drift-detector inventory' again, after the backup was taken.",
	},
	{
		Code: ListingBroken, Kinds: []Kind{OfScope}, Phases: []Phase{Before},
		Happens: "The listing broke off before its end.",
		Why:     "VMs behind the point where it broke off were not seen, so that absence proves nothing.",
		Do:      "Run detect again; if it breaks off again, look at the endpoint and at the network between.",
	},
	{
		Code: ListingIncomplete, Kinds: []Kind{OfScope}, Phases: []Phase{Before},
		Happens: "The listing broke off before its end, and does not say why.",
		Why:     "It holds no proof that it is whole: a VM that is not in it may run.",
		Do:      "Run detect again, or 'drift-detector inventory' if the listing comes from a file.",
	},
	{
		Code: NoCredential, Kinds: []Kind{OfScope}, Phases: []Phase{Before},
		Happens: "The backup holds no usable credential for the endpoint.",
		Why:     "Nothing was listed there; if the controller used no Secret, it needs its own credential again after the restore, too.",
		Do:      "Give one with --credentials or with the provider's own options, such as --aws-profile.",
	},
	{
		Code: NoPermission, Kinds: []Kind{OfScope}, Phases: []Phase{Before},
		Happens: "The account may not log in or list.",
		Why:     "A list that an account may not read looks empty: absence from it would prove nothing.",
		Do:      "Give the account the rights that 'drift-detector permissions' prints, or use another account.",
	},
	{
		Code: NotAsked, Kinds: []Kind{OfScope},
		Happens: "The inventory is of another backup or of an older version, and a machine pool of this backup was not looked up in it.",
		Why:     "Whether that pool has its members is not known, so that it cannot be compared.",
		Do:      "Run 'drift-detector inventory' again for this backup, with this release.",
	},
	{
		Code: NotListed, Kinds: []Kind{OfScope},
		Happens: "The inventory holds no listing of this place.",
		Why:     "The inventory says nothing of the VMs there, so that their machines are Unknown.",
		Do:      "Run 'drift-detector inventory' again for this backup, with this release.",
	},
	{
		Code: Throttled, Kinds: []Kind{OfScope},
		Happens: "The endpoint slowed the run down until it gave up.",
		Why:     "Part of the VMs was not seen, so that absence proves nothing.",
		Do:      "Run detect again later, or narrow it with --cluster.",
	},
	{
		Code: TimedOut, Kinds: []Kind{OfScope}, Phases: []Phase{Before},
		Happens: "Its time (--timeout), or that of the run (--deadline), was over before it was listed in full.",
		Why:     "What comes behind the time limit was not seen, so that absence proves nothing.",
		Do:      "Run detect again with more time: --timeout for each place, --deadline for the whole run; look why the endpoint is slow; or narrow the run with --cluster.",
	},
	{
		Code: UnexpectedAnswer, Kinds: []Kind{OfScope}, Phases: []Phase{Before},
		Happens: "Something answered that is not the infrastructure's own API, or not in full.",
		Why:     "An answer from a proxy or a login page says nothing of VMs, and is not taken for an empty list.",
		Do:      "Look at what answers at the endpoint: a proxy, a login page or another service. --endpoint FROM=TO leads past it.",
	},
	{
		Code: Unreachable, Kinds: []Kind{OfScope}, Phases: []Phase{Before},
		Happens: "The endpoint did not answer.",
		Why:     "No VM of that place was seen; whether the restored controllers reach it is not known, either.",
		Do:      "Look at the network, DNS, VPN and proxy of this machine; --endpoint FROM=TO contacts another address; or use 'drift-detector inventory' on a machine that reaches it.",
	},
	{
		Code: UntrustedCertificate, Kinds: []Kind{OfScope}, Phases: []Phase{Before},
		Happens: "The endpoint's certificate is neither pinned nor signed by a trusted authority.",
		Why:     "What answers may not be the infrastructure, so that no credential was sent and nothing was listed.",
		Do:      "Compare the certificate's thumbprint with the real one, and give it, or the authority's file, with --credentials.",
	},
	{
		Code: VisibilityUnproven, Kinds: []Kind{OfScope}, Phases: []Phase{Before},
		Happens: "Listed to the end, and not proven to be the place where a cluster's machines are.",
		Why:     "The account may not see the folder or pool of these machines: a list without them would look whole.",
		Do:      "See that the account may list the folders, resource pools or the account of the machines; where you know that a folder is empty, say so with --empty-folder.",
	},
	{
		Code: KubeconfigRefused, Kinds: []Kind{OfNodes},
		Happens: "The kubeconfig in the backup is not one that may be used.",
		Why:     "It would run a program or read a file of this computer; without Nodes some machines are Unknown.",
		Do:      "Give a kubeconfig without exec plugins and local files with --credentials.",
	},
	{
		Code: NoKubeconfig, Kinds: []Kind{OfNodes},
		Happens: "The backup holds no kubeconfig for the cluster.",
		Why:     "Nodes are evidence: without them some machines are Unknown, and a Ghost is harder to recognise.",
		Do:      "Give a kubeconfig with --credentials; Cluster API needs one in a Secret after the restore, too.",
	},
}
