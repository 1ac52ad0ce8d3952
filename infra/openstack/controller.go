package openstack

import (
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// release is how CAPO acts after a restore, by releases that act alike. What no test of
// the fleet shows is from their code: controllers/openstackmachine_controller.go and
// openstackserver_controller.go of v0.9.0, v0.10.0, v0.14.7 and v0.15.0-beta.0.
type release int

const (
	// byNameAlone are the releases up to 0.9, with API versions before v1beta1.
	byNameAlone release = iota
	// withoutServers is release 0.10, or a backup of a later one without OpenStackServers:
	// an OpenStackMachine makes them again and owns them.
	withoutServers
	// withServers are 0.11 to 0.14.
	withServers
	// recording are 0.15 and later, with API version v1beta2, where the backup does not say
	// which.
	recording
	// untilBeta are those of them up to 0.15.0-beta.0.
	untilBeta
	// lookingAgain are later ones, which look at a server in error again, and try again to
	// make one (7793bd123).
	lookingAgain
)

const (
	renamedBlocks = "CAPO finds none of the machine's name and asks for a new one, which Nova refuses: the port of that name is still attached to the renamed one; rename it back"
	clearState    = ", and clear status.instanceState of its OpenStackServer if that says ERROR by then"
	sharedBlocks  = "its query for the name, a regular expression that in databases of MySQL and MariaDB takes upper and lower case for the same, matches more than one server and fails (event DuplicateServerNames) until one of them is renamed or gone"
	idRefused     = "the webhook of OpenStackMachines refuses to change spec.providerID (up to release 0.14)"
	errorEnds     = "CAPO does not look at it again, not even when it is ACTIVE: bring it back, and clear status.instanceState of its OpenStackServer"
	errorMayEnd   = "CAPO does not look at it again up to release 0.15.0-beta.0, not even when it is ACTIVE, and later ones wait until it is; the backup does not say which runs: bring it back, and clear status.instanceState of its OpenStackServer"
	errorWaits    = "CAPO waits until it is ACTIVE again"
	triesAgain    = ", which CAPO tries again and again"
	errorFails    = "CAPO calls a machine failed for good whose server is in error while the Machine names no Node, as right after a restore"
	cellDown      = "as long as Nova hides it, for example because its cell is down, CAPO finds none of its name and asks for a new one, which Nova refuses because the port of that name is attached to it"
	cellBack      = "; restore once it is back, or clear status.instanceState of its OpenStackServer by then"
	// getBootstrapData comes before getOrCreate in controllers/openstackmachine_controller.go
	// v0.5.3 to v0.10.8; v0.11.0 reads it to make a server.
	readsBootstrap = "CAPO up to release 0.10 reads that before it looks for the server"
	notActive      = "CAPO waits until it is ACTIVE; a resize waits until it is confirmed (openstack server resize confirm)"
	sleeps         = "perhaps ready only after 20 minutes, because a restore takes away the owner of its OpenStackServer: kubectl annotate openstackmachine wakes it at once"
)

// remedies are what to do about a machine that could not be decided: nobody gives a server
// another id, no object of the backup says which one CAPO takes, and it looks by name.
var remedies = map[code.Reason]string{
	code.AmbiguousMatch:     "Several servers may be the machine. First find out which of them its Node runs on: compare the Node's addresses and heartbeat with theirs. That one is left as it is; the owner of another one renames it. Then run detect again. Until then nothing may start, stop or delete any of them: CAPO looks by name, and does nothing for the machine while several have it.",
	code.ConflictingIDs:     "Two objects of the backup record different ids for it, and after the restore CAPO goes by neither: it takes the server that has the machine's name. Look both ids up, and see before its controllers act that the machine's own server has that name, and no other one.",
	code.IdentityChanged:    "A server with its name is there under another id, which nobody can change. Find out by its Node, its port and its addresses whether it was created in the place of the machine's own. As long as it has the name, CAPO takes it for the machine's, and deletes it with the Machine: rename it before its controllers act if it is to stay, and run detect again.",
	code.InstanceUnreadable: "A server that may be this machine could not be read: its cell is down, Nova does not know its state, or it is being deleted (openstack server show, task_state). Have that repaired, or wait until it is gone, before the restore, and run detect again: meanwhile CAPO does not find it, or takes over what is about to go.",
}

// controllerOf describes CAPO in one of its releases.
func controllerOf(r release) infra.Controller {
	c := infra.Controller{
		Name: "CAPO", ID: infra.IDInStatus, Makes: "creates a server",
		Obstacles: map[infra.Obstacle]string{
			infra.Renamed: renamedBlocks + clearState, infra.SharedName: sharedBlocks,
			infra.OtherID: idRefused, infra.ErrorState: errorEnds, infra.NotActive: notActive, infra.Unread: cellDown + cellBack,
		},
	}
	if r <= withoutServers {
		c.Obstacles[infra.NoBootstrapData] = readsBootstrap
	}
	switch r {
	case byNameAlone:
		c.ID = infra.IDNowhere
		c.Obstacles[infra.ErrorState] = errorFails
		// When a new server is refused because the port of its name is the renamed one's,
		// they delete that port, and make a server with another one the next time
		// (createInstanceImpl in pkg/cloud/services/compute/instance.go v0.9.0). Of several
		// servers of one name they take the first, up to 0.10.
		delete(c.Obstacles, infra.Renamed)
		delete(c.Obstacles, infra.SharedName)
	case withoutServers:
		c.Obstacles[infra.Renamed], c.Obstacles[infra.ErrorState] = renamedBlocks, errorFails
		delete(c.Obstacles, infra.SharedName)
	case withServers:
		c.Late = sleeps
	case recording:
		delete(c.Obstacles, infra.OtherID)
		c.Obstacles[infra.ErrorState] = errorMayEnd
	case untilBeta:
		delete(c.Obstacles, infra.OtherID)
	case lookingAgain:
		delete(c.Obstacles, infra.OtherID)
		c.Obstacles[infra.Renamed] = renamedBlocks + triesAgain
		c.Obstacles[infra.ErrorState] = errorWaits
		c.Obstacles[infra.Unread] = cellDown + "; restore once it is back"
	}
	return c
}

// controllers returns the clusters whose CAPO is not as most are, by the API version of their
// objects, and by the OpenStackServers that the backup holds of them.
func (objs *objects) controllers() map[backup.ClusterID]infra.Controller {
	all := map[backup.ClusterID]infra.Controller{}
	for id, l := range objs.locations {
		c := controllerOf(l.release)
		if !l.served {
			c.Late = "" // a restored OpenStackMachine makes it, and owns it
		}
		if l.release != withServers || c.Late == "" {
			all[id] = c
		}
	}
	return all
}

// dateReleases finds out which release of CAPO each cluster has.
func (objs *objects) dateReleases() {
	version := map[backup.ClusterID]string{}
	for i := range objs.members {
		m := &objs.members[i]
		l := objs.locations[m.cluster]
		l.served = l.served || m.server != nil
		if m.machine != nil {
			version[m.cluster] = m.machine.Data.APIVersion
		}
	}
	installed := installedVersions(objs.snapshot)
	for id, l := range objs.locations {
		v := version[id]
		if l.record != nil {
			v = l.record.Data.APIVersion
		}
		l.versions = installed[id.Backup]
		if l.release, l.dated = releaseOfAll(l.versions); !l.dated {
			l.release = releaseOf(v, l.served)
		}
	}
}

func releaseOf(apiVersion string, served bool) release {
	_, version, _ := strings.Cut(apiVersion, "/")
	switch {
	case strings.HasPrefix(version, "v1alpha"):
		return byNameAlone
	case version == "v1beta1" && !served:
		return withoutServers
	case version == "" || version == "v1beta1":
		return withServers
	}
	return recording
}
