package rehearsal

// Condition is what has to hold for a YES and cannot be seen from here.
type Condition struct{ Code, Text string }

// Conditions are those of the rows, the special ones first.
var Conditions = []Condition{}
