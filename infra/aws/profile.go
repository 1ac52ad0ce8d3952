package aws

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
)

// maxProfile bounds the credentials file in a backup.
const maxProfile = 64 << 10

// Settings of a profile that are read, and that change nothing here.
const (
	profileID     = "aws_access_key_id"
	profileSecret = "aws_secret_access_key"
	profileToken  = "aws_session_token"
)

var harmless = []string{"region", "output", "cli_pager", "cli_timestamp_format", "max_attempts", "retry_mode", "sts_regional_endpoints"}

// hazards are the settings that run or open something, or send the keys
// elsewhere (AWS SDK for Go v2, config/shared_config.go v1.33.14). They are known
// by name so that the refusal can say what they do.
var hazards = map[string]string{
	"credential_process":      "runs a program",
	"credential_source":       "asks the machine that it runs on",
	"web_identity_token_file": "opens a file",
	"role_arn":                "assumes a role with a credential from elsewhere",
	"source_profile":          "refers to another profile",
	"sso_session":             "uses a login of its user",
	"sso_start_url":           "uses a login of its user",
	"sso_account_id":          "uses a login of its user",
	"sso_role_name":           "uses a login of its user",
	"sso_region":              "uses a login of its user",
	"login_session":           "uses a login of its user",
	"mfa_serial":              "asks its user",
	"ca_bundle":               "opens a file",
	"endpoint_url":            "sends the keys elsewhere",
	"services":                "sends the keys elsewhere",
}

// readProfile reads profile "default" of a shared credentials file as CAPA's
// controller is given it. It takes access keys and nothing else: a profile that
// gets its credential in another way is refused, as nothing that a backup names
// is run or opened. why says what is wrong, and never quotes the file.
func readProfile(text string) (c Credential, why string) {
	if len(text) > maxProfile {
		return Credential{}, fmt.Sprintf("is longer than %d bytes", maxProfile)
	}
	inside, nested := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		rest := strings.TrimLeft(line, " \t")
		switch {
		case rest == "" || rest[0] == '#' || rest[0] == ';':
			continue
		case rest[0] == '[':
			name, _, _ := strings.Cut(rest[1:], "]")
			inside, nested = strings.TrimSpace(name) == "default", false
			continue
		case !inside, nested && rest != line:
			continue
		}
		key, value, ok := strings.Cut(rest, "=")
		if !ok {
			return Credential{}, "has a line in profile default that is no setting"
		}
		key, value = strings.ToLower(strings.TrimSpace(key)), plainValue(value)
		nested = value == ""
		if why := c.set(key, value); why != "" {
			return Credential{}, why
		}
	}
	switch {
	case c.ID.IsZero() && c.Secret.IsZero():
		return Credential{}, "has no access key in profile default"
	case !c.wellFormed():
		return Credential{}, "has no whole access key in profile default"
	}
	return c, ""
}

func (c *Credential) set(key, value string) (why string) {
	switch key {
	case profileID:
		c.ID = backup.NewSensitive(value)
	case profileSecret:
		c.Secret = backup.NewSensitive(value)
	case profileToken:
		c.Token = backup.NewSensitive(value)
	default:
		if does, ok := hazards[key]; ok {
			return fmt.Sprintf("has %s, which %s: it is not followed", key, does)
		}
		if !slices.Contains(harmless, key) {
			return "has a setting in profile default that drift-detector does not know: it is not followed"
		}
	}
	return ""
}

// plainValue drops white space and a comment behind the value.
func plainValue(s string) string {
	for _, mark := range []string{" #", " ;", "\t#", "\t;"} {
		s, _, _ = strings.Cut(s, mark)
	}
	return strings.TrimSpace(s)
}
