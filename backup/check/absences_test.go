package check_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/backup/check"
)

// scene is the lab's backup with something changed, left out or added, and what that
// changes in the findings.
type scene struct {
	name   string
	change change
	add    func(b *backuptest.Tarball)
	want   []string
	says   string // part of the message, or of why, of the first new finding
}

func play(t *testing.T, scenes []scene) {
	t.Helper()
	before := signs(checked(t, derive(t, lab, without()), afterwards, nil))
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			c := s.change
			if c == nil {
				c = without()
			}
			b := backuptest.NewFormat("").At(afterwards.Add(-3600e9))
			for _, i := range itemsOf(t, lab) {
				if body := c(i.path, i.body); body != nil {
					b.Raw(i.path, body)
				}
			}
			if s.add != nil {
				s.add(b)
			}
			all := checked(t, b.Bytes(), afterwards, nil)
			got := difference(before, signs(all))
			slices.Sort(s.want)
			slices.Sort(got)
			if !slices.Equal(got, s.want) {
				t.Fatalf("difference\n %s\nwant\n %s", strings.Join(got, "\n "), strings.Join(s.want, "\n "))
			}
			if s.says != "" && !slices.ContainsFunc(all, func(f check.Finding) bool {
				return !slices.Contains(before, signs([]check.Finding{f})[0]) && strings.Contains(f.Message+" "+f.Why, s.says)
			}) {
				t.Errorf("no new finding says %q", s.says)
			}
		})
	}
}

// both leaves out and changes.
func both(changes ...change) change {
	return func(path string, body []byte) []byte {
		for _, c := range changes {
			if body = c(path, body); body == nil {
				return nil
			}
		}
		return body
	}
}

func spec(o map[string]any) map[string]any { return o["spec"].(map[string]any) }

// inSpec changes the spec of an object.
func inSpec(place, field string, value any) change {
	return editing(place, func(o map[string]any) { spec(o)[field] = value })
}

// infra returns a cluster-scoped object of an infrastructure provider.
func infra(kind, name string, s map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": kind, "metadata": map[string]any{"name": name}, "spec": s,
	}
}

func secret(namespace, name string, data map[string]string) map[string]any {
	encoded := map[string]any{}
	for k, v := range data {
		encoded[k] = base64.StdEncoding.EncodeToString([]byte(v))
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{"namespace": namespace, "name": name}, "data": encoded,
	}
}

const (
	awsMachines = "awsmachines.infrastructure.cluster.x-k8s.io/tenant-aws/"
	awsCluster  = "awsclusters.infrastructure.cluster.x-k8s.io/tenant-aws/aws-prod"
	controller  = "warning CredentialAbsent: Secret capa-system/capa-manager-bootstrap-credentials"
)

// worker returns a machine of alpha-prod with all that belongs to it.
func worker(t *testing.T) string {
	t.Helper()
	for _, i := range itemsOf(t, lab) {
		if _, name, ok := strings.Cut(i.path, "resources/vspherevms.infrastructure.cluster.x-k8s.io/namespaces/tenant-alpha/"); ok && strings.HasPrefix(name, "alpha-prod-md-0-") {
			return strings.TrimSuffix(name, ".json")
		}
	}
	t.Fatal("the lab has no worker")
	return ""
}

// Whatever halts a cluster or a machine and is absent is an error by its name.
func TestWhatHaltsAndIsAbsentIsAnError(t *testing.T) {
	machine := worker(t)
	bootstrap := "secrets/tenant-alpha/" + machine
	play(t, []scene{
		{
			name: "an AWSCluster is gone", change: without(awsCluster),
			want: []string{"+error InfraClusterAbsent: every AWSCluster", "-" + controller},
		},
		{
			name: "the infrastructure of a MachinePool is gone", change: without("awsmachinepools.infrastructure.cluster.x-k8s.io//"),
			want: []string{"+error InfraPoolAbsent: every AWSMachinePool"},
		},
		{
			name:   "a VSphereVM and its bootstrap data are gone",
			change: both(without("vspherevms.infrastructure.cluster.x-k8s.io/tenant-alpha/"+machine), without(bootstrap)),
			want:   []string{"+warning BootstrapDataAbsent: Secret tenant-alpha/" + machine}, says: "can't clone one",
		},
		{name: "the bootstrap data of a machine that has its VSphereVM is gone", change: without(bootstrap)},
		{
			name: "an AWSMachine records no instance, and its bootstrap data are gone",
			change: both(editing(awsMachines+"aws-prod-control-plane-6gjw7", func(o map[string]any) {
				delete(spec(o), "providerID")
				delete(spec(o), "instanceID")
			}), without("secrets/tenant-aws/aws-prod-control-plane-6gjw7")),
			want: []string{"+warning BootstrapDataAbsent: Secret tenant-aws/aws-prod-control-plane-6gjw7"}, says: "CAPA looks for one by its tags",
		},
	})
}

