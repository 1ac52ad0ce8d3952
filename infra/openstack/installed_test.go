package openstack

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab/openstacklab"
)

// deploymentOf returns a Deployment of one container, as a tarball holds it.
func deploymentOf(name, image string) (string, []byte) {
	return backuptest.Path("deployments.apps", "", "capo-system", name), fmt.Appendf(nil,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%q,"namespace":"capo-system","uid":%q},"spec":{"template":{"spec":{"containers":[{"name":"manager","image":%q}]}}}}`, name, backuptest.UID(name), image)
}

// inventoryOf returns what clusterctl keeps of a provider.
func inventoryOf(version string) (string, []byte) {
	return backuptest.Path("providers.clusterctl.cluster.x-k8s.io", "", "capo-system", "infrastructure-openstack"), fmt.Appendf(nil,
		`{"apiVersion":"clusterctl.cluster.x-k8s.io/v1alpha3","kind":"Provider","metadata":{"name":"infrastructure-openstack","namespace":"capo-system","uid":%q},"providerName":"openstack","type":"InfrastructureProvider","version":%q}`, backuptest.UID("p"), version)
}

// What is foretold is what the release does that ran, where the backup says which: by the
// image of its Deployment, or by what clusterctl keeps.
func TestInstalledRelease(t *testing.T) {
	const image = "example.org/mirror/capi-openstack/capi-openstack-controller"
	for name, c := range map[string]struct {
		images  []string
		version string // as clusterctl has it
		want    release
	}{
		"nothing":                 {nil, "", withServers},
		"0.9":                     {[]string{image + ":v0.9.2"}, "", byNameAlone},
		"0.10":                    {[]string{image + ":v0.10.5"}, "", withoutServers},
		"0.14":                    {[]string{image + ":v0.14.7"}, "v0.15.0", withServers},
		"beta":                    {[]string{image + "-arm64:v0.15.0-beta.0"}, "", untilBeta},
		"later beta, by digest":   {[]string{image + ":v0.15.0-beta.1@sha256:00"}, "", lookingAgain},
		"0.15":                    {[]string{image + ":v0.15.0"}, "", lookingAgain},
		"clusterctl alone":        {nil, "v0.15.2", lookingAgain},
		"a tag that is none":      {[]string{image + ":latest"}, "", withServers},
		"another's":               {[]string{"example.org/capi-vsphere-controller:v0.15.0", image + "s:v0.15.0"}, "", withServers},
		"two that act unlike":     {[]string{image + ":v0.14.7", image + ":v0.15.0"}, "", withServers},
		"two that act alike":      {[]string{image + ":v0.15.0", image + ":v0.15.1"}, "", lookingAgain},
		"two, and clusterctl":     {[]string{image + ":v0.9.0", image + ":v0.15.0"}, "v0.15.0", withServers},
		"no registry in its name": {[]string{"capi-openstack-controller:v0.15.0"}, "", lookingAgain},
	} {
		items := map[string][]byte{}
		for i, image := range c.images {
			path, body := deploymentOf(fmt.Sprintf("capo-%d", i), image)
			items[path] = body
		}
		if c.version != "" {
			path, body := inventoryOf(c.version)
			items[path] = body
		}
		file := filepath.Join(t.TempDir(), "b.tar.gz")
		if err := os.WriteFile(file, openstacklab.Fleet(t, lab), 0o600); err != nil {
			t.Fatal(err)
		}
		s, _ := openstacklab.Load(t, new(Provider), backuptest.Append(t, file, items))
		e := new(Provider).Expected(s)
		for id := range e.Providers {
			is, ok := e.Controllers[id]
			if !ok {
				is = controllerOf(withServers)
			}
			if want := controllerOf(c.want); is.ID != want.ID || is.Late != want.Late || !maps.Equal(is.Obstacles, want.Obstacles) {
				t.Errorf("%s: %s has %+v, want %+v", name, id.Name, is, want)
			}
		}
	}
}
