package backup

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// However a selector is written, it selects what the controllers' own reading of it does.
func TestReadSelector(t *testing.T) {
	sets := []labels.Set{{}, {"a": "b"}, {"a": "c"}, {"a": "b", "d": "e"}, {"d": "e"}, {"a": "b}"}}
	for _, text := range []string{
		`{}`, `{"matchLabels":{}}`, `{"matchLabels":{"a":"b"}}`, `{"matchLabels":{"a":"b","d":"e"}}`,
		`{"matchLabels":{"a":"\u0062"}}`, `{ "matchLabels": {"a": "b"}}`, `{"matchLabels":{"a":"b"},"matchExpressions":[]}`,
		`{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"d","operator":"Exists"}]}`,
		`{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}`,
		`{"matchExpressions":[{"key":"d","operator":"DoesNotExist"}],"matchLabels":{"a":"b"}}`,
	} {
		var spec metav1.LabelSelector
		if err := json.Unmarshal([]byte(text), &spec); err != nil {
			t.Fatal(err)
		}
		want, err := metav1.LabelSelectorAsSelector(&spec)
		if err != nil {
			t.Fatal(err)
		}
		got := ReadSelector(text)
		for _, set := range sets {
			if got.Matches(labelsFrom(set)) != want.Matches(set) {
				t.Errorf("%s matches %s: %t, want %t", text, set, got.Matches(labelsFrom(set)), want.Matches(set))
			}
		}
	}
	for _, text := range []string{``, `{`, `{"matchLabels":{"a":"b"}`, `{"matchLabels":["a"]}`, `{"matchExpressions":[{"key":"a","operator":"Near"}]}`} {
		if got := ReadSelector(text); got != nil {
			t.Errorf("%q is read as %v", text, *got)
		}
	}
}
