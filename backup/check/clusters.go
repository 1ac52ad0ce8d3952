package check

import (
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/owners"
)

var (
	// Seen in real restores with Clusters first: each MachineDeployment made a new
	// MachineSet, and the restored ones were adopted as old and scaled to 0.
	ruleNotPaused      = rule("not paused")
	rulePaused         = rule("paused")
	ruleClusterAbsent  = rule("cluster absent")
	ruleClusterLeftOut = rule("cluster left out")
	ruleClass          = rule("class")
	ruleCertificate    = rule("certificate")
	ruleJoinSecret     = rule("join secret")
	ruleAuthority      = rule("authority")
	ruleAuthorityEnds  = rule("authority ends")
	ruleAuthorityKey   = rule("authority key")
	ruleSecrets        = rule("secrets")
)

func pausing(e *examination) []Finding {
	found := make([]Finding, 0, len(e.Clusters))
	for i := range e.Clusters {
		c := &e.Clusters[i]
		what := name("Cluster", c.Namespace, c.Meta.Name)
		switch {
		case c.Paused:
			found = append(found, rulePaused.On(c.Backup, what, "paused %s", e.now()).Of(c.ID()))
		case !c.Derived:
			says := "not paused"
			if k := e.options.Controllers[c.ID()]; k.Makes != "" {
				says += "; " + k.Name + " " + k.Makes + " for each new machine"
			}
			found = append(found, ruleNotPaused.On(c.Backup, what, "%s", says).Of(c.ID()))
		}
	}
	return found
}

// clustersLeftOut returns those that only their parts tell of.
func clustersLeftOut(e *examination) []Finding {
	deployments := set(deploymentKind.In(e.Snapshot))
	var found []Finding
	for i := range e.Clusters {
		c := &e.Clusters[i]
		if !c.Derived {
			continue
		}
		what := name("Cluster", c.Namespace, c.Meta.Name)
		if deployments[objectOf(&c.Meta)] {
			found = append(found, ruleClusterLeftOut.On(c.Backup, what, "not in %s", e.Subject().The()).And("its ClusterDeployment is").Of(c.ID()))
			continue
		}
		found = append(found, ruleClusterAbsent.On(c.Backup, what, "not in %s, although objects of it are", e.Subject().The()).
			At("clusters."+coreGroup, c.Namespace).Of(c.ID()))
	}
	return found
}

// classes returns the ClusterClasses that managed topologies name.
func classes(e *examination) []Finding {
	known := set(classKind.In(e.Snapshot))
	users := map[object][]backup.ClusterID{}
	for c := range clusterKind.In(e.Snapshot).All() {
		at := object{c.Backup, c.Data.ClassNamespace, c.Data.Class}
		if at.namespace == "" {
			at.namespace = c.Namespace
		}
		if at.name != "" && !known[at] {
			users[at] = append(users[at], backup.ClusterID{Backup: c.Backup, Namespace: c.Namespace, Name: c.Name})
		}
	}
	var found []Finding
	for at, clusters := range users {
		found = append(found, ruleClass.On(at.backup, name("ClusterClass", at.namespace, at.name),
			"not in %s", e.Subject().The()).And("class of "+some(namesOf(clusters))).At("clusterclasses."+coreGroup, at.namespace).Of(clusters...))
	}
	return found
}

// certificates returns those that the control plane would make again when they are
// absent (KubeadmControlPlane and others, see owners), and without whose content it stops (Cluster API controlplane/kubeadm
// reconcileClusterCertificates, secretToKeyPair in util/secret v1.14.0).
func certificates(e *examination) []Finding {
	external := map[backup.ClusterID]bool{} // of an etcd elsewhere the key of the authority is nobody's
	for i := range e.ControlPlanes {
		p := &e.ControlPlanes[i]
		external[p.Cluster] = external[p.Cluster] || p.ExternalEtcd
	}
	var found []Finding
	for i := range e.Clusters {
		c := &e.Clusters[i]
		plane, known := owners.Of(c.ControlPlane.Kind)
		if !known {
			continue
		}
		for _, part := range plane.Secrets {
			if secret := c.Meta.Name + "-" + part; e.secrets.Named(c.Backup, c.Namespace, secret) == nil {
				found = append(found, ruleJoinSecret.On(c.Backup, name("Secret", c.Namespace, secret), "not in %s; %s needs it", e.Subject().The(), plane.Name).
					At(secretResource, c.Namespace).Of(c.ID()))
			}
		}
		for _, part := range plane.Authorities {
			secret := c.Meta.Name + "-" + part
			s := e.secrets.Named(c.Backup, c.Namespace, secret)
			if s == nil {
				found = append(found, ruleCertificate.On(c.Backup, name("Secret", c.Namespace, secret), "not in %s", e.Subject().The()).
					At(secretResource, c.Namespace).Of(c.ID()))
				continue
			}
			if !slices.Contains(caParts, part) {
				continue // what is in it has a form of its own
			}
			if d := s.Digest(certificateKey); d == nil || d.Problem != nil {
				found = append(found, ruleCertificate.On(c.Backup, name("Secret", c.Namespace, secret), "no PEM in its %s", certificateKey).Of(c.ID()))
				continue
			}
			if plane.Name == "KubeadmControlPlane" && s.Digest(privateKey) == nil && !(part == "etcd" && external[c.ID()]) {
				found = append(found, ruleAuthorityKey.On(c.Backup, name("Secret", c.Namespace, secret), "no private key in its %s", privateKey).Of(c.ID()))
			}
			for _, f := range e.expiry(s) {
				found = append(found, f.Of(c.ID()))
			}
		}
	}
	return found
}

// soon is when a certificate is about to expire.
const soon = 30 * 24 * time.Hour

// expiry looks at the end of an authority's certificate. What is no certificate
// is none of its business: the keys of service accounts are no certificates.
func (e *examination) expiry(s *backup.Secret) []Finding {
	end := s.Digest(certificateKey).Ends
	rule, what := ruleAuthorityEnds, "expires"
	switch {
	case end.IsZero() || !e.options.Now.Add(soon).After(end):
		return nil
	case e.options.Now.After(end):
		rule, what = ruleAuthority, "expired"
	}
	return []Finding{rule.On(s.Backup, name("Secret", s.Namespace, s.Name), "its certificate %s on %s", what, end.UTC().Format(time.DateOnly))}
}

// secretsAbsent reports backups of clusters without any Secret: one finding, instead
// of one for each that is missed.
func secretsAbsent(e *examination) []Finding {
	clusters := make([]int, len(e.Backups))
	for i := range e.Clusters {
		clusters[e.Clusters[i].Backup]++
	}
	var found []Finding
	for i := range e.Backups {
		if clusters[i] > 0 && !e.hasSecrets[i] {
			found = append(found, ruleSecrets.On(i, "every Secret", "%s holds none of %s", e.Subject().The(), count(clusters[i], "cluster")).
				At(secretResource, anyNamespace))
		}
	}
	return found
}

// foldedSecret reports whether a finding on one Secret is part of SecretsAbsent.
func (e *examination) foldedSecret(f Finding) bool {
	return f.Absent.Resource == secretResource && f.Code != ruleSecrets.Code && !e.hasSecrets[f.Backup]
}

func namesOf(ids []backup.ClusterID) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.Namespace + "/" + id.Name
	}
	return names
}

// some names up to three of a list, and how many more there are.
func some(list []string) string {
	const most = 3
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:most], ", ") + " and " + count(len(list)-most, "other")
}
