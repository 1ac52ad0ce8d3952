package recheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"drift-detector/infra"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Bounds on what kubectl prints: room for 20,000 Nodes of 25 kB.
const mostRead = 512 << 20

var (
	bounds = infra.Bounds{Items: 50_000_000}
	errCut = errors.New("it ends too soon, or something follows it")
)

// object is what is read of an object of a cluster.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		UID       string            `json:"uid"`
		Labels    map[string]string `json:"labels"`
		Created   time.Time         `json:"creationTimestamp"`
		Deleted   *time.Time        `json:"deletionTimestamp"`

		Annotations map[string]string `json:"annotations"`
		Continue    string            `json:"continue"` // of a list
		Remaining   int64             `json:"remainingItemCount"`
	} `json:"metadata"`
	Spec struct {
		Paused            bool   `json:"paused"`
		ProviderID        string `json:"providerID"`
		InfrastructureRef struct {
			Name string `json:"name"`
		} `json:"infrastructureRef"`
	} `json:"spec"`
	Data   map[string]string `json:"data"` // of a ConfigMap
	Status struct {
		Phase    string    `json:"phase"`
		Started  time.Time `json:"startTimestamp"`
		Ended    time.Time `json:"completionTimestamp"`
		Progress struct {
			Items int `json:"itemsBackedUp"`
		} `json:"progress"`
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

// decode reads all that kubectl printed as one document.
func decode(r io.Reader, into any) error {
	dec := json.NewDecoder(bounds.JSON(io.NopCloser(io.LimitReader(r, mostRead))))
	err := dec.Decode(into)
	if err == nil {
		if _, err = dec.Token(); err == io.EOF {
			return nil
		}
		err = errCut
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it printed nothing")
	}
	return unseen("see what kubectl says, and run the line again", "could not look: what kubectl printed is not to be read: %v", brief(err))
}

// brief leaves out what an error quotes of an answer.
func brief(err error) error {
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	if errors.As(err, &syntax) || errors.As(err, &shape) {
		return errors.New("it is no JSON of an object")
	}
	return err
}

func readObject(r io.Reader) (o object, err error) { return o, decode(r, &o) }

// is compares kind and name.
func (o *object) is(kind, namespace, name string) error {
	if !strings.EqualFold(o.Kind, kind) || o.Metadata.Namespace != namespace || o.Metadata.Name != name {
		return refuse("see that the line asks kubectl for the object that it changes", "kubectl printed %s %s/%s, and %s %s/%s was asked for", o.Kind, o.Metadata.Namespace, o.Metadata.Name, kind, namespace, name)
	}
	return nil
}

// readList reads a whole list of objects of a kind: "List" is what kubectl makes of a NodeList.
func readList(r io.Reader, kind string) ([]object, error) {
	var list struct {
		Kind     string    `json:"kind"`
		Items    *[]object `json:"items"`
		Metadata struct {
			Continue string `json:"continue"`
		} `json:"metadata"`
	}
	if err := decode(r, &list); err != nil {
		return nil, err
	}
	next := "have kubectl get print all of them with --output=json"
	if list.Kind != "List" && list.Kind != kind+"List" || list.Items == nil || list.Metadata.Continue != "" {
		return nil, unseen(next, "could not look: what kubectl printed is no whole list of %ss", kind)
	}
	for i := range *list.Items {
		if o := &(*list.Items)[i]; o.Kind != "" && o.Kind != kind || o.Metadata.Name == "" {
			return nil, unseen(next, "could not look: what kubectl printed holds something that is no %s", kind)
		}
	}
	return *list.Items, nil
}

func (o *object) runsOn(id string) bool {
	return o.Spec.ProviderID != "" && report.InstanceID(o.Spec.ProviderID) == strings.ToLower(id)
}

func (o *object) ready() bool {
	for _, c := range o.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True"
		}
	}
	return false
}

// runsOn sees that a Node runs on an instance, by the id that the Node itself records: the
// cluster of another context may have a Node of that name.
func (a *asking) runsOn() (string, error) {
	known := false
	a.instances(func(i *report.Instance) { known = known || strings.EqualFold(i.ID, a.Names[1]) })
	if !known {
		return "", fmt.Errorf("the report has no VM with the id %s: is it the report that the plan was made from?", a.Names[1])
	}
	nodes, err := readList(a.Objects, "Node")
	if err != nil {
		return "", err
	}
	for i := range nodes {
		n := &nodes[i]
		if n.Metadata.Name != a.Names[0] {
			continue
		}
		if !n.runsOn(a.Names[1]) {
			return "", refuse("see that the context is that of the cluster in the report; else "+again, "Node %s is of another machine, or of another cluster: it records %q, and not %s", a.Names[0], n.Spec.ProviderID, a.Names[1])
		}
		return fmt.Sprintf("Node %s runs on the VM of the report, id %s", a.Names[0], a.Names[1]), nil
	}
	return "", refuse("see that the context is that of the cluster in the report; if a line before this one deleted the Node, this is done", "the cluster has no Node %s", a.Names[0])
}

// ofCluster reads the Nodes of a cluster, and sees by a machine that runs that they are its own.
func (a *asking) ofCluster(c *report.Cluster) ([]object, error) {
	nodes, err := readList(a.Objects, "Node")
	if err != nil {
		return nil, err
	}
	for _, s := range c.Sets() {
		for k := range s.Machines {
			m := &s.Machines[k]
			if m.Status != code.Healthy || m.Instance == nil || m.Instance.ID == "" {
				continue
			}
			for i := range nodes {
				if nodes[i].runsOn(m.Instance.ID) {
					return nodes, nil
				}
			}
		}
	}
	return nil, refuse("set the variable to the context of that cluster", "the context leads to another cluster than %s of the report: of %s none is on a machine that the report has as Healthy", c.Title(), english.Count(len(nodes), "Node"))
}

