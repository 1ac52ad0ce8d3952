package backup

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/json"
)

// Selector is a label selector.
type Selector struct {
	Demands Labels          // that it wants with their values
	Plain   bool            // it can be written as labels alone
	whole   labels.Selector // nil: it is no more than Demands
}

// ReadSelector reads the JSON of a label selector. It returns nil for one that is absent or can't
// be read, which selects nothing, as for controllers.
func ReadSelector(text string) *Selector {
	if match, ok := strings.CutPrefix(text, matchLabels); ok { // and no more, as nearly all
		if all := Labels(strings.TrimSuffix(match, "}")); all.plain(func(_, _ string) bool { return true }) {
			return &Selector{Demands: all, Plain: true}
		}
	}
	var spec metav1.LabelSelector
	if json.Unmarshal([]byte(text), &spec) != nil {
		return nil
	}
	whole, err := metav1.LabelSelectorAsSelector(&spec)
	if err != nil {
		return nil
	}
	_, err = metav1.LabelSelectorAsMap(&spec)
	return &Selector{Demands: labelsFrom(spec.MatchLabels), Plain: err == nil, whole: whole}
}

// Empty reports whether it selects everything.
func (s *Selector) Empty() bool {
	if s.whole != nil {
		return s.whole.Empty()
	}
	return s.Demands == "{}"
}

// Matches reports whether it selects what has these labels.
func (s *Selector) Matches(l Labels) bool {
	if s.whole != nil {
		return s.whole.Matches(l)
	}
	for key, value := range s.Demands.All {
		if have, is := l.Lookup(key); !is || have != value {
			return false
		}
	}
	return true
}
