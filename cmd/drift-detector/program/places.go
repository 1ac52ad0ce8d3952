package program

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/live"
	"drift-detector/infra/store"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
)

// storeOptions say how the operator reaches the object store that a backup is in.
type storeOptions struct {
	profile, endpoint, keyFile string
	ambient                    bool
	given                      []infra.Credential // of --credentials
	logins                     *infra.Logins      // that failed
	newest                     newestOptions
}

// storeFlagNames are the names of flags.
var storeFlagNames = []string{"s3-profile", "s3-ambient", "s3-endpoint", "s3-sse-c-key"}

func (o *storeOptions) flags() []urfave.Flag {
	return []urfave.Flag{
		&urfave.StringFlag{Name: "s3-profile", Usage: "read buckets with the profile `NAME`; of your own AWS configuration", Destination: &o.profile},
		&urfave.BoolFlag{Name: "s3-ambient", Usage: "read buckets with your own AWS credentials; those that the AWS CLI would use: variables, files, the role of this machine", Destination: &o.ambient},
		&urfave.StringFlag{Name: "s3-endpoint", Usage: "`URL` of a store that is not AWS's; MinIO, Ceph and others that speak S3", Destination: &o.endpoint},
		&urfave.StringFlag{Name: "s3-sse-c-key", Usage: "`FILE` with the key of 32 bytes that encrypts the objects; SSE-C, Velero's customerKeyEncryptionFile", Destination: &o.keyFile},
	}
}

