package embedded

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// databases is how many miniredis is asked for, as many as a redis-server has by default.
const databases = 16

// readScript answers {kind, key, when it expires, values} for every key of a database, in one step: miniredis holds
// its lock for the length of a script, and it answers fields and members in order, so that equal content has equal
// bytes. Kinds that a snapshot does not know have no values. A stream's are: its entries (id, number of texts, texts), an empty text, and its groups
// (name, last id, number of pending entries, id and consumer of each).
//
//	KEYS    none
//	ARGV    none
//	returns an array of arrays
const readScript = `
local reads = {
  string = function(key) return { redis.call("GET", key) } end,
  hash = function(key) return redis.call("HGETALL", key) end,
  list = function(key) return redis.call("LRANGE", key, 0, -1) end,
  set = function(key) return redis.call("SMEMBERS", key) end,
  zset = function(key) return redis.call("ZRANGE", key, 0, -1, "WITHSCORES") end,
}
reads.stream = function(key)
  local out = {}
  local function add(v) out[#out + 1] = tostring(v) end
  for _, entry in ipairs(redis.call("XRANGE", key, "-", "+")) do
    add(entry[1]); add(#entry[2])
    for _, text in ipairs(entry[2]) do add(text) end
  end
  add("")
  local names, last = {}, {}
  for i, group in ipairs(redis.call("XINFO", "GROUPS", key)) do
    local of = {}
    for k = 1, #group, 2 do of[group[k]] = group[k + 1] end
    names[i] = of.name
    last[of.name] = of["last-delivered-id"]
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local pending = redis.call("XPENDING", key, name, "-", "+", 1000000000)
    add(name); add(last[name]); add(#pending)
    for _, one in ipairs(pending) do add(one[1]); add(one[2]) end
  end
  return out
end
local all = {}
for i, key in ipairs(redis.call("KEYS", "*")) do
  local kind = redis.call("TYPE", key).ok
  local values = {}
  if reads[kind] then
    values = reads[kind](key)
  end
  all[i] = { kind, key, redis.call("PEXPIRETIME", key), values }
end
return all
`

// readAll calls keep with every key, databases and keys in order.
func readAll(m *miniredis.Miniredis, keep func(record)) error {
	conn, err := m.Dial() // in memory, also after the server has stopped listening
	if err != nil {
		return err
	}
	defer conn.Close()
	replies := bufio.NewReader(conn)
	for db := range databases {
		if err := readDatabase(conn, replies, db, keep); err != nil {
			return fmt.Errorf("database %d: %w", db, err)
		}
	}
	return nil
}

func readDatabase(conn net.Conn, replies *bufio.Reader, db int, keep func(record)) error {
	if _, err := ask(conn, replies, "SELECT", strconv.Itoa(db)); err != nil {
		return err
	}
	if size, err := ask(conn, replies, "DBSIZE"); err != nil || size == 0 {
		return err
	}
	if _, err := conn.Write(command("EVAL", readScript, "0")); err != nil {
		return err
	}
	n, err := arrayLength(replies)
	if err != nil {
		return err
	}
	for range n { // one by one, so that the whole reply is never in memory
		reply, err := server.ParseReply(replies)
		if err != nil {
			return err
		}
		r, err := toRecord(reply)
		if err != nil {
			return err
		}
		r.db = db
		keep(r)
	}
	return nil
}

func ask(conn net.Conn, replies *bufio.Reader, args ...string) (any, error) {
	if _, err := conn.Write(command(args...)); err != nil {
		return nil, err
	}
	return server.ParseReply(replies)
}

func arrayLength(replies *bufio.Reader) (int, error) {
	line, err := replies.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != '*' {
		return 0, errors.New(line)
	}
	return strconv.Atoi(line[1 : len(line)-2])
}

func toRecord(reply any) (r record, err error) {
	fields, ok := reply.([]any)
	if !ok || len(fields) != 4 {
		return r, fmt.Errorf("a reply of %T", reply)
	}
	var ok1, ok2, ok3 bool
	r.kind, ok1 = fields[0].(string)
	r.key, ok2 = fields[1].(string)
	expires, ok3 := fields[2].(int)
	if !ok1 || !ok2 || !ok3 {
		return r, fmt.Errorf("a reply of %T, %T, %T", fields[0], fields[1], fields[2])
	}
	if expires > 0 { // -1: never
		r.expires = int64(expires) / 1000 * 1000 // whole seconds: the milliseconds differ each time it is asked
	}
	values, _ := fields[3].([]any)
	r.values = make([]string, len(values))
	for i, v := range values {
		if r.values[i], ok = v.(string); !ok {
			return r, fmt.Errorf("key %q holds a %T", r.key, v)
		}
	}
	return r, nil
}

// command writes a Redis command as it goes over the wire.
func command(args ...string) []byte {
	out := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, arg := range args {
		out = fmt.Appendf(out, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return out
}
