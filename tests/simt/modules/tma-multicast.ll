; One block loads a tile for both of its cluster; the other one expects too little.
;> kernel f(A: f16[8, 64]) -> C: f16[1024]
;>     map m of A box[8, 64]
;>     level flat
;> {
;>     launch f grid(2, 1, 1) block(32, 1, 1) {
;>         for j: idx64 in 0..16 {
;>             let e: idx64 = idx64(thread.x) * 16 + j
;>             C[idx64(block.x) * 512 + e] = A[e]
;>         }
;>     }
;> }
;! stuck-mbarrier
@S = internal addrspace(3) global [512 x half] undef, align 128
@B = internal addrspace(3) global [1 x i64] undef, align 16

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C, ptr byval([16 x i64]) align 64 %map) #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
  %one = icmp eq i32 %t, 0
  br i1 %one, label %make, label %made
make:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @B, i32 1)
  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()
  %less = mul i32 %rank, 16
  %bytes = sub i32 1024, %less ; fixed: %bytes = add i32 1024, 0
  %s = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @B, i32 %bytes)
  br label %made
made:
  call void @llvm.nvvm.barrier.cluster.arrive.aligned()
  call void @llvm.nvvm.barrier.cluster.wait.aligned()
  %zero = icmp eq i32 %rank, 0
  %both = and i1 %zero, %one
  br i1 %both, label %issue, label %wait
issue:
  %there = addrspacecast ptr addrspace(3) @S to ptr addrspace(7)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %there, ptr addrspace(3) @B, ptr %map, i32 0, i32 0, i16 3, i64 0, i1 true, i1 false, i32 0)
  br label %wait
wait:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @B, i32 0)
  br i1 %done, label %go, label %wait
go:
  %p = getelementptr <16 x half>, ptr addrspace(3) @S, i32 %t
  %x = load <16 x half>, ptr addrspace(3) %p, align 16
  %b = mul i32 %rank, 32
  %at = add i32 %b, %t
  %q = getelementptr <16 x half>, ptr addrspace(1) %C, i32 %at
  store <16 x half> %x, ptr addrspace(1) %q, align 16
  call void @llvm.nvvm.barrier.cluster.arrive()
  call void @llvm.nvvm.barrier.cluster.wait()
  ret void
}

attributes #0 = { "nvvm.cluster_dim"="2,1,1" }
