//! A matrix times a vector on the GPU. Compares with the CPU.

mod cuda;
#[path = "../out/gemv.rs"]
mod gemv;

use cuda::{Array, Stream};
use gemv::{Module, Options, Slice, SliceMut};

static FATBIN: &[u8] = include_bytes!("../out/gemv.fatbin");

/// Computes y = A x for a matrix of m rows and n columns.
fn gemv_on_gpu(m: usize, n: usize, a: &[f32], x: &[f32]) -> Result<Vec<f32>, String> {
    let mut y = vec![0.0; m];
    let (matrix, vector, result) = (Array::of(a)?, Array::of(x)?, Array::of(&y)?);
    let stream = Stream::new()?;
    let module = Module::open(FATBIN, &Options::default()).map_err(|error| error.text)?;
    module.preload().map_err(|error| error.text)?;
    assert_eq!(Module::gemv_workspace(m as i64, n as i64), 0);
    let (a, x) = (Slice { data: matrix.data, len: matrix.len }, Slice { data: vector.data, len: vector.len });
    let out = SliceMut { data: result.data, len: result.len };
    unsafe { module.gemv(stream.0, m as i64, n as i64, a, x, out, SliceMut::NONE) }.map_err(|error| error.text)?;
    stream.wait()?;
    result.copy_to(&mut y)?;
    Ok(y)
}

fn main() -> Result<(), String> {
    let (m, n) = (301, 1003);
    let a: Vec<f32> = (0..m * n).map(|i| (i % 13) as f32).collect();
    let x: Vec<f32> = (0..n).map(|j| (j % 5) as f32).collect();
    let y = gemv_on_gpu(m, n, &a, &x)?;
    let right = |i: usize| -> f32 { a[i * n..(i + 1) * n].iter().zip(&x).map(|(a, x)| a * x).sum() };
    let wrong = (0..m).filter(|&i| y[i] != right(i)).count();
    println!("gemv: {m} rows of {n}, {wrong} wrong; y[3] = {}", y[3]);
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} elements are wrong")) }
}
