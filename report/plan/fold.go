package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"drift-detector/infra/shell"
)

// folded is how a batch is printed: the commands of each step once, with variables
// where those of the items differ.
type folded struct {
	blocks [][]block // per step
	pick   string    // a function that sets the variables for the item of a number; empty when nothing needs them
	serial []int     // the steps that are for one item at a time
	loops  bool      // a step is a loop over the items
}

// block is commands that are copied at once, of the item that is named or of all.
type block struct {
	item  string
	lines []string
}

// fold finds out what the commands of a batch's items have in common. Where they
// differ in words alone, a step has its commands once: in a loop over the items, or,
// where one item has to go through several steps before the next begins, with
// variables that a function sets. The variables end in the number of the
// batch, so that a line of another step can't take them. Otherwise each item has
// its own commands.
func (b *Batch) fold() folded {
	out := folded{blocks: make([][]block, len(b.Steps))}
	v := variables{batch: b, set: make([][]string, len(b.Items))}
	for n := range b.Steps {
		if lines := b.Steps[n].Commands; len(lines) > 0 {
			out.blocks[n] = []block{{lines: lines}}
			continue
		}
		own := b.commandsOf(n)
		lines, ok := v.template(own)
		switch {
		case len(own) == 1:
			out.blocks[n] = []block{{lines: own[0]}}
		case !ok:
			if b.Serial && n > 0 {
				out.serial = append(out.serial, n)
			}
			out.blocks[n] = b.apart(n)
		case lines == nil:
		case b.Serial || slices.ContainsFunc(lines, inTurn):
			out.blocks[n], out.serial = []block{{lines: lines}}, append(out.serial, n)
		default:
			out.blocks[n], out.loops = []block{{lines: []string{v.loop(lines)}}}, true
		}
	}
	if len(out.serial) > 0 && len(v.names) > 0 {
		out.pick = fmt.Sprintf("pick%d() { %s; }", b.Number, v.cases("$1"))
	}
	return out
}

// apart are the commands of a step where items have nothing in common: once for all
// that have the same.
func (b *Batch) apart(n int) []block {
	var out []block
	names, at := [][]string{}, map[string]int{}
	for _, item := range b.Items {
		if len(item.Commands) <= n || len(item.Commands[n]) == 0 {
			continue
		}
		all := strings.Join(item.Commands[n], "\x00")
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

// commandsOf are the commands of each item at a step, nil when one has none that
// others have.
func (b *Batch) commandsOf(n int) [][]string {
	var out [][]string
	for _, item := range b.Items {
		if len(item.Commands) > n && len(item.Commands[n]) > 0 {
			out = append(out, item.Commands[n])
		}
	}
	return out
}

// inTurn reports whether a line depends on that of the item before, or on a value
// that the operator fills in.
func inTurn(line string) bool { return isAsk(line) || strings.Contains(line, "--current-replicas=") }

// variables are those of a batch: what tells its items apart in commands.
type variables struct {
	batch *Batch
	names []string
	byKey map[string]string // name, by the values of all items
	set   [][]string        // assignments, per item
}

// template is the lines that all items have, with variables for what differs.
func (v *variables) template(own [][]string) ([]string, bool) {
	if len(own) == 0 {
		return nil, true
	}
	if len(own) != len(v.batch.Items) || slices.ContainsFunc(own, func(lines []string) bool { return len(lines) != len(own[0]) }) {
		return nil, false
	}
	out := make([]string, len(own[0]))
	for k := range out {
		column := make([]string, len(own))
		for i := range own {
			column[i] = own[i][k]
		}
		line, ok := v.line(column)
		if !ok {
			return nil, false
		}
		out[k] = line
	}
	return out, true
}

// line is a command that all items have. What an Ask says behind its comment sign is
// for the reader alone.
func (v *variables) line(column []string) (string, bool) {
	if isAsk(column[0]) {
		first, _, _ := strings.Cut(column[0], " # ")
		for _, c := range column {
			if c != column[0] {
				return first + " # as the text of this step says, for the machine that you chose", strings.HasPrefix(c, first+" # ")
			}
		}
		return column[0], true
	}
	parsed := make([][]token, len(column))
	for i, c := range column {
		parsed[i] = tokens(c)
		if parsed[i] == nil || len(parsed[i]) != len(parsed[0]) {
			return "", false
		}
	}
	var line strings.Builder
	for k, first := range parsed[0] {
		words, same := make([]string, len(parsed)), true
		for i := range parsed {
			t := parsed[i][k]
			if t.word != first.word || !t.word && t != first && !(t.context() && first.context()) {
				return "", false
			}
			words[i], same = t.text, same && t == first
		}
		if same {
			line.WriteString(first.raw)
			continue
		}
		if first.context() {
			line.WriteString("${" + v.context(words) + ":?}")
			continue
		}
		word, ok := v.word(words)
		if !ok {
			return "", false
		}
		line.WriteString(word)
	}
	return line.String(), true
}

// word is a word of which a part differs from item to item.
func (v *variables) word(values []string) (string, bool) {
	before, after := shared(values)
	cut := make([]string, len(values))
	for i, w := range values {
		cut[i] = w[len(before) : len(w)-len(after)]
	}
	name, ok := v.name(cut)
	if !ok {
		return "", false
	}
	word := string(shell.Variable(name))
	if q, fine := shell.Quote(before); fine && before != "" {
		word = q + word
	}
	if q, fine := shell.Quote(after); fine && after != "" {
		word += q
	}
	return word, true
}

// delimiters are where a name or an id may begin or end within a word.
const delimiters = "/:=, "

// shared is what all values begin and end with, as far as a delimiter.
func shared(values []string) (before, after string) {
	before, after = values[0], values[0]
	for _, w := range values {
		for !strings.HasPrefix(w, before) {
			before = before[:len(before)-1]
		}
	}
	before = before[:strings.LastIndexAny(before, delimiters)+1]
	for _, w := range values {
		for !strings.HasSuffix(w[len(before):], after) {
			after = after[1:]
		}
	}
	if i := strings.IndexAny(after, delimiters); i >= 0 {
		return before, after[i:]
	}
	return before, ""
}

// name is the variable that has these values, one per item.
func (v *variables) name(values []string) (string, bool) {
	quoted := make([]string, len(values))
	for i, value := range values {
		q, ok := shell.Quote(value)
		if !ok || value == "" {
			return "", false
		}
		quoted[i] = q
	}
	return v.named(v.meaning(values), quoted), true
}

// context is the variable that is one of those at the top of the plan, per item another.
func (v *variables) context(values []string) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = `"` + value + `"`
	}
	return v.named("CTX", quoted)
}

