package infra

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"drift-detector/backup"
)

// nameLabel is a label of every Namespace, in which Kubernetes itself keeps the
// name (k8s.io/api core/v1/well_known_labels.go v0.36.3; SetDefaults_Namespace
// in kubernetes pkg/apis/core/v1/defaults.go).
const nameLabel = "kubernetes.io/metadata.name"

// SelectsNamespace reports whether a selector selects a Namespace. The labels are nil
// when the backup does not hold the Namespace: that is decided then only where the
// selector asks for nothing but the name.
func SelectsNamespace(s labels.Selector, name string, of *backup.Labels) (selected, decided bool) {
	set := labels.Set{nameLabel: name}
	if of != nil {
		set = of.Map()
	} else if asked, _ := s.Requirements(); slices.ContainsFunc(asked, func(r labels.Requirement) bool { return r.Key() != nameLabel }) {
		return false, false
	}
	return s.Matches(set), true
}
