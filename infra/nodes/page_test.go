package nodes

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"drift-detector/infra"
)

// A list that lacks something, says two things or leads nowhere is no list: none of
// it is taken for the Nodes that there are.
func TestABrokenListIsNoNodeList(t *testing.T) {
	item := func(name string) string { return `{"metadata":{"name":"` + name + `"},"status":{}}` }
	list := func(meta, items string) string {
		return fmt.Sprintf(`{"kind":"NodeList","apiVersion":"v1","metadata":{%s},"items":[%s]}`, meta, items)
	}
	whole := list("", item("a")+","+item("b"))
	for name, c := range map[string]struct {
		pages []string // by turn; the last one again and again
		says  string   // empty: it is read
	}{
		"whole":                        {[]string{whole}, ""},
		"an empty list":                {[]string{list("", "")}, ""},
		"null":                         {[]string{`{"kind":"NodeList","metadata":{},"items":null}`}, ""},
		"what kubectl prints":          {[]string{`{"kind":"List","metadata":{"resourceVersion":""},"items":[{"kind":"Node","metadata":{"name":"a"},"status":{}}]}`}, ""},
		"white space behind":           {[]string{whole + "\n\n"}, ""},
		"two pages":                    {[]string{list(`"continue":"2","remainingItemCount":1`, item("a")), list("", item("b"))}, ""},
		"no items":                     {[]string{`{"kind":"NodeList","apiVersion":"v1","metadata":{}}`}, "no list of Nodes"},
		"no items on a later page":     {[]string{list(`"continue":"2"`, item("a")), `{"kind":"NodeList","metadata":{}}`}, "no list of Nodes"},
		"another kind":                 {[]string{strings.Replace(whole, "NodeList", "PodList", 1)}, "no list of Nodes"},
		"a Status":                     {[]string{`{"kind":"Status","status":"Failure","code":403}`}, "no list of Nodes"},
		"items of another kind":        {[]string{`{"kind":"List","items":[{"kind":"Pod","metadata":{"name":"a"},"status":{}}]}`}, "no list of Nodes"},
		"empty object":                 {[]string{"{}"}, "no list of Nodes"},
		"nothing":                      {[]string{""}, "cut off"},
		"HTML":                         {[]string{"<html>"}, "no list of Nodes"},
		"no metadata":                  {[]string{`{"kind":"NodeList","items":[` + item("a") + `]}`}, "no list of Nodes"},
		"metadata that is null":        {[]string{`{"kind":"NodeList","metadata":null,"items":[` + item("a") + `]}`}, "no list of Nodes"},
		"fewer than announced":         {[]string{list(`"continue":"2","remainingItemCount":2`, item("a")), list("", item("b"))}, "announced 3 Nodes and listed 2"},
		"more, and not where":          {[]string{list(`"remainingItemCount":3`, item("a"))}, "more Nodes, and not where"},
		"more on a later page":         {[]string{list(`"continue":"2"`, item("a")), list(`"remainingItemCount":3`, item("b"))}, "more Nodes, and not where"},
		"the same page again":          {[]string{list(`"continue":"2"`, item("a")), list(`"continue":"2"`, item("b"))}, "leads back"},
		"a circle of pages":            {[]string{list(`"continue":"2"`, item("a")), list(`"continue":"3"`, item("b")), list(`"continue":"2"`, item("c"))}, "leads back"},
		"one Node twice":               {[]string{list("", item("a")+","+item("a"))}, "one Node twice"},
		"one Node on two pages":        {[]string{list(`"continue":"2"`, item("a")), list("", item("a"))}, "one Node twice"},
		"a Node without a name":        {[]string{list("", `{"metadata":{},"status":{}}`)}, "without a name"},
		"a Node without a status":      {[]string{list("", `{"metadata":{"name":"a"}}`)}, "without a status"},
		"items twice":                  {[]string{`{"kind":"NodeList","items":[],"items":[` + item("a") + `]}`}, "no list of Nodes"},
		"metadata twice":               {[]string{`{"kind":"NodeList","metadata":{"continue":"2"},"metadata":{},"items":[` + item("a") + `]}`}, "no list of Nodes"},
		"another document behind":      {[]string{whole + whole}, "no list of Nodes"},
		"text behind":                  {[]string{whole + "<!-- proxy -->"}, "no list of Nodes"},
		"cut in the list":              {[]string{whole[:len(whole)-10]}, "cut off"},
		"cut before its last brace":    {[]string{whole[:len(whole)-1]}, "cut off"},
		"cut on a later page":          {[]string{list(`"continue":"2"`, item("a")), whole[:len(whole)/2]}, "cut off"},
		"a later page that is nothing": {[]string{list(`"continue":"2"`, item("a")), "{}"}, "no list of Nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			turn := 0
			s := serve(t, serverOptions{}, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, c.pages[min(turn, len(c.pages)-1)])
				turn++
			})
			l := run(t, t.Context(), New(infra.NewRegistry()), access(s.kubeconfig(t)))
			if c.says == "" {
				if l.NodeState != stateRead || l.Fault != nil {
					t.Errorf("state %s, fault %+v", l.NodeState, l.Fault)
				}
				return
			}
			if l.NodeState != stateUnreachable || len(l.Nodes) != 0 || l.Fault == nil || l.Fault.Reason != "UnexpectedAnswer" || !strings.Contains(l.Fault.Message, c.says) {
				t.Errorf("state %s with %d Nodes, fault %+v", l.NodeState, len(l.Nodes), l.Fault)
			}
		})
	}
}

// A health check may have a machine replaced for any condition of its Node: all are kept but
// those of every kubelet that are as they should be, and of a list whose kubeconfig is the
// operator's it is said so.
func TestConditionsOfNodes(t *testing.T) {
	item := func(conditions string) string {
		return `{"kind":"NodeList","metadata":{},"items":[{"metadata":{"name":"a"},"status":{"conditions":[` + conditions + `]}}]}`
	}
	for conditions, want := range map[string]string{
		`{"type":"Ready","status":"True"},{"type":"DiskPressure","status":"False"}`:                                             "",
		`{"type":"PIDPressure","status":"Unknown"},{"type":"KernelDeadlock","status":"False"},{"type":"Ready","status":"True"}`: "KernelDeadlock=False PIDPressure=Unknown",
	} {
		s := serve(t, serverOptions{}, answer(200, item(conditions)))
		l := run(t, t.Context(), New(infra.NewRegistry()), access(s.kubeconfig(t)))
		if _, said := l.Facts.Get(infra.FactNodeConditions); len(l.Nodes) != 1 || l.Nodes[0].Conditions != want || !said {
			t.Errorf("%s: %+v, facts %v", conditions, l.Nodes, l.Facts)
		}
		if of, _ := l.Facts.Get(infra.FactCredential); of != infra.OfOperator {
			t.Errorf("whose kubeconfig it was: %q", of)
		}
	}
	s := serve(t, serverOptions{}, answer(200, item(`{"type":"`+strings.Repeat("x", maxConditions)+`","status":"True"}`)))
	if l := run(t, t.Context(), New(infra.NewRegistry()), access(s.kubeconfig(t))); l.NodeState != stateUnreachable {
		t.Errorf("conditions without end: state %s", l.NodeState)
	}
}
