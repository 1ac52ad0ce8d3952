package program

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

// Garbage that may lie beside what a run holds. What the heap once took from the system is
// used before anything is collected, but for a thirty-second: sizes differ.
const (
	leastHeap      = 4 << 20   // bytes, of which Go's percentage is at least (GOGC in package runtime, Go 1.26)
	smallHeap      = 112 << 20 // bytes, below which nothing is collected but where much is let go of
	mostGarbage    = 150       // percent of what is held, where that is more: detect makes less before it lets go of much
	readingGarbage = 400       // percent, while a backup is read
	littleHeld     = 64 << 20  // bytes; beside less than that,
	listingGarbage = 5 << 20   // bytes of garbage are the most once servers are listed,
	listedGarbage  = 50        // and this percentage beside more
)

// phase is what a run does, which tells how much of what is allocated is garbage soon.
type phase int32

const (
	deciding phase = iota // and writing: about half
	reading               // a backup: nearly nothing, so that a collection would find little
	listing               // servers: nearly all, beside the little that a run of a small backup holds
	printing              // what is decided: nearly all, and there is room by then
)

// running is the phase of this process.
var running atomic.Int32

func enter(p phase) {
	running.Store(int32(p))
	if p == reading && soon.Load() {
		setGoal()
	}
}

// setGoal sets when the next collection begins. It is nil before CollectSooner.
var setGoal func()

// CollectSooner holds a run to that rule, unless the operator has set one. After each
// collection the finalizer of an object that nothing refers to sets when the next begins. Where
// two collections follow close upon each other, as while a program starts on a busy machine, the
// second finds that object in use, and what was set for the little that was held then would let
// 180 MB pile up beside what a fleet needs: when a backup is read it is set anew.
func CollectSooner() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	type cycle struct{ _ *byte }
	sample, ours := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}, smallHeap/leastHeap*100
	debug.SetGCPercent(ours)
	var one sync.Mutex
	taken := uint64(0) // from the system at most: what is given back costs to take again
	setGoal = func() {
		one.Lock()
		defer one.Unlock()
		metrics.Read(sample)
		held := sample[0].Value.Uint64()
		taken = max(taken, sample[1].Value.Uint64()+sample[2].Value.Uint64()+sample[3].Value.Uint64())
		free, garbage := max(smallHeap, taken/32*31, held)-held, uint64(mostGarbage)
		switch phase(running.Load()) {
		case listing:
			free, garbage = listingGarbage, 0
			if held >= littleHeld {
				garbage = listedGarbage
			}
		case reading:
			garbage = readingGarbage
		case printing:
			free, garbage = max(taken/32*31, held)-held, listedGarbage
		}
		next := int(max(garbage, free*100/max(held, leastHeap)))
		if was := debug.SetGCPercent(next); was != ours {
			debug.SetGCPercent(was) // readReleases has set its own for a while
		} else {
			ours = next
		}
	}
	var adjust func(*cycle)
	adjust = func(c *cycle) {
		setGoal()
		runtime.SetFinalizer(c, adjust)
	}
	soon.Store(true)
	runtime.SetFinalizer(new(cycle), adjust)
}

// soon is set where CollectSooner holds.
var soon atomic.Bool

// collectNow collects when much of what was held has just been let go of, which is when a
// collection finds most. These are all that detect with 10,000 machines needs: what is held and
// allocated between two of them comes to 90 MB at most.
func collectNow() {
	if soon.Load() {
		runtime.GC()
	}
}
