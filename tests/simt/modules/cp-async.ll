; Copies of 4 and 16 bytes by each thread, waited for in order.
;> kernel f(A: i32[256]) -> C: i32[256] level flat {
;>     launch f grid(1, 1, 1) block(64, 1, 1) {
;>         let t: idx64 = idx64(thread.x)
;>         for j: idx64 in 0..3 { C[t * 4 + j] = A[(63 - t) * 4 + j] }
;>         C[t * 4 + 3] = 0
;>     }
;> }
;! async-early
@S = internal addrspace(3) global [256 x i32] undef, align 16

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr <4 x i32>, ptr addrspace(1) %A, i32 %t
  %to = getelementptr <4 x i32>, ptr addrspace(3) @S, i32 %t
  call void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3) %to, ptr addrspace(1) %from, i32 12)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 1) ; fixed: call void @llvm.nvvm.cp.async.wait.group(i32 0)
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = sub i32 63, %t
  %at = getelementptr <4 x i32>, ptr addrspace(3) @S, i32 %r
  %x = load <4 x i32>, ptr addrspace(3) %at, align 16
  %out = getelementptr <4 x i32>, ptr addrspace(1) %C, i32 %t
  store <4 x i32> %x, ptr addrspace(1) %out, align 16
  ret void
}
