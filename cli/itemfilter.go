package cli

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// itemCondition is one --where: a field, an operator and a value.
type itemCondition struct {
	field, operator, value string
	number                 *big.Float     // nil when value is none
	pattern                *regexp.Regexp // of ~ and !~
}

// itemOperators are those of --where, longer ones first.
var itemOperators = []string{"!=", "!~", ">=", "<=", "=", "~", ">", "<"}

// parseConditions reads --where.
func parseConditions(all []string) (conditions []itemCondition, err error) {
	for _, text := range all {
		c, err := parseCondition(text)
		if err != nil {
			return nil, usagef("--where %q: %w", text, err)
		}
		conditions = append(conditions, c)
	}
	return conditions, nil
}

func parseCondition(text string) (c itemCondition, err error) {
	at := strings.IndexAny(text, "!=~<>")
	if at <= 0 {
		return c, fmt.Errorf("it is FIELD, one of %s, and a value", strings.Join(itemOperators, " "))
	}
	c.field = strings.TrimSpace(text[:at])
	i := slices.IndexFunc(itemOperators, func(op string) bool { return strings.HasPrefix(text[at:], op) })
	if i < 0 {
		return c, fmt.Errorf("unknown operator after %s; there are %s", c.field, strings.Join(itemOperators, " "))
	}
	c.operator = itemOperators[i]
	c.value = text[at+len(c.operator):]
	if strings.HasPrefix(c.value, "=") && c.operator == "=" {
		return c, fmt.Errorf("unknown operator ==; there are %s", strings.Join(itemOperators, " "))
	}
	switch c.operator {
	case "~", "!~":
		c.pattern, err = regexp.Compile(c.value)
	default:
		c.number = numberOf(c.value)
	}
	return c, err
}

// numberOf is a text as a number, nil when it is none. It is exact: ids of 20 digits differ by their last.
func numberOf(text string) *big.Float {
	if text == "" || len(text) > 100 || strings.ContainsAny(text, "xXpPnN_") {
		return nil
	}
	f, _, err := big.ParseFloat(text, 10, 400, big.ToNearestEven)
	if err != nil {
		return nil
	}
	return f
}

// match reports whether a field's text is as the condition wants it. A field that is not there, or null, is the empty text.
func (c *itemCondition) match(text string) bool {
	switch c.operator {
	case "~":
		return c.pattern.MatchString(text)
	case "!~":
		return !c.pattern.MatchString(text)
	case "=":
		return c.equal(text)
	case "!=":
		return !c.equal(text)
	}
	order, comparable := c.compare(text)
	switch c.operator {
	case ">":
		return comparable && order > 0
	case ">=":
		return comparable && order >= 0
	case "<":
		return comparable && order < 0
	}
	return comparable && order <= 0
}

func (c *itemCondition) equal(text string) bool {
	if text == c.value {
		return true
	}
	order, comparable := c.compare(text)
	return c.number != nil && comparable && order == 0
}

// compare orders a text against the value: as numbers if the value is one, else by the alphabet, as dates are.
func (c *itemCondition) compare(text string) (order int, comparable bool) {
	if text == "" {
		return 0, false
	}
	if c.number == nil {
		return strings.Compare(text, c.value), true
	}
	n := numberOf(text)
	if n == nil {
		return 0, false
	}
	return n.Cmp(c.number), true
}

// matches reports whether an item fulfils all conditions; ok is false for what is no JSON object.
func matches(conditions []itemCondition, item string) (match, ok bool) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(item), &fields); err != nil || fields == nil {
		return false, false
	}
	for i := range conditions {
		if !conditions[i].match(fieldText(fields[conditions[i].field])) {
			return false, true
		}
	}
	return true, true
}

// fieldText is a field's value as a person types it: a text without quotes, else its JSON.
func fieldText(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
