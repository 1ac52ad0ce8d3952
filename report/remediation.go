package report

// When a step is due.
const (
	BeforeRestore = "before-restore"
	AfterRestore  = "after-restore"
)

// Who does a step.
const (
	Controller = "controller"
	Operator   = "operator"
)

// Step is one step of what is to be done about a finding. Steps are listed in
// the order in which they are safe.
type Step struct {
	When string `json:"when"`
	Who  string `json:"who"`
	Text string `json:"text"`
	// Commands are lines for a POSIX shell. They address objects by id, what is
	// foreign in them is quoted, and drift-detector never runs any of them. Their
	// variables are Report.Variables; one that is not set fails.
	Commands []string `json:"commands"`
}

// Variable is a variable of the shell that commands read, because only the operator
// knows its value.
type Variable struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"` // what to set it to
}
