; A tile begins between two groups of 16 bytes of a row.
;> kernel f(A: f16[16, 80]) -> C: f16[512]
;>     map m of A box[8, 64] swizzle(128)
;>     level flat
;> {
;>     launch f grid(1, 1, 1) block(32, 1, 1) {
;>         for j: idx64 in 0..16 {
;>             let e: idx64 = idx64(thread.x) * 16 + j
;>             let row: idx64 = 12 + e / 64
;>             let column: idx64 = 32 + e % 64
;>             C[e] = 0
;>             if row < 16 && column < 80 { C[e] = A[row * 80 + column] }
;>         }
;>     }
;> }
;! misaligned stuck-mbarrier
@S = internal addrspace(3) global [512 x half] undef, align 1024
@B = internal addrspace(3) global [1 x i64] undef, align 16

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C, ptr byval([16 x i64]) align 64 %map) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %one = icmp eq i32 %t, 0
  br i1 %one, label %issue, label %all
issue:
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @B, i32 1)
  call void @llvm.nvvm.fence.mbarrier_init.release.cluster()
  %s = call i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3) @B, i32 1024)
  %s64 = getelementptr i8, ptr addrspace(3) @S, i32 0
  %there = addrspacecast ptr addrspace(3) %s64 to ptr addrspace(7)
  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %there, ptr addrspace(3) @B, ptr %map, i32 28, i32 12, i16 0, i64 0, i1 false, i1 false, i32 0) ; fixed:  call void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7) %there, ptr addrspace(3) @B, ptr %map, i32 32, i32 12, i16 0, i64 0, i1 false, i1 false, i32 0)
  br label %all
all:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %wait
wait:
  %done = call i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3) @B, i32 0)
  br i1 %done, label %go, label %wait
go:
  %first = mul i32 %t, 16
  br label %next
next:
  %j = phi i32 [ 0, %go ], [ %j1, %next ]
  %e = add i32 %first, %j
  %o = mul i32 %e, 2
  %row = lshr i32 %o, 7
  %low = and i32 %row, 7
  %flip = shl i32 %low, 4
  %so = xor i32 %o, %flip
  %p = getelementptr i8, ptr addrspace(3) @S, i32 %so
  %x = load i16, ptr addrspace(3) %p, align 2
  %q = getelementptr i16, ptr addrspace(1) %C, i32 %e
  store i16 %x, ptr addrspace(1) %q, align 2
  %j1 = add i32 %j, 1
  %more = icmp ult i32 %j1, 16
  br i1 %more, label %next, label %end
end:
  ret void
}
