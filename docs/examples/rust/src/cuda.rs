//! What the example needs of the CUDA runtime: arrays of the GPU that free themselves, a stream, copies.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::size_of_val;

#[link(name = "cudart")]
unsafe extern "C" {
    fn cudaGetErrorString(error: c_int) -> *const c_char;
    fn cudaMalloc(pointer: *mut *mut c_void, size: usize) -> c_int;
    fn cudaFree(pointer: *mut c_void) -> c_int;
    fn cudaMemcpy(to: *mut c_void, from: *const c_void, size: usize, kind: c_int) -> c_int;
    fn cudaStreamCreate(stream: *mut *mut c_void) -> c_int;
    fn cudaStreamDestroy(stream: *mut c_void) -> c_int;
    fn cudaStreamSynchronize(stream: *mut c_void) -> c_int;
}

const TO_DEVICE: c_int = 1;
const TO_HOST: c_int = 2;

/// What CUDA says of an error.
fn check(error: c_int) -> Result<(), String> {
    match error {
        0 => Ok(()),
        _ => Err(unsafe { CStr::from_ptr(cudaGetErrorString(error)) }.to_string_lossy().into_owned()),
    }
}

/// A stream.
pub struct Stream(pub *mut c_void);

impl Stream {
    pub fn new() -> Result<Self, String> {
        let mut stream = std::ptr::null_mut();
        check(unsafe { cudaStreamCreate(&mut stream) })?;
        Ok(Self(stream))
    }

    /// Waits for all that is queued in it.
    pub fn wait(&self) -> Result<(), String> {
        check(unsafe { cudaStreamSynchronize(self.0) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        unsafe { cudaStreamDestroy(self.0) };
    }
}

/// An array of the GPU.
pub struct Array {
    pub data: *mut f32,
    pub len: usize,
}

impl Array {
    /// A copy of an array of the host.
    pub fn of(host: &[f32]) -> Result<Self, String> {
        let mut data = std::ptr::null_mut();
        check(unsafe { cudaMalloc(&mut data, size_of_val(host)) })?;
        let array = Self { data: data.cast(), len: host.len() };
        check(unsafe { cudaMemcpy(data, host.as_ptr().cast(), size_of_val(host), TO_DEVICE) })?;
        Ok(array)
    }

    /// Copies it to an array of the host of the same length.
    pub fn copy_to(&self, host: &mut [f32]) -> Result<(), String> {
        assert_eq!(host.len(), self.len);
        check(unsafe { cudaMemcpy(host.as_mut_ptr().cast(), self.data.cast(), size_of_val(host), TO_HOST) })
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        unsafe { cudaFree(self.data.cast()) };
    }
}
