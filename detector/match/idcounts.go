package match

import (
	"fmt"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// server is all that is listed at one address.
type server struct{ provider, endpoint, location string }

func serverOf(l *infra.Listing) server { return server{l.Provider, l.Endpoint, l.Location} }

// idCount is how many recorded ids are seen at a server, and, where they may be those
// of copies, how many machines that are not seen there have their name on another id.
type idCount struct{ seen, contradicted int }

// isContradicted reports whether names say that the server is another one than
// recorded ids do.
func (n idCount) isContradicted() bool { return n.contradicted > n.seen }

func (n idCount) hint(of code.Subject) string {
	return fmt.Sprintf("of the recorded machines %d are seen there by id and %d by a name that has another id: check that the address (--endpoint) leads to the server that %s names and not to a failover site; "+
		"if it does, and the machines were restored under new ids, compare them with their Nodes", n.seen, n.contradicted, of.The())
}
