// Makes pictures gray on the GPU: a goroutine and a stream for each. Compares with Go's own library.
package main

import (
	_ "embed"
	"fmt"
	"image"
	"image/color"
	"os"

	"example/cuda"
	"example/gray"
)

const pictures = 8

//go:embed gray/gray.fatbin
var fatbin []byte

// onGPU returns a picture in gray.
func onGPU(module *gray.Module, picture *image.RGBA) (*image.Gray, error) {
	result := image.NewGray(picture.Rect)
	stream, err := cuda.NewStream()
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	from, err := cuda.NewArray(len(picture.Pix))
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := cuda.NewArray(len(result.Pix))
	if err != nil {
		return nil, err
	}
	defer to.Close()
	if err := from.CopyFrom(picture.Pix); err != nil {
		return nil, err
	}
	err = module.Gray(stream.Handle(), int64(len(result.Pix)), gray.Array{Address: from.Address(), Bytes: from.Bytes()},
		gray.Array{Address: to.Address(), Bytes: to.Bytes()}, gray.Array{})
	if err == nil {
		err = stream.Wait()
	}
	if err != nil {
		return nil, err
	}
	return result, to.CopyTo(result.Pix)
}

// draw returns a picture that is like no other.
func draw(number int) *image.RGBA {
	picture := image.NewRGBA(image.Rect(0, 0, 97+number, 61))
	for i := range picture.Pix {
		picture.Pix[i] = byte(i*(2*number+1) + i>>8)
	}
	return picture
}

// countWrong returns how many pixels are not what Go's library makes of them, or what failed.
func countWrong(module *gray.Module, picture *image.RGBA) (int, error) {
	result, err := onGPU(module, picture)
	if err != nil {
		return 0, err
	}
	wrong := 0
	for i, y := range result.Pix {
		pixel := picture.Pix[4*i:]
		if color.GrayModel.Convert(color.RGBA{R: pixel[0], G: pixel[1], B: pixel[2], A: 255}) != (color.Gray{Y: y}) {
			wrong++
		}
	}
	return wrong, nil
}

// run makes all pictures gray at once, and returns how many pixels are wrong.
func run() (int, error) {
	module, err := gray.Open(fatbin, gray.Options{})
	if err != nil {
		return 0, err
	}
	defer module.Close()
	if err := module.Preload(); err != nil {
		return 0, err
	}
	type outcome struct {
		wrong int
		err   error
	}
	outcomes := make(chan outcome)
	for i := 0; i < pictures; i++ {
		go func(picture *image.RGBA) {
			wrong, err := countWrong(module, picture)
			outcomes <- outcome{wrong, err}
		}(draw(i))
	}
	wrong := 0
	for i := 0; i < pictures; i++ {
		one := <-outcomes
		wrong += one.wrong
		if one.err != nil {
			err = one.err
		}
	}
	return wrong, err
}

func main() {
	wrong, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gray:", err)
		os.Exit(1)
	}
	fmt.Printf("gray: %d pictures, %d wrong\n", pictures, wrong)
	if wrong > 0 {
		os.Exit(1)
	}
}
