; A named barrier for all threads, counted.
;> kernel f(A: i32[64]) -> C: i32[64] level flat {
;>     launch f grid(1, 1, 1) block(64, 1, 1) {
;>         let t: idx64 = idx64(thread.x)
;>         C[t] = A[63 - t]
;>     }
;> }
;! stuck-named-barrier
@S = internal addrspace(3) global [64 x i32] undef, align 16

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr i32, ptr addrspace(1) %A, i32 %t
  %to = getelementptr i32, ptr addrspace(3) @S, i32 %t
  %a = load i32, ptr addrspace(1) %from, align 4
  store i32 %a, ptr addrspace(3) %to, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 96) ; fixed:  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 64)
  %r = sub i32 63, %t
  %at = getelementptr i32, ptr addrspace(3) @S, i32 %r
  %x = load i32, ptr addrspace(3) %at, align 4
  %out = getelementptr i32, ptr addrspace(1) %C, i32 %t
  store i32 %x, ptr addrspace(1) %out, align 4
  ret void
}
