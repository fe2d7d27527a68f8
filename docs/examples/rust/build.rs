//! Compiles gemv.ing to `out/`, and its C file and the runtime to a library that is linked.
//!
//! INGOT is the command, RUNTIME the folder of ingot.c and ingot.h, CUDA the toolkit's, ARCH the GPUs to make
//! machine code for.

use std::env;
use std::process::Command;

/// The value of a variable, and whether cargo builds again when it changes.
fn variable(name: &str, default: &str) -> String {
    println!("cargo:rerun-if-env-changed={name}");
    env::var(name).unwrap_or_else(|_| default.into())
}

/// Runs a command; the build ends if it fails.
fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status();
    assert!(status.is_ok_and(|status| status.success()), "{program} {arguments:?} failed");
}

fn main() {
    let ingot = variable("INGOT", "ingot");
    let runtime = variable("RUNTIME", "../../../runtime");
    let cuda = variable("CUDA", "/usr/local/cuda");
    let arch = variable("ARCH", "sm_80,sm_90");
    let include = format!("-I{runtime}");
    let (kernel, loader) = ("out/gemv.o", "out/ingot.o");

    run(&ingot, &["build", "gemv.ing", "-o", "out", "--arch", &arch, "--bindings", "rust"]);
    run("cc", &["-O2", "-fPIC", &include, "-c", "out/gemv.c", "-o", kernel]);
    run("cc", &["-O2", "-fPIC", &include, "-c", &format!("{runtime}/ingot.c"), "-o", loader]);
    run("ar", &["rcs", "out/libkernels.a", kernel, loader]);
    println!("cargo:rerun-if-changed=gemv.ing");
    println!("cargo:rustc-link-search=native=out");
    println!("cargo:rustc-link-lib=static=kernels");
    println!("cargo:rustc-link-search=native={cuda}/lib64");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{cuda}/lib64");
}
