package plan

import (
	"strings"

	"drift-detector/report"
)

// vm is an instance that commands can address by its id.
type vm struct {
	*report.Instance
	*scope
}

// vm finds out how commands address an instance; nil when its ids or its place
// do not have the form that they must have.
func (b *book) vm(i *report.Instance) *vm {
	if i == nil {
		return nil
	}
	if p := b.scopeOf(i); p != nil && p.addresses(i) {
		return &vm{i, p}
	}
	return nil
}

// only says that no other instance of the report has the id.
func (b *book) only(i *report.Instance) bool { return b.withID[strings.ToLower(i.ID)] == 1 }

func compare(read command, want any) command {
	if read.refused != "" {
		return read
	}
	return line(raw(`test "$(`+read.text+`)" =`), want)
}

func (v *vm) show() command { return v.tool.show(v) }

// guarded runs a command only after the instance was read again by its id, at the
// place of the report, and found to be the one of the report. It is empty where
// that can't be seen.
func (v *vm) guarded(c command) command {
	if !v.proven() {
		return command{}
	}
	return v.same(v).stop("this is not the VM of the report").then(c)
}

// start runs an instance that is off.
func (v *vm) start() command { return v.guarded(v.tool.start(v)) }

// startAs runs a VM that has been given another id.
func (v *vm) startAs(id string) command {
	renamed := *v.Instance
	renamed.ID = id
	return (&vm{&renamed, v.scope}).start()
}

// rename gives an instance another id while it is off; see renames.
func (v *vm) rename(id any) command {
	return v.guarded(v.ended().then(v.tool.(renamer).rename(v, id)))
}

// ended stops while the instance runs.
func (v *vm) ended() command { return v.off(v).stop("it still runs") }

// newID gives a copy of a machine an id of its own, while the machine itself runs.
func (v *vm) newID(machine *vm) []command {
	c := all(machine.guarded(machine.on(machine).stop("the machine itself does not run: the copy may be what is alive")), v.rename(variable("NEW_UUID")))
	return []command{ask("NEW_UUID", "a new one, such as uuidgen prints, for "+v.Name), c}
}

// powerOff and destroy compare once more, so that neither works without. What
// still runs is not destroyed: govc would power it off without a word (govmomi
// cli/vm/destroy.go v0.56.0), and the step that can be undone would be skipped.
func (v *vm) powerOff() command { return v.guarded(v.stop(v)) }
func (v *vm) destroy() command  { return v.guarded(v.ended().then(v.tool.destroy(v))) }
