// Package cuda is what the example needs of the CUDA runtime: arrays of the GPU, streams, copies.
package cuda

/*
#cgo LDFLAGS: -lcudart
#include <cuda_runtime_api.h>
*/
import "C"

import (
	"errors"
	"unsafe"
)

// check returns what CUDA says of an error.
func check(code C.cudaError_t) error {
	if code == 0 {
		return nil
	}
	return errors.New(C.GoString(C.cudaGetErrorString(code)))
}

// Stream is a queue of work.
type Stream struct{ stream C.cudaStream_t }

// NewStream makes a stream; Close is due if there is no error.
func NewStream() (*Stream, error) {
	s := &Stream{}
	return s, check(C.cudaStreamCreate(&s.stream))
}

// Handle is the CUstream that launch functions take.
func (s *Stream) Handle() uintptr { return uintptr(unsafe.Pointer(s.stream)) }

// Wait waits for all that is queued in it.
func (s *Stream) Wait() error { return check(C.cudaStreamSynchronize(s.stream)) }

// Close gives it back.
func (s *Stream) Close() { C.cudaStreamDestroy(s.stream) }

// Array is memory of the GPU.
type Array struct {
	data  unsafe.Pointer
	bytes int
}

// NewArray takes memory; Close is due if there is no error.
func NewArray(bytes int) (*Array, error) {
	a := &Array{bytes: bytes}
	return a, check(C.cudaMalloc(&a.data, C.size_t(bytes)))
}

// Address is where it is.
func (a *Array) Address() uintptr { return uintptr(a.data) }

// Bytes is its size.
func (a *Array) Bytes() uint64 { return uint64(a.bytes) }

// CopyFrom fills it with as many bytes of the host.
func (a *Array) CopyFrom(host []byte) error {
	if len(host) != a.bytes {
		return errors.New("the array has another size")
	}
	return check(C.cudaMemcpy(a.data, unsafe.Pointer(&host[0]), C.size_t(a.bytes), C.cudaMemcpyHostToDevice))
}

// CopyTo copies it to as many bytes of the host.
func (a *Array) CopyTo(host []byte) error {
	if len(host) != a.bytes {
		return errors.New("the array has another size")
	}
	return check(C.cudaMemcpy(unsafe.Pointer(&host[0]), a.data, C.size_t(a.bytes), C.cudaMemcpyDeviceToHost))
}

// Close gives it back.
func (a *Array) Close() { C.cudaFree(a.data) }
