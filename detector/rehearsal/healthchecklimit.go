package rehearsal

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// allows reports whether the health check acts on that many unhealthy machines, and
// otherwise why not. Machines that are started or created are unhealthy until they run: it
// acts once so few are left that it may.
func (h *check) allows() (bool, string) { return h.within(h.unhealthy, h.unhealthy+h.starting) }

// within reports whether a number of unhealthy machines is allowed that goes from most to fewest. Of
// a percentage the limit is rounded down, and one that is a text without a percent sign is
// an error, after which it does nothing (getMaxUnhealthy in
// internal/controllers/machinehealthcheck v1.8.0 to v1.13.1).
func (h *check) within(fewest, most int) (bool, string) {
	if within := h.spec.Remediation.TriggerIf.UnhealthyInRange; within != "" {
		low, high, ok := parseRange(within)
		if ok && (most < low || fewest > high) {
			return false, fmt.Sprintf("%s stops, because %s not within %s", h.title(), plural(fewest, "unhealthy machine is", "unhealthy machines are"), within)
		}
		return true, ""
	}
	limit := h.spec.Remediation.TriggerIf.UnhealthyLessThanOrEqualTo
	if limit == nil {
		return true, ""
	}
	switch n, err := intstr.GetScaledValueFromIntOrPercent(limit, h.targets, false); {
	case err != nil:
		return false, fmt.Sprintf("%s stops, because its limit is neither a number nor a percentage: %s", h.title(), limit)
	case fewest > n:
		return false, fmt.Sprintf("%s stops, because %d of %s %s unhealthy and %s is its limit",
			h.title(), fewest, plural(h.targets, "machine", "machines"), verb(fewest, "is", "are"), limit)
	}
	return true, ""
}

// actsOnFewer reports whether the health check would act if fewer machines were unhealthy.
func (h *check) actsOnFewer() bool {
	ok, _ := h.within(1, h.unhealthy)
	return ok
}

// certainly reports what allows does, of a machine that is gone: it is not healed by a health check that may
// stop because of machines of which nobody knows whether they have a Node.
func (h *check) certainly() (bool, string) {
	if ok, why := h.allows(); !ok {
		return false, why
	}
	most := *h
	most.unhealthy += h.unsure
	ok, why := most.allows()
	if !ok {
		why += ", if those that are Unknown have no Node"
	}
	return ok, why
}

// passesRange reports whether the number of unhealthy machines comes from within the range
// of the health check, or above, and ends below: right after a restore none has a Node.
func (h *check) passesRange() bool {
	low, _, ok := parseRange(h.spec.Remediation.TriggerIf.UnhealthyInRange)
	return ok && h.unhealthy < low && low <= h.targets
}

// parseRange reads "[3-5]", both ends included.
func parseRange(text string) (low, high int, ok bool) {
	a, b, found := strings.Cut(strings.Trim(text, "[]"), "-")
	low, err1 := strconv.Atoi(a)
	high, err2 := strconv.Atoi(b)
	return low, high, found && err1 == nil && err2 == nil
}
