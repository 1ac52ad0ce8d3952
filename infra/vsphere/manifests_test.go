package vsphere

import (
	"strings"
	"testing"

	"drift-detector/infra/vsphere/vspheretest"
)

// An identity is made again in the version that the backup has of its clusters; the name of its
// Secret is asked for where nothing says it, and a name that no object can have is refused.
func TestIdentitiesAgain(t *testing.T) {
	inVersion := func(version string, b *vspheretest.Backup) *vspheretest.Backup {
		b.Only(clusters.Resource())["apiVersion"] = group + "/" + version
		return b
	}
	named := func(kind, name string) *vspheretest.Backup {
		return shared(nil, nil).Set(clusters.Resource(), "spec.identityRef", fields{"kind": kind, "name": name})
	}
	without := func() *vspheretest.Backup {
		return vspheretest.NewBackup().Set(clusters.Resource(), "spec.identityRef", fields{"kind": identityKind, "name": "shared"})
	}
	for name, c := range map[string]struct {
		b             *vspheretest.Backup
		has           string // of the manifest
		lacks         string // the first
		problem, when string
	}{
		"of v1beta1":            {shared(nil, nil), "apiVersion: " + group + "/v1beta1\n", "fill in: namespaces that may use it", "", "once its Secret is there"},
		"of v1beta2":            {inVersion("v1beta2", shared(nil, nil)), "apiVersion: " + group + "/v1beta2\n", "fill in: namespaces", "", "once its Secret is there"},
		"of an odd version":     {inVersion("v1beta2 x", shared(nil, nil)), "apiVersion: " + group + "/v1beta1\n", "fill in: namespaces", "", "once its Secret is there"},
		"its Secret is known":   {shared(nil, nil), "secretName: creds\n", "fill in: namespaces", "", "once its Secret is there"},
		"its Secret is unknown": {without(), "nothing says which Secret", "fill in: namespaces", "", "once its Secret is there"},
		"no name":               {named(identityKind, ""), "", "", "no object can have that name", "once its Secret is there"},
		"a name of no object":   {named(identityKind, "A b"), "", "", "no object can have that name", "once its Secret is there"},
		"a Secret":              {named(secretKind, "prod"), "stringData", "fill in: password", "", "before what logs in with it"},
		"a Secret of no name":   {named(secretKind, ""), "", "", "no object can have that name", "before what logs in with it"},
	} {
		s, secrets := c.b.Load(t, want)
		all := new(Provider).Identities(s, secrets)
		if len(all) != 1 {
			t.Errorf("%s: %+v", name, all)
			continue
		}
		text, err := all[0].YAML()
		lacks := strings.Join(all[0].Lacks(), "\n")
		if err != nil || !strings.Contains(string(text), c.has) || !strings.HasPrefix(lacks, c.lacks) || !strings.Contains(all[0].Problem(), c.problem) || (c.problem == "") != (all[0].Problem() == "") || all[0].When() != c.when {
			t.Errorf("%s: %v, %q, %q, %s\n%s", name, err, lacks, all[0].Problem(), all[0].When(), text)
		}
		if asks := strings.Contains(lacks, "name of the Secret"); asks != strings.Contains(name, "unknown") && c.problem == "" {
			t.Errorf("%s: asks for the Secret: %t\n%s", name, asks, text)
		}
	}
}
