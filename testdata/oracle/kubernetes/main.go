// Command kubernetes reads manifests from stdin, one document each, and holds them strictly against the
// types of the oldest Kubernetes that the chart is for. It is a module of its own: a module has one version
// of these types, and the oracle has the newest.
package main

import (
	"fmt"
	"io"
	"os"
	"regexp"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = hold(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hold returns an error where the types lack a field of a document, or the kind.
func hold(text []byte) error {
	for _, doc := range regexp.MustCompile(`(?m)^---\n`).Split(string(text), -1) {
		var o struct{ Kind string }
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			return err
		}
		of := map[string]any{
			"CronJob": &batch.CronJob{}, "ServiceAccount": &core.ServiceAccount{}, "NetworkPolicy": &networking.NetworkPolicy{}, "ConfigMap": &core.ConfigMap{},
		}[o.Kind]
		if of == nil {
			return fmt.Errorf("kind %q:\n%s", o.Kind, doc)
		}
		if err := yaml.UnmarshalStrict([]byte(doc), of); err != nil {
			return fmt.Errorf("%w:\n%s", err, doc)
		}
	}
	return nil
}
