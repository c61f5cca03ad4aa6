package scheduler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// PutRevision stores a revision; only files that are not there yet are sent. A revision that is there whole stays as it is, with the author
// and message of its first push. It returns how many bytes were sent.
func (c *Client) PutRevision(ctx context.Context, r *Revision) (sent int, err error) {
	if err := r.Validate(); err != nil {
		return 0, err
	}
	k, m := c.registry(), newManifest(r)
	text, err := json.Marshal(m)
	if err != nil {
		return 0, fmt.Errorf("revision of %s: %w", r.Spider, err)
	}
	missing, err := c.missingFiles(ctx, m)
	if err != nil {
		return 0, err
	}
	err = c.try(ctx, func() error {
		sent = 0
		_, err := c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, f := range missing {
				p.Set(ctx, k.file(f.SHA256), r.Files[f.Path], 0)
				sent += f.Size
			}
			return nil
		})
		return err
	})
	if err == nil {
		err = c.try(ctx, func() error { return c.rdb.SetNX(ctx, k.revision(r.ID), text, 0).Err() }) // the files first: a manifest is there when all is
	}
	if err != nil {
		return 0, fmt.Errorf("storing revision %s of %s: %w", ShortRevision(r.ID), r.Spider, err)
	}
	return sent, c.mendManifest(ctx, m, text)
}

// mendManifest writes a manifest anew that somebody has spoilt. One of another revision with the same short name is left alone.
func (c *Client) mendManifest(ctx context.Context, m manifest, text []byte) error {
	key := c.registry().revision(m.ID)
	var raw string
	err := c.try(ctx, func() (err error) {
		raw, err = c.rdb.Get(ctx, key).Result()
		return err
	})
	if err != nil {
		return fmt.Errorf("storing revision %s: %w", ShortRevision(m.ID), err)
	}
	have, err := readManifest(key, raw)
	switch {
	case err == nil && have.ID != m.ID && ShortRevision(have.ID) == ShortRevision(m.ID):
		return fmt.Errorf("another revision is called %s: change a character and push again", ShortRevision(m.ID))
	case err == nil && have.ID == m.ID && have.same(m):
		return nil
	}
	err = c.try(ctx, func() error { return c.rdb.Set(ctx, key, text, 0).Err() })
	if err != nil {
		return fmt.Errorf("storing revision %s: %w", ShortRevision(m.ID), err)
	}
	return nil
}

// same reports whether two manifests hold the same files.
func (m *manifest) same(o manifest) bool {
	if m.Main != o.Main || m.Spider != o.Spider || len(m.Files) != len(o.Files) {
		return false
	}
	for i, f := range m.Files {
		if o.Files[i] != f {
			return false
		}
	}
	return true
}

// missingFiles are files of a manifest that Redis has not, or not whole.
func (c *Client) missingFiles(ctx context.Context, m manifest) ([]manifestFile, error) {
	k := c.registry()
	var missing []manifestFile
	for _, f := range m.Files {
		var text []byte
		err := c.try(ctx, func() (err error) {
			text, err = c.rdb.Get(ctx, k.file(f.SHA256)).Bytes()
			if errors.Is(err, redis.Nil) || wrongType(err) {
				text, err = nil, nil
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("looking for %s: %w", f.Path, err)
		}
		if !f.holds(text) {
			missing = append(missing, f)
		}
	}
	return missing, nil
}

func (f manifestFile) holds(text []byte) bool {
	sum := sha256.Sum256(text)
	return len(text) == f.Size && hex.EncodeToString(sum[:]) == f.SHA256
}

// Revision reads a revision by its ID, or the first 12 digits of it. ErrNoRevision says that there is none; ErrRevisionDamaged that what is
// there is not what was pushed.
func (c *Client) Revision(ctx context.Context, id string) (*Revision, error) {
	if len(id) < shortRevision {
		return nil, fmt.Errorf("revision %q: %w", id, ErrNoRevision)
	}
	key := c.registry().revision(id)
	var raw string
	err := c.try(ctx, func() (err error) {
		raw, err = c.rdb.Get(ctx, key).Result()
		return err
	})
	switch {
	case errors.Is(err, redis.Nil):
		return nil, fmt.Errorf("revision %s: %w", ShortRevision(id), ErrNoRevision)
	case wrongType(err):
		return nil, fmt.Errorf("%s: %w", key, ErrRevisionDamaged)
	case err != nil:
		return nil, fmt.Errorf("reading revision %s: %w", ShortRevision(id), err)
	}
	m, err := readManifest(key, raw)
	if err != nil {
		return nil, err
	}
	r := m.revision()
	if err := c.readFiles(ctx, m, r); err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", key, errors.Join(err, ErrRevisionDamaged))
	}
	if len(id) > shortRevision && r.ID != id {
		return nil, fmt.Errorf("revision %s: %w", id, ErrNoRevision)
	}
	return r, nil
}

func (c *Client) readFiles(ctx context.Context, m manifest, r *Revision) error {
	k := c.registry()
	for _, f := range m.Files {
		var text []byte
		err := c.try(ctx, func() (err error) {
			text, err = c.rdb.Get(ctx, k.file(f.SHA256)).Bytes()
			if errors.Is(err, redis.Nil) || wrongType(err) {
				text, err = nil, nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("reading %s of revision %s: %w", f.Path, ShortRevision(m.ID), err)
		}
		if !f.holds(text) {
			return fmt.Errorf("%s (%s of revision %s): %w", k.file(f.SHA256), f.Path, ShortRevision(m.ID), ErrRevisionDamaged)
		}
		r.Files[f.Path] = text
	}
	return nil
}
