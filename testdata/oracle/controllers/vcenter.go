package oracle

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/uuid"
)

// VM is one VM of the vCenter.
type VM struct {
	UUID, Name, Folder, Ref string
	ControlPlane, On        bool
	Gone                    bool
	Made                    bool // by the controllers, after the restore
	After                   bool // made after the backup
	NoNode, NotReady        bool // its Node was deleted, its kubelet is dead
	Pressed                 bool // its Node lacks memory
	boots                   int  // rounds until its kubelet reports
}

func (w *World) find(is func(*VM) bool) *VM {
	for _, v := range w.VMs {
		if !v.Gone && is(v) {
			return v
		}
	}
	return nil
}

func (w *World) byUUID(id string) *VM {
	return w.find(func(v *VM) bool { return strings.EqualFold(v.UUID, id) })
}

func (w *World) byName(folder, name string) *VM {
	return w.find(func(v *VM) bool { return v.Name == name && v.Folder == folder })
}

func (w *World) vm(name string) *VM { return w.find(func(v *VM) bool { return v.Name == name }) }

func (w *World) createVM(name, folder string, controlPlane bool) *VM {
	w.next++
	v := &VM{
		UUID: string(uuid.NewUUID()), Name: name, Folder: folder, Ref: fmt.Sprintf("vm-9%03d", w.next),
		ControlPlane: controlPlane, On: true, Made: true,
	}
	w.VMs = append(w.VMs, v)
	return v
}
