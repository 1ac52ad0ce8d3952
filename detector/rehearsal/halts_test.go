package rehearsal

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

// effect returns all that the only cluster's effects of a code say, objects included.
func effect(f Forecast, code string) string {
	var out []string
	for _, e := range f.Clusters[0].Effects {
		if string(e.Code) == code {
			out = append(out, e.Message+" ("+strings.Join(e.Objects, ", ")+")")
		}
	}
	return strings.Join(out, "\n")
}

// effectCodes returns the codes of the only cluster's effects.
func effectCodes(f Forecast) string {
	var out []string
	for _, e := range f.Clusters[0].Effects {
		out = append(out, string(e.Code))
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// A scene is a story, and the effects that it must have and no others.
type scene struct {
	checks  []fields
	arrange func(*story)
	codes   string   // of the effects, sorted
	says    []string // in the effects
}

func play(t *testing.T, scenes map[string]scene) {
	t.Helper()
	for name, c := range scenes {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, c.checks...)
			c.arrange(s)
			f := s.end()
			if got := effectCodes(f); got != c.codes {
				t.Errorf("effects %q, want %q: %+v", got, c.codes, f.Clusters[0].Effects)
			}
			all := ""
			for _, code := range strings.Fields(c.codes) {
				all += effect(f, code) + "\n"
			}
			for _, text := range c.says {
				if !strings.Contains(all, text) {
					t.Errorf("%q is not in\n%s", text, all)
				}
			}
		})
	}
}

// onAWS makes the story's cluster one of CAPA, with a machine that is well.
func onAWS(s *story) {
	s.cluster.Provider = aws
	s.worker("m", found)
}

// onEKS makes it one whose control plane AWS runs.
func onEKS(s *story) {
	onAWS(s)
	const kind = "AWSManagedControlPlane"
	s.cluster.ControlPlane.Kind, s.cluster.Applicable, s.snapshot.ControlPlanes[0].Kind = kind, false, kind
	s.snapshot.Clusters[0].ControlPlane.Kind = kind
}

func (s *story) resource(kind, name string, state code.Presence, gone code.WhenGone) {
	s.cluster.Resources = append(s.cluster.Resources, report.Resource{Kind: kind, Name: name, State: state, WhenGone: gone})
}

func TestWhatIsGoneHalts(t *testing.T) {
	play(t, map[string]scene{
		"load balancer": {nil, func(s *story) { onAWS(s); s.resource("load balancer", "api", code.Absent, code.HaltsCluster) }, string(code.ClusterHalted), []string{"until load balancer api exists, which is gone"}},
		"as its provider says": {nil, func(s *story) {
			onAWS(s)
			s.resource("placement group", "p", code.Absent, code.HaltsCluster)
		}, string(code.ClusterHalted), []string{"placement group p"}},
		"a managed subnet, as its provider says": {nil, func(s *story) { onAWS(s); s.resource("subnet", "s", code.Absent, code.MadeAgain) }, string(code.ResourceMade), []string{"CAPA creates subnet s again"}},
		"NAT gateway":                            {nil, func(s *story) { onAWS(s); s.resource("NAT gateway", "n", code.Absent, code.MadeAgain) }, string(code.ResourceMade), []string{"CAPA creates NAT gateway n again"}},
		"several things": {nil, func(s *story) {
			onAWS(s)
			s.resource("subnet", "s", code.Absent, code.MadeAgain)
			s.resource("NAT gateway", "n", code.Absent, code.MadeAgain)
		}, string(code.ResourceMade), []string{"CAPA creates subnet s, NAT gateway n again, which are gone"}},
		"present":                     {nil, func(s *story) { onAWS(s); s.resource("VPC", "v", code.Present, code.HaltsCluster) }, "", nil},
		"image, with nothing to make": {nil, func(s *story) { onAWS(s); s.resource("image", "ami", code.Absent, code.FailsReplacement) }, "", nil},
		"an identity that may not be used": {nil, func(s *story) {
			onAWS(s)
			s.cluster.Halts = []infra.Halt{{Object: "AWSClusterRoleIdentity r", Message: "its allowedNamespaces leave the namespace out"}}
		}, string(code.ClusterHalted), []string{"until AWSClusterRoleIdentity r may be used, because its allowedNamespaces leave the namespace out"}},
		"an identity of which nobody knows whether it may be used": {nil, func(s *story) {
			onAWS(s)
			s.cluster.Halts = []infra.Halt{{Object: "AWSClusterRoleIdentity r", Message: "its allowedNamespaces go by labels", Undecided: true}}
		}, string(code.OutcomeUnknown), []string{"Whether the cluster may use AWSClusterRoleIdentity r is not known", "its allowedNamespaces go by labels"}},
		"infrastructure cluster that is managed externally": {nil, func(s *story) {
			onAWS(s)
			s.infrastructure().LeftAlone = "cluster.x-k8s.io/managed-by"
		}, string(code.ClusterHalted), []string{"until AWSCluster ns/prod is marked as ready, which is managed externally"}},
		"infrastructure cluster that is paused": {nil, func(s *story) {
			onAWS(s)
			s.infrastructure().LeftAlone = "cluster.x-k8s.io/paused"
		}, string(code.ClusterHalted), []string{"until AWSCluster ns/prod is unpaused"}},
		"infrastructure cluster that is absent": {nil, func(s *story) { onAWS(s); s.lacks(s.infrastructure().Infrastructure) }, string(code.ClusterHalted), []string{"until AWSCluster ns/prod exists, which the backup lacks"}},
	})
}

