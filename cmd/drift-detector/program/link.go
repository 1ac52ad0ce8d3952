package program

import (
	"fmt"
	"os"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/internal/post"
	"drift-detector/report/message"
)

// linkFlag takes the address at which people find the report.
func linkFlag(to *string) urfave.Flag {
	return &urfave.StringFlag{Name: "link", Usage: "`URL` of the report, for the message; where people find it, such as the page of the job; all who read the message see it", Destination: to}
}

// readLink refuses an address that a message can't show, or that holds a password, and one that nothing
// shows. A variable of the environment may be set for another command.
func readLink(c *urfave.Context, link string, shown bool) error {
	fail := func(problem string) error {
		return &cli.UsageError{Message: "--link " + problem, Command: c.Command.Name}
	}
	const most = 2000 // characters as messages hold them: Slack refuses a section of more than 3000
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) }
	switch to, err := post.Address(link); {
	case link == "":
		return nil
	case err != nil || strings.ContainsFunc(link, odd):
		return fail("is no address such as https://host/path")
	case len(message.Escaped(link)) > most:
		return fail(fmt.Sprintf("is longer than %d characters, where each & counts as five: give a shorter one", most))
	case to.User != nil:
		return fail("holds a user: everyone who reads the message would have it")
	case !shown && os.Getenv(cli.Variable("link")) == "":
		return fail("is for a message, and none is written: give --notify, or --format " + strings.Join(message.Formats, ", "))
	}
	return nil
}

// writesMessage reports whether one of the outputs is a message.
func writesMessage(all []cli.Target) bool {
	return slices.ContainsFunc(all, func(t cli.Target) bool { return slices.Contains(message.Formats, t.Format) })
}
