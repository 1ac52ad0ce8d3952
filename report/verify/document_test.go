package verify

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/schematest"
	"drift-detector/report/text"
)

// definitions are the Go types of what the schema defines.
var definitions = map[string]reflect.Type{
	"verifySummary": reflect.TypeFor[Summary](), "clusterVerdict": reflect.TypeFor[ClusterVerdict](), "groupVerdict": reflect.TypeFor[GroupVerdict](), "pool": reflect.TypeFor[Pool](),
	"machineVerdict": reflect.TypeFor[MachineVerdict](), "facts": reflect.TypeFor[Facts](), "made": reflect.TypeFor[Made](), "gone": reflect.TypeFor[Gone](),
	"unread": reflect.TypeFor[Unread](), "verdict": reflect.TypeFor[struct{}](),
}

func TestSchemaHasEveryFieldDescribed(t *testing.T) {
	schematest.Fields(t, schema, reflect.TypeFor[Document](), definitions)
}

func written(t testing.TB, format string, d *Document) string {
	t.Helper()
	write, err := Formats.Named(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDocumentsAreValid(t *testing.T) {
	valid := schematest.Strict(t, Schema())
	log := readChanges(t)
	r := reportOf(t, log)
	for _, after := range []int{1, 20, 65, 600, 1185} {
		d := judged(t, r, seenAt(log, started.Add(time.Duration(after)*time.Second)))
		doc := written(t, "json", d)
		if err := valid([]byte(doc)); err != nil {
			t.Errorf("after %d s: %v", after, err)
		}
		if again := written(t, "json", judged(t, r, seenAt(log, started.Add(time.Duration(after)*time.Second)))); again != doc {
			t.Errorf("after %d s: another document of the same", after)
		}
	}
	for _, scenes := range came("vsphere") {
		for _, s := range scenes {
			if err := valid([]byte(written(t, "json", judged(t, s.report(code.Adopted), &s.seen)))); err != nil {
				t.Error(err)
			}
		}
	}
}

// The screen has 23 rows at most, the alarms first, with the whole command.
func TestScreen(t *testing.T) {
	log := readChanges(t)
	r := reportOf(t, log)
	for after := 1; after <= 1185; after += 37 {
		d := judged(t, r, seenAt(log, started.Add(time.Duration(after)*time.Second)))
		if got := written(t, "text", d); strings.Count(got, "\n") > rows {
			t.Errorf("after %d s:\n%s", after, got)
		}
	}
	d := judged(t, r, seenAt(log, started.Add(1185*time.Second)))
	got := written(t, "text", d)
	for _, want := range []string{
		"NOT AS FORETOLD", "19m45s after the restore; ", "! tenant-os-a/web-prod-md-0-46mng-jnwnx: foretold Stuck, is Running",
		`kubectl patch clusters.cluster.x-k8s.io web-prod -n tenant-os-a --type merge -p`, "Created since: ",
	} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Index(got, "\n!") > strings.Index(got, "\n.") && strings.Contains(got, "\n.") {
		t.Errorf("an alarm is not the first:\n%s", got)
	}
}

// Many alarms are cut, and counted.
func TestScreenOfMany(t *testing.T) {
	s := newScene("vsphere")
	r := s.report(code.Adopted)
	g := &r.Clusters[0].Workers.Groups[0]
	for i := range 40 {
		m := s.of
		m.Name, m.Forecast = fmt.Sprintf("md-0-abcde-%05d", i), g.Machines[0].Forecast
		g.Machines = append(g.Machines, m)
	}
	got := written(t, "text", judged(t, r, &s.seen))
	if strings.Count(got, "\n") > rows || !strings.Contains(got, "more lines; -o verify.json has all") {
		t.Error(got)
	}
}

// What a server or a report says cannot reach the terminal as it is.
func TestScreenEscapes(t *testing.T) {
	s := newScene("vsphere").says("False", "Not\x1b[31mFound", "").waits()
	s.machine().Deleting, s.machine().Owners = later, []Owner{{Kind: "Machine\x1b[2JSet", Name: "a\nb"}}
	s.seen.Unread = []Unread{{"Se\x1bcret", "no\u202e"}}
	s.of.Name = "x\x1b]0;t\x07"
	s.machine().Name = s.of.Name
	if got := written(t, "text", judged(t, s.report(code.Adopted), &s.seen)); strings.ContainsAny(got, "\x1b\x07\u202e") {
		t.Errorf("%q", got)
	}
}

type noSpace struct{}

func (noSpace) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestTextNamesTheErrorOfItsWriter(t *testing.T) {
	if err := Text(noSpace{}, &Document{}, text.Options{}); err == nil || !strings.Contains(err.Error(), "writing what came of the forecast") {
		t.Error(err)
	}
}

// The same is in every format: what is not as foretold with its command, what is awaited, and counts;
// foreign text is escaped.
func TestFormats(t *testing.T) {
	b := newReport(reported)
	s := newScene("vsphere").says("True", "", "id-1").is("Running", "True", "True")
	s.of.Forecast.Outcome = code.Adopted
	b.add("vsphere", "ns", "c", "md-0", s.of)
	gone := s.of
	gone.Name, gone.Forecast = "gone|<b>\x1b[31m", &report.MachineForecast{Outcome: code.Adopted}
	b.add("vsphere", "ns", "c", "md-0", gone)
	d := judged(t, b.done(), &s.seen)
	for name, want := range map[string][]string{
		"html":     {"NOT AS FORETOLD", "Content-Security-Policy", "<h2>Not as foretold: 1</h2>", "gone|&lt;b&gt;\\x1b[31m", "kubectl patch"},
		"markdown": {"## After the restore: NOT AS FORETOLD", "### Not as foretold: 1", `gone\x7c<b>\x1b[31m`, "| machine | foretold |"},
		"junit":    {`tests="2" failures="1"`, `name="gone|&lt;b&gt;\x1b[31m"`, "foretold Adopted"},
	} {
		var out strings.Builder
		write, err := Formats.Named(name)
		if err == nil {
			err = write(&out, d)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s lacks %q:\n%s", name, w, out.String())
			}
		}
		if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "<b>\x1b") {
			t.Errorf("%s has an escape sequence", name)
		}
	}
}
