package list

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	capa "drift-detector/infra/aws"
)

// turnWait is how long a login waits for others of its key. AWS locks no key, and a region
// that does not answer must not cost the others their time.
const turnWait = 5 * time.Second

// unknownKey are codes for a key that does not exist where it is used, which a region that
// is not enabled for an account says of a good one (STS API reference).
var unknownKey = []string{"InvalidClientTokenId", "UnrecognizedClientException", "InvalidAccessKeyId"}

// logins are those of a run, and the keys that AWS has taken.
type logins struct {
	infra.Logins
	taken sync.Map // of usedKey
}

type usedKey struct {
	id, secret, token backup.Sensitive
	profile           string
}

// once tries a login with a key unless two have failed: anywhere for a wrong secret, in the
// region for a key that is unknown there.
func (l *logins) once(ctx context.Context, region string, c *capa.Credential, login func() error) error {
	key := usedKey{c.ID, c.Secret, c.Token, c.Profile}
	if _, taken := l.taken.Load(key); taken {
		return login()
	}
	user := c.ID.Reveal()
	if c.Operator {
		user = "profile " + c.Profile
	}
	waiting, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	var turns [2]*infra.LoginTurn
	for i, name := range []string{user, user + " in " + region} {
		turn, err := l.Enter(waiting, infra.Server{Address: capa.Name}, name, nil)
		if err != nil && ctx.Err() == nil {
			return login()
		}
		if err != nil {
			return err
		}
		defer turn.Leave()
		if turn.Left() == 0 {
			return infra.ErrLockout
		}
		turns[i] = turn
	}
	err := login()
	code, _ := codeOf(err)
	switch {
	case err == nil:
		l.taken.Store(key, true)
	case slices.Contains(unknownKey, code), slices.Contains(expiredKeys, code):
		turns[1].Try()
	case slices.Contains(wrongKeys, code):
		turns[0].Try()
	}
	return err
}

// refusedKey reports that AWS does not take a key, takes it no more, or is not asked again.
func refusedKey(err error) bool { return keyRefused(err) || errors.Is(err, infra.ErrLockout) }
