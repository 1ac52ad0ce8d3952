package plan

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// lineWith returns the one command of a plan that holds a piece.
func lineWith(t *testing.T, r *report.Report, piece string) string {
	t.Helper()
	found := ""
	for _, line := range planLines(r) {
		if strings.Contains(line, piece) {
			if found != "" && found != line {
				t.Fatalf("%q is in several lines", piece)
			}
			found = line
		}
	}
	if found == "" {
		t.Fatalf("no line has %q", piece)
	}
	return found
}

// releases are what the operator fills in.
const releases = "CLUSTER_API_RELEASE=v1 KUBEADM_RELEASE=v1 VSPHERE_RELEASE=v1 AWS_RELEASE=v1\n"

// Where the backup does not have the uid of kube-system, a person says which cluster it is: no
// line acts before that, and the plan says what is to be compared.
func TestAManagementClusterThatIsNotKnownIsComparedByHand(t *testing.T) {
	for name, change := range map[string]func(*report.Report){
		"no uid":        func(r *report.Report) { r.Backups[0].KubeSystemUID = "" },
		"one has none":  func(r *report.Report) { r.Backups = append(r.Backups, report.Backup{Path: "second"}) },
		"of no backup":  func(r *report.Report) { r.Backups = nil },
		"the uid is":    func(*report.Report) {},
		"both uids are": func(r *report.Report) { r.Backups = append(r.Backups, report.Backup{KubeSystemUID: "second"}) },
	} {
		r := sample("alpha")
		change(r)
		known := strings.HasSuffix(name, "is") || strings.HasSuffix(name, "are")
		p := New(r, providerTools)
		text := planText(p)
		for piece, variable := range map[string]string{`recheck "${REPORT:?}" management old`: "OLD_MGMT_UID", `recheck "${REPORT:?}" management new`: "MGMT_UID"} {
			for _, line := range planLines(r) {
				if strings.Contains(line, piece) && strings.Contains(line, piece+` --id "${`+variable+`:?}" && `) == known {
					t.Errorf("%s: %s", name, line)
				}
			}
			if strings.Contains(text, "set "+variable+" to the uid that the first line prints") == known || slices.ContainsFunc(p.Variables, func(v Variable) bool { return v.Name == variable }) == known {
				t.Errorf("%s: %s", name, text)
			}
		}
		if o := plantest.Try(t, releases+lineWith(t, r, "clusterctl init")); o.Did("clusterctl init") != known {
			t.Errorf("%s: %q", name, o.Calls)
		}
	}
}

// Where nothing says which Backup of Velero the report is of, a person says it; where it is known, the
// plan names it.
func TestABackupThatIsNotKnownIsComparedByHand(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*report.Report)
		known  bool
		value  string // of the variable
	}{
		"Velero says it":    {func(*report.Report) {}, true, "backup"},
		"of each":           {func(r *report.Report) { r.Backups = append(r.Backups, r.Backups[0]) }, true, ""},
		"of one of two":     {func(r *report.Report) { r.Backups = append(r.Backups, report.Backup{}) }, false, ""},
		"nothing says it":   {func(r *report.Report) { r.Backups[0].Velero = nil }, false, ""},
		"no name of Velero": {func(r *report.Report) { r.Backups[0].Velero.Name = "--all" }, true, ""},
	} {
		r := sample("alpha")
		if name != "no name of Velero" {
			r.Backups[0].Velero.Name = "backup"
		}
		c.change(r)
		line := lineWith(t, r, "restore create")
		p := New(r, providerTools)
		at := slices.IndexFunc(p.Variables, func(v Variable) bool { return v.Name == backupName })
		if strings.Contains(line, `backup backup/"${BACKUP:?}" --id "${BACKUP_UID:?}" && `) == c.known || strings.Contains(planText(p), "set BACKUP_UID to the uid") == c.known || at < 0 || p.Variables[at].Value != c.value {
			t.Errorf("%s: %s\n%+v", name, line, p.Variables)
		}
	}
}

