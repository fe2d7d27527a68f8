// Launches the kernel of object.ing by its Go package, on the driver that the command line names.
package main

import (
	"bindings/names"
	"bindings/object"
	"fmt"
	"os"
	"strings"
)

// refuses ends the program unless there is an error with a text.
func refuses(err error, text string) {
	if err == nil || !strings.Contains(err.Error(), text) {
		fmt.Println("expected", text, "not", err)
		os.Exit(1)
	}
}

func main() {
	options := object.Options{Driver: os.Args[1]}
	_, err := object.OpenFile("no such file", options)
	refuses(err, "no such file")
	bytes, err := os.ReadFile("object.fatbin")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, err = object.Open(bytes[:len(bytes)/2], options)
	refuses(err, "wrong size")
	call(object.OpenFile("object.fatbin", options))
	call(object.Open(bytes, options))
	fmt.Println("go works")
}

// call launches the kernels of a module, and closes it.
func call(module *object.Module, err error) {
	if err == nil {
		err = module.Preload()
	}
	a, c := object.Array{Address: 4096, Bytes: 4000}, object.Array{Address: 8192, Bytes: 4000}
	if err == nil {
		err = module.Vadd(0, 1000, a, c, 1.5, object.Array{})
	}
	if err != nil || object.VaddWorkspace(1000) != 0 || names.FixedWorkspace() == 0 {
		fmt.Println(err)
		os.Exit(1)
	}
	refuses(module.Vadd(0, 1001, a, c, 1.5, object.Array{}), "A: f32[n]: the array is too small")
	refuses(module.Vadd(0, -1, a, c, 1.5, object.Array{}), "n >= 0")
	module.Close()
}