// The place of a machine is derived from its zone and the zone's failure domain: without
// them CAPV refuses the machine's own VSphereVM.
func TestAMachineNeedsItsZoneAndFailureDomain(t *testing.T) {
	const zones, domains = "vspheredeploymentzones.infrastructure.cluster.x-k8s.io", "vspherefailuredomains.infrastructure.cluster.x-k8s.io"
	placed := inSpec("machines.cluster.x-k8s.io/tenant-alpha/"+worker(t), "failureDomain", "zone-a")
	zone := infra("VSphereDeploymentZone", "zone-a", map[string]any{"server": "127.0.0.1:36459", "failureDomain": "domain-a"})
	play(t, []scene{
		{
			name: "no zone", change: placed,
			want: []string{"+error PlacementAbsent: VSphereDeploymentZone zone-a"}, says: "is not reconciled",
		},
		{
			name: "no failure domain", change: placed, add: func(b *backuptest.Tarball) { b.Add(zones, zone) },
			want: []string{"+error PlacementAbsent: VSphereFailureDomain domain-a"}, says: "is not reconciled",
		},
		{
			name: "a zone of no machine without its domain", add: func(b *backuptest.Tarball) { b.Add(zones, zone) },
			want: []string{"+warning ObjectAbsent: VSphereFailureDomain domain-a"},
		},
		{name: "both", change: placed, add: func(b *backuptest.Tarball) {
			b.Add(zones, zone)
			b.Add(domains, infra("VSphereFailureDomain", "domain-a", map[string]any{"topology": map[string]any{"datacenter": "DC0"}}))
		}},
	})
}

