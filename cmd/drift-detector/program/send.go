package program

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/cli"
	"drift-detector/internal/post"
	"drift-detector/report"
	"drift-detector/report/message"
	"drift-detector/report/prometheus"
)

// sendOptions say to whom a run that nobody watches tells its result, once it is written. What can't
// be sent is a warning: the report is what it is.
type sendOptions struct {
	push     string
	userFile string
	notices  []notice
	link     string
	to       *url.URL // of push
	user     post.User
	done     bool // what came of the run was sent
}

// notice is a webhook, and what it takes.
type notice struct {
	format string
	to     *url.URL
}

func (o *sendOptions) flags() []urfave.Flag {
	return []urfave.Flag{
		&urfave.StringFlag{Name: "push", Usage: "send the metrics to the Pushgateway at `URL`; of a run without a report that it failed; http://pushgateway:9091, or with the grouping key: …/metrics/job/NAME/instance/NAME; a failure is a warning", Destination: &o.push},
		&urfave.StringFlag{Name: "push-user", Usage: "`FILE` with user:password for --push", Destination: &o.userFile},
		&urfave.StringSliceFlag{Name: "notify", Usage: "send the answer, or that there is none, to a webhook: `FORMAT=FILE`; slack, teams or webhook, and a file that holds its URL, which is a secret; a failure is a warning; repeatable"},
		linkFlag(&o.link),
	}
}

// read takes the values of the flags, so that a slip is found before the run. After an error it goes on:
// what can be used says it.
func (o *sendOptions) read(c *urfave.Context, s *cli.Streams) error {
	err := o.readPush(c, s)
	if err != nil {
		o.to = nil
	}
	for _, value := range c.StringSlice("notify") {
		err = cmp.Or(err, o.readNotice(c, s, value))
	}
	unshown := readLink(c, o.link, true)
	if unshown != nil {
		o.link = ""
	}
	return cmp.Or(err, unshown)
}

func (o *sendOptions) readPush(c *urfave.Context, s *cli.Streams) (err error) {
	if o.push != "" {
		if o.to, err = post.Address(o.push); err != nil {
			return &cli.UsageError{Message: "--push: " + err.Error(), Command: c.Command.Name}
		}
		if o.to, err = groupAt(o.to); err != nil {
			return &cli.UsageError{Message: "--push: " + err.Error(), Command: c.Command.Name}
		}
		o.user.Name = o.to.User.Username()
		o.user.Password, _ = o.to.User.Password()
		o.to.User = nil
	}
	if o.userFile != "" {
		if o.to == nil {
			return &cli.UsageError{Message: "--push-user is of --push, which is not given", Command: c.Command.Name}
		}
		line, err := firstLine("--push-user", o.userFile)
		if err != nil {
			return err
		}
		var both bool
		if o.user.Name, o.user.Password, both = strings.Cut(line, ":"); !both || o.user.Name == "" {
			return &backup.InputError{Name: o.userFile, Problem: "its first line is not USER:PASSWORD", Next: "write both into it, or leave --push-user out"}
		}
	}
	if o.to != nil && (o.user != post.User{} || o.to.RawQuery != "") {
		o.warnOfPlain(s, "--push", "the user and its password", o.to)
	}
	return nil
}

func (o *sendOptions) readNotice(c *urfave.Context, s *cli.Streams, value string) error {
	format, file, _ := strings.Cut(value, "=")
	if !slices.Contains(message.Formats, format) || file == "" {
		return &cli.UsageError{Message: "--notify takes FORMAT=FILE; FORMAT is one of " + strings.Join(message.Formats, ", ") + ", and FILE holds the URL", Command: c.Command.Name}
	}
	line, err := firstLine("--notify "+format, file)
	if err != nil {
		return err
	}
	to, err := post.Address(line)
	if err != nil {
		return &backup.InputError{Name: file, Problem: err.Error(), Next: "write the webhook's URL into it, and nothing else"}
	}
	o.warnOfPlain(s, "--notify "+format, "the webhook's URL, which is a secret,", to)
	o.notices = append(o.notices, notice{format, to})
	return nil
}

