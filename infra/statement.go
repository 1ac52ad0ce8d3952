package infra

// Stater is a Provider that takes the operator's word for what no listing can show.
type Stater interface {
	// StateEmpty notes in the Proofs of expected machines, which are the provider's own, that a
	// folder holds no machine any more, gone or not, in the words that reports repeat.
	// It reports whether the backup means any place by that path.
	StateEmpty(c *Expected, path, words string) bool
}

// StateEmpty passes an operator's statement to the providers that take one. It
// reports whether any of them knows the place.
func (r *Registry) StateEmpty(c *Expected, path, words string) bool {
	known := false
	for _, p := range r.providers {
		if s, ok := p.(Stater); ok && s.StateEmpty(c, path, words) {
			known = true
		}
	}
	return known
}
