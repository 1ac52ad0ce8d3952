package ignore

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"drift-detector/report"
	"drift-detector/report/code"
)

// Selector says which findings a rule is about: those that all its conditions
// fit. Its keys are:
//
//	cluster      name of the cluster; of a VM to confirm, the one it may belong to
//	namespace    of the machine; of a VM to confirm, that of its cluster
//	name         of the machine; of a VM to confirm, its own
//	provider     "vsphere", "aws"
//	instance     id of the VM: BIOS UUID, instance id
//	ref          managed object id of the VM
//	folder       where the VM is: its path without its name
//	tag          tags of the VM: a mapping of keys to values
//	reason       code of the verdict, or of any of its warnings
//	onlyReasons  codes of the verdict and of all its warnings
//	status       Healthy, Stale, Ghost, Unknown or Unattributed
//	role         control-plane or worker
//	check        code of a check of the backup: NoHealthCheck
//	object       what a check is about: "Cluster tenant-alpha/alpha-prod"
//
// A rule with check is about checks alone, and has no keys beside it but object, and
// cluster and namespace of any cluster that the check concerns.
//
// A value is a glob or a list of globs of which any fits, case-sensitively, as a
// whole: * any characters, ? one, [a-z] one of them, {a,b} either, \ before a
// character takes it as it is. In a folder * and ? stay within one folder and **
// crosses folders. What a finding lacks (a Stale machine has no VM) is fit by the
// empty text alone, not by *.
type Selector []condition

type condition struct {
	key, tag string // tag is the key of the tag where key is "tag"
	globs    []glob
}

// fits reports whether every condition fits the finding.
func (s Selector) fits(f *finding) bool {
	if s.ofChecks() != (f.check != nil) {
		return false
	}
	for i := range s {
		c := &s[i]
		other := func(value string) bool { return !c.any(value) }
		if values := keys[c.key](f, c.tag); c.key == onlyReasons && slices.ContainsFunc(values, other) || !slices.ContainsFunc(values, c.any) {
			return false
		}
	}
	return true
}

// ofChecks reports whether the rule is about checks of the backup.
func (s Selector) ofChecks() bool {
	return slices.ContainsFunc(s, func(c condition) bool { return c.key == "check" })
}

// checkKeys are the keys of rules about checks.
var checkKeys = []string{"check", "cluster", "namespace", "object"}

const onlyReasons = "onlyReasons"

// keys are the keys of selectors and what a finding has of each: one value at least,
// which is empty where it has none.
var keys = map[string]func(f *finding, tag string) []string{
	"check": func(f *finding, _ string) []string {
		return ofCheckOr(f, func(c *report.Check) string { return string(c.Code) })
	},
	"object": func(f *finding, _ string) []string {
		return ofCheckOr(f, func(c *report.Check) string { return c.Object })
	},
	"cluster":   func(f *finding, _ string) []string { return f.places(1) },
	"namespace": func(f *finding, _ string) []string { return f.places(0) },
	"name":      func(f *finding, _ string) []string { return []string{f.name} },
	"provider":  func(f *finding, _ string) []string { return []string{f.provider} },
	"status":    func(f *finding, _ string) []string { return []string{string(f.status)} },
	"role":      func(f *finding, _ string) []string { return []string{string(f.role)} },
	"instance":  func(f *finding, _ string) []string { return []string{f.instance.ID} },
	"ref":       func(f *finding, _ string) []string { return []string{f.instance.Ref} },
	"folder":    func(f *finding, _ string) []string { return []string{folder(f.instance.Path)} },
	"tag":       func(f *finding, tag string) []string { return []string{f.instance.Tags[tag]} },
	"reason":    func(f *finding, _ string) []string { return f.reasons() },
	onlyReasons: func(f *finding, _ string) []string { return f.reasons() },
}

func ofCheckOr(f *finding, value func(*report.Check) string) []string {
	if f.check == nil {
		return []string{""}
	}
	return []string{value(f.check)}
}

func keyNames() string { return strings.Join(slices.Sorted(maps.Keys(keys)), ", ") }

// words are the only values that some keys have, to find a misspelt one.
var words = map[string][]string{
	"status": stringsOf(code.Healthy, code.Stale, code.Ghost, code.Unknown, code.Unattributed),
	"role":   stringsOf(report.RoleControlPlane, report.RoleWorker, ""),
}

