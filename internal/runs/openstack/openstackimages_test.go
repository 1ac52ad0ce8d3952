package openstack_test

import (
	"maps"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
	"drift-detector/report/code"
)

// CAPO looks an image up by its name again after a restore, before it looks for the
// server: without the image it takes over none that runs.
func TestOpenStackImageOfRunningMachines(t *testing.T) {
	t.Parallel()
	w, cloud := runs.WellOpenStack(t, openstacklab.Options{})
	whole := w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...)
	whole.Demand(t, cli.ExitOK)
	if a := whole.Report.Summary.Answer.Safe; a != code.Yes {
		t.Errorf("of a cluster that is whole it says %s", a)
	}
	cloud.Endpoint("image", "https://glance.example:9292")
	unread := w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...)
	if a := unread.Report.Summary.Answer.Safe; a == code.Yes || !strings.Contains(unread.Stderr, "--endpoint glance.example:9292=") {
		t.Errorf("where images cannot be looked up it says %s\n%s", a, unread.Stderr)
	}
	cloud.Endpoint("image", cloud.Image)
	for _, image := range cloud.Objects("images") {
		twin := maps.Clone(image)
		twin["id"] = "11111111-2222-4333-8444-555555555555"
		cloud.Add("images", twin)
		break
	}
	several := w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...)
	if a := several.Report.Summary.Answer.Safe; a == code.Yes || !strings.Contains(several.Stderr, "there are several with the name") {
		t.Errorf("with two images of one name it says %s\n%s", a, several.Stderr)
	}
	cloud.Edit("images", func(openstacklab.Object) bool { return false })
	o := w.Run(append(w.Sources(), w.WithOpenStackNodes()...)...)
	o.Demand(t, cli.ExitOK)
	if a := o.Report.Summary.Answer.Safe; a == code.Yes {
		t.Errorf("without the image it says %s", a)
	}
	for _, m := range runs.MachinesOf(o.Report.Clusters[0]) {
		if m.Status != code.Healthy || m.Forecast.Outcome != code.Halted {
			t.Errorf("%s is %s, %+v", m.Name, m.Status, m.Forecast)
		}
	}
}

// An image by its tags is looked up as CAPO does, one that is deactivated is found, and of
// several none is taken.
func TestOpenStackImageByTags(t *testing.T) {
	t.Parallel()
	w, cloud := runs.WellOpenStack(t, openstacklab.Options{})
	for _, resource := range []string{"openstackservers", "openstackmachines"} {
		w.Set(resource, "data-control-plane-", runs.Object{"filter": runs.Object{"tags": []any{"kube", "gold"}}}, "spec", "image")
	}
	tagged := func(status string, tags ...any) {
		cloud.Edit("images", func(o openstacklab.Object) bool {
			o["tags"], o["status"] = tags, status
			return true
		})
	}
	args := append(w.Sources(), w.WithOpenStackNodes()...)
	for name, c := range map[string]struct {
		prepare func()
		want    code.Outcome
		says    string
	}{
		"it is there": {func() { tagged("active", "gold", "kube", "x") }, code.Adopted, ""},
		"deactivated": {func() { tagged("deactivated", "gold", "kube") }, code.Adopted, ""},
		"a tag lacks": {func() { tagged("active", "gold") }, code.Halted, "image with tags kube, gold is gone"},
		"several": {func() {
			tagged("active", "gold", "kube")
			twin := maps.Clone(cloud.Objects("images")[0])
			twin["id"], twin["name"] = "11111111-2222-4333-8444-555555555555", "another"
			cloud.Add("images", twin)
		}, code.Halted, "too many images"},
	} {
		cloud.Edit("images", func(o openstacklab.Object) bool { return o["name"] != "another" })
		c.prepare()
		o := w.Run(args...)
		for _, m := range runs.MachinesOf(o.Report.Clusters[0]) {
			if m.Status != code.Healthy || m.Forecast.Outcome != c.want || !strings.Contains(m.Forecast.Message, c.says) {
				t.Errorf("%s: %s is %s, %+v\n%s", name, m.Name, m.Status, m.Forecast, o.Stderr)
			}
		}
	}
}
