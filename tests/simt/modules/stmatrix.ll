; Four matrices of 8 x 8, transposed by a load and a store; the intrinsics.
;> kernel f(A: f16[256]) -> C: f16[256] level flat {
;>     launch f grid(1, 1, 1) block(32, 1, 1) {
;>         let t: idx64 = idx64(thread.x)
;>         for j: idx64 in 0..8 { C[t * 8 + j] = A[(t / 8 * 8 + j) * 8 + t % 8] }
;>     }
;> }
;! misaligned uninitialised out-of-bounds
@S = internal addrspace(3) global [512 x half] undef, align 16

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr <8 x i16>, ptr addrspace(1) %A, i32 %t
  %s = getelementptr <8 x i16>, ptr addrspace(3) @S, i32 %t
  %x = load <8 x i16>, ptr addrspace(1) %from, align 16
  store <8 x i16> %x, ptr addrspace(3) %s, align 16
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %m = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %s)
  %m0 = extractvalue { i32, i32, i32, i32 } %m, 0
  %m1 = extractvalue { i32, i32, i32, i32 } %m, 1
  %m2 = extractvalue { i32, i32, i32, i32 } %m, 2
  %m3 = extractvalue { i32, i32, i32, i32 } %m, 3
  %o = getelementptr i8, ptr addrspace(3) %s, i32 520 ; fixed:  %o = getelementptr i8, ptr addrspace(3) %s, i32 512
  call void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %o, i32 %m0, i32 %m1, i32 %m2, i32 %m3)
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %at = getelementptr i8, ptr addrspace(3) %s, i32 512
  %y = load <8 x i16>, ptr addrspace(3) %at, align 16
  %to = getelementptr <8 x i16>, ptr addrspace(1) %C, i32 %t
  store <8 x i16> %y, ptr addrspace(1) %to, align 16
  ret void
}