// AWS is looked at as vSphere is.
func TestAWSIsCheckedAsVSphereIs(t *testing.T) {
	identified := func(kind, name string) change {
		return inSpec(awsCluster, "identityRef", map[string]any{"kind": kind, "name": name})
	}
	all := map[string]any{}
	role := func(b *backuptest.Tarball, name string, source map[string]any) {
		s := map[string]any{"roleARN": "arn:aws:iam::123456789012:role/" + name, "allowedNamespaces": all}
		if source != nil {
			s["sourceIdentityRef"] = source
		}
		b.Add("awsclusterroleidentities.infrastructure.cluster.x-k8s.io", infra("AWSClusterRoleIdentity", name, s))
	}
	static := func(b *backuptest.Tarball, name string) {
		b.Add("awsclusterstaticidentities.infrastructure.cluster.x-k8s.io", infra("AWSClusterStaticIdentity", name, map[string]any{"secretRef": name + "-keys", "allowedNamespaces": all}))
	}
	keys := map[string]string{"AccessKeyID": "AKIAIOSFODNN7EXAMPLE", "SecretAccessKey": "s3cr3t"}
	play(t, []scene{
		{name: "the controller's credential", add: func(b *backuptest.Tarball) {
			b.Add("secrets", secret("capa-system", "capa-manager-bootstrap-credentials", map[string]string{
				"credentials": "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = s3cr3t\n",
			}))
		}, want: []string{"-" + controller}},
		{
			name: "no identity", change: identified("AWSClusterStaticIdentity", "own"),
			want: []string{"+error IdentityAbsent: AWSClusterStaticIdentity own", "+error CredentialAbsent: credential of AWSClusterStaticIdentity own", "-" + controller},
		},
		{
			name: "a static identity without its Secret", change: identified("AWSClusterStaticIdentity", "own"), add: func(b *backuptest.Tarball) { static(b, "own") },
			want: []string{"+error CredentialAbsent: credential of AWSClusterStaticIdentity own", "-" + controller}, says: "Secret own-keys",
		},
		{name: "a static identity with its Secret", change: identified("AWSClusterStaticIdentity", "own"), add: func(b *backuptest.Tarball) {
			static(b, "own")
			b.Add("secrets", secret("capa-system", "own-keys", keys))
		}, want: []string{"-" + controller}},
		{
			name: "a chain of roles without its source", change: identified("AWSClusterRoleIdentity", "outer"), add: func(b *backuptest.Tarball) {
				role(b, "outer", map[string]any{"kind": "AWSClusterRoleIdentity", "name": "inner"})
				role(b, "inner", map[string]any{"kind": "AWSClusterStaticIdentity", "name": "source"})
			},
			want: []string{"+error IdentityAbsent: AWSClusterStaticIdentity source", "+error CredentialAbsent: credential of AWSClusterRoleIdentity outer", "-" + controller},
		},
		{
			name: "a kind that CAPA does not know", change: identified("Secret", "own"),
			want: []string{"+error BadIdentity: identity Secret/own", "-" + controller}, says: `identityRef of kind "Secret" is unknown`,
		},
		{
			name: "roles that lead to one another", change: identified("AWSClusterRoleIdentity", "outer"), add: func(b *backuptest.Tarball) {
				role(b, "outer", map[string]any{"kind": "AWSClusterRoleIdentity", "name": "inner"})
				role(b, "inner", map[string]any{"kind": "AWSClusterRoleIdentity", "name": "outer"})
			},
			want: []string{"+error BadIdentity: identity AWSClusterRoleIdentity/outer", "-" + controller}, says: "assumed with itself: outer, inner, outer",
		},
		{
			name: "no ARN of a role", change: identified("AWSClusterRoleIdentity", "outer\n"), add: func(b *backuptest.Tarball) { role(b, "outer\n", nil) },
			want: []string{"+error BadIdentity: identity AWSClusterRoleIdentity/outer\n", "-" + controller}, says: "is not the ARN of a role",
		},
		{
			name: "a role from what is of no kind", change: identified("AWSClusterRoleIdentity", "outer"), add: func(b *backuptest.Tarball) {
				role(b, "outer", map[string]any{"kind": "Secret", "name": "own"})
			},
			want: []string{"+error BadIdentity: identity AWSClusterRoleIdentity/outer", "-" + controller}, says: `identityRef of kind "Secret" is unknown`,
		},
		{
			name: "more roles than are followed here", change: identified("AWSClusterRoleIdentity", "r1"), add: func(b *backuptest.Tarball) {
				for _, n := range []string{"1", "2", "3", "4", "5"} {
					role(b, "r"+n, map[string]any{"kind": "AWSClusterRoleIdentity", "name": "r" + string(n[0]+1)})
				}
				role(b, "r6", nil)
			}, want: []string{"-" + controller},
		},
		{name: "a whole chain", change: identified("AWSClusterRoleIdentity", "outer"), add: func(b *backuptest.Tarball) {
			role(b, "outer", map[string]any{"kind": "AWSClusterStaticIdentity", "name": "source"})
			static(b, "source")
			b.Add("secrets", secret("capa-system", "source-keys", keys))
		}, want: []string{"-" + controller}},
		{
			name: "an API version that CAPA does not serve", change: replacing(awsCluster, `"infrastructure.cluster.x-k8s.io/v1beta2","kind":"AWSCluster","metadata":{"annotations"`, `"infrastructure.cluster.x-k8s.io/v1beta1","kind":"AWSCluster","metadata":{"annotations"`),
			want: []string{"+error APIVersionNotServed: awsclusters.infrastructure.cluster.x-k8s.io"}, says: "AWS serves it up to release v2.3",
		},
	})
}

