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
		Code: AuthenticationFailed, Kinds: []Kind{OfScope},
		Happens: "The endpoint refused the credential.",
		Why:     "Nothing of that place was listed: its machines are Unknown, and the restored controllers are refused with the same credential.",
		Do:      "Give a working credential with --credentials or the provider's own options. The one in the backup may have been changed since; its controller fails with it, too.",
	},
	{
		Code: BadEndpoint, Kinds: []Kind{OfScope},
		Happens: "The backup's endpoint is not valid, or not one that may be contacted.",
		Why:     "Nothing of that place was listed: its machines are Unknown, and so is whether the controllers can reach it.",
		Do:      "Compare the endpoint with the infrastructure cluster in the backup; --endpoint FROM=TO names another one.",
	},
	{
		Code: BadIdentity, Kinds: []Kind{OfScope},
		Happens: "The identity of the backup cannot be used; the message says why.",
		Why:     "Its controllers cannot log in with it either: until it is corrected they do nothing for the clusters that use it.",
		Do:      "Read the message; give a credential of your own, and correct the identity before the Cluster is unpaused.",
	},
	{
		Code: InternalError, Kinds: []Kind{OfScope},
		Happens: "Drift-detector itself failed while listing.",
		Why:     "What was not listed completely proves nothing: its machines are Unknown.",
		Do:      "Run detect again with --debug, and report it as a bug.",
	},
	{
		Code: Interrupted, Kinds: []Kind{OfScope},
		Happens: "The run was interrupted while listing.",
		Why:     "The place was listed in part: a machine that was not found there may be in the part that is missing.",
		Do:      "Run detect again and let it finish.",
	},
	{
		Code: ListedBeforeBackup, Kinds: []Kind{OfScope},
		Happens: "The inventory is older than the backup, so that absence from it proves nothing.",
		Why:     "A VM that was created after the list and before the backup is not in it, and would be called gone.",
		Do:      "Run 'drift-detector inventory' again, after the backup was taken.",
	},
	{
		Code: ListingBroken, Kinds: []Kind{OfScope},
		Happens: "The listing broke off before its end.",
		Why:     "The rest of the list is not known: a machine that was not found may be in it.",
		Do:      "Run detect again; if it breaks off again, look at the endpoint and at the network between.",
	},
	{
		Code: ListingIncomplete, Kinds: []Kind{OfScope},
		Happens: "The listing broke off before its end, and does not say why.",
		Why:     "A list that ends early without a reason proves no absence: a machine that was not found may be in the rest.",
		Do:      "Run detect again; if the list ends early again, look at what is between here and the endpoint.",
	},
	{
		Code: NoCredential, Kinds: []Kind{OfScope},
		Happens: "The backup holds no usable credential for the endpoint.",
		Why:     "Nobody could log in there: its machines are Unknown until a credential is given.",
		Do:      "Give one with --credentials or with the provider's own options, such as --aws-profile. If the controller used no Secret, it needs its own credential again after the restore, too.",
	},
	{
		Code: NoPermission, Kinds: []Kind{OfScope},
		Happens: "The account may not log in or list.",
		Why:     "What the account may not see looks like what is not there: absence proves nothing.",
		Do:      "Give the account the rights that 'drift-detector permissions' prints, or use another account.",
	},
	{
		Code: NotAsked, Kinds: []Kind{OfScope},
		Happens: "The inventory is of another backup or of an older version, and a machine pool of this backup was not looked up in it.",
		Why:     "Whether the pool exists and how large it is was not looked up, so that its members are Unknown.",
		Do:      "Run 'drift-detector inventory' again for this backup, with this release.",
	},
	{
		Code: NotListed, Kinds: []Kind{OfScope},
		Happens: "The inventory holds no listing of this place.",
		Why:     "Nothing is known of that place: its machines are Unknown.",
		Do:      "Run 'drift-detector inventory' again for this backup.",
	},
	{
		Code: Throttled, Kinds: []Kind{OfScope},
		Happens: "The endpoint slowed the run down until it gave up.",
		Why:     "The list is not complete, and more questions would slow down the controllers of running clusters, too.",
		Do:      "Run detect again later, or narrow it with --cluster.",
	},
	{
		Code: TimedOut, Kinds: []Kind{OfScope},
		Happens: "Its time (--timeout), or that of the run (--deadline), was over before it was listed in full.",
		Why:     "The list is cut off at that time: a machine that was not found may be in the rest.",
		Do:      "Run detect again with more time: --timeout for each place, --deadline for the whole run; look why the endpoint is slow; or narrow the run with --cluster.",
	},
	{
		Code: UnexpectedAnswer, Kinds: []Kind{OfScope},
		Happens: "Something answered that is not the infrastructure's own API, or not in full.",
		Why:     "What answered may be a proxy or another server: nothing that it says is taken for the state of the machines.",
		Do:      "Look at what answers at the endpoint: a proxy, a login page or another service. --endpoint FROM=TO leads past it.",
	},
	{
		Code: Unreachable, Kinds: []Kind{OfScope},
		Happens: "The endpoint did not answer.",
		Why:     "Nothing was listed from here. Whether the new management cluster reaches it is another question, which the restore will ask.",
		Do:      "Look at the network, DNS, VPN and proxy of this machine; --endpoint FROM=TO contacts another address; or use 'drift-detector inventory' on a machine that reaches it.",
	},
	{
		Code: UntrustedCertificate, Kinds: []Kind{OfScope},
		Happens: "The endpoint's certificate is neither pinned nor signed by a trusted authority.",
		Why:     "It may be another server than the one in the backup: no credential was sent to it.",
		Do:      "Compare the certificate's thumbprint with the real one, and give it, or the authority's file, with --credentials.",
	},
	{
		Code: VisibilityUnproven, Kinds: []Kind{OfScope},
		Happens: "Listed to the end, and not proven to be the place where a cluster's machines are.",
		Why:     "An account that sees too little, or another place with the same name, would make every machine look gone.",
		Do:      "See that the account may list the folders, resource pools or the account of the machines; where you know that a folder is empty, say so with --empty-folder.",
	},
	{
		Code: KubeconfigRefused, Kinds: []Kind{OfNodes},
		Happens: "The kubeconfig in the backup is not one that may be used.",
		Why:     "Without the Node list a machine that lives somewhere else is not noticed, and what health checks see is not known.",
		Do:      "Give a kubeconfig without exec plugins and local files with --credentials.",
	},
	{
		Code: NoKubeconfig, Kinds: []Kind{OfNodes},
		Happens: "The backup holds no kubeconfig for the cluster.",
		Why:     "Without the Node list a machine that lives somewhere else is not noticed; KubeadmControlPlane creates the Secret again from the certificate authority.",
		Do:      "Give a kubeconfig with --credentials; Cluster API needs one in a Secret after the restore, too.",
	},
}
