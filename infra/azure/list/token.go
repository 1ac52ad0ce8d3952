package list

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"drift-detector/infra"
	"drift-detector/infra/azure"
)

// maxToken bounds tokens, and what the az command prints.
const maxToken = 64 << 10

// federatedToken reads the operator's own token that stands for a secret.
func federatedToken(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", errors.New("the file that AZURE_FEDERATED_TOKEN_FILE names cannot be read")
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxToken))
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return "", errors.New("the file that AZURE_FEDERATED_TOKEN_FILE names holds no token")
	}
	return string(bytes.TrimSpace(text)), nil
}

// cliTime is what the az command may take: it is a program in Python.
const cliTime = 90 * time.Second

// cliToken asks the operator's own az command for a token. What comes from a backup in its
// words is a UUID.
func cliToken(ctx context.Context, az string, c *azure.Credential) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, cliTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, az, "account", "get-access-token", "--output", "json", "--resource", audience(azure.Clouds[c.Cloud]), "--subscription", c.Subscription)
	cmd.WaitDelay = time.Second
	var out, says limited
	cmd.Stdout, cmd.Stderr = &out, &says
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", &loginError{says: infra.Brief(strings.TrimSpace(says.String())), cli: true}
	}
	var answer struct{ AccessToken, Subscription string }
	if json.Unmarshal(out.Bytes(), &answer) != nil || answer.AccessToken == "" {
		return "", answerError("az account get-access-token printed no token")
	}
	if answer.Subscription != "" && !strings.EqualFold(answer.Subscription, c.Subscription) {
		return "", answerError("az account get-access-token gave a token for another subscription")
	}
	return answer.AccessToken, nil
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := maxToken - l.Len(); room > 0 {
		_, _ = l.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
