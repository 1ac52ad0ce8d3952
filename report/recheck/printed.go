package recheck

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"drift-detector/report"
)

// clusterGroup is the API group of Cluster API.
const clusterGroup = "cluster.x-k8s.io"

// printed is what kubectl printed of a management cluster.
type printed struct {
	space    *object // kube-system
	nodes    []report.SeenNode
	clusters []report.HeldCluster
	// whole is set where all Clusters are known: by a ClusterList of the API server, which says of
	// what it is where it is empty, or by a list of API groups without Cluster API.
	whole bool
}

// document is an object, a list of some, or the list of API groups.
type document struct {
	object
	Items  *[]object  `json:"items"`
	Groups []apiGroup `json:"groups"`
}

type apiGroup struct {
	Name string `json:"name"`
}

// readManagement reads the documents that kubectl printed, one behind the other. Of what ends too
// soon nothing is believed.
func readManagement(r io.Reader) (*printed, error) {
	const next = "see what kubectl says, and run the line again"
	p := &printed{}
	dec := json.NewDecoder(bounds.JSON(io.NopCloser(io.LimitReader(r, mostRead))))
	for {
		var d document
		err := dec.Decode(&d)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, unseen(next, "could not look: what kubectl printed is not to be read: %v", brief(err))
		}
		if err := p.add(&d); err != nil {
			return nil, err
		}
	}
	if p.space == nil {
		return nil, unseen(next, "could not look: kubectl did not print namespace kube-system")
	}
	return p, nil
}

func (p *printed) add(d *document) error {
	if d.Metadata.Continue != "" || d.Metadata.Remaining > 0 {
		return unseen("have kubectl get print all of it", "could not look: a list that kubectl printed is not whole")
	}
	group, _, _ := strings.Cut(d.APIVersion, "/")
	switch {
	case d.Kind == "APIGroupList":
		// The API groups of every cluster are there, or it is not the whole list.
		has := func(name string) bool { return slices.Contains(d.Groups, apiGroup{name}) }
		p.whole = p.whole || has("apps") && !has(clusterGroup)
		return nil
	case d.Items == nil:
		return p.object(&d.object)
	}
	of, typed := strings.CutSuffix(d.Kind, "List")
	for i := range *d.Items {
		o := &(*d.Items)[i]
		if typed && of != "" && o.Kind == "" { // as the API server answers
			o.Kind, o.APIVersion = of, d.APIVersion
		}
		if err := p.object(o); err != nil {
			return err
		}
	}
	p.whole = p.whole || d.Kind == "ClusterList" && group == clusterGroup
	return nil
}

func (p *printed) object(o *object) error {
	group, _, _ := strings.Cut(o.APIVersion, "/")
	switch {
	case o.Kind == "Namespace" && o.Metadata.Name == "kube-system":
		if p.space != nil && p.space.Metadata.UID != o.Metadata.UID {
			return unseen("let one context print all of it", "could not look: kubectl printed two clusters")
		}
		p.space = o
	case o.Kind == "Node":
		p.nodes = append(p.nodes, report.SeenNode{Name: o.Metadata.Name, ProviderID: o.Spec.ProviderID, Annotations: o.Metadata.Annotations})
	case o.Kind == "Cluster" && group == clusterGroup:
		p.clusters = append(p.clusters, report.HeldCluster{Title: o.Metadata.Namespace + "/" + o.Metadata.Name, Paused: o.Spec.Paused, Restore: o.Metadata.Labels["velero.io/restore-name"], Created: o.Metadata.Created})
	}
	return nil
}