// Of each cluster it is said what its own controller does.
func TestEachClusterHasTheWordsOfItsController(t *testing.T) {
	for _, f := range checked(t, derive(t, lab, without()), afterwards, nil) {
		all := f.Message + f.Why + f.Do
		if f.Code == "ClusterNotPaused" && strings.Contains(f.Object, "aws") != strings.Contains(all, "CAPA launches") {
			t.Errorf("%s: %s", f.Object, all)
		}
		if strings.Contains(f.Object, "aws") && (strings.Contains(all, "clone") || strings.Contains(all, "CAPV") || strings.Contains(all, "VSphere")) {
			t.Errorf("%s speaks of vSphere: %s", f.Object, all)
		}
	}
}

// What Velero leaves out is read from the filters that it wrote, which differ from
// release to release, and a policy that nobody can read is said to be one.
func TestWhatFiltersLeaveOut(t *testing.T) {
	const (
		scoped = `"excludedClusterScopedResources": [
      "volumesnapshotcontents.snapshot.storage.k8s.io"
    ],
    "excludedNamespaceScopedResources": [
      "volumesnapshots.snapshot.storage.k8s.io"
    ],`
		older  = `"excludedResources": ["csinodes.storage.k8s.io"],`
		policy = `"resourcePolicy": {"kind": "configmap", "name": "keep-out"},`
		some   = `"includedNamespaces": [
      "*"
    ]`
	)
	tarball := derive(t, lab, without())
	for name, c := range map[string]struct {
		edit []string
		want []string // rules on the whole backup
		says string   // of the absent identity
	}{
		"Velero 1.18":                           {nil, []string{"ClusterScopedFiltered"}, "includedClusterScopedResources is not set"},
		"Velero 1.16":                           {[]string{scoped, older}, nil, ""},
		"Velero 1.16, some namespaces":          {[]string{scoped, older, some, `"includedNamespaces": ["tenant-*"]`}, []string{"ClusterScopedFiltered", "NamespacesFiltered"}, "without all namespaces"},
		"no filter at all":                      {[]string{scoped, ""}, []string{"ClusterScopedFiltered"}, "since Velero 1.17"},
		"asked for":                             {[]string{scoped, `"includeClusterResources": true,`}, nil, ""},
		"some cluster-scoped kinds":             {[]string{scoped, `"includedClusterScopedResources": ["customresourcedefinitions.apiextensions.k8s.io"],`}, nil, "includedClusterScopedResources: customresourcedefinitions.apiextensions.k8s.io"},
		"some, and the identities":              {[]string{scoped, `"includedClusterScopedResources": ["VSphereClusterIdentity", "vsphereclusteridentities"],`}, nil, ""},
		"with a policy":                         {[]string{scoped, scoped + policy}, []string{"ClusterScopedFiltered", "ResourcePolicyUnknown"}, "includedClusterScopedResources is not set"},
		"with a policy, all asked for":          {[]string{scoped, `"includedClusterScopedResources": ["*"],` + policy}, []string{"ResourcePolicyUnknown"}, "resourcePolicy: keep-out, whose content is unknown"},
		"with a policy that the filters refuse": {[]string{scoped, older + policy}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range checked(t, tarball, afterwards, described(t, c.edit...)) {
				if strings.HasSuffix(string(f.Code), "Filtered") || string(f.Code) == "ResourcePolicyUnknown" {
					got = append(got, string(f.Code))
				}
				if _, by, _ := strings.Cut(f.Message, "; explained by: "); f.Code == "IdentityAbsent" && (c.says == "") != (by == "") || f.Code == "IdentityAbsent" && !strings.Contains(by, c.says) {
					t.Errorf("the identity's absence is explained by %q", by)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("found %q", got)
			}
		})
	}
}

