package plan

import (
	"strings"
	"testing"

	"drift-detector/report"
)

// isNewLine comes before what changes the new management cluster.
const (
	printsNewLine = `{ kubectl --context "${MGMT:?}" get namespaces,nodes --output=json && kubectl --context "${MGMT:?}" get --raw /apis/cluster.x-k8s.io/v1beta2/clusters || kubectl --context "${MGMT:?}" get --raw /apis/cluster.x-k8s.io/v1beta1/clusters || kubectl --context "${MGMT:?}" get --raw /apis; }`
	isNewLine     = printsNewLine + ` | drift-detector recheck "${REPORT:?}" management new && `
)

// The line installs what the backup says, asks for what it does not say, so that clusterctl
// does not take the newest, and takes nothing from an edited report that is no release.
func TestReleasesAreThoseOfTheBackup(t *testing.T) {
	all := []report.Installed{
		{Type: "core", Name: "cluster-api", Version: "v1.10.4"},
		{Type: "bootstrap", Name: "kubeadm", Version: "v1.10.4"},
		{Type: "control-plane", Name: "kubeadm", Version: "v1.10.4"},
		{Type: "infrastructure", Name: "vsphere", Version: "v1.13.0"},
		{Type: "infrastructure", Name: "aws", Version: "v2.9.1"},
		{Type: "ipam", Name: "in-cluster", Version: "v1.0.2"},
	}
	line := func(installed ...report.Installed) (text, command string) {
		r := sample("alpha")
		r.Backups[0].Installed = installed
		step := New(r, providerTools).Sections[1].Chapters[0].Steps[0]
		return step.Text, strings.Join(step.Commands, "\n")
	}
	text, command := line(all...)
	if want := isNewLine + `clusterctl init --kubeconfig-context "${MGMT:?}" --core=cluster-api:v1.10.4 --bootstrap=kubeadm:v1.10.4 --control-plane=kubeadm:v1.10.4 --infrastructure=vsphere:v1.13.0 --infrastructure=aws:v2.9.1 --ipam=in-cluster:v1.0.2`; command != want || strings.Contains(text, "does not say") {
		t.Errorf("%s\n%s\nwant\n%s", text, command, want)
	}
	text, command = line()
	for _, want := range []string{`--core=cluster-api:"${CLUSTER_API_RELEASE:?}"`, `--infrastructure=vsphere:"${VSPHERE_RELEASE:?}"`, "KUBEADM_RELEASE='' # "} {
		if !strings.Contains(command, want) {
			t.Errorf("no %q in\n%s", want, command)
		}
	}
	if strings.Count(command, "KUBEADM_RELEASE=''") != 1 || !strings.Contains(text, "does not say the release of cluster-api, kubeadm, ") {
		t.Errorf("%s\n%s", text, command)
	}
	text, command = line(append(all, report.Installed{Type: "core", Name: "cluster-api", Version: "v1.9.0"})...)
	if !strings.Contains(command, "${CLUSTER_API_RELEASE:?}") || !strings.Contains(text, "cluster-api (v1.10.4, v1.9.0)") {
		t.Errorf("%s\n%s", text, command)
	}
	for _, bad := range []report.Installed{
		{Type: "core; touch x", Name: "cluster-api", Version: "v1.2.3"},
		{Type: "core", Name: "a:v1;x", Version: "v1.2.3"},
		{Type: "core", Name: "--help", Version: "v1.2.3"},
		{Type: "ipam", Name: "x", Version: "latest"},
		{Type: "ipam", Name: "x", Version: "v1.2.3\nv"},
		{Type: "kubeconfig", Name: "x", Version: "v1.2.3"},
	} {
		_, got := line(append(all, bad)...)
		got, is := strings.CutPrefix(got, isNewLine)
		if !is || strings.Contains(got, ";") || strings.Contains(got, "help") || strings.Contains(got, "x:") || strings.Contains(got, "--kubeconfig=") || strings.Contains(got, "latest") {
			t.Errorf("%+v: %s", bad, got)
		}
	}
}

// Storage locations are read-only before anything is restored, and writable in the last step.
func TestStorageLocationsAreReadOnlyMeanwhile(t *testing.T) {
	p := New(sample("alpha"), providerTools)
	inOrder(t, lines(p.Sections[1].Chapters[0].Steps), `"accessMode":"ReadOnly"`, "restore create")
	after := p.Sections[2].Chapters
	if text := chapterText(after[len(after)-1].Steps); !strings.Contains(text, `"accessMode":"ReadWrite"`) {
		t.Error(text)
	}
}