// named is the variable that is set to these words, one per item.
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
			equal = equal && item.words[word] == values[i]
		}
		if equal {
			return word
		}
	}
	return "OTHER"
}

// loop runs the lines for each item, each for itself: that one item is refused keeps
// no other from its turn. It is a shell of its own, so that no variable is left behind.
func (v *variables) loop(lines []string) string {
	var b strings.Builder
	b.WriteString("(for ITEM in")
	for i := range v.batch.Items {
		fmt.Fprintf(&b, " %d", v.batch.Items[i].Number)
	}
	fmt.Fprintf(&b, `; do { %s && %s; } || echo "not done for number $ITEM of the list" >&2; done)`, v.cases("$ITEM"), strings.Join(lines, " && "))
	return b.String()
}

// cases sets the variables for the item of a number. What was set for another one is gone
// first, also when no item has the number or a variable that is read is not set.
func (v *variables) cases(number string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `unset %s; case "%s" in`, strings.Join(v.names, " "), number)
	for i, item := range v.batch.Items {
		fmt.Fprintf(&b, " %d) %s ;;", item.Number, strings.Join(v.set[i], " "))
	}
	return b.String() + " *) false ;; esac"
}

// token is a piece of a command as this program writes them: a word or a part of
// one, bare or in single quotes, or what is between words.
type token struct {
	text string // without quotes
	raw  string
	word bool
}

// context reports whether a token reads the variable that leads to a cluster.
func (t token) context() bool {
	return !t.word && strings.HasPrefix(t.raw, "${CTX_") && strings.HasSuffix(t.raw, ":?}")
}

var tokenForm = regexp.MustCompile(`\$\{[^}]*\}|'[^']*'|[\w./:,@%+=-]+|.`)

// tokens takes a command apart, nil when a quote has no end.
func tokens(line string) []token {
	var out []token
	for _, raw := range tokenForm.FindAllString(line, -1) {
		switch q, ok := shell.Quote(raw); {
		case raw == "'":
			return nil
		case raw[0] == '\'':
			out = append(out, token{raw[1 : len(raw)-1], raw, true})
		default:
			out = append(out, token{raw, raw, ok && q == raw}) // what needs no quotes is a word
		}
	}
	return out
}
