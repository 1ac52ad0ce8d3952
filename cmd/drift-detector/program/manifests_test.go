package program

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
)

// What clusters log in with, and the backup lacks, is written as far as it is known; what is not
// known is a list, which an API server takes for no text, so that nothing half filled in is applied.
func TestExtractedManifests(t *testing.T) {
	t.Parallel()
	const allowed = "  allowedNamespaces:\n"
	aws := func(kind string) func(t *testing.T) *runs.World {
		return func(t *testing.T) *runs.World {
			w := runs.Fleet(t)
			w.Set("awsclusters", "aws-prod", runs.Object{"kind": kind, "name": "acme"}, "spec", "identityRef")
			return w
		}
	}
	openstack := func(ref runs.Object) func(t *testing.T) *runs.World {
		return func(t *testing.T) *runs.World {
			w, _ := runs.OpenStackFleet(t, openstacklab.Options{})
			w.Set("openstackclusters", "data", ref, "spec", "identityRef")
			return w
		}
	}
	for name, c := range map[string]struct {
		make  func(*testing.T) *runs.World
		files map[string]string // what is in each file
		lacks string            // what stderr says is to be filled in
	}{
		"the lab's": {runs.Fleet, map[string]string{
			"VSphereClusterIdentity.vcenter-shared.yaml": allowed + "    selector:\n      matchLabels:\n        kubernetes.io/metadata.name: tenant-beta\n  secretName: vcenter-shared-creds\n",
			"AWSClusterControllerIdentity.default.yaml":  "  name: default\nspec:\n  allowedNamespaces: {}\n",
		}, ""},
		"and its Secret": {func(t *testing.T) *runs.World {
			w := runs.Fleet(t)
			w.Drop("secrets", "vcenter-shared-creds")
			return w
		}, map[string]string{
			"VSphereClusterIdentity.vcenter-shared.yaml": "  secretName:\n    - 'fill in: name of the Secret with its username and password, in namespace capv-system'\n",
		}, "fill in: name of the Secret"},
		"a cluster's own Secret": {func(t *testing.T) *runs.World { w := runs.Fleet(t); w.Drop("secrets", "gamma-edge"); return w }, map[string]string{
			"Secret.tenant-gamma.gamma-edge.yaml": "  namespace: tenant-gamma\n",
		}, "fill in: username"},
		"keys of AWS": {aws("AWSClusterStaticIdentity"), map[string]string{
			"AWSClusterStaticIdentity.acme.yaml": allowed + "    list:\n      - tenant-aws\n  secretRef:\n    - 'fill in: name of the Secret with its AccessKeyID and SecretAccessKey, in namespace capa-system'\n",
		}, "fill in: name of the Secret"},
		"a role of AWS": {aws("AWSClusterRoleIdentity"), map[string]string{
			"AWSClusterRoleIdentity.acme.yaml": allowed + "    list:\n      - tenant-aws\n  roleARN:\n    - 'fill in: arn:aws:iam::ACCOUNT:role/NAME'\n  sourceIdentityRef:\n    kind:\n      - 'fill in: kind of the identity that assumes the role; as a rule AWSClusterControllerIdentity'\n",
		}, "fill in: arn:aws:iam::ACCOUNT:role/NAME"},
		"a clouds.yaml": {openstack(runs.Object{"cloudName": "mycloud", "name": "other", "region": "RegionOne", "type": "Secret"}), map[string]string{
			"Secret.tenant-os-b.other.yaml": "  clouds.yaml: |\n    clouds:\n      mycloud:\n        auth:\n          application_credential_id: FILL IN\n",
		}, "fill in: all of clouds.yaml; then remove this key"},
		"a shared identity of OpenStack": {openstack(runs.Object{"cloudName": "mycloud", "name": "shared", "type": "ClusterIdentity"}), map[string]string{
			"OpenStackClusterIdentity.shared.yaml": "spec:\n  namespaceSelector:\n    matchLabels:\n      kubernetes.io/metadata.name: tenant-os-b\n  secretRef:\n    name:\n      - 'fill in: name of that Secret'\n",
		}, "fill in: name of that Secret"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := c.make(t)
			out := filepath.Join(w.Dir, "manifests")
			o := runs.Run(t, append([]string{"extract", "manifests", "-o", out}, w.Sources()...)...)
			o.Demand(t, cli.ExitOK)
			found := filesIn(t, out)
			for file, want := range c.files {
				if !slices.Contains(found, file) {
					t.Errorf("no %s: %v", file, found)
				} else if text := string(runs.MustRead(t, filepath.Join(out, file))); !strings.Contains(text, want) {
					t.Errorf("%s has no\n%s\nbut\n%s", file, want, text)
				}
			}
			if !strings.Contains(o.Stderr, c.lacks) || strings.Contains(o.Stderr, "fill in") != (c.lacks != "") || strings.Contains(o.Stderr, "a credential") || strings.Contains(o.Stderr, "is written as") {
				t.Error(o.Stderr)
			}
		})
	}
}

// A namespace whose cluster only names an identity, and for which nothing shows that CAPV has
// logged in, is not among those that may use it.
func TestManifestLetsNobodyNewIn(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	w.Change("unproven", func(r, name string, o runs.Object) bool {
		if r == "vsphereclusters" && name == "beta-prod" {
			delete(o, "status")
		}
		return true
	})
	out := filepath.Join(w.Dir, "manifests")
	runs.Run(t, append([]string{"extract", "manifests", "tenant-beta/beta-prod", "-o", out}, w.Sources()...)...).Demand(t, cli.ExitOK)
	text := ""
	for _, file := range filesIn(t, out) {
		text += string(runs.MustRead(t, filepath.Join(out, file)))
	}
	if strings.Contains(text, "name: tenant-beta") || !strings.Contains(text, "'fill in: namespaces that may use it'") || !strings.Contains(text, "A cluster of namespace tenant-beta names it, too") {
		t.Error(text)
	}
}
