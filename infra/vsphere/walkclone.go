package vsphere

import "drift-detector/infra/walk"

var cloneRows = []*walk.Row{}

func (q *questions) askPlaces() {}