// infrastructure gives the Cluster an infrastructure cluster.
func (s *story) infrastructure() *backup.Cluster {
	c := &s.snapshot.Clusters[0]
	c.Infrastructure = backup.Ref{Kind: "AWSCluster", Namespace: "ns", Name: "prod"}
	return c
}

func (s *story) lacks(r backup.Ref) {
	s.absent = append(s.absent, backup.Absence{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name})
}

// CAPA creates an empty EKS control plane in the place of one that is gone, and does nothing more
// without the object.
func TestEKSControlPlane(t *testing.T) {
	play(t, map[string]scene{
		"gone":       {nil, func(s *story) { onEKS(s); s.resource("EKS control plane", "prod", code.Absent, code.MadeAgain) }, string(code.ControlPlaneDown), []string{"EKS control plane prod is gone: its API server does not answer. CAPA creates an empty one"}},
		"halts":      {nil, func(s *story) { onEKS(s); s.resource("EKS control plane", "prod", code.Absent, code.HaltsCluster) }, string(code.ClusterHalted), nil},
		"undecided":  {nil, func(s *story) { onEKS(s); s.resource("VPC", "v", code.Undecided, code.HaltsCluster) }, string(code.ResourceUndecided), []string{"Without VPC v the controllers do nothing"}},
		"its object": {nil, func(s *story) { onEKS(s); s.lacks(s.snapshot.Clusters[0].ControlPlane) }, string(code.ClusterHalted), []string{"until AWSManagedControlPlane ns/cp exists, which the backup lacks"}},
	})
}

// CAPA updates a kubeconfig only where it owns the Secret, which no restored one says,
// and makes one where there is none.
func TestKubeconfigOfEKS(t *testing.T) {
	restored := func(s *story) { s.secrets.Kubeconfigs = map[backup.ClusterID]Kubeconfig{prod: {Labelled: true}} }
	play(t, map[string]scene{
		"in the backup": {nil, func(s *story) { onEKS(s); restored(s) }, string(code.ClusterHalted), []string{"until Secret ns/prod-kubeconfig is deleted, which is restored without its owner"}},
		"not in it":     {nil, onEKS, "", nil},
		"of kubeadm":    {nil, func(s *story) { onAWS(s); restored(s) }, "", nil},
		"on vSphere":    {nil, func(s *story) { s.worker("m", found); restored(s) }, "", nil},
	})
}

// ReadSecrets tells which Secrets the backup holds, and keeps none of them.
func TestSecretsOfTheBackup(t *testing.T) {
	secret := func(name string) fields {
		return fields{"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": fields{"namespace": "ns", "name": name}, "data": fields{"value": "eA=="}}
	}
	machine := func(name string, bootstrap fields) fields {
		return fields{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": fields{"namespace": "ns", "name": name, "uid": "uid-" + name},
			"spec": fields{
				"clusterName": "prod", "bootstrap": bootstrap,
				"infrastructureRef": fields{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "VSphereMachine", "name": name},
			},
		}
	}
	config := fields{"apiGroup": "bootstrap.cluster.x-k8s.io", "kind": "KubeadmConfig", "name": "c"}
	b := newTarball(nil, nil).Add("secrets", secret("there")).Add("secrets", secret("prod-kubeconfig"))
	for name, bootstrap := range map[string]fields{
		"a": {"configRef": config, "dataSecretName": "there"}, "b": {"configRef": config, "dataSecretName": "lost"},
		"by-hand": {"dataSecretName": "lost"}, "waiting": {"configRef": config},
	} {
		b.Add("machines.cluster.x-k8s.io", machine(name, bootstrap))
	}
	s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("b", b.Bytes())}, Want())
	if err != nil {
		t.Fatal(err)
	}
	got := ReadSecrets(s, secrets)
	_, kubeconfig := got.Kubeconfigs[prod]
	if len(got.Missing) != 1 || got.Missing["uid-b"] != "ns/lost" || len(got.Kubeconfigs) != 1 || !kubeconfig {
		t.Errorf("%+v", got)
	}
}

