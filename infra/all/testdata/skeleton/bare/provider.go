package skeleton

import (
	"context"

	"drift-detector/backup"
	"drift-detector/infra"
)

type provider struct{}

// New returns the provider of boxes.
func New() infra.Provider { return &provider{} }

func (p *provider) Spec() infra.Spec { return infra.Spec{Name: "skeleton"} }

func (p *provider) Targets(*backup.Snapshot, *backup.Secrets, infra.Access) []infra.Target {
	return nil
}

func (p *provider) Expected(*backup.Snapshot) infra.Expected { return infra.Expected{} }

func (p *provider) List(context.Context, infra.Target) infra.Listing { return infra.Listing{} }
