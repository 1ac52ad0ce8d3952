package ready

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"drift-detector/infra"
)

// Bounds on what kubectl prints.
const mostRead = 256 << 20

var bounds = infra.Bounds{Items: 20_000_000}

// object is what is read of an object of the new management cluster.
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
	} `json:"metadata"`
	// Of a Provider of clusterctl.
	ProviderName string `json:"providerName"`
	Type         string `json:"type"`
	Version      string `json:"version"`

	Webhooks []webhook `json:"webhooks"` // of a configuration of some

	Data map[string]string `json:"data"` // of a ConfigMap
	Spec struct {
		Paused     bool   `json:"paused"`
		ProviderID string `json:"providerID"` // of a Node
		AccessMode string `json:"accessMode"`
		Location   string `json:"storageLocation"`
		Backup     string `json:"backupName"` // of a Restore
		Replicas   *int   `json:"replicas"`
		Template   struct {
			Spec struct {
				Containers []container `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		Phase             string    `json:"phase"`
		Replicas          int       `json:"replicas"`
		AvailableReplicas int       `json:"availableReplicas"`
		Started           time.Time `json:"startTimestamp"`
		Ended             time.Time `json:"completionTimestamp"`
		Progress          struct {
			Items int `json:"itemsBackedUp"`
		} `json:"progress"`
	} `json:"status"`
}

type webhook struct {
	Policy string `json:"failurePolicy"`
	Client struct {
		Service struct {
			Namespace string `json:"namespace"`
		} `json:"service"`
	} `json:"clientConfig"`
	Rules []struct {
		Groups []string `json:"apiGroups"`
	} `json:"rules"`
}

// isAsked reports whether the API server asks it about objects of Cluster API, and refuses them
// where nobody answers.
func (w *webhook) isAsked() bool {
	if w.Policy == "Ignore" || w.Client.Service.Namespace == "" {
		return false
	}
	for i := range w.Rules {
		if slices.ContainsFunc(w.Rules[i].Groups, func(g string) bool { return g == "*" || g == clusterGroup || strings.HasSuffix(g, "."+clusterGroup) }) {
			return true
		}
	}
	return false
}

type container struct {
	Image   string   `json:"image"`
	Command []string `json:"command"`
	Args    []string `json:"args"`
}

func (o *object) title() string {
	if o.Metadata.Namespace == "" {
		return o.Metadata.Name
	}
	return o.Metadata.Namespace + "/" + o.Metadata.Name
}

// runs reports whether a Deployment does: what is scaled to none, or deleted, may have a replica yet.
func (o *object) runs() bool { return o.why() == "" }

// why says why a Deployment does not run.
func (o *object) why() string {
	switch {
	case o.Metadata.Deleted != nil:
		return "its Deployment is being deleted"
	case o.Spec.Replicas != nil && *o.Spec.Replicas == 0:
		return "its Deployment is scaled to 0 replicas"
	case o.Status.AvailableReplicas < 1:
		return "no replica of its Deployment is available"
	}
	return ""
}

// off reports whether a Deployment has no replica and gets none.
func (o *object) off() bool {
	return o.Spec.Replicas != nil && *o.Spec.Replicas == 0 && o.Status.Replicas == 0 && o.Status.AvailableReplicas == 0
}

func (o *object) is(group, kind string) bool {
	g, _, in := strings.Cut(o.APIVersion, "/")
	return o.Kind == kind && (group == "" && !in || in && g == group)
}

// seen is what kubectl printed.
type seen struct {
	objects []object
	// lists has the kinds of which the API server's own list is there whole:
	// kubectl's List of none is the same as one that nobody asked for them, or whose asking failed.
	lists map[string]bool
}

// read reads the documents that kubectl printed, one behind the other. An error is about the
// whole: of what ends too soon nothing is believed.
func read(r io.Reader) (*seen, error) {
	out := &seen{lists: map[string]bool{}}
	dec := json.NewDecoder(bounds.JSON(io.NopCloser(io.LimitReader(r, mostRead))))
	for n := 0; ; n++ {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) && n > 0 {
			return out, nil
		}
		if errors.Is(err, io.EOF) {
			return nil, errors.New("kubectl printed nothing")
		}
		if err == nil {
			err = out.add(raw)
		}
		if err != nil {
			return nil, brief(err)
		}
	}
}

func (s *seen) add(raw []byte) error {
	var doc struct {
		object
		Items *[]object `json:"items"`
	}
	var list struct {
		Metadata struct {
			Continue  string `json:"continue"`
			Remaining int64  `json:"remainingItemCount"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return err
	}
	if doc.Items == nil {
		s.objects = append(s.objects, doc.object)
		return nil
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if list.Metadata.Continue != "" || list.Metadata.Remaining > 0 {
		return errors.New("a list that kubectl printed is not whole")
	}
	of, typed := strings.CutSuffix(doc.Kind, "List")
	for i := range *doc.Items {
		o := &(*doc.Items)[i]
		if typed && of != "" && o.Kind == "" { // as the API server answers
			o.Kind, o.APIVersion = of, doc.APIVersion
		}
	}
	s.objects = append(s.objects, *doc.Items...)
	for kind, group := range map[string]string{"Cluster": clusterGroup, "Restore": veleroGroup, webhookKinds[0]: webhookGroup, webhookKinds[1]: webhookGroup} {
		s.lists[kind] = s.lists[kind] || doc.is(group, kind+"List")
	}
	return nil
}

// brief leaves out what an error quotes of an answer.
func brief(err error) error {
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax), errors.As(err, &shape):
		return errors.New("what kubectl printed is no JSON of objects")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("what kubectl printed ends too soon")
	}
	return err
}

// of returns the objects of a kind.
func (s *seen) of(group, kind string) []*object {
	var out []*object
	for i := range s.objects {
		if s.objects[i].is(group, kind) {
			out = append(out, &s.objects[i])
		}
	}
	return out
}
