package rehearsal

import "slices"

// Without takes a row out of all tables, until the function that it returns is called.
func Without(id string) (restore func()) {
	undo := []func(){
		without(&restoreRows, func(r *row[*world]) bool { return r.ID == id }),
		without(&clusterRows, func(r *row[*cluster]) bool { return r.ID == id }),
		without(&machineRows, func(r *row[*machine]) bool { return r.ID == id }),
		without(&clusterDeeds, func(d *deed[*cluster]) bool { return d.ID == id }),
		without(&machineDeeds, func(d *deed[*machine]) bool { return d.ID == id }),
		without(&setDeeds, func(d *deed[*set]) bool { return d.ID == id }),
		without(&planeDeeds, func(d *deed[*cluster]) bool { return d.ID == id }),
	}
	return func() {
		for _, f := range undo {
			f()
		}
	}
}

func without[Row any](table *[]Row, is func(*Row) bool) (restore func()) {
	all := *table
	*table = slices.DeleteFunc(slices.Clone(all), func(r Row) bool { return is(&r) })
	return func() { *table = all }
}
