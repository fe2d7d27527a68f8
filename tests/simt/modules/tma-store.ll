; A tile that is clipped at two edges; written by threads, without a fence.
;> kernel f(A: f16[512]) -> C: f16[12, 80]
;>     map m of C box[8, 64] swizzle(128)
;>     level flat
;> {
;>     launch f grid(1, 1, 1) block(32, 1, 1) {
;>         for j: idx64 in 0..30 {
;>             let e: idx64 = idx64(thread.x) * 30 + j
;>             let row: idx64 = e / 80
;>             let column: idx64 = e % 80 - 32
;>             C[e] = 1
;>             if row >= 7 && column >= 0 { C[e] = A[(row - 7) * 64 + column] }
;>         }
;>     }
;> }
;! missing-fence
@S = internal addrspace(3) global [512 x half] undef, align 1024

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %C, ptr byval([16 x i64]) align 64 %map) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = mul i32 %t, 16
  br label %next
next:
  %j = phi i32 [ 0, %0 ], [ %j1, %next ]
  %e = add i32 %first, %j
  %o = mul i32 %e, 2
  %row = lshr i32 %o, 7
  %low = and i32 %row, 7
  %flip = shl i32 %low, 4
  %so = xor i32 %o, %flip
  %q = getelementptr i16, ptr addrspace(1) %A, i32 %e
  %x = load i16, ptr addrspace(1) %q, align 2
  %p = getelementptr i8, ptr addrspace(3) @S, i32 %so
  store i16 %x, ptr addrspace(3) %p, align 2
  %j1 = add i32 %j, 1
  %more = icmp ult i32 %j1, 16
  br i1 %more, label %next, label %fill
fill:
  %base = mul i32 %t, 30
  br label %ones
ones:
  %k = phi i32 [ 0, %fill ], [ %k1, %skip ]
  %i = add i32 %base, %k
  %r = udiv i32 %i, 80
  %c = urem i32 %i, 80
  %is.r = icmp ult i32 %r, 7
  %is.c = icmp ult i32 %c, 32
  %is = or i1 %is.r, %is.c
  br i1 %is, label %put, label %skip
put:
  %u = getelementptr half, ptr addrspace(1) %C, i32 %i
  store half 1.0, ptr addrspace(1) %u, align 2
  br label %skip
skip:
  %k1 = add i32 %k, 1
  %again = icmp ult i32 %k1, 30
  br i1 %again, label %ones, label %sync
sync:
  ; fixed: call void @llvm.nvvm.fence.proxy.async.shared_cta()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %one = icmp eq i32 %t, 0
  br i1 %one, label %issue, label %end
issue:
  call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr addrspace(3) @S, ptr %map, i32 32, i32 7, i64 0, i1 false)
  call void @llvm.nvvm.cp.async.bulk.commit.group()
  call void @llvm.nvvm.cp.async.bulk.wait.group.read(i32 0)
  br label %end
end:
  ret void
}
