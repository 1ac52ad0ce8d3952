package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drift-detector/backup"
)

// filters are the members of a Backup's spec that leave objects out.
type filters struct {
	IncludedNamespaces, ExcludedNamespaces                             []string
	IncludedResources, ExcludedResources                               []string
	IncludedNamespaceScopedResources, ExcludedNamespaceScopedResources []string
	IncludedClusterScopedResources, ExcludedClusterScopedResources     []string
	IncludeClusterResources                                            *bool
	ResourcePolicy                                                     *struct{ Name string }
	StorageLocation                                                    string // which is none of them

	selectors string // in words; empty for none
}

// maxEntries bounds the filters of a backup: Kubernetes supports 10,000 namespaces
// (kubernetes.io "Considerations for large clusters"). Each is compared with what is
// absent, and may be repeated in a finding.
const maxEntries = 10_000

// readFilters decodes the spec of a Backup. Of more entries than are allowed nothing is
// built: half of a list would mean something else.
func readFilters(path string, spec json.RawMessage) (filters, error) {
	var f struct {
		filters
		LabelSelector    *metav1.LabelSelector
		OrLabelSelectors []*metav1.LabelSelector
	}
	if len(spec) == 0 {
		return f.filters, nil
	}
	refuse := func(problem string) (filters, error) {
		return filters{}, &backup.InputError{Name: path, Problem: "not the description of a backup: " + problem, Next: nextVelero}
	}
	if bytes.Count(spec, []byte(",")) >= maxEntries {
		return refuse(fmt.Sprintf("its spec has more than %d entries", maxEntries))
	}
	if err := json.Unmarshal(spec, &f); err != nil {
		return refuse(jsonFault(err))
	}
	f.selectors = inWords(f.LabelSelector, f.OrLabelSelectors)
	return f.filters, nil
}

// anyNamespace stands for objects of all namespaces.
const anyNamespace = "*"

var (
	ruleKinds         = rule("kinds")
	ruleNamespaces    = rule("namespaces")
	ruleLabels        = rule("labels")
	ruleClusterScoped = rule("cluster scoped")
	rulePolicy        = rule("policy")
)

// needed are the resources without which Cluster API does not work.
var needed = []string{
	"clusters." + coreGroup, "machinedeployments." + coreGroup, "machines." + coreGroup, "machinesets." + coreGroup,
	"machinehealthchecks." + coreGroup, "kubeadmcontrolplanes." + controlPlaneGroup, "kubeadmconfigs." + bootstrapGroup, secretResource,
}

// filtered returns the findings on what a backup was configured to leave out.
func filtered(e *examination) []Finding {
	deployments := deploymentKind.In(e.Snapshot).Len() > 0
	var found []Finding
	for i, b := range e.Backups {
		v, what := e.velero(i), e.tarball(i)
		if v == nil || !v.Of(b) {
			continue
		}
		f := &v.filters
		for _, resource := range needed {
			if deployments && resource == "clusters."+coreGroup {
				continue // k0rdent makes them again
			}
			if by := f.resource(resource, false, true); by != "" {
				found = append(found, ruleKinds.On(i, "every object of "+resource, "left out of backup %s by %s", v.Name, by))
			}
		}
		if by := f.namespaces(); by != "" {
			found = append(found, ruleNamespaces.On(i, what, "backup %s: %s", v.Name, by))
		}
		if by := f.selectors; by != "" {
			found = append(found, ruleLabels.On(i, what, "backup %s: %s", v.Name, by))
		}
		if by := f.policy(); by != "" {
			found = append(found, rulePolicy.On(i, what, "backup %s: %s", v.Name, by))
		}
		if by := f.clusterScoped(); by != "" {
			found = append(found, ruleClusterScoped.On(i, what, "backup %s: %s", v.Name, by))
		}
	}
	return found
}

// explain adds to a finding on an absent object what filter left it out.
func (e *examination) explain(f *Finding) {
	v := e.velero(f.Backup)
	if f.Absent.Resource == "" || v == nil || !v.Of(e.Backups[f.Backup]) {
		return
	}
	if by := v.filters.leavesOut(f.Absent); by != "" {
		*f = f.And("explained by: " + by)
	}
}

