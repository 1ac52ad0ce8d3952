package runbook

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
)

// commandsOf are the lines for the first machine of a status and role.
func commandsOf(t *testing.T, r *report.Report, status, role string) (lines []string) {
	t.Helper()
	for _, s := range stepsOf(t, r, status, role) {
		lines = append(lines, s.Commands...)
	}
	return lines
}

// kubectl fails at a kind that its cluster does not know: a line names those of the
// cluster's own provider.
func TestKindsAreThoseOfTheProvider(t *testing.T) {
	for provider, want := range map[string]string{
		"vsphere": " vspheremachines.infrastructure.cluster.x-k8s.io,vspherevms.infrastructure.cluster.x-k8s.io ",
		"aws":     " awsmachines.infrastructure.cluster.x-k8s.io ",
		"other":   "",
	} {
		r := sample("alpha")
		r.Clusters[0].Provider = provider
		m := find(t, r, report.Healthy, "control-plane")
		m.Warnings, m.Forecast = []report.Warning{{Reason: "MachineMissing"}}, &report.MachineForecast{Outcome: "GhostKeepsRunning"}
		about := slices.DeleteFunc(commandsOf(t, r, report.Healthy, "control-plane"), func(l string) bool { return !strings.Contains(l, ".infrastructure.") })
		switch {
		case want == "" && len(about) > 0:
			t.Errorf("%s: %v", provider, about)
		case want != "" && (len(about) != 1 || !strings.Contains(about[0], want)):
			t.Errorf("%s: %v, want %q", provider, about, want)
		}
	}
}

// Of a provider that this release has no commands for, a plan says what to do, and
// addresses no instance.
func TestAProviderWithoutCommands(t *testing.T) {
	r := sample("alpha")
	for i := range r.Scopes {
		if s := &r.Scopes[i]; s.Provider == "vsphere" {
			s.Provider = "other"
		}
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if c.Provider != "vsphere" {
			continue
		}
		c.Provider = "other"
		for _, s := range sets(c) {
			for j := range s.machines {
				if n := s.machines[j].Instance; n != nil {
					n.Provider, n.Scope = "other", strings.Replace(n.Scope, "vsphere", "other", 1)
				}
			}
		}
	}
	for _, role := range []string{"worker", "control-plane"} {
		steps := stepsOf(t, r, report.Ghost, role)
		if len(steps) != 1 || !strings.Contains(steps[0].Text, "by hand") || len(steps[0].Commands) > 0 {
			t.Errorf("Ghost, %s: %+v", role, steps)
		}
		for _, l := range commandsOf(t, r, report.Stale, role) {
			if strings.Contains(l, " delete "+machines) || strings.Contains(l, " delete '"+machines) || strings.Contains(l, "govc") {
				t.Errorf("Stale, %s: a line deletes though nobody can look for a VM: %s", role, l)
			}
		}
	}
	for name, p := range providers {
		if p.controller == "" || p.clusterKind == "" || len(p.machineKinds) == 0 || len(p.identities) == 0 {
			t.Errorf("provider %s is not filled in: %+v", name, p)
		}
	}
}

// What is no id of the provider's finds nothing wherever one looks: that proves no
// absence, and no line deletes the Machine.
func TestAnIDOfAnotherFormProvesNothing(t *testing.T) {
	deletes := func(id string) bool {
		r := sample("alpha")
		find(t, r, report.Stale, "worker").ProviderID = id
		return slices.ContainsFunc(commandsOf(t, r, report.Stale, "worker"), func(l string) bool { return strings.Contains(l, " delete "+machines) })
	}
	if !deletes("vsphere://" + staleID) {
		t.Error("with an id of the right form no line deletes the Machine")
	}
	for _, id := range []string{"", "vsphere://x", "vsphere://" + staleID + "0", "aws:///us-east-1a/" + ec2ID} {
		if deletes(id) {
			t.Errorf("%q: a line deletes the Machine", id)
		}
	}
}
