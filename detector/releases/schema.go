package releases

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the schema of the built-in kinds
	"io"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"drift-detector/internal/lazyregexp"
)

//go:generate go run ../../.ci/kindschema

//go:embed schema.yaml.gz
var packedSchema []byte

// typeTexts are the types of the schema of the built-in kinds as it writes them, by name.
var typeTexts = sync.OnceValue(func() map[string]string {
	z, err := gzip.NewReader(bytes.NewReader(packedSchema))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	all := map[string]string{}
	for _, one := range strings.Split(strings.TrimPrefix(string(text), "types:\n"), "\n- name: ") {
		one = strings.TrimPrefix(strings.TrimSuffix(one, "\n"), "- name: ")
		name, _, _ := strings.Cut(one, "\n")
		all[name] = "- name: " + one + "\n"
	}
	return all
})

// builtinTypes are the types that were parsed, by name. There are 861, and most runs need
// what a few kinds consist of.
var builtinTypes = struct {
	sync.Mutex
	parsed map[string]schema.TypeDef
	kinds  map[string]typed.ParseableType
}{parsed: map[string]schema.TypeDef{}, kinds: map[string]typed.ParseableType{}}

var namedType = lazyregexp.New(`namedType: (\S+)`)

// builtinType returns a type of the schema of the built-in kinds with all that it consists of.
func builtinType(name string) typed.ParseableType {
	builtinTypes.Lock()
	defer builtinTypes.Unlock()
	if t, done := builtinTypes.kinds[name]; done {
		return t
	}
	texts, names := typeTexts(), []string{name, deducedName}
	var lacking strings.Builder
	for i := 0; i < len(names); i++ {
		text := texts[names[i]]
		if _, done := builtinTypes.parsed[names[i]]; !done {
			lacking.WriteString(text)
		}
		for _, part := range namedType.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(names, part[1]) {
				names = append(names, part[1])
			}
		}
	}
	if lacking.Len() > 0 {
		p, err := typed.NewParser(typed.YAMLObject("types:\n" + lacking.String()))
		if err != nil {
			panic(err)
		}
		for _, t := range p.Schema.Types {
			builtinTypes.parsed[t.Name] = t
		}
	}
	s := &schema.Schema{Types: make([]schema.TypeDef, len(names))}
	for i, n := range names {
		s.Types[i] = builtinTypes.parsed[n]
	}
	t := typed.ParseableType{Schema: s, TypeRef: schema.TypeRef{NamedType: &name}}
	builtinTypes.kinds[name] = t
	return t
}

// crd is what is used of a CustomResourceDefinition.
type crd struct {
	resource string
	cluster  bool
	versions map[string]Object // openAPIV3Schema of each version
	types    map[string]typed.ParseableType
}

// readCRD reads a CustomResourceDefinition, and returns "" for its group and kind if it is none.
func readCRD(o Object) (group, kind string, c *crd) {
	names := at(o, "spec", "names")
	group, kind = text(o, "spec", "group"), text(Object{"n": names}, "n", "kind")
	plural := text(Object{"n": names}, "n", "plural")
	if group == "" || kind == "" || plural == "" {
		return "", "", nil
	}
	c = &crd{
		resource: plural + "." + group, cluster: text(o, "spec", "scope") == "Cluster",
		versions: map[string]Object{}, types: map[string]typed.ParseableType{},
	}
	for _, v := range list(o, "spec", "versions") {
		s, _ := at(v, "schema", "openAPIV3Schema").(Object)
		c.versions[text(Object{"v": v}, "v", "name")] = s
	}
	return group, kind, c
}

// typeOf returns the type of the CRD's objects of a version; without a schema all lists are atomic.
func (c *crd) typeOf(version string) typed.ParseableType {
	if t, done := c.types[version]; done {
		return t
	}
	t := typed.DeducedParseableType
	if s := c.versions[version]; s != nil {
		root := atom(s, 0)
		if root.Map != nil {
			root.Map = withMetadata(root.Map)
			name := "object"
			t = typed.ParseableType{
				TypeRef: schema.TypeRef{NamedType: &name},
				Schema:  &schema.Schema{Types: append([]schema.TypeDef{{Name: name, Atom: root}}, deduced)},
			}
		}
	}
	c.types[version] = t
	return t
}