// LeavesOut names the filter that keeps objects of a resource and namespace out of the
// backup, or may do so; the namespace of cluster-scoped objects is empty. It is "" when
// an object that is not in the backup did not exist, unless it was being deleted.
func (v *VeleroBackup) LeavesOut(resource, namespace string) string {
	return v.filters.leavesOut(Absent{Resource: resource, Namespace: namespace})
}

// leavesOut names the filter that leaves an object out, or may do so.
func (f *filters) leavesOut(a Absent) string {
	clusterScoped := a.Namespace == ""
	if by := f.resource(a.Resource, clusterScoped, false); by != "" {
		return by
	}
	by := ""
	switch {
	case clusterScoped:
		by = f.clusterScoped()
	case a.Namespace != anyNamespace:
		by = f.namespace(a.Namespace)
	}
	if by == "" && !clusterScoped {
		by = f.selectors
	}
	return cmp.Or(by, f.policy())
}

// policy names the resource policy, which may leave out anything but together with
// the older filters (Velero pkg/backup/backup.go, pkg/controller/backup_controller.go
// v1.18.1).
func (f *filters) policy() string {
	if f.ResourcePolicy == nil || f.ResourcePolicy.Name == "" || f.older() {
		return ""
	}
	return "resourcePolicy: " + short(f.ResourcePolicy.Name) + ", whose content is unknown"
}

// older reports whether one of the filters is set that are for namespaced and
// cluster-scoped resources alike. Velero up to 1.16 read a backup without any filter
// as one of these, too (UseOldResourceFilters in pkg/util/collections v1.16.2, v1.17.0).
func (f *filters) older() bool {
	return f.IncludeClusterResources != nil || len(f.IncludedResources) > 0 || len(f.ExcludedResources) > 0
}

// scoped reports whether one of the filters is set that are for resources of one scope.
func (f *filters) scoped() bool {
	return len(f.IncludedNamespaceScopedResources)+len(f.ExcludedNamespaceScopedResources)+
		len(f.IncludedClusterScopedResources)+len(f.ExcludedClusterScopedResources) > 0
}

// resource names the list of resources that leaves a resource out: surely, or that may do so.
func (f *filters) resource(resource string, clusterScoped, sure bool) string {
	in, out, inName, outName := f.IncludedNamespaceScopedResources, f.ExcludedNamespaceScopedResources,
		"includedNamespaceScopedResources", "excludedNamespaceScopedResources"
	if clusterScoped {
		in, out, inName, outName = f.IncludedClusterScopedResources, f.ExcludedClusterScopedResources,
			"includedClusterScopedResources", "excludedClusterScopedResources"
	}
	for _, list := range []struct {
		name     string
		entries  []string
		includes bool
	}{
		{"excludedResources", f.ExcludedResources, false},
		{outName, out, false},
		{"includedResources", f.IncludedResources, true},
		{inName, in, true},
	} {
		names := slices.ContainsFunc(list.entries, func(entry string) bool {
			return namesResource(entry, resource) || !isPlain(entry) && list.includes == sure
		})
		if list.includes && len(list.entries) > 0 && !names || !list.includes && names {
			return list.name + ": " + brief(list.entries)
		}
	}
	return ""
}

// namesResource reports whether an entry of a list means a resource. Velero asks
// the API server, which knows a resource by plural, singular and short name, with or
// without its group or what that begins with (Velero pkg/discovery/helper.go v1.18.3;
// client-go restmapper/shortcut.go, apimachinery pkg/api/meta/restmapper.go).
func namesResource(entry, resource string) bool {
	entry, resource = strings.ToLower(strings.TrimSpace(entry)), strings.ToLower(resource)
	name, ofGroup, _ := strings.Cut(entry, ".")
	plural, group, _ := strings.Cut(resource, ".")
	if strings.ContainsAny(entry, "*?[") { // Velero asks for none of that name, and takes it for a pattern
		fits, err := path.Match(entry, resource)
		return err == nil && fits && isPlain(entry)
	}
	return (name == plural || name+"s" == plural || shortNames[name] == plural) && strings.HasPrefix(group, ofGroup)
}