// That one Cluster of the old management cluster can't be paused keeps no other from it.
func TestEveryClusterOfTheOldManagementClusterIsPaused(t *testing.T) {
	steps := New(sample("alpha"), providerTools).Sections[0].Chapters[0].Steps
	for _, line := range commands(steps) {
		if !strings.Contains(line, `{"spec":{"paused":true}}`) {
			continue
		}
		o := plantest.Try(t, line, `*" get clusters"*go-template*) echo "n/a m/b "; exit ;;`, `*patch*) exit 1 ;;`)
		if !o.Did("--namespace=n patch clusters.cluster.x-k8s.io/a ") || !o.Did("--namespace=m patch clusters.cluster.x-k8s.io/b ") || strings.Count(o.Printed, "not paused") != 2 {
			t.Errorf("%q, %s", o.Calls, o.Printed)
		}
		if o := plantest.Try(t, line, "*) exit 1 ;;"); o.Did(" patch ") {
			t.Errorf("%q", o.Calls)
		}
		return
	}
	t.Error("nothing pauses them")
}

// What changes a management cluster is done at no other.
func TestManagementClustersAreProven(t *testing.T) {
	r := sample("alpha")
	r.Clusters[0].Forecast.Notes = []report.Note{{Code: code.IdentityAbsent, Objects: []string{"VSphereClusterIdentity alpha"}}}
	for piece, which := range map[string]string{
		`"${OLD_MGMT:?}" --namespace=`: "old", "clusterctl init": "new", `"drift-detector/was":"ReadWrite"`: "new", "${EXISTING:?}": "filled",
		"create configmap": "new", "restore create": "new", `"drift-detector/was":null`: "filled", "drift-detector/retry=": "filled",
	} {
		line := releases + "EXISTING=x EXISTING_NAMESPACE=x\n" + lineWith(t, r, piece)
		changes := func(o plantest.Outcome) bool {
			for _, w := range plantest.Changing {
				if o.Did(strings.TrimSpace(w) + " ") {
					return true
				}
			}
			return o.Did("create ") || o.Did("annotate ")
		}
		const one = `*" get clusters"*"{{range .items}}{{.metadata.namespace}}"*) echo "n/c "; exit ;;`
		if o := plantest.Try(t, line, one); !changes(o) {
			t.Errorf("%s: %q\n%s", piece, o.Calls, o.Printed)
		}
		if o := plantest.Try(t, line, plantest.Stops(" management "+which), one); changes(o) {
			t.Errorf("%s: it changes the other one: %q", piece, o.Calls)
		}
	}
}

// The restore is of the report's Backup, and paused, or is none.
func TestTheRestoreIsProven(t *testing.T) {
	line := lineWith(t, sample("alpha"), "restore create")
	for _, piece := range []string{" backup backup/filled", " pauses configmap/restore-paused"} {
		if o := plantest.Try(t, line, plantest.Stops(piece)); o.Did("restore create") || !o.Did("recheck filled"+piece) {
			t.Errorf("%s: %q", piece, o.Calls)
		}
	}
	if o := plantest.Try(t, line); !o.Did("restore create") {
		t.Errorf("%q %s", o.Calls, o.Printed)
	}
}

// What ready looks at is asked for one by one: that clusterctl installed nothing hides nothing else.
func TestReadySeesWhatIsThere(t *testing.T) {
	line := lineWith(t, sample("alpha"), "drift-detector ready")
	all := []string{"v1beta2/clusters", "get namespaces,nodes,deployments.apps,", "get providers.clusterctl", "v1/restores", "get backupstoragelocations.velero.io,backups.velero.io", "get configmaps/restore-paused"}
	for _, fails := range append(all, "nothing") {
		o := plantest.Try(t, line, `*"`+fails+`"*) exit 1 ;;`, `"kubectl "*) echo "{}" ;;`, `"drift-detector ready "*) test "$(wc -l)" -ge 4; exit ;;`)
		if !o.OK {
			t.Errorf("%s: %q %s", fails, o.Calls, o.Printed)
		}
		for _, one := range all {
			if !o.Did(one) {
				t.Errorf("without %s it does not ask for %s", fails, one)
			}
		}
	}
	if o := plantest.Try(t, line, `"drift-detector ready "*) exit 1 ;;`); o.OK {
		t.Error("no go, and the line goes on")
	}
}

