; A block writes to the other one and arrives at its mbarrier there.
;> kernel f(A: i32[64]) -> C: i32[64] level flat {
;>     launch f grid(2, 1, 1) block(32, 1, 1) {
;>         let t: idx64 = idx64(thread.x) + idx64(block.x) * 32
;>         let o: idx64 = idx64(thread.x) + (1 - idx64(block.x)) * 32
;>         C[t] = A[o]
;>     }
;> }
;! race-cluster
@S = internal addrspace(3) global [32 x i32] undef, align 16
@B = internal addrspace(3) global [1 x i64] undef, align 16

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C) #0 {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %one = icmp eq i32 %lane, 0
  br i1 %one, label %make, label %made
make:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @B, i32 32)
  br label %made
made:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0) ; fixed: call void @llvm.nvvm.barrier.cluster.arrive.aligned()
  ; fixed: call void @llvm.nvvm.barrier.cluster.wait.aligned()
  %first = mul i32 %b, 32
  %t = add i32 %first, %lane
  %from = getelementptr i32, ptr addrspace(1) %A, i32 %t
  %a = load i32, ptr addrspace(1) %from, align 4
  %mine = getelementptr i32, ptr addrspace(3) @S, i32 %lane
  %other = xor i32 %rank, 1
  %there = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %mine, i32 %other)
  store i32 %a, ptr addrspace(7) %there, align 4
  %bar = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) @B, i32 %other)
  call void @llvm.nvvm.mbarrier.arrive.scope.cluster.space.cluster(ptr addrspace(7) %bar, i32 1)
  br label %wait
wait:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cluster.space.cta(ptr addrspace(3) @B, i32 0)
  br i1 %done, label %go, label %wait
go:
  %x = load i32, ptr addrspace(3) %mine, align 4
  %out = getelementptr i32, ptr addrspace(1) %C, i32 %t
  store i32 %x, ptr addrspace(1) %out, align 4
  call void @llvm.nvvm.barrier.cluster.arrive()
  call void @llvm.nvvm.barrier.cluster.wait()
  ret void
}

attributes #0 = { "nvvm.cluster_dim"="2,1,1" }
