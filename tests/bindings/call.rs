// Launches the kernel of object.ing by its Rust module, on the driver that the command line names.

mod names;
mod object;

use object::{Module, Options, Slice, SliceMut};
use std::ffi::CString;
use std::path::Path;
use std::ptr::null_mut;

fn main() {
    let driver = std::env::args().nth(1).expect("a driver");
    let options = Options { driver: Some(CString::new(driver).unwrap()), ..Options::default() };
    let error = Module::open_file(Path::new("no such file"), &options).unwrap_err();
    assert!(error.status == 3 && error.to_string().contains("no such file"));
    let module = Module::open_file(Path::new("object.fatbin"), &options).unwrap();
    module.preload().unwrap();
    let c = SliceMut { data: 8192 as *mut f32, len: 1000 };
    let a = Slice { data: 4096 as *const f32, len: 1000 };
    unsafe {
        assert_eq!(Module::vadd_workspace(1000), 0);
        module.vadd(null_mut(), 1000, a, c, 1.5, SliceMut::NONE).unwrap();
        module.vadd(null_mut(), 1000, SliceMut { data: 4096 as *mut f32, len: 1000 }.into(), c, 1.5, SliceMut::NONE).unwrap();
        let error = module.vadd(null_mut(), 1001, a, c, 1.5, SliceMut::NONE).unwrap_err();
        assert!(error.status == 20 && error.text == "A: f32[n]: 4004 bytes, not 4000", "{error}");
        let error = module.vadd(null_mut(), -1, a, c, 1.5, SliceMut::NONE).unwrap_err();
        assert!(error.text.contains("n >= 0"), "{error}");
    }
    assert!(names::Module::fixed_workspace() > 0);
    println!("rust works");
}
