package forecasts_test

import (
	"drift-detector/internal/runs"
)

// notReady returns checks that mind a Node which is not Ready.
func notReady() runs.Object {
	return runs.Object{"unhealthyNodeConditions": []runs.Object{{"type": "Ready", "status": "Unknown", "timeoutSeconds": 60}}}
}
