package secrets_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// No secret of a file that the operator gives is shown, whether the file is good, its
// secrets are refused, or it cannot be read as what it is to be.
func TestNoSecretOfAFileShows(t *testing.T) {
	t.Parallel()
	var m runs.Markers
	w := runs.Fleet(t)
	server := w.VCenter.Named
	quoted := func(of string) string { q, _ := json.Marshal(m.Next(of)); return string(q) }
	write := func(name, text string) string {
		path := filepath.Join(w.Dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	entry := fmt.Sprintf("endpoints:\n- endpoint: %q\n  thumbprint: %q\n  username: user\n", server, w.VCenter.Thumbprint)
	kubeconfig := func(name, user string) string {
		return write(name, "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster: {server: \"https://127.0.0.1:20000\", proxy-url: \"http://u:"+m.Add(fmt.Sprintf("MARK%dproxy", len(m)))+"@127.0.0.1:1\"}\n"+
			"contexts:\n- name: x\n  context: {cluster: c, user: u}\ncurrent-context: x\nusers:\n- name: u\n  user: "+user+"\n")
	}
	cluster := func(name, file string) string {
		return write(name, entry+"  password: "+quoted("beside")+"\n- endpoint: \"127.0.0.1:20000\"\n  kubeconfig: "+file+"\n")
	}
	files := []string{
		write("good.yaml", entry+"  password: "+quoted("password")+"\n"),
		write("file.yaml", entry+"  passwordFile: "+write("password", m.Next("in a file")+"\n")+"\n"),
		write("twice.yaml", entry+"  password: "+quoted("first")+"\n  password: "+quoted("second")+"\n"),
		write("list.yaml", entry+"  password: ["+quoted("list")+"]\n"),
		write("broken.yaml", entry+"  password: "+quoted("broken")+": {\n"),
		write("field.yaml", entry+"  pasword: "+quoted("misspelt")+"\n"),
		write("bare.yaml", m.Next("a bare secret")),
		write("userinfo.yaml", "endpoints:\n- endpoint: \"https://u:"+m.Add("MARKuserinfo")+"@"+server+"\"\n"),
		cluster("token.yaml", kubeconfig("token", "{token: "+quoted("token")+"}")),
		cluster("basic.yaml", kubeconfig("basic", "{username: u, password: "+quoted("basic")+"}")),
		cluster("exec.yaml", kubeconfig("exec", "{exec: {command: /bin/false, args: ["+quoted("argument")+"], env: [{name: T, value: "+quoted("variable")+"}]}}")),
		cluster("plugin.yaml", kubeconfig("plugin", "{auth-provider: {name: oidc, config: {refresh-token: "+quoted("refresh")+"}}}")),
		cluster("key.yaml", kubeconfig("key", "{client-key-data: "+base64.StdEncoding.EncodeToString([]byte(m.Next("no key")))+"}")),
		cluster("half.yaml", kubeconfig("half", "{token: "+quoted("half")+", \"")),
		cluster("ini.yaml", write("ini", "[default]\naws_secret_access_key = "+m.Next("INI")+"\n")),
	}
	var everything strings.Builder
	for _, file := range files {
		args := slices.Concat(w.Sources(), []string{"--credentials", file, "--endpoint", w.VCenter.Reroute()})
		for _, r := range w.Nodes.Reroutes() {
			args = append(args, "--endpoint", r)
		}
		narrow := []string{"--cluster", "tenant-alpha/alpha-prod", "--timeout", "5s"}
		for _, command := range [][]string{{"-D", "detect", "-o", "-", "--format", "text"}, {"-D", "detect", "--dry-run"}} {
			o := runs.Run(t, slices.Concat(command, args, narrow)...)
			if unusable := o.Code == cli.ExitUsage; unusable != slices.Contains(files[2:8], file) {
				t.Errorf("%s: exit status %d\n%s", file, o.Code, o.Stderr)
			}
			fmt.Fprintf(&everything, "== %s: %d\n%s\n%s\n", file, o.Code, o.Stdout, o.Stderr)
		}
	}
	if found := m.In(everything.String()); len(found) > 0 {
		t.Errorf("%d of %d secrets show: %q", len(found), len(m), found)
	}
	if found := m.In(everything.String() + m[0]); len(found) != 1 {
		t.Errorf("the search did not find a planted secret: %q", found)
	}
}