// isPlain reports whether an entry means the same to everybody. Velero's patterns are those of
// github.com/gobwas/glob, which has {a,b}, and in which ! negates a set and ^ does not; namespaces
// with some of that it refuses, by its version (pkg/util/wildcard/expand.go v1.18.3).
func isPlain(entry string) bool {
	_, err := path.Match(entry, "")
	return err == nil && !strings.ContainsAny(entry, "{}!^\\()|,") && !strings.Contains(entry, "**")
}

// shortNames are those of Cluster API's kinds (api/…/*_types.go, kubebuilder:resource, v1.14.2).
var shortNames = map[string]string{
	"cc": "clusterclasses", "cl": "clusters", "kcp": "kubeadmcontrolplanes", "ma": "machines", "md": "machinedeployments",
	"mhc": "machinehealthchecks", "mp": "machinepools", "ms": "machinesets",
}

// namespace names the list that leaves a namespace out. Entries may be patterns; what not everybody
// takes for the same may leave it out.
func (f *filters) namespace(namespace string) string {
	among := func(list []string, unless bool) bool {
		return slices.ContainsFunc(list, func(pattern string) bool {
			fits, err := path.Match(pattern, namespace)
			return pattern == namespace || isPlain(pattern) && err == nil && fits || unless && !isPlain(pattern)
		})
	}
	switch {
	case among(f.ExcludedNamespaces, true):
		return "excludedNamespaces: " + brief(f.ExcludedNamespaces)
	case len(f.IncludedNamespaces) > 0 && !among(f.IncludedNamespaces, false):
		return "includedNamespaces: " + brief(f.IncludedNamespaces)
	}
	return ""
}

// namespaces names the lists that leave some namespace out.
func (f *filters) namespaces() string {
	var by []string
	if len(f.IncludedNamespaces) > 0 && !slices.Contains(f.IncludedNamespaces, "*") {
		by = append(by, "includedNamespaces: "+brief(f.IncludedNamespaces))
	}
	if len(f.ExcludedNamespaces) > 0 {
		by = append(by, "excludedNamespaces: "+brief(f.ExcludedNamespaces))
	}
	return strings.Join(by, " and ")
}

// inWords returns label selectors as they are repeated in findings.
func inWords(one *metav1.LabelSelector, several []*metav1.LabelSelector) string {
	var all []string
	if one != nil {
		all = append(all, "labelSelector: "+short(metav1.FormatLabelSelector(one)))
	}
	var or []string
	for _, s := range several {
		or = append(or, metav1.FormatLabelSelector(s))
	}
	if len(or) > 0 {
		all = append(all, "orLabelSelectors: "+brief(or))
	}
	return strings.Join(all, " and ")
}

// clusterScoped says why cluster-scoped objects are left out. Unless they are asked
// for, the filters for one scope leave them out always, those for both scopes where
// not all namespaces are backed up. Without any filter the former count since Velero
// 1.17, the latter before (pkg/util/collections/includes_excludes.go v1.16.2, v1.17.0;
// pkg/controller/backup_controller.go adds exclusions, which has the same effect;
// seen in a real backup of 1.18). No file says which Velero wrote a backup.
func (f *filters) clusterScoped() string {
	everywhere := f.namespaces() == ""
	switch {
	case f.IncludeClusterResources != nil && *f.IncludeClusterResources, len(f.IncludedClusterScopedResources) > 0:
		return ""
	case f.IncludeClusterResources != nil:
		return "includeClusterResources: false"
	case f.scoped():
		return "includedClusterScopedResources is not set, and then cluster-scoped objects stay out"
	case f.older() && everywhere:
		return ""
	case !everywhere:
		return "includeClusterResources is not set, and without all namespaces cluster-scoped objects stay out"
	}
	return "includeClusterResources is not set, and since Velero 1.17 cluster-scoped objects stay out by default"
}

// brief returns a list, cut when it is long.
func brief(list []string) string {
	const most = 5
	shown := make([]string, min(len(list), most))
	for i := range shown {
		shown[i] = short(list[i])
	}
	if len(list) <= most {
		return strings.Join(shown, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(shown, ", "), len(list)-most)
}

// short returns a text of a filter, cut when no name or selector is so long: a finding for each
// absent object may repeat it.
func short(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}
