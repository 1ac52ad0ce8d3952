package plan

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/code"
)

// beforeRestore returns the chapters: the overview, what several clusters have in common,
// each cluster, VMs to confirm.
func (pl *planner) beforeRestore() []Chapter {
	out := []Chapter{pl.overview()}
	own, common := pl.findings(report.BeforeRestore)
	if len(common) > 0 {
		out = append(out, Chapter{Title: "Several clusters", Batches: common})
	}
	for i := range pl.Clusters {
		c := &pl.Clusters[i]
		if c.Self {
			continue
		}
		ch := chapter(c, own[c])
		if !pl.texts {
			ch.Notes = pl.notes(c)
		}
		if len(ch.Notes)+len(ch.Batches) > 0 {
			out = append(out, ch)
		}
	}
	if found := pl.confirm(); len(found) > 0 {
		out = append(out, Chapter{Title: "VMs that may or may not belong to a cluster", Batches: found})
	}
	return out
}

// confirm returns the VMs that may be somebody's. One that has the id of a machine is in
// the list of that machine's step.
func (pl *planner) confirm() []Batch {
	g := pl.gathering(report.BeforeRestore)
	for i := range pl.InfraMachines {
		m := &pl.InfraMachines[i]
		if _, x := pl.duplicate(m); x != nil {
			continue
		}
		item := Item{vm: true, Name: m.Instance.Name, Clusters: m.MayBelongTo()}
		if !pl.texts {
			item.Detail, item.Words = whereabouts(&m.Instance)+"; "+m.Message, wordsOf(m.Instance.Name, "", "", &m.Instance)
		}
		g.add(likeness{reason: m.Reason, provider: m.Instance.Provider, scope: m.Instance.Scope}, pl.others[m], item, "To confirm", string(m.Reason))
	}
	return g.finish()
}

func (pl *planner) notes(c *report.Cluster) []string {
	var out []string
	switch {
	case c.Forecast != nil:
		if c.Forecast.Text != "" {
			out = append(out, "Forecast: "+c.Forecast.Text+".")
		}
		decided := func(n report.Note) bool { return n.Code == code.ControlPlaneGone } // at its control plane
		out = append(out, sentences(slices.DeleteFunc(slices.Clone(c.Forecast.Notes), decided))...)
	case c.Paused:
		out = append(out, "Paused in the backup, and so after the restore: nothing happens to it until it is unpaused.")
	}
	for _, s := range pl.sets(c) {
		if text := code.Of(s.reason).Plan; text != "" {
			out = append(out, s.title()+": "+text)
		}
	}
	return out
}

// chapter returns the findings of one cluster.
func chapter(c *report.Cluster, found []Batch) Chapter {
	return Chapter{Title: "Cluster " + key(c), Cluster: key(c), Batches: found}
}

// overview returns what concerns all clusters.
func (pl *planner) overview() Chapter {
	var d draft
	pl.checkScopes(&d)
	pl.settleScopes(&d)
	pl.stopOld(&d)
	pl.absences(&d)
	ch := Chapter{Title: "All clusters", Apart: true, Steps: d.steps, Batches: pl.faults()}
	if text := pl.checked(); text != "" {
		ch.Notes = append(ch.Notes, text)
	}
	if f := pl.Summary.Forecast; f != nil {
		reported := func(n report.Note) bool { return n.Code == code.NotHealing && f.NotHealing > 0 } // in the answer
		ch.Notes = append(ch.Notes, sentences(slices.DeleteFunc(slices.Clone(f.Notes), reported))...)
	}
	return ch
}

func sentences(notes []report.Note) []string {
	out := make([]string, len(notes))
	for i := range notes {
		out[i] = notes[i].Sentence()
	}
	return out
}

// stopOld ends the old management cluster, or at least what it does. All Clusters that
// it has are paused, those that were made after the backup, too. That one can't be
// paused keeps none of the others from it.
func (pl *planner) stopOld(d *draft) {
	names := kubectl(oldManagement, "get", "clusters.cluster.x-k8s.io", "--all-namespaces", "--output=go-template={{range .items}}{{.metadata.namespace}}/{{.metadata.name}} {{end}}").Keep("CLUSTERS")
	pause := kubectl(oldManagement, shell.Raw(`--namespace="${C%%/*}"`), "patch", shell.Raw(`"clusters.cluster.x-k8s.io/${C#*/}"`), "--type=merge", pausePatch)
	text, look := pl.byHand(oldManagement, "the old one", oldUID)
	d.before("Shut the old management cluster down for good. If any part of it still answers and can't be shut down, pause all its Clusters: two management clusters that reconcile the same VMs destroy each other's. The last line lists all that it has: each must be paused."+text, look,
		shell.All(pl.isOld(), names, pause.OrSay("not paused: look at this one").Each("C", "CLUSTERS")),
		kubectl(oldManagement, "get", "clusters.cluster.x-k8s.io", "--all-namespaces", "--output=custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,PAUSED:.spec.paused")).about = []string{string(code.OldManagementCluster)}
}

// settleScopes plans for scopes that were not listed whole.
func (pl *planner) settleScopes(d *draft) {
	for i := range pl.Scopes {
		s := &pl.Scopes[i]
		if s.State == code.ScopeComplete {
			continue
		}
		text := fmt.Sprintf("%s was not listed whole (%s)", report.ScopeName(s.Provider, s.Endpoint, s.Location), s.State)
		if s.Error != nil {
			text += ": " + strings.TrimSuffix(s.Error.Message, ".")
			if s.Error.Hint != "" {
				text += ". " + strings.TrimSuffix(s.Error.Hint, ".")
			}
		}
		d.before(text + ". Resolve that, and run detect again.").about = []string{s.Title()}
	}
}

// absences plans for what the backup refers to and lacks, but for what an error of the
// backup is about: that says it.
func (pl *planner) absences(d *draft) {
	reported := map[*report.Missing]bool{}
	for _, f := range pl.faultsFound() {
		for _, m := range pl.missed(f.Backup, f.Object) {
			reported[m] = true
		}
	}
	for i := range pl.Backups {
		for j := range pl.Backups[i].Missing {
			m := &pl.Backups[i].Missing[j]
			if reported[m] {
				continue
			}
			name := strings.TrimPrefix(m.Namespace+"/"+m.Name, "/")
			text := fmt.Sprintf("%s %s is not in the backup, and referred to by %s: %s. ", m.Kind, name, m.ReferredBy, m.Why)
			if pl.identityKinds[m.Kind] != "" {
				d.before(text+"Have its manifest written, compare it with your sources, and fill in what is not known. After the restore a Secret that it names has to exist first, then the identity.", extract("manifests"))
				continue
			}
			d.before(text + "Find it in your sources or in another backup, or create it again, before its cluster is unpaused.")
		}
	}
}
