package azure

import (
	"drift-detector/infra"
	"drift-detector/infra/walk"
)

// walkRows are what CAPZ's controllers ask after a restore.
func walkRows() []walk.Row { return nil }

// steps are those that the backup alone does not pass, and those that a listing answers.
func (objs *objects) steps() []infra.Step { return nil }

// onInstance asks the rows that look at the VM that CAPZ takes for a machine.
func (objs *objects) onInstance() func(int, infra.Sight) []walk.Step {
	return func(int, infra.Sight) []walk.Step { return nil }
}
