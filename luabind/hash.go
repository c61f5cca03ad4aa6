package luabind

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"hash"

	lua "github.com/yuin/gopher-lua"
)

func init() { modules["hash"] = hashModule }

// hashes are by name: they sign requests and make keys as sites want them, they protect nothing of ours.
var hashes = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New}

// hashModule is require "hash": md5(data), sha1(data), sha256(data) and hmac(name, key, data), all in lower-case hex.
func hashModule(v *vm) lua.LValue {
	t := v.L.NewTable()
	for name, make := range hashes {
		t.RawSetString(name, v.L.NewFunction(func(L *lua.LState) int {
			return v.pushHash(L, make(), L.CheckString(1))
		}))
	}
	t.RawSetString("hmac", v.L.NewFunction(v.hashHMAC))
	return t
}

func (v *vm) hashHMAC(L *lua.LState) int {
	make, ok := hashes[L.CheckString(1)]
	if !ok {
		L.ArgError(1, "the hash is one of md5, sha1, sha256")
	}
	return v.pushHash(L, hmac.New(make, []byte(L.CheckString(2))), L.CheckString(3))
}

func (v *vm) pushHash(L *lua.LState, h hash.Hash, data string) int {
	for len(data) > hashStep {
		h.Write([]byte(data[:hashStep]))
		data = data[hashStep:]
		v.interrupt.check(L)
	}
	h.Write([]byte(data))
	L.Push(lua.LString(hex.EncodeToString(h.Sum(nil))))
	return 1
}

// hashStep is how many bytes are hashed before the call's time is looked at.
const hashStep = 1 << 20
