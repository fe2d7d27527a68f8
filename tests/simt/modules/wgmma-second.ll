; The results of the second of two groups are read while it is under way; those of the first may be.
;> kernel f(A: f16[1024], B: f16[128]) -> D: f32[512] level flat {
;>     launch f grid(1, 1, 1) block(128, 1, 1) {
;>         let t: idx64 = idx64(thread.x)
;>         let l: idx64 = t % 32
;>         for e: idx64 in 0..4 {
;>             let row: idx64 = t / 32 * 16 + l / 4 + e / 2 * 8
;>             let column: idx64 = l % 4 * 2 + e % 2
;>             var s: f32 = 0
;>             for k: idx64 in 0..16 { s = s + f32(A[row * 16 + k]) * f32(B[column * 16 + k]) }
;>             D[row * 8 + column] = s
;>         }
;>     }
;> }
;! wgmma-early
@SA = internal addrspace(3) global [1024 x half] undef, align 1024
@SB = internal addrspace(3) global [128 x half] undef, align 1024

define ptx_kernel void @f(ptr addrspace(1) noalias %A, ptr addrspace(1) noalias %B, ptr addrspace(1) noalias %D) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %line = lshr i32 %t, 1
  %half = and i32 %t, 1
  %block = lshr i32 %line, 3
  %low = and i32 %line, 7
  %o1 = mul i32 %block, 256
  %o2 = mul i32 %half, 128
  %o3 = mul i32 %low, 16
  %o4 = add i32 %o1, %o2
  %o = add i32 %o4, %o3
  %a.from = getelementptr <8 x i16>, ptr addrspace(1) %A, i32 %t
  %a.x = load <8 x i16>, ptr addrspace(1) %a.from, align 16
  %a.to = getelementptr i8, ptr addrspace(3) @SA, i32 %o
  store <8 x i16> %a.x, ptr addrspace(3) %a.to, align 16
  %few = icmp ult i32 %t, 16
  br i1 %few, label %put, label %sync
put:
  %b.from = getelementptr <8 x i16>, ptr addrspace(1) %B, i32 %t
  %b.x = load <8 x i16>, ptr addrspace(1) %b.from, align 16
  %b.to = getelementptr i8, ptr addrspace(3) @SB, i32 %o
  store <8 x i16> %b.x, ptr addrspace(3) %b.to, align 16
  br label %sync
sync:
  call void @llvm.nvvm.fence.proxy.async.shared_cta()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %sa = ptrtoint ptr addrspace(3) @SA to i64
  %sb = ptrtoint ptr addrspace(3) @SB to i64
  %la = and i64 %sa, 262143
  %lb = and i64 %sb, 262143
  %ua = lshr i64 %la, 4
  %ub = lshr i64 %lb, 4
  %da = or i64 %ua, 68720001024
  %db = or i64 %ub, 68720001024
  call void @llvm.nvvm.wgmma.fence.sync.aligned()
  %r = call { float, float, float, float } asm sideeffect "{ .reg .pred p; setp.ne.b32 p, $6, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0,$1,$2,$3}, $4, $5, p, 1, 1, 0, 0; }", "=f,=f,=f,=f,l,l,r,0,1,2,3,~{memory}"(i64 %da, i64 %db, i32 0, float undef, float undef, float undef, float undef)
  call void @llvm.nvvm.wgmma.commit_group.sync.aligned()
  %last = call { float, float, float, float } asm sideeffect "{ .reg .pred p; setp.ne.b32 p, $6, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0,$1,$2,$3}, $4, $5, p, 1, 1, 0, 0; }", "=f,=f,=f,=f,l,l,r,0,1,2,3,~{memory}"(i64 %da, i64 %db, i32 0, float undef, float undef, float undef, float undef)
  call void @llvm.nvvm.wgmma.commit_group.sync.aligned()
  %r0 = extractvalue { float, float, float, float } %r, 0
  %r1 = extractvalue { float, float, float, float } %r, 1
  %r2 = extractvalue { float, float, float, float } %r, 2
  %r3 = extractvalue { float, float, float, float } %r, 3
  %last0 = extractvalue { float, float, float, float } %last, 0
  %last1 = extractvalue { float, float, float, float } %last, 1
  %last2 = extractvalue { float, float, float, float } %last, 2
  %last3 = extractvalue { float, float, float, float } %last, 3
  %w = call { float, float, float, float } asm sideeffect "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,0,1,2,3,~{memory}"(float %last0, float %last1, float %last2, float %last3) ; fixed: %w = call { float, float, float, float } asm sideeffect "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,0,1,2,3,~{memory}"(float %r0, float %r1, float %r2, float %r3)
  %d0 = extractvalue { float, float, float, float } %w, 0
  %d1 = extractvalue { float, float, float, float } %w, 1
  %d2 = extractvalue { float, float, float, float } %w, 2
  %d3 = extractvalue { float, float, float, float } %w, 3
  %warp = lshr i32 %t, 5
  %lane = and i32 %t, 31
  %q = lshr i32 %lane, 2
  %c = and i32 %lane, 3
  %w16 = mul i32 %warp, 128
  %q8 = mul i32 %q, 8
  %c2 = mul i32 %c, 2
  %i1 = add i32 %w16, %q8
  %i = add i32 %i1, %c2
  %h = add i32 %i, 64
  %p0 = getelementptr float, ptr addrspace(1) %D, i32 %i
  %p1 = getelementptr float, ptr addrspace(1) %p0, i32 1
  %p2 = getelementptr float, ptr addrspace(1) %D, i32 %h
  %p3 = getelementptr float, ptr addrspace(1) %p2, i32 1
  store float %d0, ptr addrspace(1) %p0, align 4
  store float %d1, ptr addrspace(1) %p1, align 4
  store float %d2, ptr addrspace(1) %p2, align 4
  store float %d3, ptr addrspace(1) %p3, align 4
  call void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64 0)
  ret void
}
