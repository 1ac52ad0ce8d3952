package aws

import (
	"strings"
	"testing"
)

func TestReadProfile(t *testing.T) {
	const keys = "aws_access_key_id=AKIAAAAAAAAAAAAAAAAA\naws_secret_access_key=s3cret\n"
	for name, c := range map[string]struct{ text, why string }{
		"plain":                     {"[default]\n" + keys, ""},
		"spaces, case, comments":    {"# x\n; y\n\n [ default ] \r\nAWS_Access_Key_ID = AKIAAAAAAAAAAAAAAAAA # mine\r\n\taws_secret_access_key\t=\ts3cret ; too\r\n", ""},
		"harmless settings":         {"[default]\nregion=us-east-1\noutput=json\n" + keys, ""},
		"another profile is nobody": {"[x]\ncredential_process=touch X\n[default]\n" + keys + "[profile default]\nrole_arn=x\n", ""},
		"the last value counts":     {"[default]\naws_secret_access_key=old\n" + keys, ""},
		"empty":                     {"", "no access key"},
		"no default":                {"[x]\n" + keys, "no access key"},
		"outside of a profile":      {keys, "no access key"},
		"half a key":                {"[default]\naws_access_key_id=AKIAAAAAAAAAAAAAAAAA\n", "no whole access key"},
		"control characters":        {"[default]\naws_access_key_id=AKIAAAAAAAAAAAAAAAAA\naws_secret_access_key=a\x00b\n", "no whole access key"},
		"a program":                 {"[default]\ncredential_process = touch X\n", "credential_process, which runs a program"},
		"a program beside keys":     {"[default]\n" + keys + "credential_process = touch X\n", "credential_process"},
		"the machine":               {"[default]\ncredential_source = Ec2InstanceMetadata\n", "credential_source"},
		"a file":                    {"[default]\nweb_identity_token_file = /etc/passwd\nrole_arn = x\n", "web_identity_token_file, which opens a file"},
		"a role":                    {"[default]\nrole_arn = x\nsource_profile = y\n", "role_arn"},
		"SSO":                       {"[default]\nsso_session = x\n", "sso_session"},
		"another server":            {"[default]\n" + keys + "endpoint_url = http://evil.example\n", "endpoint_url, which sends the keys elsewhere"},
		"another server, nested":    {"[default]\n" + keys + "services = x\n[services x]\nec2 =\n  endpoint_url = http://evil.example\n", "services"},
		"unknown":                   {"[default]\n" + keys + "m4rk3r=x\n", "a setting in profile default that drift-detector does not know"},
		"no setting":                {"[default]\nm4rk3r\n", "no setting"},
		"too long":                  {"[default]\n" + keys + strings.Repeat("#", maxProfile), "longer"},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := readProfile(c.text)
			if c.why == "" {
				if why != "" || got.ID.Reveal() != "AKIAAAAAAAAAAAAAAAAA" || got.Secret.Reveal() != "s3cret" {
					t.Errorf("it has %q %q, %s", got.ID.Reveal(), got.Secret.Reveal(), why)
				}
				return
			}
			if !strings.Contains(why, c.why) || !got.ID.IsZero() {
				t.Errorf("it is refused because it %q, want %q", why, c.why)
			}
			if strings.Contains(why, "m4rk3r") || strings.Contains(why, "touch") {
				t.Errorf("the refusal quotes the file: %s", why)
			}
		})
	}
}

func FuzzReadProfile(f *testing.F) {
	f.Add("[default]\naws_access_key_id=AKIAAAAAAAAAAAAAAAAA\naws_secret_access_key=s3cret\n")
	f.Add("[default]\ncredential_process=x")
	f.Fuzz(func(t *testing.T, text string) {
		c, why := readProfile(text)
		if (why == "") != c.wellFormed() {
			t.Errorf("it is refused because it %q, but well formed is %t", why, c.wellFormed())
		}
	})
}
