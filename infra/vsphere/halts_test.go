package vsphere

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/infra/vsphere/vspheretest"
	"drift-detector/infra/walk"
)

// What clusters share keeps CAPV from all of them while it is paused, and an identity from
// the clusters of the namespaces that it does not allow.
func TestWhatClustersShareHaltsThem(t *testing.T) {
	all := fields{"matchLabels": fields{"region": "a"}}
	platform := fields{"matchLabels": fields{"team": "platform"}}
	zone := func(server, region string) *vspheretest.Backup {
		b := vspheretest.NewBackup().Set(clusters.Resource(), "spec.failureDomainSelector", all)
		b.Put(zones.Resource(), vspheretest.Object(group+"/v1beta1", zoneKind, "", "zone-a", fields{"spec.server": server, "metadata.labels": fields{"region": region}}))
		return b
	}
	for name, c := range map[string]struct {
		of    *vspheretest.Backup
		pause string
		want  string
	}{
		"nothing":                    {shared(allowing(fields{}), nil), "", ""},
		"the identity":               {shared(allowing(fields{}), nil), identities.Resource(), "VSphereClusterIdentity shared"},
		"no allowedNamespaces":       {shared(fields{}, nil), "", "VSphereClusterIdentity shared"},
		"another namespace":          {shared(allowing(platform), fields{"team": "payments"}), "", "VSphereClusterIdentity shared"},
		"this namespace":             {shared(allowing(platform), fields{"team": "platform"}), "", ""},
		"a namespace not in it":      {shared(allowing(platform), nil), "", "VSphereClusterIdentity shared?"},
		"an unknown kind":            {vspheretest.NewBackup().Set(clusters.Resource(), "spec.identityRef", fields{"kind": "Vault", "name": "x"}), "", "Vault x"},
		"a Secret":                   {vspheretest.NewBackup(), "", ""},
		"CAPV's own":                 {vspheretest.NewBackup().Set(clusters.Resource(), "spec.identityRef", nil), "", ""},
		"no VSphereCluster":          {vspheretest.NewBackup().Drop(clusters.Resource()), "", ""},
		"a zone":                     {zone("vc1.example", "a"), zones.Resource(), "VSphereDeploymentZone zone-a"},
		"a zone, not paused":         {zone("vc1.example", "a"), "", ""},
		"a zone of another vCenter":  {zone("vc2.example", "a"), zones.Resource(), ""},
		"a zone that is not wanted":  {zone("vc1.example", "b"), zones.Resource(), ""},
		"a zone, and none is wanted": {zone("vc1.example", "a").Set(clusters.Resource(), "spec.failureDomainSelector", nil), zones.Resource(), ""},
	} {
		if c.pause != "" {
			pause(c.of, c.pause)
		}
		var got []string
		for _, s := range expected(t, c.of).Steps {
			if s.Each != nil {
				continue
			}
			if of := s.Row.ID; of == "vsphere.I1" || of == "vsphere.Z1" || of == "vsphere.C5" {
				got = append(got, slices.Concat(s.Objects, map[walk.Found][]string{walk.Unread: {"?"}}[s.Found])...)
			}
		}
		if strings.Join(got, "") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
