package aws

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/internal/lazyregexp"
	"drift-detector/report/code"
)

// Credential is what calls are signed with: keys of the backup, or the
// operator's own chain, and then the roles to assume, one after the other.
type Credential struct {
	capi.Redacted
	ID, Secret, Token backup.Sensitive
	Operator          bool
	Profile           string // of the operator; empty: the SDK's whole chain
	Roles             []Role
	// Instead is the operator's own, if it may be used: it is tried when AWS refuses
	// the keys of the backup, which may have been changed since.
	Instead       *Credential
	insteadSource string
}

// caller is what calls with a credential are made as, at a place: equal callers are one.
type caller struct {
	location          string
	id, secret, token backup.Sensitive
	operator          bool
	profile           string
	roles             [maxRoles]Role
}

func (c *Credential) caller(location string) caller {
	of := caller{location: location, id: c.ID, secret: c.Secret, token: c.Token, operator: c.Operator, profile: c.Profile}
	copy(of.roles[:], c.Roles)
	return of
}

// found is a credential and the objects that it comes from.
type found struct {
	Credential
	source   string // "Secret capa-system/capa-manager-bootstrap-credentials"
	warnings []string
}

// maxRoles bounds how many roles lead to one another.
const maxRoles = 5

var roleForm = lazyregexp.New(`^arn:aws[a-z-]*:iam::(\d{12}):role/[\w+=,.@/-]+$`)

// sourceOf returns the identity that a role is assumed with, by default the
// controller's (CAPA pkg/cloud/scope/session.go v2.11.1).
func sourceOf(r Role) identity {
	if r.SourceKind == "" && r.SourceName == "" {
		return identity{controllerIdentity, defaultIdentity}
	}
	return identity{r.SourceKind, r.SourceName}
}

// ofManager is the credential that CAPA was installed with.
var ofManager = capi.Manager{Namespace: managerSpace, Secret: managerSecret, Key: managerKey, Deployment: "capa-controller-manager"}

// credentialOf finds a home's credential along CAPA's chain: from the role that
// the cluster names, over the roles that this one is assumed with, to the keys.
// If the operator allows their own chain, it replaces the controller's, and what the
// backup lacks.
func (objs *objects) credentialOf(h *homeScope, secrets *backup.Secrets, a infra.Access) (found, *infra.Fault) {
	if h.forbidden != "" {
		return objs.standIn(a, nil, noCredential("%s", h.forbidden))
	}
	if why := objs.mistake(h.backup, h.identity); why != "" {
		return objs.standIn(a, nil, badIdentity("%s", why))
	}
	var chain []Role
	var names []string
	at := h.identity
	for at.Kind == roleIdentity {
		r := objs.roles[capi.Object{Backup: h.backup, Name: at.Name}]
		switch {
		case r == nil:
			return objs.standIn(a, chain, noCredential("%s %s %s", at.Kind, at.Name, objs.snapshot.Lacks(h.backup, at.Kind)))
		case len(chain) == maxRoles:
			return objs.standIn(a, nil, badIdentity("more than %d roles lead to one another: %s", maxRoles, strings.Join(names, ", ")))
		}
		chain, names = append(chain, r.Data), append(names, at.Name)
		at = sourceOf(r.Data)
	}
	f, fault := objs.keysOf(at, h, secrets, a)
	if fault != nil {
		return found{}, fault
	}
	f = f.assuming(chain, objs.snapshot.Subject())
	if operatorAllowed(a) && !f.Operator {
		own := ofOperator(a).assuming(chain, objs.snapshot.Subject())
		f.Instead, f.insteadSource = &own.Credential, own.source
	}
	return f, nil
}

// keysOf finds the keys that the chain of roles starts from.
func (objs *objects) keysOf(at identity, h *homeScope, secrets *backup.Secrets, a infra.Access) (found, *infra.Fault) {
	switch at.Kind {
	case controllerIdentity:
		if operatorAllowed(a) {
			return ofOperator(a), nil
		}
		return objs.fromManager(h, secrets)
	case staticIdentity:
		f, missing := objs.fromStatic(at, h, secrets)
		if missing != "" {
			return objs.standIn(a, nil, noCredential("%s", missing))
		}
		return f, nil
	default: // unknownIdentity
		return objs.standIn(a, nil, noCredential("%s, so nothing says which credential it uses", objs.lacksCluster(h.backup, at.Name)))
	}
}