// warnOfPlain says of a secret that others may read it on its way.
func (o *sendOptions) warnOfPlain(s *cli.Streams, flag, secret string, to *url.URL) {
	if post.IsPlain(to) {
		s.Warn("%s: %s is reached without encryption: %s can be read on the way; an address with https:// keeps it", flag, to.Host, secret)
	}
}

// firstLine reads a file that holds a secret in its only line. Its errors do not repeat the value of
// the flag where it is no file that can be read: it may be the secret itself.
func firstLine(flag, file string) (string, error) {
	const most = 64 << 10
	text, err := infra.ReadFile(file, most)
	if err != nil {
		return "", &backup.InputError{Name: flag, Problem: "takes a file that holds the secret, and what was given is no file that can be read: " + fileCause(err), Next: "write the secret into a file that only you can read, and give that"}
	}
	plain, err := infra.Unmarked(string(text))
	if err != nil {
		return "", &backup.InputError{Name: file, Problem: err.Error(), Next: "save it as UTF-8"}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(plain), "\n")
	return strings.TrimSpace(line), nil
}

// fileCause returns an error of the file system without the path, which is said already.
func fileCause(err error) string {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err.Error()
	}
	return err.Error()
}

// send sends the metrics and the messages.
func (o *sendOptions) send(ctx context.Context, s *cli.Streams, r *report.Report, about message.About) {
	o.done = true
	say := func(what string, err error) {
		if err != nil {
			s.Warn("%s: %v; the report is written all the same", what, err)
		}
	}
	if o.to != nil {
		say("the metrics were not pushed", deliver(ctx, "PUT", o.to, o.user, "text/plain; version=0.0.4", func(w io.Writer) error { return prometheus.Write(w, r) }))
	}
	for _, n := range o.notices {
		say("the message for "+n.format+" was not sent", deliver(ctx, "POST", n.to, post.User{}, "application/json", func(w io.Writer) error { return about.Named(n.format)(w, r) }))
	}
}

// failed sends that a run ended with an error and no report, and returns the error: silence reads as if
// all were well. One that is interrupted has no time for that.
func (o *sendOptions) failed(ctx context.Context, s *cli.Streams, f *message.Failure, err error) error {
	if err == nil || o.done || ctx.Err() != nil {
		return err
	}
	say := func(what string, err error) {
		if err != nil {
			s.Warn("%s: %v", what, err)
		}
	}
	f.Why, f.Next = s.Redacted(err.Error()), "look into the log of the run, and run it again"
	var input *backup.InputError
	var usage *cli.UsageError
	switch {
	case errors.As(err, &input):
		f.Why, f.Next = s.Redacted(input.Name+": "+input.Problem), s.Redacted(input.Next)
	case errors.As(err, &usage):
		f.Next = "mend the command line, or the variables DRIFT_DETECTOR_…; 'drift-detector man' has all flags"
	}
	if o.to != nil {
		say("that the run failed was not pushed", deliver(ctx, "POST", o.to, o.user, "text/plain; version=0.0.4", prometheus.Failed))
	}
	for _, n := range o.notices {
		say("the message for "+n.format+" was not sent", deliver(ctx, "POST", n.to, post.User{}, "application/json", func(w io.Writer) error {
			return message.About{Link: o.link}.Failed(w, n.format, f)
		}))
	}
	return err
}

func deliver(ctx context.Context, method string, to *url.URL, user post.User, kind string, write func(io.Writer) error) error {
	var body bytes.Buffer
	if err := write(&body); err != nil {
		return fmt.Errorf("it could not be made: %w", err)
	}
	return post.Send(ctx, method, to, user, kind, body.Bytes())
}
