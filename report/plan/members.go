package plan

import (
	"slices"

	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/code"
)

// freeMembers deletes the infrastructure objects of members of pools whose owner a restore takes
// away: their controller leaves them alone, and creates those that are not there again under
// their names (CAPZ exp/controllers/azuremachinepoolmachine_controller.go v1.26.0; seen with
// that). An object has no finalizer after a restore, so that nothing but it is deleted; the line
// stops where it has one: the controller would delete the instance.
func (pl *planner) freeMembers(c *report.Cluster, objects []string) (lines []shell.Command) {
	p := pl.providers[c.Provider]
	if p == nil || len(p.MachineKinds) < 2 {
		return nil
	}
	member := p.MachineKinds[1] // of pools, where a provider has one
	for i := range c.Workers.Groups {
		g := &c.Workers.Groups[i]
		for j := range g.Machines {
			m := &g.Machines[j]
			if g.Kind != "MachinePool" || m.Status != code.Healthy || m.Forecast == nil || m.Forecast.Row != rowMember ||
				!slices.Contains(objects, "Machine "+m.Namespace+"/"+m.Name) {
				continue
			}
			object := member.Resource + "/" + m.Name // as Cluster API names the Machine of a member
			free := manage(m.Namespace, "get", object, "--output=jsonpath={.metadata.finalizers}").Prints("").OrStop("it has a finalizer: its instance would be deleted with it")
			lines = append(lines, restored(m.Namespace, machines+m.Name).Then(shell.All(free, manage(m.Namespace, "delete", object))))
		}
	}
	return lines
}
