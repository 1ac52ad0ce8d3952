package runbook

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/report/plan"
)

// folded is how a batch is printed: the commands of each step once, with variables
// where those of the items differ.
type folded struct {
	*plan.Batch
	blocks [][]block       // per step
	pick   []shell.Command // a function that sets the variables for the item of a number; none when nothing needs them
	serial []int           // the steps that are for one item at a time
	loops  bool            // a step is a loop over the items
}

// block is commands that are copied at once, of the item that is named or of all.
type block struct {
	item  string
	lines []shell.Command
}

// fold finds out what the commands of a batch's items have in common. Where they
// differ in words alone, a step has its commands once: in a loop over the items, or,
// where one item has to go through several steps before the next begins, with
// variables that a function sets. The variables end in the number of the
// batch, so that a line of another step can't take them. Otherwise each item has
// its own commands.
func fold(b *plan.Batch) *folded {
	out := &folded{Batch: b, blocks: make([][]block, len(b.Steps))}
	v := variables{batch: b, set: make([][]string, len(b.Items))}
	for n := range b.Steps {
		if lines := b.Steps[n].Lines; len(lines) > 0 {
			out.blocks[n] = []block{{lines: lines}}
			continue
		}
		own := commandsOf(b, n)
		lines, ok := v.template(own)
		switch {
		case len(own) == 1:
			out.blocks[n] = []block{{lines: own[0]}}
		case !ok:
			if b.Serial && n > 0 {
				out.serial = append(out.serial, n)
			}
			out.blocks[n] = apart(b, n)
		case lines == nil:
		case b.Serial || slices.ContainsFunc(lines, shell.Command.IsInTurn):
			out.blocks[n], out.serial = []block{{lines: lines}}, append(out.serial, n)
		default:
			out.blocks[n], out.loops = []block{{lines: []shell.Command{v.loop(lines)}}}, true
		}
	}
	if len(out.serial) > 0 && len(v.names) > 0 {
		out.pick = []shell.Command{v.cases("$1").Wrap(shell.Raw(fmt.Sprintf("pick%d() { ", b.Number)), "; }")}
	}
	return out
}

// apart returns the commands of a step where items have nothing in common: once for all
// that have the same.
func apart(b *plan.Batch, n int) []block {
	var out []block
	names, at := [][]string{}, map[string]int{}
	for _, item := range b.Items {
		if len(item.Commands) <= n || len(item.Commands[n]) == 0 {
			continue
		}
		all := strings.Join(texts(item.Commands[n]), "\x00")
		i, found := at[all]
		if !found {
			i, at[all] = len(out), len(out)
			out, names = append(out, block{lines: item.Commands[n]}), append(names, nil)
		}
		names[i] = append(names[i], item.Name)
	}
	for i := range out {
		out[i].item = strings.Join(names[i], ", ")
	}
	return out
}

// commandsOf returns the commands of each item at a step, nil when one has none that
// others have.
func commandsOf(b *plan.Batch, n int) [][]shell.Command {
	var out [][]shell.Command
	for _, item := range b.Items {
		if len(item.Commands) > n && len(item.Commands[n]) > 0 {
			out = append(out, item.Commands[n])
		}
	}
	return out
}

// variables are those of a batch: what tells its items apart in commands.
type variables struct {
	batch *plan.Batch
	names []string
	byKey map[string]string // name, by the values of all items
	set   [][]string        // assignments, per item
}

// template returns the lines that all items have, with variables for what differs.
func (v *variables) template(own [][]shell.Command) ([]shell.Command, bool) {
	if len(own) == 0 {
		return nil, true
	}
	if len(own) != len(v.batch.Items) || slices.ContainsFunc(own, func(lines []shell.Command) bool { return len(lines) != len(own[0]) }) {
		return nil, false
	}
	out := make([]shell.Command, len(own[0]))
	for k := range out {
		column := make([]shell.Command, len(own))
		for i := range own {
			column[i] = own[i][k]
		}
		var ok bool
		if out[k], ok = shell.Template(column, "as the text of this step says, for the machine that you chose", v.name); !ok {
			return nil, false
		}
	}
	return out, true
}

// name returns the variable that has these values, one per item: words, or the names of
// variables, of which only those that lead to a cluster may differ.
func (v *variables) name(values []string, names bool) (string, bool) {
	quoted := make([]string, len(values))
	for i, value := range values {
		if names {
			if !plan.IsContext(value) {
				return "", false
			}
			quoted[i] = shell.Line(shell.Variable(value)).Text()
			continue
		}
		q, ok := shell.Quote(value)
		if !ok || value == "" {
			return "", false
		}
		quoted[i] = q
	}
	if names {
		return v.named("CTX", quoted), true
	}
	return v.named(v.meaning(values), quoted), true
}

// named returns the variable that is set to these words, one per item.
func (v *variables) named(base string, quoted []string) string {
	key := strings.Join(quoted, "\x00")
	if name := v.byKey[key]; name != "" {
		return name
	}
	name := fmt.Sprintf("%s_%d", base, v.batch.Number)
	for n := 2; slices.Contains(v.names, name); n++ {
		name = fmt.Sprintf("%s%d_%d", base, n, v.batch.Number)
	}
	if v.byKey == nil {
		v.byKey = map[string]string{}
	}
	v.byKey[key], v.names = name, append(v.names, name)
	for i := range quoted {
		v.set[i] = append(v.set[i], name+"="+quoted[i])
	}
	return name
}

// meaning says what the values are: the first word of the items that they all equal.
func (v *variables) meaning(values []string) string {
	for _, word := range []string{"NAME", "NODE", "ID", "VM", "OWNER", "NAMESPACE", "CLUSTER", "POD"} {
		equal := true
		for i, item := range v.batch.Items {
			equal = equal && item.Words[word] == values[i]
		}
		if equal {
			return word
		}
	}
	return "OTHER"
}

// loop runs the lines for each item, each for itself: that one item is refused keeps
// no other from its turn. It is a shell of its own, so that no variable is left behind.
func (v *variables) loop(lines []shell.Command) shell.Command {
	var b strings.Builder
	b.WriteString("(for ITEM in")
	for i := range v.batch.Items {
		fmt.Fprintf(&b, " %d", v.batch.Items[i].Number)
	}
	return v.cases("$ITEM").Then(shell.All(lines...)).
		Wrap(shell.Raw(b.String()+"; do { "), "; } ||\necho \"not done for number $ITEM of the list\" >&2; done)")
}

// cases sets the variables for the item of a number. What was set for another one is gone
// first, also when no item has the number or a variable that is read is not set.
func (v *variables) cases(number string) shell.Command {
	var b strings.Builder
	fmt.Fprintf(&b, `unset %s; case "%s" in`, strings.Join(v.names, " "), number)
	for i, item := range v.batch.Items {
		between := " "
		if len(strings.Join(v.set[i], between)) > widest {
			between = "\n"
		}
		fmt.Fprintf(&b, "\n%d) %s ;;", item.Number, strings.Join(v.set[i], between))
	}
	return shell.Line(shell.Raw(b.String() + "\n*) false ;; esac"))
}
