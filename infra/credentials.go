package infra

import (
	"crypto/sha1" // only its size is used
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"drift-detector/backup"
	"drift-detector/backup/archive"
)

// maxOperatorFile bounds each file that the operator names.
const maxOperatorFile = 1 << 20

// ReadCredentials reads the file of --credentials: YAML with a list
//
//	endpoints:
//	- endpoint: host, host:port or https:// URL, as the backup calls it
//	  username, and password or passwordFile
//	  thumbprint: SHA-1 or SHA-256 of the server's certificate
//	  caFile: CA certificates in PEM
//	  kubeconfig: for API servers
//
// Files are relative to the credentials file. Unknown fields, contradictions
// and files that can't be read are errors, with the line where they are;
// files with secrets that others may read are warnings. Neither holds a
// password.
func ReadCredentials(path string) (creds []Credential, warnings []string, err error) {
	r := credentialReader{path: path}
	text, err := r.open(path, true)
	if err != nil {
		return nil, nil, fmt.Errorf("reading credentials: %w", err)
	}
	entries, err := credentialEntries(text)
	if err != nil {
		return nil, r.warnings, fmt.Errorf("reading credentials %s: %w", path, err)
	}
	lines := map[Endpoint]int{}
	for _, e := range entries {
		c, at, err := r.credential(e)
		if err != nil {
			return nil, r.warnings, fmt.Errorf("reading credentials %s: %w", path, err)
		}
		if first, twice := lines[at]; twice {
			return nil, r.warnings, fmt.Errorf("reading credentials %s: line %d: endpoint %s is given twice, first on line %d", path, e.line, at, first)
		}
		lines[at] = e.line
		creds = append(creds, c)
	}
	return creds, r.warnings, nil
}

// credentialReader reads one credentials file and the files that it names.
type credentialReader struct {
	path     string
	warnings []string
}

// credential checks one entry and opens its files.
func (r *credentialReader) credential(e credentialEntry) (Credential, Endpoint, error) {
	name := e.fields["endpoint"]
	if name == "" {
		return Credential{}, Endpoint{}, fmt.Errorf("line %d: endpoint is missing", e.line)
	}
	fail := func(err error) (Credential, Endpoint, error) {
		return Credential{}, Endpoint{}, fmt.Errorf("line %d: endpoint %s: %w", e.line, archive.WithoutSecrets(name), err)
	}
	if strings.Contains(name, "@") {
		return Credential{}, Endpoint{}, fmt.Errorf("line %d: endpoint must not hold a user or password; use username and password", e.line)
	}
	at, err := ParseEndpoint(name)
	if err != nil {
		return fail(err)
	}
	c := Credential{Endpoint: name, Source: "--credentials " + r.path, Username: e.fields["username"]}
	if c.Password, err = r.password(e); err != nil {
		return fail(err)
	}
	if c.Thumbprint, err = thumbprint(e.fields["thumbprint"]); err != nil {
		return fail(err)
	}
	if c.CA, err = r.certificates(e.fields["caFile"]); err != nil {
		return fail(err)
	}
	if c.Kubeconfig, err = r.secret("kubeconfig", e.fields["kubeconfig"]); err != nil {
		return fail(err)
	}
	if len(e.fields) == 1 {
		return fail(errors.New("nothing is given for it"))
	}
	return c, at, nil
}

// password returns the one of the entry, or the content of its passwordFile without
// the line's end.
func (r *credentialReader) password(e credentialEntry) (backup.Sensitive, error) {
	password, file := e.fields["password"], e.fields["passwordFile"]
	if password != "" && file != "" {
		return backup.Sensitive{}, errors.New("give password or passwordFile, not both")
	}
	if (password != "" || file != "") != (e.fields["username"] != "") {
		return backup.Sensitive{}, errors.New("give username and password (or passwordFile) together")
	}
	if file == "" {
		return backup.NewSensitive(password), nil
	}
	content, err := r.secret("passwordFile", file)
	if err != nil {
		return backup.Sensitive{}, err
	}
	plain, err := Unmarked(content.Reveal())
	if err != nil {
		return backup.Sensitive{}, fmt.Errorf("passwordFile: %s: %w; save it as UTF-8", archive.WithoutSecrets(file), err)
	}
	line := strings.TrimSuffix(strings.TrimSuffix(plain, "\n"), "\r")
	if line == "" {
		return backup.Sensitive{}, errors.New("passwordFile is empty")
	}
	return backup.NewSensitive(line), nil
}

// secret returns the content of a file that an entry names; empty when it names none.
func (r *credentialReader) secret(field, file string) (backup.Sensitive, error) {
	if file == "" {
		return backup.Sensitive{}, nil
	}
	content, err := r.open(r.beside(file), true)
	if err != nil {
		return backup.Sensitive{}, fmt.Errorf("%s is no file that can be read: %w", field, unnamed(err))
	}
	return backup.NewSensitive(string(content)), nil
}

func (r *credentialReader) certificates(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	content, err := r.open(r.beside(file), false)
	if err != nil {
		return nil, fmt.Errorf("caFile: %w", unreadable(file, err))
	}
	if !x509.NewCertPool().AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("caFile: %s holds no certificate in PEM form", archive.WithoutSecrets(file))
	}
	return content, nil
}

// unnamed returns an error about a file without its name, which may be a secret that was given in place of it.
func unnamed(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// unreadable returns an error about a file, without what may be secret in its name.
func unreadable(file string, err error) error {
	var of *fs.PathError
	if shown := archive.WithoutSecrets(file); errors.As(err, &of) && shown != file {
		return &fs.PathError{Op: of.Op, Path: shown, Err: of.Err}
	}
	return err
}

// beside resolves a file name relative to the credentials file.
func (r *credentialReader) beside(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(r.path), file)
}

// open reads a file of the operator's, and warns when it is secret and others
// may read it. Windows keeps access rights elsewhere than in the mode.
func (r *credentialReader) open(path string, secret bool) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if secret && runtime.GOOS != "windows" && info.Mode().IsRegular() && openToOthers(info) {
		r.warnings = append(r.warnings, fmt.Sprintf("%s may be read by others (mode %04o); run: chmod 600 on it", path, info.Mode().Perm()))
	}
	content, err := io.ReadAll(io.LimitReader(f, maxOperatorFile+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxOperatorFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxOperatorFile)
	}
	return content, nil
}

// thumbprint checks that a text is the fingerprint of a certificate.
func thumbprint(s string) (string, error) {
	sum, err := hex.DecodeString(normalThumbprint(s))
	if err != nil || (s != "" && len(sum) != sha1.Size && len(sum) != sha256.Size) {
		return "", errors.New("thumbprint is neither SHA-1 nor SHA-256 in hex")
	}
	return s, nil
}