// host returns the endpoint by which --credentials names the store.
func (o *storeOptions) host() string {
	if o.endpoint == "" {
		return "s3.amazonaws.com"
	}
	_, rest, _ := strings.Cut(o.endpoint, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// keys returns those that --credentials has for the store.
func (o *storeOptions) keys() *infra.Credential {
	at, err := infra.ParseEndpoint(o.host())
	if err != nil {
		return nil
	}
	for i := range o.given {
		if c := &o.given[i]; strings.HasPrefix(c.Source, "--credentials") && c.Username != "" {
			if e, err := infra.ParseEndpoint(c.Endpoint); err == nil && e == at {
				return c
			}
		}
	}
	return nil
}

func (o *storeOptions) read(c *urfave.Context) error {
	o.logins = &infra.Logins{}
	if o.profile != "" && o.ambient {
		return &cli.UsageError{Message: "--s3-profile and --s3-ambient exclude each other", Command: c.Command.Name}
	}
	return nil
}

// words returns the flags for the store, as a shell reads them back, each with a space before it.
func (o *storeOptions) words() string {
	text := ""
	for _, f := range []struct{ name, value string }{{"profile", o.profile}, {"endpoint", o.endpoint}, {"sse-c-key", o.keyFile}} {
		if f.value != "" {
			text += " --s3-" + f.name + " " + cli.Quoted(f.value)
		}
	}
	if o.ambient {
		text += " --s3-ambient"
	}
	return text
}

// place opens the place at an address of a store, and says as whom it is read.
func (o *storeOptions) place(ctx context.Context, s *cli.Streams, address string, quiet bool) (*store.Place, error) {
	options := store.Options{Profile: o.profile, Ambient: o.ambient, Endpoint: o.endpoint, Keys: o.keys(), Logins: o.logins}
	if o.keyFile != "" {
		key, err := os.ReadFile(o.keyFile)
		if err == nil && len(key) != 32 {
			err = errors.New("it has " + english.Count(len(key), "byte"))
		}
		if err != nil {
			return nil, &backup.InputError{Name: o.keyFile, Problem: "no key of SSE-C: " + err.Error(), Next: "give the file of Velero's customerKeyEncryptionFile, which has 32 bytes", Err: err}
		}
		options.CustomerKey = backup.NewSensitive(string(key))
	}
	p, use, err := store.Open(ctx, address, options)
	if err != nil {
		return nil, err
	}
	p.Flags = o.words()
	if !quiet {
		s.Info("reading %s", use)
	}
	if lower := strings.ToLower(address); strings.HasPrefix(lower, "http:") || strings.HasPrefix(lower, "s3:") && strings.HasPrefix(strings.ToLower(o.endpoint), "http:") {
		s.Warn("%s is read without encryption: the credentials in the backup can be read on the way", p.Name())
	}
	return p, nil
}

// openedBackup is one backup that --backup names.
type openedBackup struct {
	source backup.Source
	velero *check.VeleroBackup // nil where Velero's description is not beside the tarball, or can't be read
	unread string              // why it can't be read; empty where it was, or where there is none
	place  *store.Place        // in which it is one of others; nil for none
	stored *store.Stored       // itself, there
	once   bool                // it can be read once only
	live   *live.Cluster       // that is read instead of a backup; nil for none
}

// open finds the backup that --backup names: a file, a folder, standard input, or a place
// in an object store.
func (o *storeOptions) open(ctx context.Context, s *cli.Streams, name string, quiet bool) (openedBackup, error) {
	switch {
	case name == stdinName:
		if cli.IsTerminal(s.Stdin) {
			return openedBackup{}, &backup.InputError{Name: "standard input", Problem: "a terminal", Next: "pipe the backup in: cat mgmt-data.tar.gz | drift-detector … --backup -"}
		}
		return openedBackup{source: archive.StreamSource(ctx, "standard input", s.Stdin), once: true}, nil
	case store.IsAddress(name) || o.newest.asked:
		p, found, err := o.find(ctx, s, name, quiet)
		if err != nil {
			return openedBackup{}, err
		}
		velero, err := p.Described(ctx, found)
		if ctx.Err() != nil { // cut off, which is no fault of the backup
			return openedBackup{}, ctx.Err()
		}
		return openedBackup{source: p.Source(ctx, found), velero: velero, unread: unused(s, err), place: p, stored: found}, nil
	}
	source, err := archive.FileSource(name)
	if err != nil {
		return openedBackup{}, err
	}
	if source.Mode == archive.ByClusterctl {
		return openedBackup{source: source}, nil
	}
	b := openedBackup{source: source, once: !isRegular(source.Name)}
	b.velero, b.unread = besideTarball(s, source.Name)
	if b.once {
		b.source = archive.Waiting(ctx, source)
	}
	if p, err := store.Folder(filepath.Dir(source.Name)); err == nil && b.velero != nil {
		if found, err := p.Only(ctx); err == nil {
			b.place, b.stored = p, found
		}
	}
	return b, nil
}

// find returns the place of a backup, and the one that --newest chooses there, else its only one.
func (o *storeOptions) find(ctx context.Context, s *cli.Streams, name string, quiet bool) (p *store.Place, found *store.Stored, err error) {
	if store.IsAddress(name) {
		p, err = o.place(ctx, s, name, quiet)
	} else {
		p, err = store.Folder(name)
	}
	switch {
	case err != nil:
	case !o.newest.asked:
		found, err = p.Only(ctx)
	default:
		if found, err = o.newest.newest(ctx, s, p); err == nil && !quiet {
			o.newest.says(s, found)
		}
	}
	return p, found, err
}

// besideTarball returns what Velero says about a backup in the file beside it, nil when there is
// none, and why it can't be read.
func besideTarball(s *cli.Streams, tarball string) (v *check.VeleroBackup, unread string) {
	path := filepath.Join(filepath.Dir(tarball), check.VeleroFile)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, ""
	}
	v, err := readVelero(path)
	return v, unused(s, err)
}

// unused warns of what can't be read, and returns why; it is empty where there is no error.
func unused(s *cli.Streams, err error) string {
	if err == nil {
		return ""
	}
	s.Warn("%s; it is not used", err)
	return infra.Brief(err.Error())
}

// isRegular reports whether a file can be read again.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular() // what is wrong with it, opening it says
}
