package list

import (
	"context"
	"encoding/json"
	"fmt"

	"drift-detector/infra"
)

// wasRead is the value of the Fact of a kind alone.
const wasRead = "read"

// note keeps a Fact of one thing.
func (l *listing) note(kind, name string, of any) {
	text, err := json.Marshal(of)
	if err == nil {
		l.Facts = append(l.Facts, infra.Fact{Name: kind + ":" + name, Value: string(text)})
	}
}

// noteRead keeps that all Facts of a kind were read.
func (l *listing) noteRead(kind string) {
	if _, noted := l.Facts.Get(kind); !noted {
		l.Facts = append(l.Facts, infra.Fact{Name: kind, Value: wasRead})
	}
}

// unreadFact notes that Facts of a kind could not be read.
func (l *listing) unreadFact(ctx context.Context, fact, action, what string, err error) {
	f := listFault(ctx, l.target, action, "reading "+what, err)
	l.FactsUnread = append(l.FactsUnread, infra.Fact{Name: fact, Value: fmt.Sprintf("%s could not be read: %s", what, f.Message)})
}