// lacksCluster says that nothing of a cluster names its credential.
func (objs *objects) lacksCluster(n int, name string) string {
	if objs.snapshot.IsUnread(n, clusterKind, planeKind) {
		return fmt.Sprintf("%s or %s of %s could not be read", clusterKind, planeKind, name)
	}
	return fmt.Sprintf("neither %s nor %s of %s is in %s", clusterKind, planeKind, name, objs.snapshot.Subject().The())
}

// assuming puts the roles in the order in which they are assumed.
func (f found) assuming(chain []Role, of code.Subject) found {
	for _, r := range slices.Backward(chain) {
		f.Roles = append(f.Roles, r)
		f.source += ", then role " + r.ARN
		if f.Operator {
			f.warnings = append(f.warnings, fmt.Sprintf("role %s, which %s names, is assumed with your own AWS credentials", r.ARN, of.The()))
		}
	}
	return f
}

func operatorAllowed(a infra.Access) bool {
	return a.Options[flagAmbient] != "" || a.Options[flagProfile] != ""
}

func ofOperator(a infra.Access) found {
	profile := a.Options[flagProfile]
	f := found{Credential: Credential{Operator: true, Profile: profile}, source: "your own AWS credentials (--" + flagAmbient + ")"}
	if profile != "" {
		f.source = fmt.Sprintf("your own AWS profile %s (--%s)", profile, flagProfile)
	}
	return f
}

// standIn uses the operator's own chain instead of what the backup lacks, if that is
// allowed, and assumes the roles of the backup that come after it; else it returns the fault.
func (objs *objects) standIn(a infra.Access, chain []Role, fault *infra.Fault) (found, *infra.Fault) {
	if !operatorAllowed(a) {
		return found{}, fault
	}
	f := ofOperator(a)
	f.warnings = append(f.warnings, fmt.Sprintf("%s; used instead: %s", fault.Message, f.source))
	return f.assuming(chain, objs.snapshot.Subject()), nil
}

// HintOwn says which credentials do in the place of those of the backup.
const HintOwn = "use credentials of your own that may read this account: --aws-profile NAME, or --aws-ambient for the SDK's whole chain; `drift-detector permissions aws` prints what they must allow"

func noCredential(format string, args ...any) *infra.Fault {
	return capi.NoCredential(HintOwn, format, args...)
}

func badIdentity(format string, args ...any) *infra.Fault {
	return capi.BadIdentity(HintOwn+"; correct "+referenceFields+" before the clusters are unpaused", format, args...)
}

// fromStatic looks for the Secret of an AWSClusterStaticIdentity. missing
// says what is not there.
func (objs *objects) fromStatic(at identity, h *homeScope, secrets *backup.Secrets) (f found, missing string) {
	id := capi.Identity{Backup: h.backup, Kind: staticIdentity, Name: at.Name, Key: secretKey}
	if object := objs.statics[capi.Object{Backup: h.backup, Name: at.Name}]; object != nil {
		id.Known, id.Secret = true, object.Data.Secret
	}
	s, _, missing := ofManager.OfIdentity(objs.snapshot, secrets, id)
	if missing != "" {
		return found{}, missing
	}
	f = found{Credential{ID: trimmed(s.Value(accessKey)), Secret: trimmed(s.Value(secretKey)), Token: trimmed(s.Value(tokenKey))}, capi.SecretName(s), nil}
	if !f.wellFormed() {
		return found{}, f.source + " holds no access key"
	}
	return f, ""
}

// trimmed drops the white space that `echo | base64` leaves: no key ends in it.
func trimmed(s backup.Sensitive) backup.Sensitive {
	return backup.NewSensitive(strings.TrimSpace(s.Reveal()))
}

var accessKeyForm = lazyregexp.New(`^\w{16,128}$`)

// wellFormed reports whether the keys can be keys: anything else must not
// get into the headers of a request.
func (c *Credential) wellFormed() bool {
	printable := func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
	}
	return accessKeyForm.MatchString(c.ID.Reveal()) && !c.Secret.IsZero() &&
		printable(c.Secret.Reveal()) && printable(c.Token.Reveal())
}

// fromManager reads the credential that CAPA was installed with. A controller
// that gets its credential from its instance or its service account has none.
func (objs *objects) fromManager(h *homeScope, secrets *backup.Secrets) (found, *infra.Fault) {
	s, missing := ofManager.Own(objs.snapshot, secrets, h.backup, "the cluster uses the controller's own credential, and ")
	if missing != "" {
		return found{}, noCredential("%s", missing)
	}
	c, why := readProfile(s.Value(managerKey).Reveal())
	if why != "" {
		return found{}, noCredential("%s of %s %s", managerKey, capi.SecretName(s), why)
	}
	return found{Credential: c, source: capi.SecretName(s)}, nil
}