// What a controller takes for its instance decides, not what the verdict found.
func TestWhatAControllerFindsDecides(t *testing.T) {
	for name, c := range map[string]struct {
		verdict detector.Verdict
		outcome code.Outcome
		codes   string
	}{
		"by id":                       {finding(found, detector.FindsByID), code.Adopted, ""},
		"by id, and renamed":          {finding(warned(found, "Renamed"), detector.FindsByID), code.Adopted, ""},
		"by name":                     {finding(found, detector.FindsByName), code.AdoptedByName, string(code.FoundByNameOnly)},
		"nothing, though it lives":    {finding(found, detector.FindsNothing), code.NewInstanceCreated, string(code.SecondInstance)},
		"nothing, and it is gone":     {finding(gone, detector.FindsNothing), code.NewInstanceCreated, string(code.MachinesMade)},
		"nothing, and it is Unknown":  {finding(unknown("NotFoundByName"), detector.FindsNothing), code.NewInstanceCreated, string(code.MachinesMade) + " " + string(code.MachinesUnknown)},
		"another one":                 {finding(found, detector.FindsOther), code.CannotKnow, string(code.OutcomeUnknown)},
		"several":                     {finding(gone, detector.FindsSeveral), code.CannotKnow, string(code.OutcomeUnknown)},
		"nothing, seen but not taken": {finding(withInstance(unknown("NotFoundByName")), detector.FindsNothing), code.NewInstanceCreated, string(code.MachinesUnknown) + " " + string(code.SecondInstance)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			s.worker("m", c.verdict)
			f := s.end()
			if got := s.outcome(f, "m").Outcome; got != c.outcome || effectCodes(f) != c.codes {
				t.Errorf("%s %q, want %s %q", got, effectCodes(f), c.outcome, c.codes)
			}
		})
	}
}

func withInstance(v detector.Verdict) detector.Verdict {
	v.Instance = found.Instance
	return v
}

// A member that is gone loses its Machine alone; the others are taken over.
func TestMemberOfAPoolGone(t *testing.T) {
	s := newStory(t)
	s.cluster.Provider = aws
	for name, v := range map[string]detector.Verdict{"m": left, "n": found} {
		s.worker(name, v).machine.Pool = "p"
	}
	f := s.end()
	if a, b := s.outcome(f, "m"), s.outcome(f, "n"); a.Outcome != code.MemberGone || !strings.Contains(a.Message, "CAPA deletes its Machine") || b.Outcome != code.Adopted {
		t.Errorf("%+v %+v", a, b)
	}
	if effectCodes(f) != string(code.PoolMachinesDeleted) || f.NotHealing != 0 {
		t.Errorf("%q, %d do not heal", effectCodes(f), f.NotHealing)
	}
}

// Of a machine with an address from a pool whose claim is not in the backup nobody knows
// which address it gets.
func TestUnclaimedAddress(t *testing.T) {
	s := newStory(t)
	s.plane("a", found)
	s.expect(s.worker("m", found), infra.Restore{Unclaimed: "IPAddressClaim m-0-0"})
	s.worker("n", found)
	f := s.end()
	if m := s.outcome(f, "m"); m.Outcome != code.Adopted || !strings.Contains(m.Condition, "the backup lacks IPAddressClaim m-0-0") {
		t.Errorf("%+v", m)
	}
	e := f.Clusters[0].Effects
	if len(e) != 1 || e[0].Code != code.OutcomeUnknown || strings.Join(e[0].Objects, " ") != "Machine ns/m" || !strings.Contains(e[0].Message, "IPAddresses: others are created") {
		t.Errorf("%+v", e)
	}
}
