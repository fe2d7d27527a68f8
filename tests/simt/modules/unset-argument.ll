; A register that one branch alone sets goes into a sum of both.
;> kernel f(A: f32[64]) -> C: f32[64] level flat {
;>     launch f grid(1, 1, 1) block(64, 1, 1) {
;>         let t: idx64 = idx64(thread.x)
;>         if thread.x < 40 { C[t] = A[t] + 1.0 } else { C[t] = A[t] + 2.0 }
;>     }
;> }
;! wrong-results
define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C) {
start:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = icmp ult i32 %t, 40
  br i1 %low, label %one, label %all
one:
  br label %all
all:
  %more = phi float [ 1.0, %one ], [ poison, %start ] ; fixed: %more = phi float [ 1.0, %one ], [ 2.0, %start ]
  %p = getelementptr float, ptr addrspace(1) %A, i32 %t
  %v = load float, ptr addrspace(1) %p, align 4
  %x = fadd float %v, %more
  %to = getelementptr float, ptr addrspace(1) %C, i32 %t
  store float %x, ptr addrspace(1) %to, align 4
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
