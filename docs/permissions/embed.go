// Package permissions holds what an account has to be allowed for
// drift-detector to list an infrastructure, as people apply it: one document per
// provider, in a file with the provider's name.
package permissions

import (
	"embed"
	"path"
	"strings"
)

//go:embed *.json *.md
var files embed.FS

// Documents are the texts by provider: "aws" is an IAM policy with the actions that
// package infra/aws calls, JSON; "vsphere" says which role an account needs in a
// vCenter, and what hides when a part of it is missing, Markdown.
func Documents() map[string]string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // they are part of the program
	}
	all := make(map[string]string, len(entries))
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		all[strings.TrimSuffix(e.Name(), path.Ext(e.Name()))] = string(text)
	}
	return all
}
