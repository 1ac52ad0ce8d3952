package releases

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// Note does what First does, for a pass that reads other things, too, and a second one that is to end
// early, see [Collector.Left]. It reports whether [Collector.Meet] is to have the item.
func (c *Collector) Note(resource, version string, namespace, name []byte) bool {
	if !c.resources[resource] {
		c.resources[resource] = true
		c.global[resource] = len(namespace) == 0
	}
	if len(namespace) > 0 && !c.namespaces[string(namespace)] {
		c.namespaces[string(namespace)] = true
	}
	c.identify(resource, namespace, name)
	if h := maphash.Bytes(c.seed, c.id); len(c.noted) == 0 || c.noted[len(c.noted)-1] != h { // copies of one object
		c.noted = append(c.noted, h)
	}
	return version == "" && !isEvent(resource)
}

// met is an object that a manifest may name.
type met struct {
	resource, namespace, name string
	body                      []byte
}

// maxMet bounds what is kept of bodies, in bytes, until it is known what manifests name.
const maxMet = 32 << 20

// releaseMark is the end of releaseAnnotation, which is found faster than all of it.
const releaseMark = "/release-name"

// Meet does what Read does, for such a pass. It also keeps objects with Helm's annotations for Plan, so
// that a second pass is needed only for others, and where there are too many. Of Secrets and
// ConfigMaps those are records that have the name that Helm gives all its records
// (pkg/storage/storage.go v4.2.0).
func (c *Collector) Meet(resource string, namespace, name, body []byte) {
	isRecord := bytes.HasPrefix(name, []byte(recordPrefix))
	if firstResources[resource] && (isRecord || resource != "secrets" && resource != "configmaps") {
		c.Read(resource, body)
	}
	if !isRecord && len(body) <= c.room && bytes.Contains(body, []byte(releaseMark)) {
		c.room -= len(body)
		c.met = append(c.met, met{resource, string(namespace), string(name), bytes.Clone(body)})
	}
}

// isEvent reports whether a resource is that of events, which belong to no release.
func isEvent(resource string) bool {
	return resource == "events" || resource == "events.events.k8s.io"
}

// identify makes id that of an object, as the keys of wanted are.
func (c *Collector) identify(resource string, namespace, name []byte) {
	c.id = append(append(append(append(append(c.id[:0], resource...), 0), namespace...), 0), name...)
}

// Names reports whether a manifest names an object that was not compared yet: all that the
// second pass needs where nobody asks for objects that are in no manifest.
func (c *Collector) Names(resource string, namespace, name []byte) bool {
	c.identify(resource, namespace, name)
	return slices.ContainsFunc(c.wanted[string(c.id)], func(w *wanted) bool { return !w.done })
}

// Left returns how many objects of manifests are in the backup, by what Note got, and were not
// compared yet: once there are none, the second pass changes no release's reason.
func (c *Collector) Left() int { return c.left }

// await counts what the second pass is to find.
func (c *Collector) await() {
	byHash := make(map[uint64][]*wanted, len(c.wanted))
	for id, targets := range c.wanted {
		byHash[maphash.String(c.seed, id)] = targets
	}
	for _, h := range c.noted {
		for _, w := range byHash[h] {
			if !w.awaited {
				w.awaited = true
				c.left++
			}
		}
	}
	c.noted = nil
}
