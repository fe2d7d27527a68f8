; A thread makes the mbarrier anew though nobody uses it any more: it was not invalidated.
;> kernel f(A: i32[64]) -> C: i32[64] level flat {
;>     launch f grid(1, 1, 1) block(64, 1, 1) {
;>         let t: idx64 = idx64(thread.x)
;>         C[t] = A[63 - t]
;>     }
;> }
;! mbarrier-alive
@S = internal addrspace(3) global [64 x i32] undef, align 16
@B = internal addrspace(3) global [2 x i64] undef, align 16

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr i32, ptr addrspace(1) %A, i32 %t
  %to = getelementptr i32, ptr addrspace(3) @S, i32 %t
  %first = icmp eq i32 %t, 0
  br i1 %first, label %make, label %made
make:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @B, i32 64)
  br label %made
made:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %s = call i64 @llvm.nvvm.mbarrier.arrive.scope.cta.space.cta(ptr addrspace(3) @B, i32 1)
  br label %wait
wait:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @B, i32 0)
  br i1 %done, label %over, label %wait
over:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %first, label %again, label %go
again:
  ; fixed:  call void @llvm.nvvm.mbarrier.inval.shared(ptr addrspace(3) @B)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @B, i32 64)
  br label %go
go:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %a = load i32, ptr addrspace(1) %from, align 4
  store i32 %a, ptr addrspace(3) %to, align 4
  %s2 = call i64 @llvm.nvvm.mbarrier.arrive.scope.cta.space.cta(ptr addrspace(3) @B, i32 1)
  br label %wait2
wait2:
  %done2 = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @B, i32 0)
  br i1 %done2, label %end, label %wait2
end:
  %r = sub i32 63, %t
  %at = getelementptr i32, ptr addrspace(3) @S, i32 %r
  %x = load i32, ptr addrspace(3) %at, align 4
  %out = getelementptr i32, ptr addrspace(1) %C, i32 %t
  store i32 %x, ptr addrspace(1) %out, align 4
  ret void
}
