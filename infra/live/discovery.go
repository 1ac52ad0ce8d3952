package live

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"drift-detector/infra"
)

// resource is what can be listed, or should be.
type resource struct {
	group, name, kind string
	namespaced        bool
	version           string // in which it is listed: the one that the server prefers
	stored            string // that of its objects in etcd; empty where it is not known
	unread            string // why it can't be listed; empty where it may
}

// id is the resource as it is in the paths of a backup.
func (r *resource) id() string {
	if r.group == "" {
		return r.name
	}
	return r.name + "." + r.group
}

func (r *resource) apiVersion(version string) string {
	if r.group == "" {
		return version
	}
	return r.group + "/" + version
}

func (r *resource) path(version string) string {
	if r.group == "" {
		return "/api/" + version + "/" + r.name
	}
	return "/apis/" + r.group + "/" + version + "/" + r.name
}

// aggregated asks for all resources at once, as API servers tell them since Kubernetes 1.27
// (staging/src/k8s.io/api/apidiscovery).
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"

const (
	maxDiscovery = 64 << 20
	maxResources = 10_000
)

// discoveryBounds leave room for ten times the resources of a large cluster.
var discoveryBounds = infra.Bounds{Items: 5_000_000}

// groupList is an APIGroupDiscoveryList.
type groupList struct {
	Kind  string `json:"kind"`
	Items []struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Versions []struct {
			Version   string `json:"version"`
			Freshness string `json:"freshness"`
			Resources []struct {
				Resource     string `json:"resource"`
				Scope        string `json:"scope"`
				ResponseKind struct {
					Kind string `json:"kind"`
				} `json:"responseKind"`
				Verbs []string `json:"verbs"`
			} `json:"resources"`
		} `json:"versions"`
	} `json:"items"`
}

// discover asks which resources the server serves, and returns its time.
func (c *Cluster) discover(ctx context.Context) (all []resource, at time.Time, err error) {
	for _, root := range []string{"/api", "/apis"} {
		var d groupList
		err := c.get(ctx, root, aggregated, func(body io.Reader, now time.Time) error {
			d, at = groupList{}, now
			if err := json.UnmarshalRead(discoveryBounds.JSON(io.NopCloser(&bounded{body, maxDiscovery})), &d); err != nil {
				return described(err, "it answered with something that is no discovery")
			}
			if d.Kind != "APIGroupDiscoveryList" {
				return &errAnswer{"it does not tell all that it serves at once: Kubernetes 1.27 or newer is needed"}
			}
			return nil
		})
		if err != nil {
			return nil, at, err
		}
		all = append(all, d.resources()...)
		if len(all) > maxResources {
			return nil, at, &errAnswer{"it serves more than 10,000 resources"}
		}
	}
	return all, at, nil
}

// resources are those that can be listed, each in the version that the server prefers, which
// comes first.
func (d *groupList) resources() (all []resource) {
	for _, g := range d.Items {
		seen := map[string]bool{}
		for _, v := range g.Versions {
			for _, r := range v.Resources {
				if seen[r.Resource] || !slices.Contains(r.Verbs, "list") || !isName(r.Resource) || !isName(v.Version) || g.Metadata.Name != "" && !isName(g.Metadata.Name) {
					continue
				}
				seen[r.Resource] = true
				one := resource{group: g.Metadata.Name, name: r.Resource, kind: r.ResponseKind.Kind, version: v.Version, namespaced: r.Scope == "Namespaced"}
				if v.Freshness == "Stale" {
					one.unread = "the API server no longer knows what its group holds (its discovery is stale)"
				}
				all = append(all, one)
			}
		}
	}
	return all
}

// isName reports whether a name from a server can be a part of a path: what Kubernetes allows
// as one (apimachinery pkg/api/validation/path/name.go v0.36.0), and no longer than a file's.
func isName(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= 253 && !strings.ContainsAny(s, "/%\x00")
}

// definition is the part of a CustomResourceDefinition that is read.
type definition struct {
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Plural string `json:"plural"`
			Kind   string `json:"kind"`
		} `json:"names"`
		Versions []struct {
			Name    string `json:"name"`
			Served  bool   `json:"served"`
			Storage bool   `json:"storage"`
		} `json:"versions"`
	} `json:"spec"`
}

// definitions is the resource of all others' definitions.
var definitions = resource{group: "apiextensions.k8s.io", name: "customresourcedefinitions", kind: "CustomResourceDefinition", version: "v1"}

// define holds what the server serves against the definitions: what is defined and not served
// is unread, and not absent (its objects are there).
func define(served []resource, defined []definition) []resource {
	known := make(map[string]int, len(served))
	for i := range served {
		known[served[i].id()] = i
	}
	for i := range defined {
		d := &defined[i].Spec
		if !isName(d.Names.Plural) || !isName(d.Group) {
			continue
		}
		r := resource{group: d.Group, name: d.Names.Plural, kind: d.Names.Kind, namespaced: d.Scope == "Namespaced"}
		at, ok := known[r.id()]
		if !ok {
			r.unread = "it is defined, and the API server does not serve it"
			at = len(served)
			known[r.id()] = at
			served = append(served, r)
		}
		for _, v := range d.Versions {
			if v.Storage && v.Served && isName(v.Name) {
				served[at].stored = v.Name
			}
		}
	}
	return served
}
