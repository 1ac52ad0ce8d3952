package capi

import (
	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/report/code"
)

// ForbiddenRules are those of a check on identities that clusters name and that their
// namespaces may not use. Undecided is for where the backup does not say whether they may.
type ForbiddenRules struct{ Decided, Undecided check.Rule }

// NewForbiddenRules returns the rules of a controller, "CAPV". source is the file of its
// code that refuses an identity, and field that of the identity that says who may use it.
func NewForbiddenRules(controller, source, field string) ForbiddenRules {
	const forbidden, unpaused = "IdentityForbidden", " before the clusters are unpaused"
	return ForbiddenRules{Decided: check.Rule{
		Code: forbidden, Severity: code.CheckError, Mended: true,
		Happens: "A cluster names an identity that its namespace may not use.",
		Why:     controller + " refuses the identity to clusters of that namespace (" + source + "): after the restore nothing that names it there is reconciled.",
		Do:      "correct " + field + " of the identity, or the labels of the Namespace," + unpaused,
	}, Undecided: check.Rule{
		// getNamespace in Velero pkg/restore/restore.go v1.18.3.
		Code: forbidden, Severity: code.CheckWarning,
		Happens: "A cluster names an identity that its namespace may not use.",
		Why:     controller + " may refuse the identity to clusters of that namespace (" + source + "): Velero creates a Namespace that is not in the backup without its labels, and after the restore nothing that names it there is reconciled until it has them.",
		LiveWhy: controller + " may refuse the identity to clusters of that namespace (" + source + "): after the restore nothing that names it there is reconciled then.",
		Do:      "give the Namespace the labels that " + field + " of the identity asks for," + unpaused,
	}}
}

// On returns the finding that a namespace may not use an identity, "Kind name", and why.
// decided is false where the backup does not say whether it may.
func (r *ForbiddenRules) On(id backup.ClusterID, identity, why string, decided bool) check.Finding {
	rule := &r.Decided
	if !decided {
		rule = &r.Undecided
	}
	return rule.On(id.Backup, identity+" for namespace "+id.Namespace, "%s", why)
}

// NewBadIdentityRule returns the rule on identities that a controller, "CAPV", cannot log in
// with, whatever Secrets there are. source is the file of its code that reads them, and
// fields are those that are wrong.
func NewBadIdentityRule(controller, source, fields string) check.Rule {
	return check.Rule{
		Code: code.BadIdentity, Severity: code.CheckError, Mended: true,
		Happens: "An identity names a credential that cannot be used.",
		Why:     controller + " cannot log in with what is named there (" + source + "), and no Secret helps: after the restore nothing that names it is reconciled.",
		Do:      "correct " + fields + " before the clusters are unpaused",
	}
}
