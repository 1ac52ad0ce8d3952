package formats_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/formats"
	"drift-detector/report/reporttest"
)

// counts returns the numbers that every format must tell alike, by name.
func counts(r *report.Report) map[string]int {
	s := &r.Summary
	return map[string]int{
		"machines": s.Machines.Total, "Ghost": s.Machines.Ghost, "Unknown": s.Machines.Unknown, "Stale": s.Machines.Stale, "Healthy": s.Machines.Healthy,
		"clusters": s.Clusters.Total, "infraMachines": s.InfraMachines, "outOfScope": s.OutOfScope, "errors": s.Errors, "ignored": s.Ignored,
	}
}

// readers find those numbers in a format, as a reader of it would.
var readers = map[string]func(doc string) map[string]int{
	"json": func(doc string) map[string]int {
		r, err := report.Read(strings.NewReader(doc))
		if err != nil {
			panic(err)
		}
		return counts(r)
	},
	"text": func(doc string) map[string]int {
		doc = strings.Join(strings.Fields(doc), " ")
		return found(doc, map[string]string{
			"machines": `Machines (\d+) in`, "clusters": `Machines \d+ in (\d+) clusters?:`,
			"Ghost": `Machines \d+ in \d+ clusters?: (\d+) Ghost`, "Unknown": `clusters?: \d+ Ghost, (\d+) Unknown`,
			"Stale": `Unknown, (\d+) Stale`, "Healthy": `Stale, (\d+) Healthy`,
			"infraMachines": `Other VMs (\d+) to confirm`, "outOfScope": `(\d+) out of scope`,
			"errors": `of \d+ places?, (\d+|no) errors?`, "ignored": `(\d+) findings? (?:is|are) set aside`,
		})
	},
	"markdown": func(doc string) map[string]int {
		return found(doc, map[string]string{
			"machines": `- Machines: (\d+) in`, "Ghost": `- Machines: \d+ in \d+ clusters?: (\d+) Ghost`, "Unknown": `clusters?: \d+ Ghost, (\d+) Unknown`,
			"Stale": `Unknown, (\d+) Stale`, "Healthy": `Stale, (\d+) Healthy`,
			"clusters": `- Clusters: (\d+):`, "infraMachines": `Other VMs: (\d+) to confirm`, "outOfScope": `(\d+) out of scope`,
			"errors": `of \d+ places?, (\d+|no) errors?`, "ignored": `(\d+) findings? (?:is|are) set aside`,
		})
	},
	"junit": func(doc string) map[string]int {
		return found(doc, patternsOf(`<property name="%s" value="(\d+)">`, map[string]string{
			"machines": "machines.total", "Ghost": "machines.Ghost", "Unknown": "machines.Unknown", "Stale": "machines.Stale", "Healthy": "machines.Healthy",
			"clusters": "clusters.total", "infraMachines": "infraMachines", "outOfScope": "outOfScope", "errors": "errors",
		}))
	},
	"html": func(doc string) map[string]int {
		return found(doc, patternsOf(`<data data-count="%s" value="(\d+)"`, map[string]string{
			"machines": "machines.total", "Ghost": "machines.Ghost", "Unknown": "machines.Unknown", "Stale": "machines.Stale", "Healthy": "machines.Healthy",
			"clusters": "clusters.total", "infraMachines": "infraMachines", "outOfScope": "outOfScope", "errors": "errors", "ignored": "ignored",
		}))
	},
	"slack": func(doc string) map[string]int {
		_, blocks, _ := strings.Cut(doc, `"blocks":`)
		return ofMessage(blocks)
	}, "teams": ofMessage, "webhook": ofMessage,
	"prometheus": func(doc string) map[string]int {
		out := map[string]int{}
		for status, name := range map[string]string{"Ghost": "Ghost", "Unknown": "Unknown", "Stale": "Stale", "Healthy": "Healthy"} {
			out[name] = sum(doc, `(?m)^drift_detector_machines\{.*status="`+status+`"\} (\d+)$`)
			out["machines"] += out[name]
		}
		out["clusters"] = sum(doc, `(?m)^drift_detector_clusters\{.*\} (\d+)$`)
		out["infraMachines"] = sum(doc, `(?m)^drift_detector_infra_machines(?:\{.*\})? (\d+)$`)
		out["errors"] = sum(doc, `(?m)^drift_detector_errors (\d+)$`)
		out["ignored"] = sum(doc, `(?m)^drift_detector_machines_ignored\{.*\} (\d+)$`) + sum(doc, `(?m)^drift_detector_infra_machines_ignored(?:\{.*\})? (\d+)$`)
		return out
	},
}

func ofMessage(doc string) map[string]int {
	out := map[string]int{}
	for _, status := range []string{"Ghost", "Unknown", "Stale", "Healthy"} {
		out[status] = sum(doc, `(\d+) `+status+`(?:[,"\\]|$)`)
	}
	return out
}

func found(doc string, patterns map[string]string) map[string]int {
	out := map[string]int{}
	for name, p := range patterns {
		if m := regexp.MustCompile(p).FindStringSubmatch(doc); m != nil {
			out[name], _ = strconv.Atoi(m[1])
		} else if name != "ignored" { // said only when there is any
			out[name] = -1
		}
	}
	return out
}

func patternsOf(pattern string, names map[string]string) map[string]string {
	out := map[string]string{}
	for name, there := range names {
		out[name] = fmt.Sprintf(pattern, regexp.QuoteMeta(there))
	}
	return out
}

func sum(doc, pattern string) int {
	n := 0
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(doc, -1) {
		one, _ := strconv.Atoi(m[1])
		n += one
	}
	return n
}

// fleetReport returns the report of a fleet of OpenStack, as detect wrote it.
func fleetReport(t *testing.T) *report.Report {
	t.Helper()
	file, err := os.Open("../../testdata/openstack/report.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Read(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every format tells the counts of the JSON: of the report of a fleet, of 200 random ones, and
// of one whose every name is hostile.
func TestFormatsAgreeOnEveryCount(t *testing.T) {
	reports := map[string]*report.Report{"fleet": fleetReport(t), "hostile": reporttest.HostileReport()}
	for seed := range uint64(200) {
		reports[fmt.Sprintf("random %d", seed)] = reporttest.Random(seed)
	}
	for _, name := range formats.Report.Names() {
		t.Run(name, func(t *testing.T) {
			read := readers[name]
			if read == nil {
				t.Fatal("the format has no reader here")
			}
			for which, r := range reports {
				var doc bytes.Buffer
				if err := formats.Report[name](&doc, r); err != nil {
					t.Fatalf("%s: %v", which, err)
				}
				want := counts(r)
				for what, n := range read(doc.String()) {
					if n != want[what] {
						t.Errorf("%s: %s is %d, the report says %d", which, what, n, want[what])
					}
				}
			}
		})
	}
}
