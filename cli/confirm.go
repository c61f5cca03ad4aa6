package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
)

// errNotConfirmed says that a person was asked and did not say yes.
var errNotConfirmed = errors.New("nothing was changed")

// confirm asks on Err and reads the answer from In. It returns nil only for "y" or "yes".
func (p *program) confirm(ctx context.Context, question string) error {
	if _, err := fmt.Fprintf(p.screen, "%s [y/N] ", question); err != nil {
		return err
	}
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(p.In).ReadString('\n')
		read <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case answer := <-read:
		switch strings.ToLower(strings.TrimSpace(answer.text)) {
		case "y", "yes":
			return nil
		case "":
			if answer.err != nil {
				fmt.Fprintln(p.screen)
				return fmt.Errorf("%w: there is nobody to answer; --yes goes on without asking", errNotConfirmed)
			}
		}
		return errNotConfirmed
	}
}
