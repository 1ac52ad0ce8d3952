package backups

import (
	"slices"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report"
)

// Other is a backup that was not asked for: of another schedule than --schedule names.
type Other struct {
	Root, Name string
	Started    time.Time // by its name, where its description was not read
}

// Others are those of a prefix. What they hold was not looked at.
type Others struct {
	Backups int    `json:"backups"`
	Newer   int    `json:"newer"`            // than all that are shown, that can be restored and may hold clusters
	Newest  string `json:"newest,omitempty"` // its name, where one is newer
}

// NotAsked notes the backups of other schedules than the one that is shown.
func (d *Document) NotAsked(others []Other) {
	d.others = slices.Clone(others)
	slices.SortStableFunc(d.others, func(a, b Other) int { return b.Started.Compare(a.Started) })
	d.count()
}

// countOthers counts the backups of other schedules in a prefix.
func (r *Root) countOthers(all []Other) {
	for _, o := range all {
		if o.Root != r.Place {
			continue
		}
		if r.Others == nil {
			r.Others = &Others{}
		}
		r.Others.Backups++
		if n := r.newest; n == nil || n.Misdated || n.Started == nil || o.Started.After(*n.Started) {
			if r.Others.Newer++; r.Others.Newer == 1 {
				r.Others.Newest = o.Name
			}
		}
	}
}

// elsewhere returns the prefixes that hold backups of other schedules only, each with their number.
func (d *Document) elsewhere() (places []string) {
	of := map[string]int{}
	for _, o := range d.others {
		if slices.ContainsFunc(d.Summary.Roots, func(r Root) bool { return r.Place == o.Root }) {
			continue
		}
		if of[o.Root]++; of[o.Root] == 1 {
			places = append(places, o.Root)
		}
	}
	slices.Sort(places)
	for i, place := range places {
		places[i] = place + " (" + english.Count(of[place], "backup") + ")"
	}
	return places
}

func (o *Others) text() string {
	text := english.Count(o.Backups, "backup") + " of other schedules, or of none,"
	if o.Backups == 1 {
		text += " was not asked for, "
	} else {
		text += " were not asked for, "
	}
	switch o.Newer {
	case 0:
		return text + "none of them newer"
	case o.Backups:
		text += "newer"
	default:
		text += english.Count(o.Newer, "newer one") + " among them"
	}
	return text + ": the newest is " + o.Newest
}

// NotAsked says of a comparison what of other schedules was not asked for.
func (c *Comparison) NotAsked(o *Others) {
	if o != nil {
		c.say(o.text())
	}
}

// Narrowed says of a comparison that no more was looked at than some of the clusters.
func (c *Comparison) Narrowed(to *report.Filter) {
	c.say("no other cluster was looked at than those of " + to.String())
}

// say adds to the sentences that choose.
func (c *Comparison) say(what string) {
	c.Why += "; " + what
	for i := range c.ManagementClusters {
		c.ManagementClusters[i].Why += "; " + what
	}
}