const deducedName = "__untyped_deduced_"

var (
	anyScalar = schema.Untyped
	anything  = func() schema.TypeRef { n := deducedName; return schema.TypeRef{NamedType: &n} }()
	// deduced is what kube-openapi makes of values without schema: maps are merged, lists atomic.
	deduced = schema.TypeDef{Name: deducedName, Atom: schema.Atom{
		Scalar: &anyScalar,
		List:   &schema.List{ElementType: anything, ElementRelationship: schema.Atomic},
		Map:    &schema.Map{ElementType: anything, ElementRelationship: schema.Separable},
	}}
)

// withMetadata returns a map with the fields that every object has.
func withMetadata(m *schema.Map) *schema.Map {
	out := &schema.Map{ElementType: m.ElementType, ElementRelationship: m.ElementRelationship}
	for _, f := range m.Fields {
		if f.Name != "metadata" && f.Name != "apiVersion" && f.Name != "kind" {
			out.Fields = append(out.Fields, f)
		}
	}
	for _, name := range []string{"metadata", "apiVersion", "kind"} {
		out.Fields = append(out.Fields, schema.StructField{Name: name, Type: anything})
	}
	return out
}

// maxSchemaDepth is deeper than any API server accepts a schema.
const maxSchemaDepth = 100

// atom converts one schema of a CRD (kube-openapi pkg/schemaconv does the same for servers).
func atom(s Object, depth int) schema.Atom {
	if depth > maxSchemaDepth {
		return deduced.Atom
	}
	if at(s, "x-kubernetes-int-or-string") == true {
		return schema.Atom{Scalar: &anyScalar}
	}
	switch text(s, "type") {
	case "object":
		return schema.Atom{Map: mapType(s, depth)}
	case "array":
		return schema.Atom{List: listType(s, depth)}
	case "string", "integer", "number", "boolean":
		return schema.Atom{Scalar: &anyScalar}
	}
	return deduced.Atom
}

func mapType(s Object, depth int) *schema.Map {
	m := &schema.Map{ElementRelationship: schema.Separable}
	if text(s, "x-kubernetes-map-type") == "atomic" {
		m.ElementRelationship = schema.Atomic
	}
	properties, _ := at(s, "properties").(Object)
	for name, p := range properties {
		if one, ok := p.(Object); ok {
			m.Fields = append(m.Fields, schema.StructField{Name: name, Type: reference(one, depth), Default: one["default"]})
		}
	}
	switch more, ok := at(s, "additionalProperties").(Object); {
	case ok:
		m.ElementType = reference(more, depth)
	case at(s, "x-kubernetes-preserve-unknown-fields") == true, at(s, "x-kubernetes-embedded-resource") == true, len(m.Fields) == 0, at(s, "additionalProperties") == true:
		m.ElementType = anything
	}
	return m
}

func listType(s Object, depth int) *schema.List {
	items, _ := at(s, "items").(Object)
	l := &schema.List{ElementType: anything, ElementRelationship: schema.Atomic}
	if items != nil {
		l.ElementType = reference(items, depth)
	}
	switch text(s, "x-kubernetes-list-type") {
	case "set":
		l.ElementRelationship = schema.Associative
	case "map":
		l.ElementRelationship = schema.Associative
		for _, k := range list(s, "x-kubernetes-list-map-keys") {
			if name, ok := k.(string); ok {
				l.Keys = append(l.Keys, name)
			}
		}
	}
	return l
}

func reference(s Object, depth int) schema.TypeRef {
	if at(s, "x-kubernetes-preserve-unknown-fields") == true && at(s, "properties") == nil && text(s, "type") == "" {
		return anything
	}
	return schema.TypeRef{Inlined: atom(s, depth+1)}
}