// The kubeconfig of an EKS cluster breaks a restore by being there.
func TestKubeconfigsOfEKS(t *testing.T) {
	cluster := func(b *backuptest.Tarball) {
		b.Add("clusters.cluster.x-k8s.io", map[string]any{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": map[string]any{"namespace": "eks", "name": "shop"},
			"spec": map[string]any{
				"paused": true, "controlPlaneEndpoint": map[string]any{"host": "x.eks.amazonaws.com", "port": 443},
				"controlPlaneRef":   map[string]any{"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "AWSManagedControlPlane", "name": "shop"},
				"infrastructureRef": map[string]any{"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "AWSManagedControlPlane", "name": "shop"},
			},
		})
		b.Add("awsmanagedcontrolplanes.controlplane.cluster.x-k8s.io", map[string]any{
			"apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "AWSManagedControlPlane", "metadata": map[string]any{"namespace": "eks", "name": "shop"},
			"spec": map[string]any{"region": "eu-west-1", "eksClusterName": "shop"},
		})
	}
	paused := "+info ClusterPaused: Cluster eks/shop"
	play(t, []scene{
		{name: "absent", add: cluster, want: []string{paused}},
		{name: "present", add: func(b *backuptest.Tarball) {
			cluster(b)
			s := secret("eks", "shop-kubeconfig", map[string]string{"value": "apiVersion: v1\nkind: Config\n"})
			s["type"] = "cluster.x-k8s.io/secret"
			b.Add("secrets", s)
		}, want: []string{paused, "+error KubeconfigNotAdopted: Secret eks/shop-kubeconfig"}, says: "does not own"},
	})
}

// CAPA decides by the identity's allowedNamespaces who may use it: nobody without it,
// everybody where it is empty, else by name or by the labels of the Namespace.
func TestAllowedNamespaces(t *testing.T) {
	const resource = "awsclusterstaticidentities.infrastructure.cluster.x-k8s.io"
	uses := inSpec(awsCluster, "identityRef", map[string]any{"kind": "AWSClusterStaticIdentity", "name": "own"})
	naming := func(keys string, allowed any) func(*backuptest.Tarball) {
		return func(b *backuptest.Tarball) {
			s := map[string]any{"secretRef": keys}
			if allowed != "absent" {
				s["allowedNamespaces"] = allowed
			}
			b.Add(resource, infra("AWSClusterStaticIdentity", "own", s))
			b.Add("secrets", secret("capa-system", "keys", map[string]string{"AccessKeyID": "AKIAIOSFODNN7EXAMPLE", "SecretAccessKey": "s3cr3t"}))
		}
	}
	with := func(allowed any) func(*backuptest.Tarball) { return naming("keys", allowed) }
	labels := func(l map[string]any) map[string]any {
		return map[string]any{"selector": map[string]any{"matchLabels": l}}
	}
	byName := labels(map[string]any{"kubernetes.io/metadata.name": "tenant-aws"})
	noNamespace := func(path string, body []byte) []byte {
		if path == "resources/namespaces/cluster/tenant-aws.json" || strings.HasSuffix(path, "-preferredversion/cluster/tenant-aws.json") {
			return nil
		}
		return body
	}
	team := func(path string, body []byte) []byte {
		if strings.HasPrefix(path, "resources/namespaces/") && strings.HasSuffix(path, "/tenant-aws.json") {
			return []byte(strings.Replace(string(body), `"labels":{`, `"labels":{"team":"shop",`, 1))
		}
		return body
	}
	const bad, fine = "+error IdentityForbidden: AWSClusterStaticIdentity/own for namespace tenant-aws", "-" + controller
	const maybe = "+warning IdentityForbidden: AWSClusterStaticIdentity/own for namespace tenant-aws"
	const lost = "+error CredentialAbsent: credential of AWSClusterStaticIdentity own"
	play(t, []scene{
		{name: "absent", change: uses, add: with("absent"), want: []string{bad, fine}, says: "no allowedNamespaces"},
		{name: "absent, and the keys too", change: uses, add: naming("lost", "absent"), want: []string{bad, lost, fine}, says: "no allowedNamespaces"},
		{name: "everybody, no keys", change: uses, add: naming("lost", map[string]any{}), want: []string{lost, fine}, says: "Secret lost of AWSClusterStaticIdentity own is not in the backup"},
		{name: "null", change: uses, add: with(nil), want: []string{bad, fine}},
		{name: "empty: everybody", change: uses, add: with(map[string]any{}), want: []string{fine}},
		{name: "null list: everybody", change: uses, add: with(map[string]any{"list": nil}), want: []string{fine}},
		{name: "empty list: nobody", change: uses, add: with(map[string]any{"list": []any{}}), want: []string{bad, fine}},
		{name: "empty selector: everybody", change: uses, add: with(map[string]any{"selector": map[string]any{}}), want: []string{fine}},
		{name: "a selector of no label: nobody", change: uses, add: with(labels(map[string]any{})), want: []string{bad, fine}},
		{name: "in the list", change: uses, add: with(map[string]any{"list": []any{"a", "tenant-aws"}}), want: []string{fine}},
		{name: "not in the list", change: uses, add: with(map[string]any{"list": []any{"tenant-a"}}), want: []string{bad, fine}, says: "do not name"},
		{name: "by its name", change: uses, add: with(byName), want: []string{fine}},
		{name: "by its name, without the Namespace", change: both(uses, noNamespace), add: with(byName), want: []string{fine}},
		{name: "by another label", change: uses, add: with(labels(map[string]any{"team": "shop"})), want: []string{bad, fine}},
		{name: "by a label that it has", change: both(uses, team), add: with(labels(map[string]any{"team": "shop"})), want: []string{fine}},
		{name: "by a label, without the Namespace", change: both(uses, noNamespace), add: with(labels(map[string]any{"team": "shop"})), want: []string{maybe, fine}, says: "Velero creates a Namespace that is not in the backup without its labels"},
	})
}

// Findings concern clusters: with one cluster shown, only its own are left and those on
// the backup as a whole, and together all are found.
func TestFindingsConcernClusters(t *testing.T) {
	tarball := derive(t, lab, without())
	whole := checked(t, tarball, afterwards, described(t))
	narrowed := map[string]bool{}
	for _, c := range []struct{ namespace, name string }{
		{"tenant-alpha", "alpha-prod"}, {"tenant-alpha", "alpha-dev"}, {"tenant-beta", "beta-prod"}, {"tenant-gamma", "gamma-edge"}, {"tenant-aws", "aws-prod"},
	} {
		only := func(id backup.ClusterID) bool { return id.Namespace == c.namespace && id.Name == c.name }
		found := checkOnly(t, tarball, described(t), only)
		for _, f := range found {
			narrowed[line(f)] = true
			if len(f.Clusters) > 0 && !slices.ContainsFunc(f.Clusters, only) {
				t.Errorf("%s: %s concerns %v", c.name, line(f), f.Clusters)
			}
			for _, other := range []string{"alpha-prod", "alpha-dev", "beta-prod", "gamma-edge", "aws-prod", "tenant-beta", "tenant-gamma", "tenant-aws"} {
				if !strings.Contains(c.namespace+c.name, other) && strings.Contains(f.Object, other) {
					t.Errorf("%s: %s", c.name, line(f))
				}
			}
		}
		if n := len(found); n < 3 || n > len(whole)/2 {
			t.Errorf("%s: %d findings of %d", c.name, n, len(whole))
		}
	}
	for _, f := range whole {
		if !narrowed[line(f)] {
			t.Errorf("with no cluster there is %s", line(f))
		}
		if strings.HasPrefix(f.Object, "backup ") != (len(f.Clusters) == 0) {
			t.Errorf("%s concerns %v", line(f), f.Clusters)
		}
	}
}

// Where room is short, what was found is said without what else is known of it.
func TestFindingsAreBrief(t *testing.T) {
	brief := 0
	for _, f := range checked(t, derive(t, lab, without()), afterwards, described(t)) {
		if f.Brief == "" || f.Message != f.Brief && !strings.HasPrefix(f.Message, f.Brief+"; ") {
			t.Errorf("%q, in brief %q", f.Message, f.Brief)
		}
		if f.Code == "IdentityAbsent" {
			brief++
			if f.Brief != "not in the backup" || !strings.Contains(f.Message, "; referred to by VSphereCluster ") {
				t.Errorf("%q, in brief %q", f.Message, f.Brief)
			}
		}
	}
	if brief == 0 {
		t.Error("no identity is absent")
	}
}
