; One block of the cluster does not come to its barrier.
;> kernel f(A: i32[64]) -> C: i32[64] level flat {
;>     launch f grid(2, 1, 1) block(32, 1, 1) {
;>         let t: idx64 = idx64(thread.x) + idx64(block.x) * 32
;>         C[t] = A[t]
;>     }
;> }
;! divergent-cluster
define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C) #0 {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.clusterid.x()
  %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctaid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.cluster.nctaid.x()
  %c = mul i32 %b, %n
  %d = add i32 %c, %rank
  %first = mul i32 %d, 32
  %t = add i32 %first, %lane
  %from = getelementptr i32, ptr addrspace(1) %A, i32 %t
  %a = load i32, ptr addrspace(1) %from, align 4
  %out = getelementptr i32, ptr addrspace(1) %C, i32 %t
  store i32 %a, ptr addrspace(1) %out, align 4
  %zero = icmp eq i32 %rank, 0
  br i1 %zero, label %arrive, label %wait ; fixed: br label %arrive
arrive:
  call void @llvm.nvvm.barrier.cluster.arrive()
  br label %wait
wait:
  call void @llvm.nvvm.barrier.cluster.wait()
  ret void
}

attributes #0 = { "nvvm.cluster_dim"="2,1,1" }
