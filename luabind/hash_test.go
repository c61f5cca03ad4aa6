package luabind

import "testing"

// The vectors are those of RFC 1321, FIPS 180 and RFC 2104/4231.
func TestHash(t *testing.T) {
	t.Parallel()
	runCases(t, []moduleCase{
		{`return hash.md5("abc")`, `900150983cd24fb0d6963f7d28e17f72`},
		{`return hash.sha1("abc")`, `a9993e364706816aba3e25717850c26c9cd0d89d`},
		{`return hash.sha256("abc")`, `ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad`},
		{`return hash.md5("")`, `d41d8cd98f00b204e9800998ecf8427e`},
		{`return hash.md5("\0\255")`, `d07d34efac6328007ad67c7e0a985e00`},
		{`return hash.hmac("sha256", "Jefe", "what do ya want for nothing?")`, `5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843`},
		{`return hash.hmac("md5", "Jefe", "what do ya want for nothing?")`, `750c783e6ab0b503eaa86e310a5db738`},
		{`return hash.hmac("sha1", "Jefe", "what do ya want for nothing?")`, `effcdf6ae5eb2fa2d27416d5f184df9c259a7c79`},
		{`return hash.hmac("sha3", "k", "d")`, `raised: <string>:1: bad argument #1 to hmac (the hash is one of md5, sha1, sha256)`},
		{`return hash.hmac("md5", "k")`, `raised: <string>:1: bad argument #3 to hmac (string expected, got nil)`},
		{`return hash.md5({})`, `raised: <string>:1: bad argument #1 to md5 (string expected, got table)`},
	}, "hash")
}
