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
	version           string   // in which it is listed: the one that the server prefers
	stored            []string // served ones in which its objects may be in etcd, where that is known
	unread            string   // why it can't be listed; empty where it may
}

// id returns the resource as it is in the paths of a backup.
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

// resources returns those that can be listed, each in the version that the server prefers, which
// comes first. A group whose own API server is down stands for all that it may have: once
// kube-apiserver was started again, too, it does not know what that is (v1.36.3).
func (d *groupList) resources() (all []resource) {
	for _, g := range d.Items {
		seen := map[string]bool{}
		for _, v := range g.Versions {
			if v.Freshness == "Stale" && len(v.Resources) == 0 && isName(g.Metadata.Name) && !seen["*"] {
				seen["*"] = true
				all = append(all, resource{group: g.Metadata.Name, name: "*", unread: stale})
			}
			for _, r := range v.Resources {
				if seen[r.Resource] || !slices.Contains(r.Verbs, "list") || !isName(r.Resource) || !isName(v.Version) || g.Metadata.Name != "" && !isName(g.Metadata.Name) {
					continue
				}
				seen[r.Resource] = true
				one := resource{group: g.Metadata.Name, name: r.Resource, kind: r.ResponseKind.Kind, version: v.Version, namespaced: r.Scope == "Namespaced"}
				if v.Freshness == "Stale" {
					one.unread = stale
				}
				all = append(all, one)
			}
		}
	}
	return all
}

const stale = "the API server no longer knows what its group holds (its discovery is stale)"

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
			Name   string `json:"name"`
			Served bool   `json:"served"`
		} `json:"versions"`
	} `json:"spec"`
	Status struct {
		StoredVersions []string `json:"storedVersions"`
	} `json:"status"`
}

// definitions is the resource of all others' definitions.
var definitions = resource{group: "apiextensions.k8s.io", name: "customresourcedefinitions", kind: "CustomResourceDefinition", version: "v1"}

// core are resources that Cluster API defines together (config/crd/bases v0.3.0 to v1.14.0): a
// server that has other kinds of it, or of its providers, and not these has lost them. Their
// objects may be in etcd all the same, where they come back with the definition.
var core = []string{"clusters", "machines", "machinesets", "machinedeployments"}

const coreGroup = "cluster.x-k8s.io"

// define holds what the server serves against the definitions: what is defined and not served
// is unread, and not absent (its objects are there).
func define(served []resource, defined []definition) []resource {
	known := make(map[string]int, len(served))
	for i := range served {
		known[served[i].id()] = i
	}
	add := func(r resource, why string) {
		r.unread = why
		known[r.id()] = len(served)
		served = append(served, r)
	}
	for i := range defined {
		d := &defined[i].Spec
		if !isName(d.Names.Plural) || !isName(d.Group) {
			continue
		}
		r := resource{group: d.Group, name: d.Names.Plural, kind: d.Names.Kind, namespaced: d.Scope == "Namespaced"}
		if _, ok := known[r.id()]; !ok {
			add(r, "it is defined, and the API server does not serve it")
		}
		at := &served[known[r.id()]]
		for _, v := range d.Versions {
			if v.Served && isName(v.Name) && slices.Contains(defined[i].Status.StoredVersions, v.Name) {
				at.stored = append(at.stored, v.Name)
			}
		}
	}
	if slices.ContainsFunc(served, func(r resource) bool { return strings.HasSuffix("."+r.group, "."+coreGroup) }) {
		for _, name := range core {
			r := resource{group: coreGroup, name: name}
			if _, ok := known[r.id()]; !ok {
				add(r, "the API server neither serves nor defines it, and it does other kinds of Cluster API")
			}
		}
	}
	return served
}
