package build

import (
	"drift-detector/detector/rehearsal"
	"drift-detector/report"
)

// The functions of this file turn a forecast into the document. Without one
// they give nothing, and the document says nothing of it.

// forecastOf returns the forecast of one cluster, or nil.
func forecastOf(f *rehearsal.Forecast, cluster int) *rehearsal.Cluster {
	if f == nil || cluster >= len(f.Clusters) {
		return nil
	}
	return &f.Clusters[cluster]
}

func generalForecast(f *rehearsal.Forecast) *report.GeneralForecast {
	if f == nil {
		return nil
	}
	return &f.GeneralForecast
}

// foresee adds a cluster's forecast to it, except for its machines.
func foresee(c *report.Cluster, f *rehearsal.Cluster) {
	if f == nil {
		return
	}
	c.Forecast = &f.ClusterForecast
	c.ControlPlane.Forecast = &f.ControlPlane.ControlPlaneForecast
	for i := range c.Workers.Groups {
		c.Workers.Groups[i].Forecast = &f.Groups[i].GroupForecast
	}
}

func machineForecast(fs []rehearsal.Machine, i int) *report.MachineForecast {
	if i >= len(fs) {
		return nil
	}
	return &fs[i].MachineForecast
}
