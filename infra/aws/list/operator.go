package list

import (
	"errors"
	"os/exec"

	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"

	"drift-detector/backup/archive"
	"drift-detector/internal/lazyregexp"
)

var address = lazyregexp.New(`\S+://\S+`)

// withoutAddresses returns the text of an error without what may be secret in addresses: the SDK
// repeats an AWS_ENDPOINT_URL or endpoint_url of the operator's that it can't read.
func withoutAddresses(text string) string {
	return address.ReplaceAllStringFunc(text, archive.WithoutSecrets)
}

// withoutOutput returns an error without what the operator's own credential_process wrote: the
// SDK repeats it where it is no credential in JSON, and it may well be a token.
func withoutOutput(err error) error {
	var of *processcreds.ProviderError
	var exit *exec.ExitError
	switch {
	case !errors.As(err, &of):
		return err
	case errors.As(err, &exit):
		return errors.New("credential_process: " + exit.Error())
	}
	return errors.New("credential_process gives no credential that can be read")
}
