package releases

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Change is one declared field that lives as something else, and the operation
// of RFC 6902 that would repair it.
type Change struct {
	Op      string  `json:"op"` // add, replace, remove
	Pointer string  `json:"path"`
	Path    string  `json:"field"` // as people read it
	Desired any     `json:"value,omitempty"`
	Live    any     `json:"oldValue,omitempty"`
	Owners  []Owner `json:"owners,omitempty"`
	// Unseen says that Flux does not see it: a declared zero value.
	Unseen bool `json:"notSeenByFlux,omitempty"`
	// Benign says why it does not count, or is empty.
	Benign  string `json:"benign,omitempty"`
	Upgrade string `json:"upgrade"` // what Helm's next upgrade does: repairs, leaves, fails

	// Admitted says that the value was changed in Helm's own request, at admission.
	Admitted bool `json:"changedAtAdmission,omitempty"`

	kept      bool // no upgrade repairs it, though nobody made it
	stays     bool // Helm's three-way merge leaves it
	unapplied bool // a server-side apply leaves it
	unknown   bool // managedFields are absent, and so who wrote it
}

// Added is a field that no manifest declares, of somebody other than the release.
type Added struct {
	Path  string `json:"field"`
	Value any    `json:"value"`
	Owner Owner  `json:"owner"`
	// Benign says why it does not count, or is empty.
	Benign string `json:"benign,omitempty"`
	// Upgrade is repairs where Helm's next upgrade takes it away; empty where it stays.
	Upgrade string `json:"upgrade,omitempty"`
	path    fieldpath.Path
}

// outcome is what the comparison of one object found.
type outcome struct {
	changes []Change
	added   []Added
	refused string
	passes  bool     // Helm's three-way merge is not refused
	applies bool     // nor is Helm's server-side apply
	applied Object   // live as Flux would have it, if that is not merged
	whole   []Change // with those that rules ignore, if there are rules
	live    Object   // in the form that is compared
	merged  Object   // live with the changes made
	next    Object   // live after the next upgrade, if that goes out from another revision
}

var (
	errVersion  = errors.New("the backup has it in another API version only")
	errNoSchema = errors.New("the backup has no schema of it, and so it is not known what its lists default to")
	errLong     = fmt.Errorf("it has a list of more than %d items, which is not compared", maxItems)
	errNewer    = errors.New("its API server knew fields that this program does not")
)

// typeFor returns the schema of an object, and its Kubernetes type if it is built in.
func (c *Collector) typeFor(apiVersion, kindName string) (typed.ParseableType, *kind, error) {
	if k, ok := builtin[apiVersion+" "+kindName]; ok {
		return builtinType(typeName(apiVersion, kindName)), &k, nil
	}
	id := schema.FromAPIVersionAndKind(apiVersion, kindName)
	if known := c.crds[id.GroupKind()]; known != nil {
		return known.typeOf(id.Version), nil, nil
	}
	if builtinGroups[id.Group] && !unknownTypes[id.Kind] {
		return typed.ParseableType{}, nil, fmt.Errorf("API version %s of %s is not known", apiVersion, kindName)
	}
	return typed.DeducedParseableType, nil, nil
}

