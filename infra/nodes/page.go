package nodes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/infra"
)

const (
	pageSize  = 500
	maxString = 1024 // bytes of each text that is kept of a Node; names have 253 at most
	// Node problem detectors add some twenty conditions of some thirty bytes.
	maxConditions = 8 << 10
)

// errAnswer says that the answer is not that of an API server. The answer
// itself is not quoted.
type errAnswer struct{ what string }

func (e *errAnswer) Error() string { return e.what }

var errNoList = &errAnswer{"it answered with something that is no list of Nodes"}

// node is the part of a Node that is read.
type node struct {
	Kind     string `json:"kind"` // in a List; a NodeList leaves it out
	Metadata struct {
		Name        string            `json:"name"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		ProviderID string `json:"providerID"`
	} `json:"spec"`
	// Status is of every Node that an API server gives, be it empty.
	Status *struct {
		Conditions []struct {
			Type              string    `json:"type"`
			Status            string    `json:"status"`
			LastHeartbeatTime time.Time `json:"lastHeartbeatTime"`
		} `json:"conditions"`
	} `json:"status"`
}

// roleLabels mark a control plane Node, by presence (kubeadm; the second one up
// to Kubernetes 1.23).
var roleLabels = []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}

// value returns the Node as the detector knows it, without cluster and keys.
func (n *node) value() (infra.Node, error) {
	annotations := n.Metadata.Annotations
	v := infra.Node{
		Name:             n.Metadata.Name,
		ProviderID:       n.Spec.ProviderID,
		Machine:          annotations[clusterv1.MachineAnnotation],
		ClusterName:      annotations[clusterv1.ClusterNameAnnotation],
		ClusterNamespace: annotations[clusterv1.ClusterNamespaceAnnotation],
		OwnerKind:        annotations[clusterv1.OwnerKindAnnotation],
		OwnerName:        annotations[clusterv1.OwnerNameAnnotation],
	}
	for _, label := range roleLabels {
		_, present := n.Metadata.Labels[label]
		v.ControlPlane = v.ControlPlane || present
	}
	switch {
	case v.Name == "":
		return v, &errAnswer{"it answered with a Node without a name"}
	case n.Status == nil:
		return v, &errAnswer{"it answered with a Node without a status"}
	case n.Kind != "" && n.Kind != "Node":
		return v, errNoList
	}
	for _, s := range []string{v.Name, v.ProviderID, v.Machine, v.ClusterName, v.ClusterNamespace, v.OwnerKind, v.OwnerName} {
		if len(s) > maxString {
			return v, &errAnswer{fmt.Sprintf("it answered with a Node that has a name of more than %d bytes", maxString)}
		}
	}
	v.NoReady = true
	var others []string
	for _, c := range n.Status.Conditions {
		if c.Type != "Ready" && !infra.IsUsual(c.Type, c.Status) {
			others = append(others, c.Type+"="+c.Status)
		}
		if c.Type == "Ready" {
			v.Ready, v.Unready, v.Heartbeat = c.Status == "True", c.Status == "False", c.LastHeartbeatTime.UTC()
			v.NoReady = !v.Ready && !v.Unready && c.Status != "Unknown"
		}
	}
	slices.Sort(others)
	if v.Conditions = strings.Join(others, " "); len(v.Conditions) > maxConditions {
		return v, &errAnswer{fmt.Sprintf("it answered with a Node whose conditions have more than %d bytes", maxConditions)}
	}
	// An offset can push a date out of the years that an inventory can be saved with.
	if year := v.Heartbeat.Year(); year < 1 || year > 9999 {
		return v, errNoList
	}
	return v, nil
}

// readPage reads one page of a NodeList, Node by Node, and returns the token of
// the next page, which is empty on the last, and how many Nodes come after the page,
// 0 when it does not say.
func readPage(body io.Reader, add func(infra.Node) error) (next string, remaining int64, err error) {
	page := pageReader{texts: map[string]string{}, dec: json.NewDecoder(body), add: add, seen: map[json.Token]bool{}}
	if err := page.read(); err != nil {
		return "", 0, describe(err)
	}
	// "List" is what kubectl makes of a NodeList.
	switch {
	case page.kind != "NodeList" && page.kind != "List", !page.seen["items"], !page.described:
		return "", 0, errNoList
	case page.next == "" && page.remaining > 0:
		return "", 0, &errAnswer{"it says that there are more Nodes, and not where"}
	}
	return page.next, page.remaining, nil
}

// describe turns what the decoder says into words that quote nothing of the
// answer. Trouble with the connection passes through.
func describe(err error) error {
	var large *http.MaxBytesError
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	var date *time.ParseError
	var beyond *infra.BoundError
	switch {
	case errors.As(err, &beyond):
		return &errAnswer{beyond.Error()}
	case errors.As(err, &large):
		return &errAnswer{fmt.Sprintf("its answer is larger than %d bytes a page", large.Limit)}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.Join(&errAnswer{"its answer was cut off"}, err)
	case errors.As(err, &syntax), errors.As(err, &shape), errors.As(err, &date):
		return errNoList
	default:
		return err
	}
}

type pageReader struct {
	texts      map[string]string // conditions of Nodes, which most have in common
	dec        *json.Decoder
	add        func(infra.Node) error
	seen       map[json.Token]bool // members of the list, each of which comes once
	kind, next string
	remaining  int64
	described  bool // it has metadata, as every list has: else where it goes on may be lost
}

func (p *pageReader) read() error {
	if err := p.expect(json.Delim('{')); err != nil {
		return err
	}
	for p.dec.More() {
		key, err := p.dec.Token()
		if err != nil {
			return err
		}
		if p.seen[key] {
			return errNoList
		}
		p.seen[key] = true
		if err := p.field(key); err != nil {
			return err
		}
	}
	if err := p.expect(json.Delim('}')); err != nil {
		return err
	}
	switch _, err := p.dec.Token(); {
	case err == nil:
		return errNoList // something follows
	case err != io.EOF:
		return err
	}
	return nil
}

func (p *pageReader) field(key json.Token) error {
	switch key {
	case "kind":
		return p.dec.Decode(&p.kind)
	case "metadata":
		var meta *struct {
			Continue  string `json:"continue"`
			Remaining int64  `json:"remainingItemCount"`
		}
		err := p.dec.Decode(&meta)
		if p.described = err == nil && meta != nil; p.described {
			p.next, p.remaining = meta.Continue, meta.Remaining
		}
		return err
	case "items":
		return p.items()
	default:
		return infra.SkipJSON(p.dec)
	}
}

func (p *pageReader) items() error {
	start, err := p.dec.Token()
	// An empty list may be written as null. Whatever else is no list fails below.
	if err != nil || start == nil {
		return err
	}
	for p.dec.More() {
		var n node
		if err := p.dec.Decode(&n); err != nil {
			return err
		}
		v, err := n.value()
		if err != nil {
			return err
		}
		if known, ok := p.texts[v.Conditions]; ok {
			v.Conditions = known
		} else {
			p.texts[v.Conditions] = v.Conditions
		}
		if err := p.add(v); err != nil {
			return err
		}
	}
	return p.expect(json.Delim(']'))
}

func (p *pageReader) expect(d json.Delim) error {
	t, err := p.dec.Token()
	if err == nil && t != d {
		return errNoList
	}
	return err
}
