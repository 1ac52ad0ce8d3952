package program

import (
	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
)

// weakensTrust are flags that a forgotten variable of the environment must not set.
var weakensTrust = map[string]bool{"insecure-skip-verify": true, "at": true, "region": true, "state": true, "id": true, "restore": true}

// refuseEmpty refuses a flag whose value is empty: without --inventory, for example, a run would log
// in. An empty --fail-on names nothing, see action.yml.
func refuseEmpty(c *urfave.Context) error { return cli.RefuseEmpty(c, "fail-on") }