func (a *asking) isCluster() (string, error) {
	for i := range a.Clusters {
		if c := &a.Clusters[i]; c.Title() == a.Names[0] {
			nodes, err := a.ofCluster(c)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s, of cluster %s", english.Count(len(nodes), "Node"), a.Names[0]), nil
		}
	}
	return "", fmt.Errorf("the report has no Cluster %s: is it the report that the plan was made from?", a.Names[0])
}

// notReady sees that no Node of a Machine is Ready.
func (a *asking) notReady() (string, error) {
	c, _, m, err := a.machine(a.Names[0])
	if err != nil {
		return "", err
	}
	nodes, err := a.ofCluster(c)
	if err != nil {
		return "", err
	}
	known := map[string]bool{}
	a.instances(func(i *report.Instance) { known[strings.ToLower(i.ID)] = true })
	for i := range nodes {
		n := &nodes[i]
		// Another machine of the report may have the name by now, as it has an address.
		named := m.Node != "" && n.Metadata.Name == m.Node && !known[report.InstanceID(n.Spec.ProviderID)]
		if (named || n.runsOn(report.InstanceID(m.ProviderID))) && n.ready() {
			return "", refuse(again, "Node %s of Machine %s is Ready: the machine runs somewhere", n.Metadata.Name, a.Names[0])
		}
	}
	return fmt.Sprintf("no Node of Machine %s is Ready", a.Names[0]), nil
}

// madeByRestore sees that an object is one that the restore made, and not the one of the old
// management cluster that is in the backup. Velero labels all that it restores
// (pkg/restore/restore.go v1.18.1), and the label of an older restore is in the old one, too: but
// what was there to be backed up is older than the backup.
func (a *asking) madeByRestore(o *object) error {
	const next = "see that the context is that of the new management cluster, and that RESTORE is the restore there"
	what := fmt.Sprintf("%s %s/%s", o.Kind, o.Metadata.Namespace, o.Metadata.Name)
	switch of := o.Metadata.Labels["velero.io/restore-name"]; {
	case a.IsMoved(): // clusterctl leaves no mark on it
	case a.Restore == "":
		return fmt.Errorf("%s needs --restore: the name of the Velero restore", a.Check)
	case of != a.Restore:
		return refuse(next, "%s was not made by restore %s (label velero.io/restore-name is %q)", what, a.Restore, of)
	}
	for i := range a.Backups {
		if k := &a.Backups[i]; !o.Metadata.Created.After(k.WrittenTo) {
			return refuse(next, "%s was created %s, before backup %s was written: it is of the old management cluster", what, o.Metadata.Created.Format(time.RFC3339), k.Path)
		}
	}
	return nil
}

// noMachine sees that a VM without a Machine has none by now: another backup may have been
// restored since the report, or the VM adopted. One that records no id yet may be its by name.
func (a *asking) noMachine() (string, error) {
	id, names := a.Names[0], map[string]bool{}
	a.instances(func(i *report.Instance) {
		if strings.EqualFold(i.ID, id) {
			names[i.Name] = true
		}
	})
	if len(names) == 0 {
		return "", fmt.Errorf("the report has no VM with the id %s: is it the report that the plan was made from?", id)
	}
	all, err := readList(a.Objects, "Machine")
	if err != nil {
		return "", err
	}
	var foreign error
	of := 0 // the restore
	for i := range all {
		o := &all[i]
		named := names[o.Metadata.Name] || names[o.Spec.InfrastructureRef.Name]
		if o.runsOn(id) || o.Spec.ProviderID == "" && named {
			return "", refuse(again, "Machine %s/%s has the VM with the id %s by now: it is no Ghost any more", o.Metadata.Namespace, o.Metadata.Name, id)
		}
		if err := a.madeByRestore(o); err == nil {
			of++
		} else {
			foreign = err
		}
	}
	switch {
	case of > 0:
		return fmt.Sprintf("none of %s has the VM with the id %s", english.Count(len(all), "Machine"), id), nil
	case foreign != nil:
		return "", foreign
	}
	return "", unseen("see that the context is that of the new management cluster, and that the restore has been done", "the management cluster has no Machine, so that nothing shows which it is")
}

// restored sees that an object is one that a restore made.
func (a *asking) restored() (string, error) {
	resource, rest, _ := strings.Cut(a.Names[0], "/")
	namespace, name, named := strings.Cut(rest, "/")
	if !named {
		return "", fmt.Errorf("%q is no RESOURCE/NAMESPACE/NAME", a.Names[0])
	}
	o, err := readObject(a.Objects)
	if err != nil {
		return "", err
	}
	// Each of the kinds that lines change has the name of its resource without the s.
	plural, _, _ := strings.Cut(resource, ".")
	if err := o.is(strings.TrimSuffix(plural, "s"), namespace, name); err != nil {
		return "", err
	}
	if err := a.madeByRestore(&o); err != nil {
		return "", err
	}
	if o.Kind == "Cluster" && o.Metadata.Deleted != nil {
		return "", refuse("keep it paused, and see who deletes it", "Cluster %s is being deleted: once it is unpaused, its controllers delete its Machines and their VMs", rest)
	}
	return fmt.Sprintf("%s %s was made by restore %s", o.Kind, rest, a.Restore), nil
}
