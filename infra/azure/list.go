package azure

import (
	"context"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// List reads all VMs of a subscription, and what else the backup names there.
func (p *provider) List(_ context.Context, t infra.Target) infra.Listing {
	_, made := t.Detail.(*detail)
	_, mine := t.Credential.(credential)
	l, ok := t.Begin(Name, made && mine)
	if ok {
		l.Fault = &infra.Fault{Reason: code.ListingBroken, Message: "not listed yet"}
	}
	return l
}

type answerError string

func (e answerError) Error() string { return string(e) }

type loginError struct {
	says string
	cli  bool
}

func (e *loginError) Error() string { return e.says }

func overloaded(error) bool { return false }
