package build

import (
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/report"
)

// Readiness makes the document of a Snapshot, of what providers miss in it,
// and of the findings.
func Readiness(s *backup.Snapshot, absent []backup.Absence, found []check.Finding, described []*check.Outline, tool report.Tool, at time.Time) *report.Readiness {
	r := &report.Readiness{
		SchemaVersion: report.SchemaVersion, Tool: tool, GeneratedAt: utc(at),
		Backups: backups(s, absent, described), Checks: Checks(found),
	}
	r.Summary = report.CountChecks(r.Checks)
	r.FillLists()
	return r
}

// Checks turns findings into what documents hold, in their order.
func Checks(found []check.Finding) []report.Check {
	out := make([]report.Check, len(found))
	for i, f := range found {
		out[i] = report.Check{
			Severity: f.Severity, Code: f.Code, Backup: f.Backup,
			Object: f.Object, Message: f.Message, Why: f.Why, Do: f.Do,
		}
		if f.Brief != f.Message {
			out[i].Brief = f.Brief
		}
		for _, id := range f.Clusters {
			out[i].Clusters = append(out[i].Clusters, id.Namespace+"/"+id.Name)
		}
	}
	return out
}