// compare says in what a live object differs from the desired one. The error says
// why they can't be compared, in words without a value. Managed is the JSON of the live
// object's managedFields.
func (c *Collector) compare(desired, live Object, managed []byte, ignore []string) (*outcome, error) {
	apiVersion, kindName := text(desired, "apiVersion"), text(desired, "kind")
	if text(live, "apiVersion") != apiVersion {
		if live = converted(live, apiVersion); live == nil {
			return nil, errVersion
		}
	}
	t, known, err := c.typeFor(apiVersion, kindName)
	if err != nil {
		return nil, err
	}
	l, err := c.form(live, t, known)
	if err != nil {
		return nil, errors.New("the live object is none of its type")
	}
	declared := desired
	d, err := c.form(desired, t, known)
	lacking := known == nil || err != nil || lacks(desired, d)
	nulls := lacking && t.Schema != nil && hasNulls(desired)
	if nulls && known != nil {
		declared = bare(desired)
		d, err = c.form(declared, t, known)
	}
	if err != nil {
		return nil, errors.New("the manifest's object is none of its type")
	}
	if known != nil && newer(declared, d, live) {
		return nil, errNewer
	}
	if (longest(d) > maxItems || longest(l) > maxItems) && !equal(d, l) {
		return nil, errLong
	}
	defaulted(kindName, d)
	defaultedBeside(kindName, d, l)
	m := merger{kind: kindName, t: t, known: known, live: l, scaled: c.scaled[describe(live)], raw: desired, full: d, lacking: lacking, nulls: nulls}
	managed = searchable(managed)
	m.owners, m.unknown = ownersOf(managed, false), len(managed) == 0
	d, out, err := m.withoutSchema(desired, d)
	if err == nil && len(out.changes) > 0 && m.owners == nil && !m.unknown {
		m.owners = ownersOf(managed, true)
		out, err = m.outcome(desired, d)
	}
	if err != nil {
		return nil, err
	}
	if (known != nil || unknownTypes[kindName]) && len(out.changes) > 0 {
		m.refuse(out, d)
	}
	if len(ignore) > 0 {
		if out, err = m.setAside(out, desired, d, ignore); err != nil {
			return nil, err
		}
	}
	out.live = l
	if m.owners != nil {
		out.added = m.added(out.changes)
	}
	return out, nil
}

// refuse says what no API server accepts: of Flux's merge, of Helm's and of Helm's apply.
func (m *merger) refuse(out *outcome, d Object) {
	helms := refusal(m.kind, m.live, out.merged, out.changes, false)
	if out.refused = helms; out.applied != nil {
		seen := slices.DeleteFunc(slices.Clone(out.changes), func(c Change) bool { return c.Unseen })
		out.refused = cmp.Or(refusal(m.kind, m.live, out.applied, seen, false), helms)
	}
	out.applies = helms == ""
	done := slices.DeleteFunc(slices.Clone(out.changes), func(c Change) bool { return c.stays })
	out.passes = refusal(m.kind, m.live, out.merged, done, true) == ""
	if strings.HasPrefix(out.refused, "two ports") {
		out.changes = byName(out.changes, m.live, d, m.owners)
	}
}

// setAside leaves out what rules ignore: the report does, no server and no Helm.
func (m *merger) setAside(whole *outcome, desired, d Object, ignore []string) (*outcome, error) {
	m.ignore = ignore
	out, err := m.outcome(desired, d)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(whole.refused, "two ports") {
		out.changes = slices.DeleteFunc(slices.Clone(whole.changes), func(c Change) bool { return within(c.Pointer, ignore) })
	}
	out.refused, out.passes, out.applies, out.whole = whole.refused, whole.passes, whole.applies, whole.changes
	return out, nil
}

// form returns an object in the form that is compared.
func (c *Collector) form(o Object, t typed.ParseableType, known *kind) (Object, error) {
	if known != nil && known.new != nil {
		return typedForm(o, *known)
	}
	if known != nil {
		return canonical(bare(o), t, *known)
	}
	o = c.custom(o)
	if unknownTypes[text(o, "kind")] {
		o, _ = withoutZeros(o, func(field string, v any) bool {
			return isZero(v) && unwritten[field] || field == "properties" && empty(v)
		}).(Object)
	}
	if t.Schema != nil && t.TypeRef.NamedType != nil {
		return pruned(o, t.TypeRef, t.Schema, false).(Object), nil
	}
	return o, nil
}

// merger compares one object.
type merger struct {
	kind    string
	t       typed.ParseableType
	known   *kind
	live    Object
	owners  []ownership
	unknown bool     // there are no managedFields
	ignore  []string // JSON pointers
	scaled  bool     // an autoscaler sets its replicas
	raw     Object   // the manifest's
	lacking bool     // what is compared of raw lacks some of it
	nulls   bool     // raw has some
	full    Object   // what is desired, with the zero values that the manifest declares

	places map[*any]map[string]int // of the items of lists, by their identity: see place
}