func stringsOf[S ~string](all ...S) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = string(s)
	}
	return out
}

func (c *condition) any(value string) bool {
	value = report.Valid(value)
	for i := range c.globs {
		if c.globs[i].fits(value) {
			return true
		}
	}
	return false
}

// glob is a pattern that a whole value must fit.
type glob struct {
	text    string // as it was written
	literal bool   // no character of it has a meaning of its own
	path    bool   // * and ? stop at slashes
}

const special = `*?[]{}\`

func newGlob(text string, path bool) (glob, error) {
	if !doublestar.ValidatePattern(text) {
		return glob{}, fmt.Errorf(`%q is no glob: close every [ and {, and put \ before a character that is meant as it is`, text)
	}
	return glob{text, !strings.ContainsAny(text, special), path}, nil
}

// exactly returns the glob that fits the value alone.
func exactly(value string, path bool) glob {
	var b strings.Builder
	for _, r := range value {
		if strings.ContainsRune(special, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	text := b.String()
	return glob{text, !strings.ContainsAny(text, special), path}
}

func (g *glob) fits(value string) bool {
	switch {
	case value == "" || g.text == "" || g.literal:
		return g.text == value
	case g.path:
		return doublestar.MatchUnvalidated(g.text, value)
	default:
		return doublestar.MatchUnvalidated(noSlash(g.text), noSlash(value))
	}
}

// noSlash makes / a character like any other, which it is in the names and tags
// of AWS: NUL, which no name holds, stands for it.
func noSlash(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

func folder(path string) string {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)]
}

// finding is what a rule may set aside.
type finding struct {
	cluster, namespace, name, provider string

	status code.Status // Unattributed of a VM to confirm
	role   report.Role

	reason   string
	warnings []report.Warning
	instance report.Instance  // zero when there is none
	ignored  **report.Ignored // where it says that it is set aside
	check    *report.Check    // nil of machines and VMs
}

// places returns the namespaces, 0, or the names, 1, of the clusters that it concerns: one
// at least, which is empty when there is none.
func (f *finding) places(part int) []string {
	if f.check == nil {
		return []string{[]string{f.namespace, f.cluster}[part]}
	}
	out := []string{}
	for _, c := range f.check.Clusters {
		namespace, name, _ := strings.Cut(c, "/")
		out = append(out, []string{namespace, name}[part])
	}
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

func ofCheck(c *report.Check) *finding { return &finding{check: c, ignored: &c.Ignored} }

// reasons returns those of the verdict and of its warnings: at least one, which is
// empty when there is none.
func (f *finding) reasons() []string {
	var out []string
	if f.reason != "" || len(f.warnings) == 0 {
		out = append(out, f.reason)
	}
	for i := range f.warnings {
		out = append(out, string(f.warnings[i].Reason))
	}
	return out
}

// findings returns all that rules may set aside. The machines of the management
// cluster itself are not among them.
func findings(r *report.Report) iter.Seq[*finding] {
	return func(yield func(*finding) bool) {
		for i := range r.Clusters {
			c := &r.Clusters[i]
			if c.Self {
				continue
			}
			for _, s := range c.Sets() {
				for j := range s.Machines {
					if m := &s.Machines[j]; m.Finding() && !yield(ofMachine(c, m)) {
						return
					}
				}
			}
		}
		for i := range r.InfraMachines {
			if !yield(ofInfraMachine(&r.InfraMachines[i])) {
				return
			}
		}
		for i := range r.Checks {
			if !yield(ofCheck(&r.Checks[i])) {
				return
			}
		}
	}
}

func ofMachine(c *report.Cluster, m *report.Machine) *finding {
	f := &finding{
		cluster: c.Name, namespace: m.Namespace, name: m.Name, provider: c.Provider, status: m.Status, role: m.Role,
		reason: string(m.Reason), warnings: m.Warnings, ignored: &m.Ignored,
	}
	if m.Instance != nil {
		f.instance = *m.Instance
		f.provider = cmp.Or(m.Instance.Provider, c.Provider)
	}
	return f
}

func ofInfraMachine(m *report.InfraMachine) *finding {
	namespace, cluster, _ := strings.Cut(m.Cluster, "/")
	return &finding{
		cluster: cluster, namespace: namespace, name: m.Instance.Name, provider: m.Instance.Provider, status: code.Unattributed,
		reason: string(m.Reason), instance: m.Instance, ignored: &m.Ignored,
	}
}
