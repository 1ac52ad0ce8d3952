package plan

import (
	"drift-detector/infra/shell"
	"drift-detector/report"
)

// extract returns a line that writes something of the backup into files.
func extract(what string) shell.Command {
	return shell.Line(shell.Raw("drift-detector extract "+what+" --backup"), shell.Variable(backupFile), shell.Raw("-o "+what))
}

// manifest applies the manifest of an identity that the backup lacks to the cluster that is
// restored, which extract wrote into a file; nothing where it has no plain name.
func (pl *planner) manifest(c *report.Cluster, m *report.Missing) shell.Command {
	if pl.identityKinds[m.Kind] == "" || m.Namespace != "" || !labelForm.MatchString(m.Name) {
		return shell.Command{}
	}
	return restored(c.Namespace, clusters+c.Name).Then(kubectl(management, "apply", "--filename=manifests/"+m.Kind+"."+m.Name+".yaml"))
}
