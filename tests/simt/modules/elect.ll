; One lane of each warp, chosen by the hardware, stores what all read.
;> kernel f(A: i32[64]) -> C: i32[64] level flat {
;>     launch f grid(1, 1, 1) block(64, 1, 1) {
;>         let t: idx64 = idx64(thread.x)
;>         C[t] = A[63 - t]
;>     }
;> }
;! race-block uninitialised
@S = internal addrspace(3) global [64 x i32] undef, align 16

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr i32, ptr addrspace(1) %A, i32 %t
  %to = getelementptr i32, ptr addrspace(3) @S, i32 %t
  %e = call { i32, i1 } @llvm.nvvm.elect.sync(i32 -1)
  %is = extractvalue { i32, i1 } %e, 1
  br i1 %is, label %one, label %all
one:
  %warp = and i32 %t, 32
  br label %next
next:
  %i = phi i32 [ 0, %one ], [ %j, %next ]
  %k = add i32 %warp, %i
  %p = getelementptr i32, ptr addrspace(1) %A, i32 %k
  %v = load i32, ptr addrspace(1) %p, align 4
  %q = getelementptr i32, ptr addrspace(3) @S, i32 %k
  store i32 %v, ptr addrspace(3) %q, align 4
  %j = add i32 %i, 1
  %more = icmp ult i32 %j, 32
  br i1 %more, label %next, label %all
all:
  ; fixed: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %r = sub i32 63, %t
  %at = getelementptr i32, ptr addrspace(3) @S, i32 %r
  %x = load i32, ptr addrspace(3) %at, align 4
  %out = getelementptr i32, ptr addrspace(1) %C, i32 %t
  store i32 %x, ptr addrspace(1) %out, align 4
  ret void
}