// What Velero might not write to before the plan it may not write to afterwards.
func TestOnlyWhatWasWritableIsWritableAgain(t *testing.T) {
	off, on := lineWith(t, sample("alpha"), `"drift-detector/was":"ReadWrite"`), lineWith(t, sample("alpha"), `"drift-detector/was":null`)
	if o := plantest.Try(t, off, `*backupstoragelocations*go-template*) echo "a b "; exit ;;`); !o.Did("patch backupstoragelocations.velero.io/a ") || !o.Did("patch backupstoragelocations.velero.io/b ") || !strings.Contains(off, `if eq (print .spec.accessMode) "ReadOnly"`) {
		t.Errorf("%q of %s", o.Calls, off)
	}
	if o := plantest.Try(t, on, `*"--selector=drift-detector/was=ReadWrite --output=name") echo "backupstoragelocation.velero.io/a"; exit ;;`, `*backupstoragelocations*) echo "backupstoragelocation.velero.io/b"; exit ;;`); !o.Did("patch backupstoragelocation.velero.io/a ") || o.Did("location.velero.io/b") {
		t.Errorf("%q of %s", o.Calls, on)
	}
	if o := plantest.Try(t, on, `*--output=name*) exit ;;`); o.OK || !strings.Contains(o.Printed, "no location is marked") {
		t.Errorf("%q %s", o.Calls, o.Printed)
	}
}

// A question about nothing has no answer: webhooks are asked about an object that comes back,
// and where there is none after all the line stops.
func TestWebhooksAreAskedAboutSomething(t *testing.T) {
	about := func(change func(*report.Report)) (lines []string, text string) {
		r := sample("alpha")
		change(r)
		steps := New(r, providerTools).Sections[1].Chapters[0].Steps
		last := steps[len(steps)-1]
		for _, c := range last.Commands {
			if strings.Contains(c, "--dry-run=server") {
				lines = append(lines, c)
			}
		}
		return lines, last.Text
	}
	lines, text := about(func(*report.Report) {})
	if len(lines) != 3 || strings.Contains(text, "None asks") {
		t.Fatalf("%q %s", lines, text)
	}
	for _, line := range lines {
		if o := plantest.Try(t, line, `*annotate*) exit ;;`); o.OK || !strings.Contains(o.Printed, "stop: nothing of ") {
			t.Errorf("nothing is asked, and it goes on: %s", line)
		}
	}
	gone := func(r *report.Report) { r.Clusters[0] = deleted().Clusters[0] }
	lines, text = about(gone)
	if len(lines) != 2 || strings.Contains(strings.Join(lines, ""), "cluster-name=alpha ") || !strings.Contains(text, "None asks those of infrastructure-vsphere, because") {
		t.Errorf("of what may be left out: %q %s", lines, text)
	}
	lines, _ = about(func(r *report.Report) { r.Clusters[0].Confirmed = &report.Confirmed{As: "givenUp"} })
	if strings.Contains(strings.Join(lines, ""), "cluster-name=alpha ") {
		t.Errorf("of what is given up: %q", lines)
	}
	if lines, text = about(func(r *report.Report) {
		for _, s := range sets(&r.Clusters[1]) {
			for i := range s.machines {
				s.machines[i].Status = code.Ghost
			}
		}
		r.Clusters[1].Workers.Groups[0].Counts = report.MachineCounts{Total: 3, Ghost: 3}
	}); len(lines) != 2 || !strings.Contains(text, "None asks those of infrastructure-aws") {
		t.Errorf("of Ghosts: %q %s", lines, text)
	}
}
