package aws

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// Permission is whether the clusters of a namespace may use an identity.
type Permission int

// Permissions. Undecided: the backup does not say, and CAPA may allow it.
const (
	Allowed Permission = iota
	Forbidden
	Undecided
)

// Allows reads spec.allowedNamespaces of an identity, in JSON and empty where it is
// absent, as CAPA does (isClusterPermittedToUsePrincipal in pkg/cloud/scope/session.go
// v2.11.1): absent allows nobody, {} everybody, and otherwise the list and the selector
// allow those that they name; an empty selector names none. labels are those of the
// Namespace, nil when the backup does not hold it, of which lacks is said then. why is empty for
// what is allowed.
func Allows(allowedNamespaces, namespace string, labels *backup.Labels, lacks string) (p Permission, why string) {
	if allowedNamespaces == "" || allowedNamespaces == "null" {
		return Forbidden, "it has no allowedNamespaces, so that no cluster may use it"
	}
	var allowed struct {
		List     []string             `json:"list"`
		Selector metav1.LabelSelector `json:"selector"`
	}
	everybody := allowed
	if err := json.Unmarshal([]byte(allowedNamespaces), &allowed); err != nil {
		return Undecided, "its allowedNamespaces cannot be read"
	}
	if reflect.DeepEqual(allowed, everybody) {
		return Allowed, ""
	}
	if slices.Contains(allowed.List, namespace) {
		return Allowed, ""
	}
	selector, err := metav1.LabelSelectorAsSelector(&allowed.Selector)
	if err != nil {
		return Forbidden, "the selector in its allowedNamespaces is not valid"
	}
	if selector.Empty() {
		return Forbidden, "its allowedNamespaces do not name namespace " + namespace
	}
	switch selected, decided := infra.SelectsNamespace(selector, namespace, labels); {
	case !decided:
		return Undecided, "its allowedNamespaces go by labels of Namespace " + namespace + ", which " + lacks
	case !selected:
		return Forbidden, "its allowedNamespaces do not select Namespace " + namespace
	}
	return Allowed, ""
}

// forbidden names the first identity in the chain of a cluster's that does not allow
// its namespace, with the reason; both are empty where none is known to.
func (objs *objects) forbidden(id backup.ClusterID, s *clusterLocation) (at identity, why string) {
	for _, at := range objs.chain(id.Backup, identityOf(id, s)) {
		if p, why := objs.permission(id, at); p == Forbidden {
			return at, why
		}
	}
	return identity{}, ""
}

// chain returns an identity and those that it is assumed with, as far as the backup holds
// them (CAPA pkg/cloud/scope/session.go buildProvidersForRef v2.11.1).
func (objs *objects) chain(n int, at identity) []identity {
	var all []identity
	for len(all) <= maxRoles && at != (identity{}) && !slices.Contains(all, at) {
		all = append(all, at)
		_, _, at = objs.allowedOf(n, at)
	}
	return all
}

// referenceFields are where mistakes of identities are.
const referenceFields = "identityRef, sourceIdentityRef and roleARN"

// mistake returns why CAPA has no session by way of an identity, whatever Secrets there
// are: "" where it may have one. Where maxRoles lead to one another no more is looked at
// (CAPA pkg/cloud/scope/session.go buildProvidersForRef v2.11.1).
func (objs *objects) mistake(n int, at identity) string {
	chain := objs.chain(n, at)
	var names []string
	for i, at := range chain {
		names = append(names, at.Name)
		r := objs.roles[capi.Object{Backup: n, Name: at.Name}]
		switch {
		case at.Kind == controllerIdentity, at.Kind == staticIdentity, at.Kind == unknownIdentity:
		case at.Kind != roleIdentity:
			return fmt.Sprintf("identityRef of kind %q is unknown", at.Kind)
		case r == nil:
		case !roleForm.MatchString(r.Data.ARN):
			return fmt.Sprintf("roleARN %q of %s %s is not the ARN of a role", r.Data.ARN, at.Kind, at.Name)
		case slices.Contains(chain[:i+1], sourceOf(r.Data)):
			return fmt.Sprintf("%s is assumed with itself: %s", sourceOf(r.Data), strings.Join(append(names, sourceOf(r.Data).Name), ", "))
		}
	}
	return ""
}

// permission reports whether a cluster may use an identity, and why not. One that the
// backup lacks forbids nothing: see absent.
func (objs *objects) permission(id backup.ClusterID, at identity) (Permission, string) {
	allowed, found, _ := objs.allowedOf(id.Backup, at)
	if !found {
		return Allowed, ""
	}
	var labels *backup.Labels
	if n := objs.namespaces[capi.Object{Backup: id.Backup, Name: id.Namespace}]; n != nil {
		labels = (*backup.Labels)(&n.Data.Labels)
	}
	return Allows(allowed, id.Namespace, labels, objs.snapshot.Lacks(id.Backup, "Namespace"))
}

// allowedOf returns allowedNamespaces of an identity, and the one that it is assumed with,
// if there is one.
func (objs *objects) allowedOf(n int, at identity) (allowed string, found bool, next identity) {
	k := capi.Object{Backup: n, Name: at.Name}
	switch at.Kind {
	case controllerIdentity:
		if r := objs.controllers[k]; r != nil {
			return r.Data.Allowed, true, identity{}
		}
	case staticIdentity:
		if r := objs.statics[k]; r != nil {
			return r.Data.Allowed, true, identity{}
		}
	case roleIdentity:
		if r := objs.roles[k]; r != nil {
			return r.Data.Allowed, true, sourceOf(r.Data)
		}
	}
	return "", false, identity{}
}

// refusal returns why a cluster may not use its identity.
func (s *clusterLocation) refusal(id backup.ClusterID) string {
	return fmt.Sprintf("%s %s may not be used by clusters of namespace %s: %s", s.forbidder.Kind, s.forbidder.Name, id.Namespace, s.forbidden)
}
