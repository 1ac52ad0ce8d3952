package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"drift-detector/infra"
)

// KubeadmControlPlane calls a control plane initialised once it has read ConfigMap kubeadm-config
// there (HasKubeadmConfig in controlplane/kubeadm/internal/workload_cluster.go v1.13.4): a
// restore makes it ask again.
const kubeadmConfig = "kubeadm-config"

// pathOfConfig is its path in the API.
const pathOfConfig = "/api/v1/namespaces/kube-system/configmaps/" + kubeadmConfig

// maxConfig is more than an API server keeps of an object.
const maxConfig = 2 << 20

// noteConfig notes in a listing whether there is such a ConfigMap, or why that is not known.
func (c *client) noteConfig(ctx context.Context, l *infra.Listing) {
	var there bool
	err := c.bounds.retry.Do(ctx, func() (err error) {
		there, err = c.config(ctx)
		return err
	})
	value := infra.KubeadmConfigAbsent
	switch {
	case err != nil:
		_, fault := c.fault(ctx, err)
		why := strings.TrimSuffix(fault.Message, ".")
		if fault.Reason == "Forbidden" {
			why = fmt.Sprintf("the API server %s: it does not let this account read ConfigMap kube-system/%s", c.where(), kubeadmConfig)
		}
		l.FactsUnread = append(l.FactsUnread, infra.Fact{Name: infra.FactKubeadmConfig, Value: why})
		return
	case there:
		value = infra.KubeadmConfigPresent
	}
	l.Facts = append(l.Facts, infra.Fact{Name: infra.FactKubeadmConfig, Value: value})
}

// object is the part of a ConfigMap, or of a Status, that is read.
type object struct {
	Kind     string `json:"kind"`
	Reason   string `json:"reason"`
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

// config reports whether the ConfigMap exists. Only an API server's own answer says that it
// does not: a proxy knows no page either.
func (c *client) config(ctx context.Context) (there bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.bounds.call)
	defer cancel()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	req, err := c.request(ctx, pathOfConfig)
	if err != nil {
		return false, err
	}
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	c.settle(resp.StatusCode, nil)
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotFound {
		return false, &errStatus{resp.StatusCode}
	}
	var o object
	body := pageBounds.JSON(http.MaxBytesReader(nil, resp.Body, maxConfig))
	if err := json.NewDecoder(body).Decode(&o); err != nil {
		return false, errors.Join(&errAnswer{"it answered with something that is no ConfigMap"}, err)
	}
	switch {
	case resp.StatusCode == http.StatusOK && o.Kind == "ConfigMap" && o.Metadata.Name == kubeadmConfig:
		return true, nil
	case resp.StatusCode == http.StatusNotFound && o.Kind == "Status" && o.Reason == "NotFound":
		return false, nil
	}
	return false, &errAnswer{"it answered with something that is no ConfigMap"}
}
