// Command differential writes the Lua programs of luabind's differential test, one JSON string a line: the same ones each time.
// They are bodies, to be run inside frame.lua.
// regenerate.sh beside it adds what PUC Lua 5.1 answers.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"
)

// programs is how many are generated, beside the written ones.
const programs = 520

func main() {
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, p := range written {
		write(encoder, p)
	}
	for seed := range programs {
		write(encoder, generate(uint64(seed)))
	}
	for seed := range stringPrograms {
		write(encoder, generateStrings(uint64(seed)))
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func write(encoder *json.Encoder, program string) {
	if err := encoder.Encode(program); err != nil {
		log.Fatal(err)
	}
}
