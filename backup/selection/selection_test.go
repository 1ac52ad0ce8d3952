package selection

import (
	"fmt"
	"strings"
	"testing"

	"drift-detector/backup"
)

func cluster(namespace, name string, labels backup.Labels) backup.Cluster {
	return backup.Cluster{Meta: backup.Meta{Namespace: namespace, Name: name}, Labels: labels}
}

func snapshot() *backup.Snapshot {
	return &backup.Snapshot{Clusters: []backup.Cluster{
		cluster("a", "prod", `{"env":"prod","tier":"1"}`),
		cluster("a", "prod-eu", `{"env":"prod"}`),
		cluster("b", "prod", `{"env":"dev"}`),
		cluster("b", "edge", ""),
	}}
}

func TestSelection(t *testing.T) {
	for _, c := range []struct {
		q    Selection
		want string // selected clusters, or a part of the error
	}{
		{Selection{}, "a/prod a/prod-eu b/prod b/edge"},
		{Selection{Clusters: []string{"prod"}}, "a/prod b/prod"},
		{Selection{Clusters: []string{"a/prod"}}, "a/prod"},
		{Selection{Clusters: []string{"a/prod", "edge"}}, "a/prod b/edge"},
		{Selection{Namespaces: []string{"b"}}, "b/prod b/edge"},
		{Selection{Clusters: []string{"prod"}, Namespaces: []string{"b"}}, "b/prod"},
		{Selection{Selector: "env=prod"}, "a/prod a/prod-eu"},
		{Selection{Selector: "env in (prod, dev),!tier"}, "a/prod-eu b/prod"},
		{Selection{Selector: "!env"}, "b/edge"},
		{Selection{Clusters: []string{"prod"}, Selector: "env=dev"}, "b/prod"},
		{Selection{Clusters: []string{"prd"}}, "--cluster prd: the backup holds no such cluster; it holds a/prod, a/prod-eu, b/edge, b/prod"},
		{Selection{Clusters: []string{"b/prod-eu"}}, "--cluster b/prod-eu: "},
		{Selection{Clusters: []string{"prod", ""}}, "--cluster : "},
		{Selection{Namespaces: []string{"c"}}, "--namespace c: the backup holds no cluster there"},
		{Selection{Selector: "env=nowhere"}, "no cluster matches all of"},
		{Selection{Selector: "env in prod"}, `--selector "env in prod" is no label selector`},
	} {
		shows, err := c.q.Of(snapshot())
		if err != nil {
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%+v: %v", c.q, err)
			}
			continue
		}
		var got []string
		for _, one := range snapshot().Clusters {
			if shows(one.ID()) {
				got = append(got, one.Namespace+"/"+one.Meta.Name)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v selects %q, want %q", c.q, got, c.want)
		}
	}
}

func TestErrorsStayShort(t *testing.T) {
	s := &backup.Snapshot{}
	q := Selection{Clusters: []string{"x"}}
	if _, err := q.Of(s); err == nil || !strings.HasSuffix(err.Error(), "it holds none") {
		t.Error(err)
	}
	for i := range 50 {
		s.Clusters = append(s.Clusters, cluster("n", fmt.Sprintf("c%02d", i), ""))
	}
	if _, err := q.Of(s); err == nil || !strings.HasSuffix(err.Error(), "n/c19, 30 more") {
		t.Error(err)
	}
}
