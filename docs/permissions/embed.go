// Package permissions holds what an account has to be allowed for
// drift-detector to list an infrastructure, one document per provider, as
// people apply it.
package permissions

import _ "embed"

// AWS is an IAM policy with the actions that package infra/aws calls, JSON.
//
//go:embed aws.json
var AWS string

// VSphere says which role an account needs in a vCenter, and what hides when a
// part of it is missing, Markdown.
//
//go:embed vsphere.md
var VSphere string
