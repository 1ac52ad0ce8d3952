package oracle

// Known is a fault of today's forecast, or a limit of this oracle, that explains some
// disagreements. README.md says more about each.
type Known struct {
	ID      string
	What    string
	Matches func(w *World, res *Result, d Disagreement) bool
	Limit   bool // of the oracle: the forecast is not to be changed for it
}
var known []Known
// explain names the known fault behind each disagreement, where there is one.
func (res *Result) explain(w *World) {
	for i := range res.Disagreements {
		for _, k := range known {
			if k.Matches(w, res, res.Disagreements[i]) {
				res.Disagreements[i].Expected = k.ID
				break
			}
		}
	}
}
