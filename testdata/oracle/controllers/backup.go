package oracle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// backup is a tarball of Velero in memory.
type backup struct {
	objects map[string]*unstructured.Unstructured // by path, without doubles by version and what is unread
	rest    map[string][]byte
}

func readBackup(file string) (*backup, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	b := &backup{map[string]*unstructured.Unstructured{}, map[string][]byte{}}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		data, err := io.ReadAll(t)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		if err := b.add(h.Name, data); err != nil {
			return nil, fmt.Errorf("reading %s: %s: %w", file, h.Name, err)
		}
	}
}

func (b *backup) add(name string, data []byte) error {
	p := strings.Split(name, "/")
	switch {
	case p[0] == "metadata":
		b.rest[name] = data
	case p[0] != "resources" || unread(p[1]):
	case p[2] == "namespaces" || p[2] == "cluster":
		o := &unstructured.Unstructured{}
		if err := json.Unmarshal(data, &o.Object); err != nil {
			return err
		}
		b.objects[name] = o
	}
	return nil
}

// unread reports whether the objects of a resource are read by no controller here, and
// not by the program.
func unread(resource string) bool {
	name, group, _ := strings.Cut(resource, ".")
	switch name {
	case "customresourcedefinitions", "events", "pods", "services", "endpoints", "endpointslices", "serviceaccounts", "leases", "replicasets", "serverstatusrequests":
		return true
	}
	return group == "rbac.authorization.k8s.io"
}

// concerns reports whether an object is of this cluster, or of none.
func (b *backup) concerns(at client.ObjectKey, path string, o *unstructured.Unstructured) bool {
	tenant := func(ns string) bool {
		return ns != at.Namespace && (strings.HasPrefix(ns, "tenant-") || ns == "shop" || ns == "vcsim-system")
	}
	if tenant(o.GetNamespace()) || o.GetKind() == "Namespace" && tenant(o.GetName()) && o.GetName() != "vcsim-system" {
		return false
	}
	if o.GetNamespace() != at.Namespace {
		return true
	}
	for p, c := range b.objects {
		other := c.GetName()
		if !strings.HasPrefix(p, "resources/clusters.cluster.x-k8s.io/") || c.GetNamespace() != at.Namespace || other == at.Name {
			continue
		}
		if o.GetLabels()[clusterv1.ClusterNameLabel] == other || o.GetName() == other || strings.HasPrefix(o.GetName(), other+"-") {
			return false
		}
	}
	return true
}

// write writes the world's backup as Velero does.
func (w *World) write(file string) error {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	var failed error
	put := func(name string, data []byte) {
		h := &tar.Header{Name: name, Mode: 0o755, Size: int64(len(data)), Typeflag: tar.TypeReg, ModTime: time.Now().Add(-time.Hour)}
		if err := t.WriteHeader(h); err != nil {
			failed = err
		}
		if _, err := t.Write(data); err != nil {
			failed = err
		}
	}
	for _, n := range slices.Sorted(maps.Keys(w.rest)) {
		put(n, w.rest[n])
	}
	for _, p := range slices.Sorted(maps.Keys(w.Objects)) {
		o := w.Objects[p]
		data := asJSON(o.Object)
		put(p, data)
		q := strings.SplitN(p, "/", 3)
		put(q[0]+"/"+q[1]+"/"+o.GroupVersionKind().Version+"-preferredversion/"+q[2], data)
	}
	if err := errors.Join(failed, t.Close(), z.Close()); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o600)
}