// merge applies desired, which may have declared zero values, to live as the API server would.
func (m *merger) merge(desired Object, zeros bool) (Object, error) {
	live, err := m.t.FromUnstructured(m.live, typed.AllowDuplicates)
	if err != nil {
		return nil, errors.New("the live object is not of its schema")
	}
	d, err := m.t.FromUnstructured(desired)
	if err != nil {
		return nil, errors.New("the manifest's object is not of its schema")
	}
	merged, err := live.Merge(d)
	if err != nil {
		return nil, errors.New("it can't be merged with the live object")
	}
	gone, err := m.dropped(d)
	if err != nil {
		return nil, errors.New("the manifest's object is not of its schema")
	}
	if gone != nil {
		merged = merged.RemoveItems(gone)
	}
	out, _ := merged.AsValue().Unstructured().(Object)
	if m.nulls && zeros {
		out, _ = m.cleared(m.raw, desired, out, m.t.TypeRef, "").(Object)
	}
	if equal(out, m.live) {
		return m.live, nil
	}
	if m.t.Schema != nil {
		out, _ = aligned(m.live, out, m.t.TypeRef, m.t.Schema).(Object)
	}
	if m.known != nil && (zeros || gone != nil) && !equal(out, m.live) { // else both sides have the server's form
		if out, err = canonical(out, m.t, *m.known); err != nil {
			return nil, errors.New("it can't be merged with the live object")
		}
	}
	return out, nil
}

// dropped returns what only the release's own Apply entry owns, and no longer declares.
func (m *merger) dropped(desired *typed.TypedValue) (*fieldpath.Set, error) {
	if m.t.Schema == nil || !slices.ContainsFunc(m.owners, func(e ownership) bool { return e.own && e.Operation == "Apply" }) {
		return nil, nil
	}
	declared, err := desired.ToFieldSet()
	if err != nil {
		return nil, err
	}
	own, others := fieldpath.NewSet(), fieldpath.NewSet()
	for _, e := range m.owners {
		if e.own && e.Operation == "Apply" {
			own = own.Union(e.set)
		} else {
			others = others.Union(e.set)
		}
	}
	whole := func(s *fieldpath.Set) *fieldpath.Set { return s.EnsureNamedFieldsAreMembers(m.t.Schema, m.t.TypeRef) }
	gone := whole(own).Difference(whole(declared)).Difference(whole(others))
	if gone.Empty() {
		return nil, nil
	}
	return gone, nil
}

// outcome merges with the zero values that the manifest declares, as Helm does, and,
// if that changes anything, without them, as Flux does.
func (m *merger) outcome(desired, d Object) (*outcome, error) {
	zeros := m.nulls
	if m.known != nil && m.lacking {
		full, more := m.withZeros(desired, d, m.t.TypeRef, "")
		m.full, zeros = full.(Object), zeros || more
	}
	if !zeros {
		return m.changed(d, false)
	}
	helm, err := m.changed(m.full, true)
	if err == nil && len(helm.changes) == 0 {
		return helm, nil
	}
	flux, fault := m.changed(d, false)
	if err != nil || fault != nil {
		return flux, fault // a zero value of another type: Flux's comparison stays
	}
	more, err := m.patch(flux.merged, helm.merged)
	if err != nil {
		return nil, err
	}
	for _, c := range more {
		_, granular := c.Live.(map[string]any)
		c.Unseen = m.known != nil || granular
		if strings.HasSuffix(c.Pointer, "/template/metadata/annotations") {
			c.Benign = "annotations, which the manifest has as null"
		}
		flux.changes = append(flux.changes, c)
	}
	flux.applied, flux.merged = flux.merged, helm.merged
	return flux, nil
}

// changed merges desired into live, and says what that changes.
func (m *merger) changed(desired Object, zeros bool) (*outcome, error) {
	merged, err := m.merge(desired, zeros)
	if err != nil {
		return nil, err
	}
	changes, err := m.patch(m.live, merged)
	return &outcome{changes: changes, merged: merged}, err
}
