package diff

import (
	"bufio"
	"fmt"
	"io"
)

// Prometheus writes counts of the diff in the text exposition format, version
// 0.0.4, for the textfile collector. No label holds foreign text.
func Prometheus(w io.Writer, d *Diff) error {
	b := bufio.NewWriter(w)
	family := func(name, help string) {
		fmt.Fprintf(b, "# HELP drift_detector_diff_%s %s\n# TYPE drift_detector_diff_%s gauge\n", name, help, name)
	}
	single := func(name, help string, v int64) {
		family(name, help)
		fmt.Fprintf(b, "drift_detector_diff_%s %d\n", name, v)
	}
	family("differences", "Things that differ between two reports, by kind and by what became of them.")
	for _, t := range d.tallies() {
		fmt.Fprintf(b, "drift_detector_diff_differences{kind=%q,change=\"new\"} %d\n", t.kind, t.new)
		fmt.Fprintf(b, "drift_detector_diff_differences{kind=%q,change=\"gone\"} %d\n", t.kind, t.gone)
		fmt.Fprintf(b, "drift_detector_diff_differences{kind=%q,change=\"changed\"} %d\n", t.kind, t.changed)
	}
	family("new_findings", "Machines and VMs that have this status now and had not, without those that rules set aside.")
	for _, s := range statuses {
		fmt.Fprintf(b, "drift_detector_diff_new_findings{status=%q} %d\n", s.status, d.became(s.status))
	}
	single("different", "1 when there is any difference.", int64(one(d.Different)))
	single("worse", "1 when the status of the whole got worse.", int64(one(d.Worse)))
	single("complete", "1 when both reports are complete; else what is new or gone may not be so.", int64(one(d.Complete)))
	single("old_report_timestamp_seconds", "When the old report was made.", d.Old.GeneratedAt.Unix())
	single("new_report_timestamp_seconds", "When the new report was made.", d.New.GeneratedAt.Unix())
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing the diff as Prometheus metrics: %w", err)
	}
	return nil
}
