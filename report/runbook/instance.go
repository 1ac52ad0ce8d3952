package runbook

import (
	"strings"

	"drift-detector/report"
)

// vm is an instance that commands can address by its id.
type vm struct {
	*report.Instance
	*place
}

// vm finds out how commands address an instance; nil when its ids or its place
// do not have the form that they must have.
func (b *book) vm(i *report.Instance) *vm {
	if i == nil {
		return nil
	}
	if p := b.placeOf(i); p != nil && p.addresses(i) {
		return &vm{i, p}
	}
	return nil
}

// only says that no other instance of the report bears the id.
func (b *book) only(i *report.Instance) bool { return b.bearers[strings.ToLower(i.ID)] == 1 }

func compare(read command, want any) command {
	if read.refused != "" {
		return read
	}
	return line(raw(`test "$(`+read.text+`)" =`), want)
}

func (v *vm) show() command { return v.tool.show(v) }

// guarded runs a command only after the instance was read again by its id and found
// to be the one of the report.
func (v *vm) guarded(c command) command { return v.same(v).then(c) }

// guard is a line of its own before one that destroys.
func (v *vm) guard() command { return v.same(v).stop("stop: this is not the VM of the report") }

// start runs an instance that is off.
func (v *vm) start() command { return v.guarded(v.tool.start(v)) }

// startAs runs a VM that has been given another id.
func (v *vm) startAs(id string) command {
	renamed := *v.Instance
	renamed.ID = id
	return (&vm{&renamed, v.place}).start()
}

// rename gives an instance another id while it is off; see renames.
func (v *vm) rename(id any) command {
	return v.guarded(v.off(v).then(v.tool.(renamer).rename(v, id)))
}

// newID gives a copy an id of its own.
func (v *vm) newID() []command {
	return []command{ask("NEW_UUID", "a new one, such as uuidgen prints, for "+v.Name), v.rename(variable("NEW_UUID"))}
}

// powerOff and destroy compare once more, so that neither works without. What
// still runs is not destroyed: govc would power it off without a word (govmomi
// cli/vm/destroy.go v0.56.0), and the step that can be undone would be skipped.
func (v *vm) powerOff() command { return v.guarded(v.stop(v)) }
func (v *vm) destroy() command  { return v.guarded(v.off(v).then(v.tool.destroy(v))) }

// absent says that nothing bears an id. A search that fails is no absence, nor is
// one in another account than the report's.
func (p *place) absent(id string) command {
	find := p.find(p, id)
	if find.refused != "" {
		return find
	}
	absent := command{text: "FOUND=$(" + find.text + `) && test -z "$FOUND"`}
	if here := p.here(p); here != (command{}) {
		return here.then(absent)
	}
	return absent
}
