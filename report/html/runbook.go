package html

// Runbook is the plan of a report as the page has it: folded, with a place to link to for each of
// its steps. Its strings may be foreign: the page shows them as text.
type Runbook struct {
	Unknown   []string // what the plan could not know
	Copying   string   // how its commands are copied
	Variables []string // lines that set them
	Phases    []RunbookPhase
}

// RunbookPhase is a part of the time line.
type RunbookPhase struct {
	Title    string
	Chapters []RunbookChapter
}

// RunbookChapter is about the whole, or about one cluster.
type RunbookChapter struct {
	Title string
	Notes []string
	Steps []RunbookStep
}

// RunbookStep is what has one number.
type RunbookStep struct {
	Number         int
	Title, Cluster string
	Machines       int // 0: it is about the restore itself
	Lead           string
	Items          []string // the machines that it is about, with what is said of each
	Pick           []string // lines of the function that sets variables for one of them
	Does           []RunbookDo
}

// RunbookDo is one thing to do.
type RunbookDo struct {
	Label, Text string
	Controllers bool   // they do it, and a person watches
	As          string // the label of what has the same commands; they are not repeated
	Blocks      []RunbookBlock
}

// RunbookBlock is commands that are copied at once, of the items that are named or of all.
type RunbookBlock struct {
	Of       string
	Commands []string
}

// Numbers returns those of the steps.
func (b *Runbook) Numbers() map[int]bool {
	out := map[int]bool{}
	if b == nil {
		return out
	}
	for _, p := range b.Phases {
		for _, c := range p.Chapters {
			for _, s := range c.Steps {
				out[s.Number] = true
			}
		}
	}
	return out
}

// Count returns how many steps there are.
func (b *Runbook) Count() int { return len(b.Numbers()) }
