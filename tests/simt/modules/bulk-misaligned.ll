; A run of bytes that begins at a multiple of 8 bytes.
;> kernel f(A: i32[128]) -> C: i32[128] level flat {
;>     launch f grid(1, 1, 1) block(32, 1, 1) {
;>         for j: idx64 in 0..4 { C[idx64(thread.x) * 4 + j] = A[idx64(thread.x) * 4 + j] }
;>     }
;> }
;! misaligned stuck-mbarrier
@S = internal addrspace(3) global [128 x i32] undef, align 128
@B = internal addrspace(3) global [1 x i64] undef, align 16

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %one = icmp eq i32 %t, 0
  br i1 %one, label %issue, label %end
issue:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @B, i32 1)
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  call void @llvm.nvvm.mbarrier.expect.tx.scope.cta.space.cta(ptr addrspace(3) @B, i32 512)
  %there = addrspacecast ptr addrspace(3) @S to ptr addrspace(7)
  %from = getelementptr i8, ptr addrspace(1) %A, i32 8 ; fixed:  %from = getelementptr i8, ptr addrspace(1) %A, i32 0
  call void @llvm.nvvm.cp.async.bulk.global.to.shared.cluster(ptr addrspace(7) %there, ptr addrspace(3) @B, ptr addrspace(1) %from, i32 512, i16 0, i64 0, i1 false, i1 false)
  %s = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @B)
  br label %wait
wait:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @B, i32 0)
  br i1 %done, label %go, label %wait
go:
  call void @llvm.nvvm.cp.async.bulk.shared.cta.to.global(ptr addrspace(1) %C, ptr addrspace(3) @S, i32 512, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
  call void @llvm.nvvm.cp.async.bulk.wait.group(i32 0)
  br label %end
end:
  ret void
}
