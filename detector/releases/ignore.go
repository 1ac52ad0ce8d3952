package releases

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"
)

// The marks that have an object left alone, by Flux and by Sveltos.
const (
	fluxMark    = "helm.toolkit.fluxcd.io/driftDetection" // label or annotation, "disabled"
	sveltosMark = "projectsveltos.io/driftDetectionIgnore"
)

// Rule is one rule that sets drift aside, and how often it did.
type Rule struct {
	Source  string   `json:"source"` // the object or file that it is from
	Release string   `json:"release,omitempty"`
	Paths   []string `json:"paths"` // RFC 6901; "" is the whole object
	Target  string   `json:"target,omitempty"`
	Used    int      `json:"used"`

	selector selector
}

// selector says which objects a rule is about: anchored regular expressions and
// selectors of labels; empty is all.
type selector struct {
	Group              string `json:"group"`
	Version            string `json:"version"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	Namespace          string `json:"namespace"`
	AnnotationSelector string `json:"annotationSelector"`
	LabelSelector      string `json:"labelSelector"`

	patterns            [5]*regexp.Regexp
	labels, annotations labels.Selector
}

func (s *selector) compile() error {
	for i, text := range []string{s.Group, s.Version, s.Kind, s.Name, s.Namespace} {
		if text == "" {
			continue
		}
		p, err := regexp.Compile("^(?:" + text + ")$")
		if err != nil {
			return errors.New("its target has a pattern that is no regular expression")
		}
		s.patterns[i] = p
	}
	var err error
	if s.labels, err = labels.Parse(s.LabelSelector); err != nil {
		return errors.New("its target has a selector of labels that can't be read")
	}
	if s.annotations, err = labels.Parse(s.AnnotationSelector); err != nil {
		return errors.New("its target has a selector of annotations that can't be read")
	}
	return nil
}

func (s *selector) matches(o Object) bool {
	id := schema.FromAPIVersionAndKind(text(o, "apiVersion"), text(o, "kind"))
	for i, v := range []string{id.Group, id.Version, id.Kind, text(o, "metadata", "name"), text(o, "metadata", "namespace")} {
		if s.patterns[i] != nil && !s.patterns[i].MatchString(v) {
			return false
		}
	}
	return s.labels.Matches(labels.Set(stringMap(o, "metadata", "labels"))) &&
		s.annotations.Matches(labels.Set(stringMap(o, "metadata", "annotations")))
}

func (s *selector) String() string {
	var parts []string
	for i, v := range []string{s.Group, s.Version, s.Kind, s.Name, s.Namespace, s.LabelSelector, s.AnnotationSelector} {
		if v != "" {
			parts = append(parts, []string{"group", "version", "kind", "name", "namespace", "labels", "annotations"}[i]+"="+v)
		}
	}
	return strings.Join(parts, " ")
}

type writtenRule struct {
	Paths  []string  `json:"paths"`
	Target *selector `json:"target"`
}

// errPointer is about a path that is used by nobody: Flux and Sveltos find nothing there.
var errPointer = errors.New("one of its paths is no JSON pointer: it has to begin with /")

// rule makes a rule of what a HelmRelease, a profile or a file says.
func (w writtenRule) rule(source, release string) (*Rule, error) {
	r := &Rule{Source: source, Release: release, Paths: w.Paths}
	if w.Target != nil {
		r.selector = *w.Target
	}
	if slices.ContainsFunc(w.Paths, func(p string) bool { return p != "" && p[0] != '/' }) {
		return nil, errPointer
	}
	if err := r.selector.compile(); err != nil {
		return nil, err
	}
	r.Target = r.selector.String()
	return r, nil
}

// ReadRules reads a file of rules, in the shape of Flux's driftDetection: a list
// "ignore" of paths and target. The error says what is wrong with it.
func ReadRules(source string, body []byte) ([]*Rule, error) {
	var file struct {
		Ignore []writtenRule `json:"ignore"`
	}
	if err := yaml.UnmarshalStrict(body, &file); err != nil {
		return nil, errors.New("not a list \"ignore\" of rules with paths and target")
	}
	var out []*Rule
	for i, w := range file.Ignore {
		r, err := w.rule(fmt.Sprintf("%s, rule %d", source, i+1), "")
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		if len(r.Paths) == 0 {
			return nil, fmt.Errorf("rule %d has no paths; \"\" is the whole object", i+1)
		}
		out = append(out, r)
	}
	return out, nil
}

// excluded says by which mark or rule an object is left out as a whole, and which
// paths of it are ignored.
func (c *Collector) excluded(d *wanted, desired, live Object) (why string, paths []string) {
	for _, o := range []Object{desired, live} {
		for _, m := range []map[string]string{stringMap(o, "metadata", "labels"), stringMap(o, "metadata", "annotations")} {
			if strings.EqualFold(m[fluxMark], "disabled") {
				why = fluxMark
			}
			if _, ok := m[sveltosMark]; ok {
				why = sveltosMark
			}
		}
	}
	for _, i := range c.rulesAbout(d.release.id(), text(desired, "metadata", "name")) {
		r := c.rules[i]
		if !r.selector.matches(desired) {
			continue
		}
		r.Used++
		for _, p := range r.Paths {
			if p == "" {
				why = r.Source
				continue
			}
			paths = append(paths, p)
		}
	}
	return why, paths
}

// ruleTarget is the release of a rule and the only name that its target can have; empty is
// any.
type ruleTarget struct{ release, name string }

// rulesAbout returns the places in c.rules, in order, of those that may be about an object
// of a release.
func (c *Collector) rulesAbout(release, name string) []int {
	for ; c.placed < len(c.rules); c.placed++ {
		r := c.rules[c.placed]
		at := ruleTarget{r.Release, ""}
		if regexp.QuoteMeta(r.selector.Name) == r.selector.Name {
			at.name = r.selector.Name
		}
		if c.rulesOf == nil {
			c.rulesOf = map[ruleTarget][]int{}
		}
		c.rulesOf[at] = append(c.rulesOf[at], c.placed)
	}
	all := slices.Concat(c.rulesOf[ruleTarget{"", ""}], c.rulesOf[ruleTarget{release, ""}])
	if name != "" {
		all = slices.Concat(all, c.rulesOf[ruleTarget{"", name}], c.rulesOf[ruleTarget{release, name}])
	}
	slices.Sort(all)
	return all
}

// without returns an object without what JSON pointers name; missing paths are none.
func without(o Object, pointers []string) Object {
	for _, p := range pointers {
		if out, ok := cut(o, segmentsOf(p)).(Object); ok {
			o = out
		}
	}
	return o
}

// cut copies what it changes.
func cut(v any, segments []string) any {
	switch v := v.(type) {
	case map[string]any:
		e, has := v[segments[0]]
		if !has {
			return v
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = e
		}
		if len(segments) == 1 {
			delete(out, segments[0])
		} else {
			out[segments[0]] = cut(e, segments[1:])
		}
		return out
	case []any:
		i, err := strconv.Atoi(segments[0])
		if i < 0 {
			i += len(v)
		}
		if err != nil || i < 0 || i >= len(v) {
			return v
		}
		if len(segments) == 1 {
			return append(append([]any{}, v[:i]...), v[i+1:]...)
		}
		out := append([]any{}, v...)
		out[i] = cut(v[i], segments[1:])
		return out
	}
	return v
}

// ignores reports whether a rule sets a field of the live object aside, or it is below one
// of other pointers.
func (m *merger) ignores(path fieldpath.Path, others []string) bool {
	pointer, at := "", any(m.live)
	for _, pe := range path {
		name := ""
		if pe.FieldName != nil {
			name = escaped.Replace(*pe.FieldName)
		} else if items, ok := at.([]any); ok {
			name = strconv.Itoa(indexOf(items, pe))
		}
		pointer += "/" + name
		at, _ = find(at, fieldpath.Path{pe})
	}
	return within(pointer, m.ignore) || within(pointer, others)
}

// within reports whether a pointer is one of others, or below one.
func within(pointer string, others []string) bool {
	return slices.ContainsFunc(others, func(p string) bool { return pointer == p || strings.HasPrefix(pointer, p+"/") })
}
