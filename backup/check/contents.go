package check

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/internal/lazyregexp"
)

// Contents are the objects that Velero noted as those of a backup, in NAME-resource-list.json.gz
// beside the tarball: what it took up, and what it failed to (Velero
// pkg/backup/item_backupper.go:backupItemInternal notes an item before it reads it; v1.18.3).
type Contents struct {
	Items      int      // of all kinds
	Objects    int      // of Cluster API, its providers and k0rdent
	Namespaces []string // in which those are, in order
	// Clusters are those that it names, as namespace/name in order, MaxClusters and one more at most.
	Clusters []string
	// Manages says that controllers or kinds of Cluster API are among the objects: it is of a
	// management cluster, though its clusters may have been deleted, or moved to another one.
	Manages bool

	named map[string][]item // see ReadContents
}

// item is an object as a file of Velero's names it. Kind is empty where only the resource is
// known, and the other way round.
type item struct{ group, kind, resource, namespace, name string }

// Bounds of the files beside a tarball. A list of 100,000 objects has 6 MB.
const (
	MaxBeside   = 16 << 20 // bytes of one as it is stored
	maxInflated = 64 << 20 // and of its text
	MaxClusters = 100      // whose names are kept of each list
)

// ReadContents reads the text of a resource list. Of its objects it keeps those that have one
// of the names. The error is a [*backup.InputError].
func ReadContents(path string, text []byte, names map[string]bool) (*Contents, error) {
	var lists map[string][]string
	if err := inflateJSON(path, text, &lists); err != nil {
		return nil, err
	}
	c := &Contents{named: map[string][]item{}}
	in := map[string]bool{}
	for what, list := range lists { // group/version/Kind; v1/Secret
		part := strings.Split(what, "/")
		i := item{kind: part[len(part)-1]}
		if len(part) == 3 {
			i.group = part[0]
		}
		for _, named := range list {
			c.Items++
			if len(named) > 2*maxText+1 { // no object has such a name
				continue
			}
			i.namespace, i.name = "", named
			if namespace, name, ok := strings.Cut(named, "/"); ok {
				i.namespace, i.name = namespace, name
			}
			if ofClusters(i.group) {
				c.Objects++
				in[i.namespace] = true
			}
			if i.kind == "Cluster" && i.group == coreGroup || i.kind == "ClusterDeployment" && ofClusters(i.group) {
				c.Clusters = append(c.Clusters, named)
			}
			c.Manages = c.Manages || Manages(i.kind == "CustomResourceDefinition", i.name)
			if names[i.name] {
				c.named[i.name] = append(c.named[i.name], i)
			}
		}
	}
	delete(in, "")
	for namespace := range in {
		c.Namespaces = append(c.Namespaces, namespace)
	}
	slices.Sort(c.Namespaces)
	slices.Sort(c.Clusters)
	c.Clusters = slices.Compact(c.Clusters)
	c.Clusters = slices.Clone(c.Clusters[:min(len(c.Clusters), MaxClusters+1)])
	return c, nil
}

// Lacks says how a list contradicts what Velero counted, which notes each item in it that it counts
// (pkg/backup/backup.go v1.18.3); "" where it does not.
func (c *Contents) Lacks(o *Outline) string {
	switch {
	case c.Items == 0:
		return "it has no object"
	case o == nil || c.Items >= o.Items:
		return ""
	}
	return fmt.Sprintf("it has %s, and Velero counted %d", count(c.Items, "object"), o.Items)
}

// Of a tarball that is larger than what a list without Cluster API says, the list is not believed. The
// lab's has 380 bytes for each object; one of an application that has this much for each is looked
// into, as one that has no list.
const (
	ofTarball = 64 << 10 // bytes, whatever is in it
	ofObject  = 32 << 10
)

// Denies says how the size of a tarball contradicts a list that has nothing of Cluster API; "" where
// it does not.
func (c *Contents) Denies(size int64) string {
	if c.Objects > 0 || c.Manages || size <= ofTarball+ofObject*int64(c.Items) {
		return ""
	}
	return fmt.Sprintf("it has %s, which do not make a tarball of %d bytes", count(c.Items, "object"), size)
}

// Manages reports whether an object of a name, which may be a CustomResourceDefinition, is one
// that only a management cluster has: a controller or a kind of Cluster API.
func Manages(isDefinition bool, name string) bool {
	return controllerForm.MatchString(name) || isDefinition && ofClusters(afterDot(name))
}

// controllerForm are names of controllers of Cluster API and its providers, as clusterctl and
// the operator install them: capi-controller-manager, capv-controller-manager.
var controllerForm = lazyregexp.New(`^cap[a-z0-9]{1,4}(-[a-z-]+)?-controller-manager$`)

func afterDot(name string) string {
	_, group, _ := strings.Cut(name, ".")
	return group
}

// called returns the objects of a name, in the namespace where that is known.
func (c *Contents) called(named item) []item {
	return slices.DeleteFunc(slices.Clone(c.named[named.name]), func(i item) bool {
		return named.namespace != "" && i.namespace != named.namespace
	})
}

// ofClusters reports whether the objects of an API group are what Cluster API, its providers
// or k0rdent work with.
func ofClusters(group string) bool {
	return group == coreGroup || strings.HasSuffix(group, "."+coreGroup) || group == "k0rdent.mirantis.com"
}

// inflateJSON decodes the text of a file that Velero stores as gzip.
func inflateJSON(path string, text []byte, into any) error {
	refuse := func(problem string) error {
		return &backup.InputError{Name: path, Problem: problem, Next: "what it says is not known; get the file again from the object store"}
	}
	if len(text) > MaxBeside {
		return refuse(fmt.Sprintf("larger than %d MiB", MaxBeside>>20))
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return refuse("no gzip")
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxInflated+1))
	switch {
	case len(plain) > maxInflated:
		return refuse(fmt.Sprintf("its text is larger than %d MiB", maxInflated>>20))
	case err != nil:
		return refuse("gzip that breaks off or is damaged")
	}
	if err := json.Unmarshal(plain, into); err != nil {
		return refuse(jsonFault(err))
	}
	return nil
}
