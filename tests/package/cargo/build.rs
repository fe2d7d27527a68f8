// Compiles the kernels to Rust modules beside the sources, and to libraries that are linked.
// INGOT is the command, INGOT_RUNTIME the folder of ingot.c, INGOT_INCLUDE that of ingot.h.

use std::env::var;
use std::process::Command;

/// Runs a command; the build ends if it fails.
fn run(command: &mut Command) {
    assert!(command.status().expect("a command").success(), "{command:?}");
}

fn main() {
    let out = var("OUT_DIR").unwrap();
    let runtime = format!("{}/ingot.c", var("INGOT_RUNTIME").unwrap());
    let include = format!("-I{}", var("INGOT_INCLUDE").unwrap());
    for name in ["object", "names"] {
        let kernel = format!("{name}.ing");
        println!("cargo:rerun-if-changed={kernel}");
        run(Command::new(var("INGOT").unwrap())
            .args(["build", &kernel, "-o", "src", "--arch", "none", "--bindings", "rust"]));
        run(Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-DINGOT_EXPORT", &include])
            .args([format!("src/{name}.c"), runtime.clone()])
            .args(["-ldl", "-lpthread", "-o"])
            .arg(format!("{out}/lib{name}.so")));
        println!("cargo:rustc-link-lib={name}");
    }
    println!("cargo:rustc-link-search={out}");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{out}");
}
