package aws

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

// credential is what calls are signed with: keys of the backup, or the
// operator's own chain, and then the roles to assume, one after the other.
type credential struct {
	capi.Redacted
	id, secret, token backup.Sensitive
	operator          bool
	profile           string // of the operator; empty: the SDK's whole chain
	roles             []role
	// instead is the operator's own, if it may be used: it is tried when AWS refuses
	// the keys of the backup, which may have been changed since.
	instead       *credential
	insteadSource string
}

// caller is what calls with a credential are made as, at a place: equal callers are one.
type caller struct {
	location          string
	id, secret, token backup.Sensitive
	operator          bool
	profile           string
	roles             [maxRoles]role
}

func (c *credential) caller(location string) caller {
	of := caller{location: location, id: c.id, secret: c.secret, token: c.token, operator: c.operator, profile: c.profile}
	copy(of.roles[:], c.roles)
	return of
}

// found is a credential and the objects that it comes from.
type found struct {
	credential
	source   string // "Secret capa-system/capa-manager-bootstrap-credentials"
	warnings []string
}

// maxRoles bounds how many roles lead to one another.
const maxRoles = 5

var roleForm = regexp.MustCompile(`^arn:aws[a-z-]*:iam::(\d{12}):role/[\w+=,.@/-]+$`)

// sourceOf returns the identity that a role is assumed with, by default the
// controller's (CAPA pkg/cloud/scope/session.go v2.11.1).
func sourceOf(r role) identity {
	if r.SourceKind == "" && r.SourceName == "" {
		return identity{controllerIdentity, defaultIdentity}
	}
	return identity{r.SourceKind, r.SourceName}
}

// ofManager is the credential that CAPA was installed with.
var ofManager = capi.Manager{Namespace: managerSpace, Secret: managerSecret, Key: managerKey}

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
	var chain []role
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
	if operatorAllowed(a) && !f.operator {
		own := ofOperator(a).assuming(chain, objs.snapshot.Subject())
		f.instead, f.insteadSource = &own.credential, own.source
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
func (f found) assuming(chain []role, of code.Subject) found {
	for _, r := range slices.Backward(chain) {
		f.roles = append(f.roles, r)
		f.source += ", then role " + r.ARN
		if f.operator {
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
	f := found{credential: credential{operator: true, profile: profile}, source: "your own AWS credentials (--" + flagAmbient + ")"}
	if profile != "" {
		f.source = fmt.Sprintf("your own AWS profile %s (--%s)", profile, flagProfile)
	}
	return f
}

// standIn uses the operator's own chain instead of what the backup lacks, if that is
// allowed, and assumes the roles of the backup that come after it; else it returns the fault.
func (objs *objects) standIn(a infra.Access, chain []role, fault *infra.Fault) (found, *infra.Fault) {
	if !operatorAllowed(a) {
		return found{}, fault
	}
	f := ofOperator(a)
	f.warnings = append(f.warnings, fmt.Sprintf("%s; used instead: %s", fault.Message, f.source))
	return f.assuming(chain, objs.snapshot.Subject()), nil
}

const hintOwn = "use credentials of your own that may read this account: --aws-profile NAME, or --aws-ambient for the SDK's whole chain; `drift-detector permissions aws` prints what they must allow"

func noCredential(format string, args ...any) *infra.Fault {
	return capi.NoCredential(hintOwn, format, args...)
}

func badIdentity(format string, args ...any) *infra.Fault {
	return capi.BadIdentity(hintOwn+"; correct "+referenceFields+" before the clusters are unpaused", format, args...)
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
	f = found{credential{id: trimmed(s.Value(accessKey)), secret: trimmed(s.Value(secretKey)), token: trimmed(s.Value(tokenKey))}, capi.SecretName(s), nil}
	if !f.wellFormed() {
		return found{}, f.source + " holds no access key"
	}
	return f, ""
}

// trimmed drops the white space that `echo | base64` leaves: no key ends in it.
func trimmed(s backup.Sensitive) backup.Sensitive {
	return backup.NewSensitive(strings.TrimSpace(s.Reveal()))
}

var accessKeyForm = regexp.MustCompile(`^\w{16,128}$`)

// wellFormed reports whether the keys can be keys: anything else must not
// get into the headers of a request.
func (c *credential) wellFormed() bool {
	printable := func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
	}
	return accessKeyForm.MatchString(c.id.Reveal()) && !c.secret.IsZero() &&
		printable(c.secret.Reveal()) && printable(c.token.Reveal())
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
	return found{credential: c, source: capi.SecretName(s)}, nil
}
