package backups

import (
	"fmt"
	"time"
)

// Skipped is a backup that is newer than those of its stream that Velero offers, and why Velero
// does not offer it.
type Skipped struct {
	Name    string    `json:"name"`
	Place   string    `json:"place"`
	Started time.Time `json:"started"`
	Why     string    `json:"why"`
	// Holds says what is in it in comparison with the best: "better", "equal", "worse", or ""
	// where its tarball can't be read, or was not.
	Holds string `json:"holds,omitempty"`
	// Text is what is in it, or why that is not known.
	Text string `json:"text,omitempty"`
	// TakeAll is how it is restored all the same.
	TakeAll string `json:"takeAllTheSame,omitempty"`

	newer    bool // than what Velero offers
	misdated bool // it is not known whether it is newer
	stored   bool // its tarball is there
}

// Skip adds a backup that Velero does not offer, the newest first. Where it was compared, too,
// its row says what it holds.
func (c *Comparison) Skip(s *Skipped) {
	c.Skipped = append(c.Skipped, s)
	for _, row := range c.Compared {
		if row.Place == s.Place {
			s.compare(row, c.best)
		}
	}
	if s.Text == "" {
		s.Text = "its tarball was not read"
	}
}

func (s *Skipped) compare(row, best *Compared) {
	if row.Error != "" {
		s.Text = "its tarball can't be read: " + row.Error
		return
	}
	m := &row.Machines
	s.Text = fmt.Sprintf("its tarball holds %d Ghost, %d Stale and %d Unknown", m.Ghost, m.Stale, m.Unknown)
	if best == nil {
		return
	}
	measure, d := difference(row, best)
	switch {
	case d < 0:
		s.Holds = "better"
		s.Text = "its tarball is better: " + best.Name + " " + measure.say(row, best)
	case d == 0:
		s.Holds = "equal"
		s.Text = "its tarball is as good as " + best.Name
	default:
		s.Holds = "worse"
		s.Text = "its tarball is no better: it " + measure.say(best, row)
	}
}
