package infra

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"drift-detector/backup"
	"drift-detector/internal/lazyregexp"
)

// IdentityWriter is a Provider that makes again what clusters log in with, as far as what
// refers to it says what that was.
type IdentityWriter interface {
	// Identities returns the identities, and the Secrets behind them, that clusters of the
	// backup refer to and the backup lacks. A Secret is said to be there where it is.
	Identities(s *backup.Snapshot, secrets *backup.Secrets) []Manifest
}

// Manifest is an object for 'kubectl apply'. What is not known of it is an [Open] value, with
// which no API server takes it.
type Manifest struct {
	Backup           int
	APIVersion, Kind string
	Namespace, Name  string
	Fields           map[string]any // beside the metadata
	Says             []string       // sentences about it, of foreign names
	NeedsSecret      bool           // it names a Secret, which has to be there first
	Clusters         []backup.ClusterID
}

// Open returns what is in the place of a text that is not known: a list, which no API server
// takes for one.
func Open(what string) any { return []string{openWord + what} }

const openWord = "fill in: "

// YAML returns the object with what is said of it in front.
func (m *Manifest) YAML() ([]byte, error) {
	meta := map[string]any{"name": m.Name}
	if m.Namespace != "" {
		meta["namespace"] = m.Namespace
	}
	all := map[string]any{"apiVersion": m.APIVersion, "kind": m.Kind, "metadata": meta}
	for name, value := range m.Fields {
		all[name] = value
	}
	var b bytes.Buffer
	for _, s := range m.Says {
		b.WriteString("# " + strings.Map(printable, s) + "\n")
	}
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(all); err != nil {
		return nil, fmt.Errorf("writing %s: %w", m.Kind, err)
	}
	return b.Bytes(), nil
}

// printable takes what could end a comment, or trick a terminal, for a question mark.
func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return '?'
}

// Title names it as findings do.
func (m *Manifest) Title() string {
	if m.Namespace == "" {
		return m.Kind + " " + m.Name
	}
	return m.Kind + " " + m.Namespace + "/" + m.Name
}

// Problem says why no object can be of its name, which something of the backup refers to; empty
// where one can.
func (m *Manifest) Problem() string {
	bad := validation.IsDNS1123Subdomain(m.Name)
	if m.Namespace != "" && bad == nil {
		bad = validation.IsDNS1123Label(m.Namespace)
	}
	if bad == nil {
		return ""
	}
	return "no object can have that name, and nothing was written for it: see what its clusters refer to (" + bad[0] + ")"
}

// When says when it is applied.
func (m *Manifest) When() string {
	switch {
	case m.Kind == "Secret":
		return "before what logs in with it"
	case m.NeedsSecret:
		return "once its Secret is there"
	}
	return "before its cluster is unpaused"
}

var versionForm = lazyregexp.New(`^v[0-9]{1,3}((alpha|beta)[0-9]{1,3})?$`)

// VersionLike returns the apiVersion of a group that an object of the backup has, which the API server
// that wrote it served; otherwise where that is of another group, or none.
func VersionLike(apiVersion, group, otherwise string) string {
	if of, version, ok := strings.Cut(apiVersion, "/"); ok && of == group && versionForm.MatchString(version) {
		return apiVersion
	}
	return group + "/" + otherwise
}

// Lacks says what of it is not known.
func (m *Manifest) Lacks() []string {
	var out []string
	var in func(value any)
	in = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				in(v[name])
			}
		case []string:
			if len(v) == 1 && strings.HasPrefix(v[0], openWord) {
				out = append(out, v[0])
			}
		}
	}
	in(m.Fields)
	return out
}

// MayUse returns what says which namespaces may use an identity that is made again: those of the
// clusters that refer to it.
func (m *Manifest) MayUse(clusters []backup.ClusterID) (namespaces []string) {
	m.Clusters = clusters
	for _, id := range clusters {
		namespaces = append(namespaces, id.Namespace)
	}
	slices.Sort(namespaces)
	namespaces = slices.Compact(namespaces)
	m.Says = append(m.Says, "See that each of these namespaces, whose clusters refer to it, may use it: "+strings.Join(namespaces, ", "))
	return namespaces
}

// OnlyNamespaces selects namespaces by the label that each has of its name.
func OnlyNamespaces(names []string) map[string]any {
	const label = "kubernetes.io/metadata.name"
	if len(names) == 1 {
		return map[string]any{"matchLabels": map[string]any{label: names[0]}}
	}
	return map[string]any{"matchExpressions": []any{map[string]any{"key": label, "operator": "In", "values": names}}}
}

// LoginSecret returns a Secret whose values are not known.
func LoginSecret(n int, clusters []backup.ClusterID, namespace, name string, keys ...string) Manifest {
	values := map[string]any{}
	for _, k := range keys {
		values[k] = Open(k)
	}
	return Manifest{
		Backup: n, APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: name, Clusters: clusters, Fields: map[string]any{"type": "Opaque", "stringData": values},
		Says: []string{"The backup lacks it, or its values. Put each in place of the list that says 'fill in'."},
	}
}

// Identities returns those of all providers.
func (r *Registry) Identities(s *backup.Snapshot, secrets *backup.Secrets) []Manifest {
	var all []Manifest
	for _, p := range r.providers {
		if w, ok := p.(IdentityWriter); ok {
			all = append(all, w.Identities(s, secrets)...)
		}
	}
	return all
}
