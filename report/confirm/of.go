package confirm

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Of returns the confirmation of a thing of a report: a VM to confirm by its name, path or id, a
// folder of such VMs by its path, a cluster or a machine by namespace and name. It returns an error
// when the report has no such thing, or several, or that cannot be said of it.
func Of(r *report.Report, name string, as As, by, on, expires string) (Confirmation, error) {
	a := application{r: r}
	var found []Confirmation
	for i := range r.InfraMachines {
		v := &r.InfraMachines[i].Instance
		if name == v.Name || name == v.Path || strings.EqualFold(name, v.ID) {
			found = append(found, Confirmation{VM: v.Name, Provider: v.Provider, Place: a.place(v), ID: v.ID})
		}
	}
	if len(found) == 0 && strings.HasPrefix(name, "/") {
		found = folders(&a, name)
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if c.Title() == name && !c.Self {
			found = append(found, Confirmation{Cluster: name})
		}
		for _, s := range c.Sets() {
			for j := range s.Machines {
				if m := &s.Machines[j]; english.Join("/", m.Namespace, m.Name) == name && m.Instance != nil {
					found = append(found, Confirmation{Machine: name, ID: m.Instance.ID})
				}
			}
		}
	}
	if len(found) == 0 {
		return Confirmation{}, fmt.Errorf("the report has no VM to confirm, folder of such, Cluster or machine with a VM that is called %q; machines and Clusters are NAMESPACE/NAME", name)
	}
	if len(found) > 1 {
		return Confirmation{}, fmt.Errorf("%s are called %q: give the id of one, as the report has it", english.Count(len(found), "thing"), name)
	}
	c := found[0]
	c.As, c.By, c.On, c.Expires = as, by, on, expires
	if problem := c.problem(); problem != "" {
		return Confirmation{}, fmt.Errorf("%s: %s", c.Subject(), problem)
	}
	return c, nil
}

// NotTaken says why detect would not take a confirmation of a report by what that report shows, and
// what it means; empty where it would.
func NotTaken(r *report.Report, c *Confirmation, now time.Time) string {
	a := application{r: r, places: r.Places(), today: now.UTC().Format(time.DateOnly)}
	_, state, why := a.about(c)
	if state == report.ConfirmationTaken {
		return ""
	}
	text := fmt.Sprintf("%s is written down as %s, and detect will not take that as long as it is as in this report: %s", c.Subject(), c.As, why)
	if c.As == GivenUp {
		text += "; a cluster that is given up is left out of the restore: what lives of it would run on, and nothing would manage it"
	}
	return text
}

// folders returns the places of which VMs to confirm are in the folder, with the ids of those that
// nothing but their place ties to a cluster.
func folders(a *application, folder string) []Confirmation {
	var out []Confirmation
	for i := range a.r.InfraMachines {
		v := &a.r.InfraMachines[i].Instance
		if !isIn(v.Path, folder) {
			continue
		}
		place := a.place(v)
		at := slices.IndexFunc(out, func(c Confirmation) bool { return c.Provider == v.Provider && c.Place == place })
		if at < 0 {
			at, out = len(out), append(out, Confirmation{Folder: path.Clean(folder), Provider: v.Provider, Place: place})
		}
		if a.r.InfraMachines[i].Reason == code.InClusterFolder && v.ID != "" {
			out[at].IDs = append(out[at].IDs, v.ID)
		}
	}
	return out
}
